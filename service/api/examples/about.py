"""What the service says about itself."""

from __future__ import annotations

from typing import Any

LIMITS: dict[str, Any] = {
    "messages": 200,
    "body_bytes": 2_000_000,
    "import_bytes": 16_000_000,
    "card_bytes": 20_000_000,
    "unpacked_bytes": 64_000_000,
    "backup_bytes": 4_000_000_000,
    "books": 10_000,
    "entries": 10_000,
    "server_entries": 250,
    "server_content": 4000,
    "server_import_bytes": 2_000_000,
    "entries_a_call": 500,
    "fetch_tokens": 4000,
    "writes_a_turn": 5,
    "import_wait_seconds": 60.0,
}
CAPABILITIES: dict[str, Any] = {
    "api": "v1",
    "version": "0.1.0",
    "limits": LIMITS,
    "dialects": ["world", "server", "chat", "sillytavern"],
    "host_kinds": ["character", "story", "novel", "server", "persona", "conversation"],
    "formats": ["worldbook", "character_card", "sillytavern"],
    "export_formats": ["worldbook", "sillytavern", "png", "charx"],
    "tokenizers": ["cl100k_base", "o200k_base"],
    "default_tokenizer": "o200k_base",
    "budget_tokens": 2000,
    "embedding": {
        "state": "ready",
        "detail": None,
        "space": "3f9c2b7d10a4e865",
        "model": "intfloat/multilingual-e5-small",
        "dimension": 384,
        "calibrated": True,
    },
}
READY: dict[str, Any] = {"status": "ready", "degraded": []}
