"""Why an entry of a lorebook was sent, or was not, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Reason = Mapping[str, Any]


def _woken(reason: Reason) -> str:
    drawn = "" if reason["drawn"] is None else f", drawn {reason['drawn']:.1f} against {reason['chance']:g}"
    if reason["key"] is None:
        return f"activated by {reason['by']}{drawn}"
    if reason["message"] is not None:
        where = f"message {reason['message'] + 1}"
    else:
        where = reason["from_entry"] or reason["source"] or "the conversation"
    return f"key “{reason['key']}” in {where}{drawn}"


def _secondary(reason: Reason) -> str:
    key = f"“{reason['key']}” was found" if reason["key"] else "a key was found"
    return f"{key}, but its secondary keys ({reason['logic'].replace('_', ' ')}) did not allow it"


def _timed(reason: Reason) -> str:
    until = "" if reason["until"] is None else f", until there are {reason['until']} messages"
    return f"{reason['effect'].replace('_', ' ')}{until}"


WORDS: Mapping[str, Callable[[Reason], str]] = {
    "activated": _woken,
    "constant": lambda _: "always on",
    "channel": lambda reason: f"only in the channels {', '.join(reason['allowed'])}",
    "filtered": lambda reason: f"meant for another {reason['by']}",
    "chance": lambda reason: f"chance: drawn {reason['drawn']:.1f} against {reason['chance']:g}",
    "no_key": lambda _: "no key was found",
    "secondary": _secondary,
    "timed": _timed,
    "recursion": lambda reason: {
        "delayed": "waits for the content of another entry",
        "excluded": "only the content of another entry has its key, and it refuses to be woken so",
    }[reason["rule"]],
    "group": lambda reason: f"{reason['winner'] or 'another entry'} was taken of the group {reason['group']}",
    "dont_activate": lambda _: "switched off by @@dont_activate",
    "nothing": lambda _: "activated, but there is nothing to insert",
}
"""By the kind of reason."""


def over_budget(reason: Reason) -> str:
    """What had woken an entry that the budget of its lorebooks cut."""
    woken = reason["woken"]
    return f"{WORDS[woken['kind']](woken)}, but only {reason['left']:,} of the budget were left"
