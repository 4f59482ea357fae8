"""NovelAI lorebooks, versions 1 to 6, also inside a story or a scenario.

`{"lorebookVersion": 5, "entries": […], "settings": {…}, "categories": […], "order": […]}`; version 1 has only entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from math import inf
from typing import Any

from service.formats.format import Format
from service.formats.keys import patterns
from service.formats.names import MAX_NAME, aliases, book_name, first_line, keys_of, truth
from service.formats.report import ImportWarning, Reading, without_home
from service.formats.rows import Row, gather, kept, kept_of_file, listed, named, reading
from service.lore.errors import UnreadableFile

NAME = "novelai"
NEWEST = 6
TELLING = frozenset({"lorebookVersion", "storyContainerVersion", "scenarioVersion"})
_HOME = {"text", "displayName", "keys", "enabled", "forceActivation", "id", "lastUpdatedAt"}
_BOOK_HOME = {"lorebookVersion", "entries", "order"}
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "searchRange": (1000,),
    "keyRelative": (False,),
    "nonStoryActivatable": (False,),
    "hidden": (False,),
    "settings.orderByKeyLocations": (False,),
    "contextConfig.suffix": ("\n",),
    "contextConfig.tokenBudget": (1, 2048),
    "contextConfig.reservedTokens": (0,),
    "contextConfig.budgetPriority": (400,),
    "contextConfig.trimDirection": ("trimBottom",),
    "contextConfig.insertionType": ("newline",),
    "contextConfig.maximumTrimType": ("sentence",),
    "contextConfig.insertionPosition": (-1,),
}
"""What a newly created entry holds, in any version."""


def recognise(value: object) -> bool:
    """The file states the version of a lorebook, a story or a scenario."""
    if not isinstance(value, dict):
        return False
    return not value.keys().isdisjoint(TELLING)


def read(value: Any) -> Reading:
    """A world book: keys become aliases, forced entries canon, those of a category that is off are disabled.

    Raises `UnreadableFile` (fault `no_book`) for a story without a lorebook, `Invalid`, `LimitExceeded`.
    """
    book, about = (value, {}) if "lorebookVersion" in value else _inside(value)
    rows = listed(book, "entries")
    off = _switched_off(book)
    order = book["order"] if isinstance(book.get("order"), list) else []
    ranks = {id_: place for place, id_ in reversed(list(enumerate(order))) if isinstance(id_, str)}
    found = gather(rows, partial(_row, off, ranks))
    version = book.get("lorebookVersion")
    return reading(
        named(NAME, version),
        found,
        name=book_name(about.get("title")),
        description=about.get("description"),
        extensions={NAME: kept_of_file(book, "entries", rows, found)},
        no_home=without_home(book, _BOOK_HOME, _NEUTRAL),
        warnings=tuple(_told(value, version)),
    )


FORMAT = Format(
    name=NAME, recognise=recognise, telling=TELLING, read=read, spelled={"contextConfig.budgetPriority": "order"}
)


def _inside(value: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The lorebook of a story or a scenario, and what has its title."""
    story, about = (value.get("content"), value.get("metadata")) if "storyContainerVersion" in value else (value, value)
    book = story.get("lorebook") if isinstance(story, Mapping) else None
    if not isinstance(book, Mapping):
        what = "story" if "storyContainerVersion" in value else "scenario"
        raise UnreadableFile(f"a {what} without a lorebook", fault="no_book", remedy="Export the lorebook itself.")
    return book, about if isinstance(about, Mapping) else {}


def _told(value: Mapping[str, Any], version: object) -> Iterator[ImportWarning]:
    if "lorebookVersion" not in value:
        yield ImportWarning(kind="rest_left_out", detail="only the lorebook was read, and the title of its story")
    if not isinstance(version, int) or not 1 <= version <= NEWEST:
        yield ImportWarning(kind="unknown_version", detail=f"{version!s:.20} is no known version; read as {NEWEST}")


def _switched_off(book: Mapping[str, Any]) -> dict[str, str]:
    """Id to name of the categories that are off, and with them all their entries."""
    given = book.get("categories")
    categories = [each for each in given if isinstance(each, Mapping)] if isinstance(given, list) else []
    return {
        each["id"]: first_line((each.get("name"), each["id"]))[:MAX_NAME]
        for each in categories
        if isinstance(each.get("id"), str) and not truth(each.get("enabled", True))
    }


def _row(off: Mapping[str, str], ranks: Mapping[str, int], _place: int, raw: dict[str, Any]) -> Row:
    keys = keys_of(raw.get("keys"))
    category = str(raw.get("category"))
    given = raw.get("contextConfig")
    context = given if isinstance(given, Mapping) else {}
    return Row(
        titles=(raw.get("displayName"),),
        content=raw.get("text"),
        keys=keys,
        settings={
            "constant": raw.get("forceActivation"),
            "order": context.get("budgetPriority"),
        },
        canon=truth(raw.get("forceActivation", False)),
        enabled=truth(raw.get("enabled", True)) and category not in off,
        rank=ranks.get(str(raw.get("id")), inf),
        extensions={NAME: kept(raw, "text")},
        no_home=without_home({**raw, "loreBiasGroups": _biases(raw)}, _HOME, _NEUTRAL),
        warnings=(*patterns(aliases(keys), _joins, "wants several words"), *_switched(off, category)),
    )


def _biases(raw: Mapping[str, Any]) -> list[Any]:
    """The groups that have a phrase: each new entry has one that has none."""
    groups = raw.get("loreBiasGroups")
    given = groups if isinstance(groups, list) else []
    return [each for each in given if not isinstance(each, Mapping) or each.get("phrases")]


def _joins(key: str) -> bool:
    return " & " in key


def _switched(off: Mapping[str, str], category: str) -> Iterator[tuple[str, str]]:
    if category in off:
        yield "category_off", f"disabled, as its category {off[category]} is"
