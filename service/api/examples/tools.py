"""The tools of a model and one call of them."""

from __future__ import annotations

from typing import Any

from service.api.examples.retrieving import FETCHED

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
