"""Content of a message as the vendors' APIs give it: a text, a list of parts, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_TEXTS = ("text", "input_text", "output_text")
"""Types of the parts that are text: of OpenAI's chat completions and of Anthropic's messages, and two of OpenAI's
responses."""


def joined(content: object) -> object:
    """The texts of the parts, joined by line breaks; what is no list as it is, null as "".

    Parts of other types, such as images and calls of tools, carry no lore. Raises ValueError naming the part that is
    none.
    """
    if content is None:
        return ""
    if not isinstance(content, (list, tuple)):
        return content
    texts = []
    for number, part in enumerate(content):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(kind, str):
            raise ValueError(f'part {number} is no object with a type; a text is {{"type": "text", "text": "…"}}')
        if kind in _TEXTS:
            text = part.get("text")
            if not isinstance(text, str):
                raise ValueError(f"part {number} is of type {kind} and has no text")
            texts.append(text)
    return "\n".join(texts)


class Parts:
    """Annotates a field of type `str` that may be posted as parts.

    Pydantic asks annotations for these two methods by name, so the domain needs not import it.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> dict[str, Any]:
        return {
            "type": "function-before",
            "function": {"type": "no-info", "function": joined},
            "schema": handler(source),
        }

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], Any]) -> dict[str, Any]:
        fields = {"type": {"type": "string", "examples": ["text"]}, "text": {"type": "string"}}
        part = {"type": "object", "required": ["type"], "properties": fields}
        return {"anyOf": [handler(schema["schema"]), {"type": "array", "items": part}, {"type": "null"}]}
