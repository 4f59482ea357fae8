"""The activation settings of a file entry, under SillyTavern's names, as fields of a `Trigger` and back: one table.

An entry of any format is first told under SillyTavern's names (`Rules.settings`); from there each dialect takes what it
has a field for. Files give the same number another meaning than the `chat` dialect does: there a higher `order` stands
first, in files it stands last, and decides what survives the budget where an entry states no `priority`. So its
`order` is mirrored at 100, the default of both, and the file's order stands in for a missing priority.
Sources: SillyTavern's `world-info.js`; card specification V3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, get_args

from service.formats import trigger_values as values
from service.formats.names import Keys, text, truth
from service.lore.book import Dialect
from service.lore.dialects import DIALECTS
from service.lore.limits import SEARCHED
from service.lore.trigger import Generation, Source, Trigger

Settings = Mapping[str, Any]
Flat = dict[str, Any]
"""Fields of a trigger by their path: `recursion.exclude`."""
MIRROR = 200
MAX_KEY = 2000
MAX_KEYS = 1000
_FAR = 1_000_000_000
_MANY = 1_000_000
_SOURCES: Mapping[str, Source] = {
    "matchPersonaDescription": "persona",
    "matchCharacterDescription": "description",
    "matchCharacterPersonality": "personality",
    "matchCharacterDepthPrompt": "depth_prompt",
    "matchScenario": "scenario",
    "matchCreatorNotes": "creator_notes",
}


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a trigger, and the settings of a file that say the same."""

    path: str
    names: tuple[str, ...]
    """SillyTavern's."""
    read: Callable[[Settings, Dialect], Any]
    """None: the settings do not say, and the default counts."""
    write: Callable[[Any, Dialect], Settings]
    stands_in: Mapping[Dialect, str] = field(default_factory=dict)
    """Path of the field that is read from these settings where it has none of its own; written with them, to stay."""


def _plain(
    path: str,
    name: str,
    read: values.Read,
    write: values.Write = lambda value: value,
) -> Field:
    return Field(
        path=path,
        names=(name,),
        read=lambda settings, _: read(settings.get(name)),
        write=lambda value, _: {name: write(value)},
    )


def _order(settings: Settings, dialect: Dialect) -> int | None:
    order = _whole_order(settings.get("order"))
    return MIRROR - order if order is not None and dialect == "chat" else order


def _priority(settings: Settings, dialect: Dialect) -> int | None:
    stated = _whole_order(settings.get("priority"))
    if stated is not None or dialect != "chat":
        return stated
    order = _whole_order(settings.get("order"))
    return MIRROR // 2 if order is None else order


def _whole_order(value: object) -> int | None:
    found: int | None = values.whole(MIRROR - _FAR, _FAR)(value)
    return found


def _chance(settings: Settings, dialect: Dialect) -> float | None:
    """SillyTavern draws only when it is told to use the chance, and no other program knows that switch."""
    used = settings.get("useProbability")
    if dialect == "sillytavern" if used is None else not truth(used):
        return None
    found: float | None = values.within(0, 100)(settings.get("probability"))
    return None if found == 100 else found


def _with_chance(value: float | None, _: Dialect) -> Settings:
    return {"probability": 100 if value is None else values.plain(value), "useProbability": True}


def _filter(part: str, read: values.Read) -> Callable[[Settings, Dialect], Any]:
    def of(settings: Settings, _: Dialect) -> Any:
        given = settings.get("characterFilter")
        return read(given.get(part)) if isinstance(given, Mapping) else None

    return of


def _in_filter(part: str) -> Callable[[Any, Dialect], Settings]:
    return lambda value, _: {"characterFilter": {part: list(value) if isinstance(value, tuple) else value}}


FIELDS: tuple[Field, ...] = (
    _plain("logic", "selectiveLogic", values.coded(values.LOGICS), values.code_of(values.LOGICS)),
    _plain("selective", "selective", values.switch),
    _plain("constant", "constant", values.switch),
    _plain("whole_words", "matchWholeWords", values.switch),
    _plain("case_sensitive", "caseSensitive", values.switch),
    Field(
        path="scan_depth",
        names=("scanDepth",),
        read=lambda settings, dialect: values.whole(*SEARCHED[dialect])(settings.get("scanDepth")),
        write=lambda value, _: {"scanDepth": value},
    ),
    Field(path="chance", names=("probability", "useProbability"), read=_chance, write=_with_chance),
    Field(
        path="order",
        names=("order",),
        read=_order,
        write=lambda value, dialect: {"order": MIRROR - value if dialect == "chat" else value},
        stands_in={"chat": "priority"},
    ),
    Field(
        path="priority",
        names=("priority",),
        read=_priority,
        write=lambda value, _: {"priority": value},
    ),
    _plain("role", "role", values.coded(values.ROLES), values.code_of(values.ROLES)),
    Field(
        path="at",
        names=("position",),
        read=lambda settings, _: values.coded(values.PLACES, values.PLACE_NAMES)(settings.get("position")) or "before",
        write=lambda value, _: {"position": values.code_of(values.PLACES)(value)},
    ),
    _plain("depth", "depth", values.whole(0, _MANY)),
    _plain("outlet", "outletName", values.name),
    _plain("sticky", "sticky", values.whole_or_none(0, _MANY)),
    _plain("cooldown", "cooldown", values.whole_or_none(0, _MANY)),
    _plain("delay", "delay", values.whole_or_none(0, _MANY)),
    _plain("group.names", "group", values.groups, ", ".join),
    _plain("group.override", "groupOverride", values.switch),
    _plain("group.weight", "groupWeight", values.within(0, _MANY), values.plain),
    _plain("group.scoring", "useGroupScoring", values.switch),
    _plain("recursion.exclude", "excludeRecursion", values.switch),
    _plain("recursion.prevent", "preventRecursion", values.switch),
    _plain("recursion.delay_until", "delayUntilRecursion", values.level),
    _plain("ignore_budget", "ignoreBudget", values.switch),
    _plain(
        "generations",
        "triggers",
        lambda value: tuple(name for name in values.names(value) if name in get_args(Generation)),
        list,
    ),
    Field(
        path="characters.names",
        names=("characterFilter",),
        read=_filter("names", values.names),
        write=_in_filter("names"),
    ),
    Field(
        path="characters.tags",
        names=("characterFilter",),
        read=_filter("tags", values.names),
        write=_in_filter("tags"),
    ),
    Field(
        path="characters.exclude",
        names=("characterFilter",),
        read=_filter("isExclude", values.switch),
        write=_in_filter("isExclude"),
    ),
    Field(
        path="sources",
        names=tuple(_SOURCES),
        read=lambda settings, _: tuple(each for name, each in _SOURCES.items() if truth(settings.get(name))),
        write=lambda value, _: {name: each in value for name, each in _SOURCES.items()},
    ),
)
# Secondary keys that do not count are left out of a server lorebook, which has no switch for them.
_READ = {row.dialect: row.reads | ({"selective"} if row.dialect == "server" else set()) for row in DIALECTS}
_SAYING_NOTHING: tuple[object, ...] = (0, False, "", [], {})
_BY_NAME = {name: field for field in FIELDS for name in field.names}


def has_effect(name: str, settings: Settings, dialect: Dialect) -> bool:
    """Whether what the settings say under this name counts in the dialect."""
    field = _BY_NAME.get(name)
    if field is None or field.path.partition(".")[0] not in _READ[dialect]:
        return False
    # Every other place counts as before the persona there.
    return field.path != "at" or dialect != "server" or field.read(settings, dialect) in ("before", "after")


def inexact(settings: Settings, dialect: Dialect) -> Iterator[tuple[str, object]]:
    """The names of single settings that count otherwise than they are written, and how."""
    for each in FIELDS:
        (name, *others) = each.names
        given = settings.get(name)
        if others or given is None or given == "" or not has_effect(name, settings, dialect):
            continue
        read = each.read(settings, dialect)
        if read is None and given in _SAYING_NOTHING:
            continue
        shown = "the default" if read is None else each.write(read, dialect)[name]
        if read is None or (values.number(given) is not None and values.number(given) != values.number(shown)):
            yield name, shown


def trigger(settings: Settings, keys: Keys, secondary: Keys, dialect: Dialect) -> Trigger:
    """What wakes the entry in this dialect, and where it goes."""
    found = {field.path: value for field in FIELDS if (value := field.read(settings, dialect)) is not None}
    counting = dialect != "server" or found.get("selective", True)  # that dialect has no switch for secondary keys
    return of_flat(
        {
            **found,
            "keys": key_texts(keys, dialect),
            "secondary_keys": key_texts(secondary if counting else (), dialect),
        }
    )


def key_texts(keys: Keys, dialect: Dialect) -> tuple[str, ...]:
    """The keys as the dialect reads them, each once; blank ones and those that are too long are none."""
    found = (key_text(given, name, dialect) for given, name in keys)
    return tuple(dict.fromkeys(key for key in found if key is not None and len(key) <= MAX_KEY))[:MAX_KEYS]


def key_text(given: object, name: str | None, dialect: Dialect) -> str | None:
    """One key: as it stands in the file where it may be a regular expression, else as one line."""
    return name if name is None or dialect != "sillytavern" else text(given)


def changes(before: Trigger, after: Trigger, dialect: Dialect) -> dict[str, Any]:
    """The settings, but for the keys, that `after` says otherwise than `before`; an inner object has only the part."""
    was, now = flat(before), flat(after)
    found: dict[str, Any] = {}
    changed = [each for each in FIELDS if was[each.path] != now[each.path]]
    stated = {each.path for each in changed} | {each.stands_in.get(dialect) for each in changed}
    for each in FIELDS:
        if each.path in stated:
            for name, value in each.write(now[each.path], dialect).items():
                found[name] = {**found.get(name, {}), **value} if isinstance(value, Mapping) else value
    return found


def flat(value: object, prefix: str = "") -> Flat:
    """A trigger by paths."""
    return dict(_flat(value, prefix))


def of_flat(found: Flat) -> Trigger:
    """A trigger of these paths; what is missing is its default."""
    return _filled(Trigger(), found, "")  # type: ignore[no-any-return]  # a Trigger as it was given one


def _flat(value: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for item in fields(value):
        inner = getattr(value, item.name)
        if is_dataclass(inner):
            yield from _flat(inner, f"{prefix}{item.name}.")
        else:
            yield f"{prefix}{item.name}", inner


def _filled(default: Any, found: Flat, prefix: str) -> Any:
    given = {}
    for item in fields(default):
        path, inner = f"{prefix}{item.name}", getattr(default, item.name)
        if is_dataclass(inner):
            given[item.name] = _filled(inner, found, f"{path}.")
        else:
            given[item.name] = found.get(path, inner)
    return type(default)(**given)
