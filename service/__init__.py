"""Worldbook: a semantic retrieval service for lore."""
