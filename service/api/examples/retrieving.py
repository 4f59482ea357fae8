"""What a conversation asks and is given."""

from __future__ import annotations

from typing import Any

from service.api.examples.entries import ENTRY

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
