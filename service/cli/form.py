"""An entry as a text to edit: header lines, one blank line, the content.

title: The Salt Gate
alias: Porta de Sal
alias: 塩の門
gist: the only way through the sea wall
tier: relevant
enabled: yes

The gate opens …

An entry of a lorebook has the lines that say what wakes it instead of alias, gist and tier: key, secondary, logic,
constant, chance (per cent; blank: always), order. What else its trigger says stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

EMPTY: Mapping[str, Any] = {
    "title": "",
    "content": "",
    "aliases": [],
    "gist": None,
    "tier": "relevant",
    "enabled": True,
}
_SWITCH = {"yes": True, "no": False}


class FormError(ValueError):
    """A header line that says nothing known."""


def _switch(value: str) -> bool:
    if value not in _SWITCH:
        raise ValueError("yes or no")
    return _SWITCH[value]


def _number(kind: type[int] | type[float], what: str) -> Callable[[str], float]:
    def read(value: str) -> float:
        try:
            return kind(value)
        except ValueError:
            raise ValueError(what) from None

    return read


@dataclass(frozen=True)
class _Line:
    """A header line."""

    name: str
    field: str
    blank: Any
    """Its value when it is blank or not there; a list: one line for each value."""
    read: Callable[[str], Any] = str
    """Raises `ValueError` with what was expected."""

    def shown(self, value: Any) -> list[str]:
        """Of a list one empty line is there to be used."""
        values = (*value, "") if isinstance(self.blank, list) else (value,)
        return [f"{self.name}: {_as_line(each)}".rstrip() for each in values]


_TITLE = _Line("title", "title", "")
_ENABLED = _Line("enabled", "enabled", True, _switch)
_OF_WORLD = (
    _TITLE,
    _Line("alias", "aliases", []),
    _Line("gist", "gist", None),
    _Line("tier", "tier", "relevant"),
    _ENABLED,
)
_OF_TRIGGER = (
    _Line("key", "keys", []),
    _Line("secondary", "secondary_keys", []),
    _Line("logic", "logic", "any"),
    _Line("constant", "constant", False, _switch),
    _Line("chance", "chance", None, _number(float, "per cent, or blank for always")),
    _Line("order", "order", 100, _number(int, "a whole number")),
)
_OF_LOREBOOK = (_TITLE, *_OF_TRIGGER, _ENABLED)
TRIGGER = tuple(line.field for line in _OF_TRIGGER)
"""The fields of a trigger that have a line."""
NAMES: Mapping[str, str] = {line.field: line.name for line in (*_OF_WORLD, *_OF_LOREBOOK)}
"""Field to the name of its line."""


def to_text(entry: Mapping[str, Any]) -> str:
    """The form, filled in."""
    said = _flat(entry)
    header = [text for line in _lines(_wakes(entry)) for text in line.shown(said.get(line.field, line.blank))]
    return "\n".join(header) + f"\n\n{_as_edited(entry['content'])}\n"


def from_text(text: str, *, lorebook: bool = False) -> dict[str, Any]:
    """The fields of an edited form, those of the trigger within it. Raises `FormError` quoting a wrong line."""
    header, _, content = text.partition("\n\n")
    lines = {line.name: line for line in _lines(lorebook)}
    said = {line.field: list(line.blank) if isinstance(line.blank, list) else line.blank for line in lines.values()}
    for written in header.split("\n"):
        name, colon, value = (part.strip() for part in written.partition(":"))
        if not colon or name not in lines:
            raise FormError(
                f"'{written}': expected one of {', '.join(lines)} and a colon; then a blank line, then the content"
            )
        line = lines[name]
        try:
            read = line.blank if not value and line.read is not _switch else line.read(value)
        except ValueError as error:
            raise FormError(f"'{written}': {error}") from None
        if not isinstance(line.blank, list):
            said[line.field] = read
        elif value:
            said[line.field].append(read)
    return _nested({**said, "content": content.removesuffix("\n")}, lorebook)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were edited; an editor's line ends and blank edges of a line are no edit."""
    lorebook = _wakes(before)
    shown, edited = _flat(from_text(to_text(before), lorebook=lorebook)), _flat(after)
    found = {name: value for name, value in edited.items() if value != shown[name]}
    for name in {"keys", "secondary_keys"} & set(found):  # a key that was left alone stays as it is stored
        stored = {_as_line(key).strip(): key for key in before["trigger"][name]}
        found[name] = [stored.get(key, key) for key in found[name]]
    return _nested(found, lorebook)


def _wakes(entry: Mapping[str, Any]) -> bool:
    """Whether it is an entry of a lorebook."""
    return entry.get("trigger") is not None


def _lines(lorebook: bool) -> tuple[_Line, ...]:
    return _OF_LOREBOOK if lorebook else _OF_WORLD


def _flat(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the trigger beside those of the entry."""
    return {**{name: value for name, value in entry.items() if name != "trigger"}, **(entry.get("trigger") or {})}


def _nested(said: Mapping[str, Any], lorebook: bool) -> dict[str, Any]:
    trigger = {name: value for name, value in said.items() if lorebook and name in TRIGGER}
    fields = {name: value for name, value in said.items() if name not in trigger}
    return {**fields, "trigger": trigger} if trigger else fields


def _as_line(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else str(value)
    return "" if value is None else str(value).replace("\r", "\\r").replace("\n", "\\n")


def _as_edited(text: str) -> str:
    return text.replace("\r\n", "\n")
