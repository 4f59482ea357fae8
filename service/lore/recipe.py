"""What of an entry is embedded."""

from __future__ import annotations

import hashlib

from service.lore.book import Entry


def embedding_text(entry: Entry) -> str:
    """`title (aliases)`, a line break, the content.

    The names cost questions up to one point of recall and give messages that say little but a name fifteen
    (docs/recall.md).
    """
    names = f"{entry.title} ({', '.join(entry.aliases)})" if entry.aliases else entry.title
    return f"{names}\n{entry.content}"


def text_hash(entry: Entry) -> str:
    """SHA-256 of the embedding text, in hex: the key under which its vectors are stored.

    "" for an entry of a lorebook, which nobody looks for by meaning.
    """
    if entry.trigger is not None:
        return ""
    return hashlib.sha256(embedding_text(entry).encode()).hexdigest()
