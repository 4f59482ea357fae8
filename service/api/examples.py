"""The examples of the contract; a test reads each through the type that it stands for."""

from __future__ import annotations

from typing import Any

ENTRY_IN: dict[str, Any] = {
    "title": "The Salt Gate",
    "content": "The gate opens at low tide, and only to those who carry salt.",
    "aliases": ["Porta de Sal", "塩の門"],
    "gist": "the only way through the sea wall",
}
ENTRY: dict[str, Any] = {
    **ENTRY_IN,
    "tier": "relevant",
    "enabled": True,
    "trigger": None,
    "extensions": {},
    "id": 17,
    "handle": "bakiru-17",
    "version": 38,
    "position": 16,
    "tokens": 21,
    "vectors": "ready",
    "warnings": [],
    "updated_at": "2026-11-29T20:01:33.002Z",
}
LORE_IN: dict[str, Any] = {
    "title": "Spring tide",
    "content": "Twice a month the sea comes over the wall.",
    "trigger": {"keys": ["spring tide", "maré viva"], "chance": 50, "order": 120},
}
BOOK_IN: dict[str, Any] = {
    "name": "Salt Coast",
    "description": "The shore between the two tides.",
    "entries": [
        {"title": "The Drowning Law", "content": "No ship leaves on a spring tide.", "tier": "canon"},
        ENTRY_IN,
    ],
}
BOOK: dict[str, Any] = {
    "id": "bakiru",
    "version": 41,
    "name": "Salt Coast",
    "description": "The shore between the two tides.",
    "dialect": "world",
    "enabled": True,
    "settings": {
        "places": None,
        "floor": None,
        "scan_depth": None,
        "token_budget": None,
        "recursive_scanning": None,
        "living": False,
    },
    "channels": {"ids": [], "unresolved": []},
    "entries": None,
    "extensions": {},
    "counts": {"entries": 93, "enabled": 90, "canon": 2, "pending_vectors": 0, "failed_vectors": 0},
    "tokens": {"canon": 1126, "relevant": 14880, "tokenizer": "o200k_base"},
    "warnings": [{"kind": "heavy_canon", "detail": "canon: 1,126 tokens every turn"}],
    "created_at": "2026-11-02T09:10:00.000Z",
    "updated_at": "2026-11-30T17:20:11.480Z",
}
BOOKS = {"items": [BOOK], "next_cursor": None, "total": None}
BOOK_PATCH = {"name": "Salt Coast", "enabled": True, "settings": {"places": 6}}
ENTRIES = {"items": [{**ENTRY, "content": ""}], "next_cursor": None, "total": 93}
ENTRIES_IN = [ENTRY_IN, {"title": "Spring tide", "content": "Twice a month the sea comes over the wall."}]
ADDED = {"items": [ENTRY]}
ENTRY_PATCH = {"aliases": ["Porta de Sal"], "tier": "canon"}
BATCH = {"ids": [3, 9], "set": {"enabled": False}}
ORDER = {"ids": [9, 3], "to": "top"}
ORDERED = {"version": 42, "canon_tokens": 1126}

WRITE: dict[str, Any] = {
    "id": "wr_01KBAZ3T5YJ8W2M6N4QX7C9DEF",
    "handle": "bakiru-17",
    "version": 42,
    "action": "edit",
    "before": ENTRY_IN,
    "after": {**ENTRY_IN, "content": "The gate fell in the night of the spring tide."},
    "conversation": "c-81",
    "turn": 22,
    "response_id": "r-22b",
    "at": "2026-11-30T17:24:05.120Z",
    "state": "live",
}
WRITES = {"items": [WRITE], "next_cursor": None, "total": None}
UNDONE = {**WRITE, "state": "undone"}
DISCARD = {"response_id": "r-22b"}
DISCARDED = {"reverted": [{**WRITE, "state": "discarded"}], "kept": []}
USAGE = {
    "items": [
        {
            "handle": "bakiru-17",
            "title": "The Salt Gate",
            "tier": "relevant",
            "enabled": True,
            "uses": 41,
            "fetches": 3,
            "last_used_at": "2026-11-30T17:24:05.120Z",
        }
    ],
    "next_cursor": None,
    "total": None,
}
HEALTH = {
    "version": 41,
    "findings": [
        {
            "kind": "shared_alias",
            "handles": ["bakiru-17", "bakiru-31"],
            "measure": 2,
            "detail": "'the gate' names 2 entries",
            "remedy": "Leave the name to the entry that it means first.",
        }
    ],
}
HOST_IN: dict[str, Any] = {"name": "The Salt Coast, a story", "cast": ["character:ilse", "character:mira"]}
HOST: dict[str, Any] = {
    **HOST_IN,
    "lineage": None,
    "kind": "story",
    "key": "salt-coast",
    "created_at": "2026-11-02T09:10:00.000Z",
}
HOSTS = {"items": [HOST], "next_cursor": None, "total": None}
LABEL = {"label": "Ilse"}
ATTACHED = [{"book_id": "bakiru", "label": None, "via": ["story:salt-coast"]}]
ATTACHMENTS = [{"book": "bakiru", "label": None}]

MESSAGES = [
    {"role": "user", "name": "Mira", "content": "Who rules this shore?"},
    {"role": "assistant", "name": "Ilse", "content": 'Ilse shrugs. "Ask the warden, not me."'},
    {"role": "user", "name": "Mira", "content": "Então vamos à Porta de Sal antes da maré."},
]
RETRIEVE: dict[str, Any] = {
    "hosts": ["story:salt-coast", "character:ilse"],
    "messages": MESSAGES,
    "conversation": "c-81",
    "model": "gpt-5",
    "budget_tokens": 2000,
}


def _trace(handle: str, title: str, status: str, tokens: int, reason: dict[str, Any], **more: Any) -> dict[str, Any]:
    book, _, number = handle.partition("-")
    return {
        "handle": handle,
        "id": int(number),
        "book": book,
        "label": None,
        "title": title,
        "status": status,
        "tokens": tokens,
        "text": None,
        "reason": reason,
        "hits": [],
        **more,
    }


_NAMED = {"kind": "named", "alias": "Porta de Sal", "message": 2, "span": [14, 26], "text": "Porta de Sal"}
_ACTIVATED = {
    "kind": "activated",
    "by": "key",
    "key": "maré",
    "secondary": [],
    "message": 2,
    "source": None,
    "from_entry": None,
    "span": [36, 40],
    "pass_number": 1,
    "drawn": 31.0,
    "chance": 50.0,
}
RETRIEVED: dict[str, Any] = {
    "prompt": {
        "stable": {
            "text": "<lore-9c41>\n# Canon: Salt Coast\n## The Drowning Law\n"
            "No ship leaves on a spring tide.\n</lore-9c41>\n",
            "tokens": 34,
            "hash": "5d0e8a3c1f7742b9a6c4e0d19b83f2aa",
        },
        "volatile": {
            "text": "<lore-9c41>\n# Named\n## The Salt Gate [bakiru-17]\nThe gate opens at low tide …\n"
            "# World index (fetch any by its handle)\n- Warden Oru [bakiru-4]: keeper of the sea wall\n</lore-9c41>\n",
            "tokens": 71,
            "hash": "07aa41d2c09b4f52b1ce6f3a90d8e714",
        },
    },
    "sections": {
        "canon": {
            "tokens": 34,
            "text": None,
            "entries": [
                _trace(
                    "bakiru-1",
                    "The Drowning Law",
                    "canon",
                    14,
                    {"kind": "canon", "place": 1, "kept_over_budget": False},
                )
            ],
        },
        "whole": {"tokens": 0, "text": None, "entries": []},
        "named": {
            "tokens": 40,
            "text": None,
            "entries": [_trace("bakiru-17", "The Salt Gate", "named", 27, _NAMED, hits=[_NAMED])],
        },
        "matched": {"tokens": 0, "text": None, "entries": []},
        "index": {"tokens": 31, "text": None, "lines": 1, "shape": "long_gists", "more": 0},
    },
    "lorebook": {
        "messages": [
            {
                "handle": "gomedi-3",
                "role": "system",
                "content": "Tides here kill.",
                "at": "slot",
                "depth": None,
                "before_message": None,
                "outlet": None,
            }
        ],
        "entries": [_trace("gomedi-3", "Tides", "activated", 5, _ACTIVATED)],
        "groups": None,
        "budgets": [{"books": ["gomedi"], "dialect": "chat", "unit": "tokens", "limit": 800, "used": 5}],
    },
    "over_budget": [],
    "rest": [],
    "counts": [
        {"status": "canon", "reason": "canon", "count": 1},
        {"status": "named", "reason": "named", "count": 1},
        {"status": "indexed", "reason": "unmatched", "count": 1},
        {"status": "activated", "reason": "activated", "count": 1},
    ],
    "books": [
        {
            "id": "bakiru",
            "version": 41,
            "name": "Salt Coast",
            "dialect": "world",
            "label": None,
            "via": ["story:salt-coast"],
            "went": "matched",
            "pending_vectors": 0,
        },
        {
            "id": "gomedi",
            "version": 3,
            "name": "Dangers",
            "dialect": "chat",
            "label": None,
            "via": ["conversation:c-81"],
            "went": "triggered",
            "pending_vectors": 0,
        },
    ],
    "budget": {"limit": 2000, "used": 105, "canon_limit": 1000, "canon_used": 34},
    "tokenizer": {"name": "o200k_base", "exact": True, "detail": None},
    "degraded": [],
    "run": {
        "request_id": "rq_01KBAZ3T5YJ8W2M6N4QX7C9DEF",
        "turn": 2,
        "timings_ms": {"open": 0.4, "embed": 4.1, "retrieve": 0.7, "total": 5.4},
    },
    "scope": {
        "token": "wbs_q83vEjRWeJCrze8SNFZ4kDGC",
        "expires_at": "2026-11-30T18:24:05.000Z",
        "tools": ["fetch", "list", "search"],
    },
}
PREVIEWED = {**RETRIEVED, "run": {**RETRIEVED["run"], "request_id": None}, "scope": None}
_LOGGED: dict[str, Any] = {
    "id": "rq_01KBAZ3T5YJ8W2M6N4QX7C9DEF",
    "at": "2026-11-30T17:24:05.120Z",
    "conversation": "c-81",
    "turn": 22,
    "response_id": "r-22b",
    "entered": 2,
}
REQUESTS = {"items": [_LOGGED], "next_cursor": None, "total": None}
REQUEST = {
    **_LOGGED,
    "answer": {
        **RETRIEVED,
        "prompt": {part: {**told, "text": ""} for part, told in RETRIEVED["prompt"].items()},
    },
    "others": [{"handle": "bakiru-4", "status": "indexed", "reason": "unmatched"}],
}
FETCH = {"names": ["bakiru-17", "porta de  SAL", "Salt Gaet"], "hosts": ["story:salt-coast"], "max_tokens": 1500}
FETCHED = {
    "entries": [
        {
            "handle": "bakiru-17",
            "title": "The Salt Gate",
            "book": "bakiru",
            "label": None,
            "content": ENTRY["content"],
            "tokens": 27,
            "cut": False,
            "asked": ["bakiru-17", "porta de  SAL"],
        }
    ],
    "missing": [{"name": "Salt Gaet", "nearest": [{"handle": "bakiru-17", "title": "The Salt Gate"}]}],
    "tokens": 27,
}
SEARCH = {"query": "who guards the wall", "hosts": ["story:salt-coast"], "limit": 10}
FOUND = {
    "items": [
        {
            "handle": "bakiru-4",
            "title": "Warden Oru",
            "gist": "keeper of the sea wall",
            "book": "bakiru",
            "label": None,
            "tokens": 96,
            "reason": {"kind": "matched", "rank": 1, "score": 0.388, "strength": "strong", "message": None},
        }
    ],
    "next_cursor": None,
    "degraded": [],
}
TOOLS: dict[str, Any] = {
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "lore_fetch",
                "strict": True,
                "description": "Read entries of the world in full. Call it when …",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "names": {
                            "type": "array",
                            "description": "Handles such as bakiru-17, titles or aliases, in any language; at most 20.",
                            "items": {"type": "string"},
                        }
                    },
                    "required": ["names"],
                    "additionalProperties": False,
                },
            },
        }
    ]
}
CALL = {
    "scope": "wbs_q83vEjRWeJCrze8SNFZ4kDGC",
    "name": "lore_fetch",
    "arguments": '{"names": ["bakiru-17", "porta de  SAL", "Salt Gaet"]}',
    "call_id": "call_9",
}
CALLED: dict[str, Any] = {
    "text": "<lore-9c41>\n## The Salt Gate [bakiru-17]\nThe gate opens at low tide …\n</lore-9c41>\n"
    '<index-9c41>\n# Nothing is called "Salt Gaet"; nearest titles:\n- The Salt Gate [bakiru-17]\n</index-9c41>\n',
    "is_error": False,
    "tokens": 71,
    "result": {**FETCHED, "kind": "fetch"},
}

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
IMPORTED: dict[str, Any] = {
    "book": {"id": "bakiru", "version": 1, "name": "Salt Coast", "dialect": "world"},
    "format": {"name": "sillytavern", "version": None, "container": "json"},
    "mode": "new",
    "added": 91,
    "removed": 0,
    "skipped": [{"index": 40, "title": None, "kind": "no_content", "detail": "entry without content"}],
    "no_home": [{"setting": "sticky", "count": 3}, {"setting": "group", "count": 1}],
    "warnings": [
        {
            "kind": "literal_regex",
            "index": 7,
            "title": "Oru",
            "detail": "/or[uo]/ is kept as written and matches nothing else",
        }
    ],
    "pending_vectors": 91,
}
IMPORTED_INTO: dict[str, Any] = {
    **IMPORTED,
    "book": {"id": "bakiru", "version": 42, "name": "Salt Coast", "dialect": "world"},
    "mode": "append",
    "added": 1,
    "skipped": [{"index": 12, "title": "Oru", "kind": "duplicate", "detail": "same content as bakiru-4"}],
    "no_home": [],
    "warnings": [],
    "pending_vectors": 1,
}
EXPORTED: dict[str, Any] = {"format": "sillytavern", "losses": [{"setting": "gist", "count": 12}]}

RESTORED = {
    "restored": {"issued_ids": 2, "books": 2, "entries": 93, "hosts": 1, "cast_members": 0, "attachments": 1},
    "present": {"issued_ids": 0, "books": 0, "entries": 0, "hosts": 0, "cast_members": 0, "attachments": 0},
}

COPY = {"name": "Salt Coast, after the flood"}
