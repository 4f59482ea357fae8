"""RisuAI lorebook exports: `{"type": "risu", "ver": 1, "data": […]}`; keys are typed lists, folders are rows too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from service.formats.format import Format
from service.formats.keys import is_regex
from service.formats.names import Keys, aliases, book_name, keys_of, truth
from service.formats.report import Reading, without_home
from service.formats.rows import Row, gather, kept, kept_of_file, listed, named, reading

NAME = "risuai"
FOLDER = "\uf000folder:"
"""Begins the key of a folder, and the `folder` of the entries in it."""
_HOME = {"key", "secondkey", "comment", "content", "alwaysActive", "bookVersion", "id", "loreCache"}
_BOOK_HOME = {"type", "ver", "data", "name"}
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "mode": ("normal", "constant"),
    "insertorder": (100,),
    "activationPercent": (100,),
    "useRegex": (False,),
    "selective": (False,),
    "extentions.risu_case_sensitive": (False,),
}
_SPELLED = {
    "insertorder": "order",
    "activationPercent": "probability",
    "extentions.risu_case_sensitive": "caseSensitive",
}


def recognise(value: object) -> bool:
    """The file says so itself."""
    return isinstance(value, dict) and value.get("type") == "risu" and isinstance(value.get("data"), list)


def read(value: Any) -> Reading:
    """A world book: keys become aliases, what is always active canon; folders are left out, not what is in them.

    Raises `LimitExceeded`.
    """
    rows = listed(value, "data")
    found = gather(rows, _row)
    return reading(
        named(NAME, value.get("ver")),
        found,
        name=book_name(value.get("name")),
        extensions={NAME: kept_of_file(value, "data", rows, found)},
        no_home=without_home(value, _BOOK_HOME, _NEUTRAL),
    )


FORMAT = Format(name=NAME, recognise=recognise, telling=frozenset({"type"}), read=read, spelled=_SPELLED)


def _row(_place: int, raw: dict[str, Any]) -> Row | str:
    key = raw.get("key")
    if raw.get("mode") == "folder" or (isinstance(key, str) and key.startswith(FOLDER)):
        return "a folder; what is in it is read"
    whole = truth(raw.get("useRegex", False)) and isinstance(key, str)
    primary = keys_of([key] if whole else key)
    unused = "selective" if not raw.get("secondkey") else ""
    always = truth(raw.get("alwaysActive", False)) or raw.get("mode") == "constant"
    sensitive = raw.get("extentions")
    return Row(
        titles=(raw.get("comment"),),
        content=raw.get("content"),
        keys=primary,
        secondary=keys_of(raw.get("secondkey")),
        canon=always,
        settings={
            "constant": always,
            "selective": raw.get("selective", False),
            "order": raw.get("insertorder"),
            "probability": raw.get("activationPercent"),
            "useProbability": True,
            "caseSensitive": sensitive.get("risu_case_sensitive") if isinstance(sensitive, Mapping) else None,
        },
        extensions={NAME: kept(raw, "content")},
        no_home=without_home(raw, _HOME | {unused}, _NEUTRAL),
        warnings=_patterns(primary) if whole else (),
    )


def _patterns(keys: Keys) -> Iterator[tuple[str, str]]:
    """The keys that RisuAI takes for regular expressions though they do not look like one."""
    for name in aliases(keys):
        if not is_regex(name):
            yield "literal_regex", f"{name} is kept as written and matches nothing else"
