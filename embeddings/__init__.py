"""Texts, vectors and neighbours. Nothing here has heard of a book."""
