"""What an author should know about a trigger: settings that contradict each other, keys that mean something else."""

from __future__ import annotations

from collections.abc import Iterator

from service.lore.activation.keys import JS_SPACES, JavaScriptKeys
from service.lore.activation.patterns import looks_like_pattern, read_pattern
from service.lore.book import Dialect, Entry, Warning
from service.lore.decorators import read_decorators
from service.lore.dialects import DIALECTS
from service.lore.matching import unusable


def trigger_warnings(entry: Entry, dialect: Dialect) -> Iterator[Warning]:
    """Warnings of an entry of a trigger lorebook; nothing is refused."""
    row = next((row for row in DIALECTS if row.dialect == dialect), None)
    trigger = entry.trigger
    if row is None or trigger is None:
        return
    said, content = read_decorators(entry.content, row.decorators)
    keys = (*trigger.keys, *trigger.secondary_keys)
    usable = [key for key in trigger.keys if _usable(key, row.matching)]
    recursion = trigger.recursion
    forced = trigger.constant or said.forced
    if "recursion" in row.reads and recursion.exclude and recursion.delay_until:
        yield Warning(
            kind="dead_trigger",
            detail="it waits for other entries to wake it and refuses to be woken by them: it never activates",
        )
    elif not usable and not forced and not row.keyless:
        yield Warning(kind="no_key", detail="it has no key and is not constant: it never activates")
    if trigger.chance == 0:
        yield Warning(kind="chance_0", detail="a chance of 0 never activates")
    for key in keys:
        if not _usable(key, row.matching):
            yield Warning(kind="blank_key", detail="a key of blanks is ignored")
        elif not row.patterns and looks_like_pattern(key):
            yield Warning(
                kind="literal_pattern", detail=f"{key} is literal text in this dialect and matches itself only"
            )
        elif row.patterns and looks_like_pattern(key) and read_pattern(key.strip(JS_SPACES)) is None:
            yield Warning(kind="broken_pattern", detail=f"{key} is no sound regular expression; it is read as text")
    if not content.strip():
        yield Warning(kind="no_content", detail="nothing is left to insert beside its decorators")


def _usable(key: str, matching: str) -> bool:
    return JavaScriptKeys.usable(key) if matching == "javascript" else not unusable(key)
