"""Commands that measure the product; each prints a table and writes JSON beside it."""
