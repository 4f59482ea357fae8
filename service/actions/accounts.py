"""What the request log keeps of a retrieval: the account of its answer, and what it is found by."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import orjson

from service.lore.activation.answer import LorebookGroups
from service.lore.answer import Prompt, RetrieveAnswer, Section
from service.lore.book import handle_of
from service.lore.traces import EntryTrace
from service.lore.unlisted import Unlisted


def packed(answer: RetrieveAnswer, others: Iterable[Unlisted]) -> bytes:
    """An account in little room."""
    rows = [[each.status, each.reason, each.book, each.runs] for each in others]
    return zlib.compress(orjson.dumps({"answer": answer, "others": rows}), 1)


def unpacked(data: bytes) -> dict[str, Any]:
    """The answer, and `others`: handle, status and reason of each."""
    found = orjson.loads(zlib.decompress(data))
    others = [
        {"handle": handle_of(book, number), "status": status, "reason": reason}
        for status, reason, book, runs in found["others"]
        for first, last in runs
        for number in range(first, last + 1)
    ]
    return {"answer": found["answer"], "others": others}


def once(conversation: str | None, turn: int, response_id: str | None) -> str | None:
    """What makes two requests count as one (SPEC C7): a reply that is tried again. None: nothing does."""
    if conversation is None:
        return None
    return hashlib.sha256(orjson.dumps([conversation, turn, response_id])).hexdigest()


def without_texts(answer: RetrieveAnswer) -> RetrieveAnswer:
    """The answer, but for the texts that it gave to the model."""
    prompt, sections, lorebook = answer.prompt, answer.sections, answer.lorebook
    silent = {
        item.name: replace(section, text=None, entries=_silent(section.entries))
        for item in fields(sections)
        if isinstance(section := getattr(sections, item.name), Section)
    }
    groups = lorebook.groups
    return replace(
        answer,
        prompt=Prompt(stable=replace(prompt.stable, text=""), volatile=replace(prompt.volatile, text="")),
        sections=replace(sections, index=replace(sections.index, text=None), **silent),
        lorebook=replace(
            lorebook,
            messages=tuple(replace(message, content="") for message in lorebook.messages),
            entries=_silent(lorebook.entries),
            groups=None if groups is None else _without_lore(groups),
        ),
        over_budget=_silent(answer.over_budget),
        rest=(),
    )


def _silent(entries: Iterable[EntryTrace]) -> tuple[EntryTrace, ...]:
    return tuple(replace(entry, text=None) for entry in entries)


def _without_lore(groups: LorebookGroups) -> LorebookGroups:
    return replace(
        groups,
        always_before=replace(groups.always_before, text=""),
        always_after=replace(groups.always_after, text=""),
        triggered_before=replace(groups.triggered_before, text=""),
        triggered_after=replace(groups.triggered_after, text=""),
    )


def entered(answer: RetrieveAnswer) -> tuple[str, ...]:
    """The entries that the model got to read."""
    sections = answer.sections
    shown = (*sections.canon.entries, *sections.whole.entries, *sections.named.entries, *sections.matched.entries)
    return tuple(entry.handle for entry in (*shown, *answer.lorebook.entries))
