"""What the request log answers."""

from __future__ import annotations

from typing import Any

from service.api.examples.retrieving import RETRIEVED

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
