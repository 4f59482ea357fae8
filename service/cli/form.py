"""An entry as a text to edit: header lines, one blank line, the content.

title: The Salt Gate
alias: Porta de Sal
alias: 塩の門
gist: the only way through the sea wall
tier: relevant
enabled: yes

The gate opens …
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EMPTY: Mapping[str, Any] = {
    "title": "",
    "content": "",
    "aliases": [],
    "gist": None,
    "tier": "relevant",
    "enabled": True,
}
FIELDS = tuple(EMPTY)
_SWITCH = {"yes": True, "no": False}
_NAMES = ("title", "alias", "gist", "tier", "enabled")


class FormError(ValueError):
    """A header line that says nothing known."""


def to_text(entry: Mapping[str, Any]) -> str:
    """The form, filled in. One empty `alias:` line is there to be used."""
    header = [f"title: {entry['title']}"]
    header += [f"alias: {alias}" for alias in (*entry["aliases"], "")]
    header += [f"gist: {entry['gist'] or ''}", f"tier: {entry['tier']}"]
    header += [f"enabled: {'yes' if entry['enabled'] else 'no'}"]
    return "\n".join(line.rstrip() for line in header) + f"\n\n{_as_edited(entry['content'])}\n"


def from_text(text: str) -> dict[str, Any]:
    """The fields of an edited form. Raises `FormError` naming the line that is wrong."""
    header, _, content = text.partition("\n\n")
    entry: dict[str, Any] = {**EMPTY, "aliases": [], "content": content.removesuffix("\n")}
    for line in header.split("\n"):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or name not in _NAMES:
            raise FormError(
                f"'{line}': expected one of {', '.join(_NAMES)} and a colon; then a blank line, then the content"
            )
        if name == "enabled":
            if value not in _SWITCH:
                raise FormError(f"'{line}': yes or no")
            entry["enabled"] = _SWITCH[value]
        elif name == "alias":
            entry["aliases"] += [value] if value else []
        else:
            entry[name] = value or EMPTY[name]
    return entry


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were edited; an editor's line ends and blank edges of a line are no edit."""
    shown = from_text(to_text(before))
    return {name: after[name] for name in FIELDS if after[name] != shown[name]}


def _as_edited(text: str) -> str:
    return text.replace("\r\n", "\n")
