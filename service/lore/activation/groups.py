"""Inclusion groups: of the entries of one group that would activate in a pass, one stays (formats.md 6.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from service.lore.activation.conditions import Member
from service.lore.reasons import Outgrouped


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """What the choice asks."""

    sticky: Callable[[Member], bool]
    score: Callable[[Member], int]
    scoring: bool
    """Whether entries that do not say take part in scoring."""
    draw: Callable[[str], float]
    """Per cent in [0, 100) for the name of a group."""


def choose(
    members: Sequence[Member], active: Iterable[Member], grouping: Grouping
) -> tuple[list[Member], dict[int, Outgrouped]]:
    """Who stays, in the same order, and why each other leaves.

    `members` come in the order in which entries are considered. Of a group: the sticky ones, if any; else none when it
    has an active member; else the first that overrides; else one drawn by weight from those with the best score.
    """
    taken: dict[str, Member] = {}
    for each in active:
        for name in each.rule.trigger.group.names:
            taken.setdefault(name, each)
    left: dict[int, Outgrouped] = {}
    names = dict.fromkeys(name for member in members for name in member.rule.trigger.group.names if name)
    for name in names:
        group = [m for m in members if name in m.rule.trigger.group.names and m.place not in left]
        stay = _stay(name, group, taken.get(name), grouping)
        kept = {member.place for member in stay}
        winner = stay[0] if stay else taken.get(name)
        handle = winner.rule.entry.handle if winner else None
        left |= {m.place: Outgrouped(group=name, winner=handle) for m in group if m.place not in kept}
    return [member for member in members if member.place not in left], left


def _stay(name: str, group: list[Member], active: Member | None, grouping: Grouping) -> list[Member]:
    sticky = [member for member in group if grouping.sticky(member)]
    if sticky:
        return sticky
    if active is not None:
        return []
    group = _best(group, grouping)
    if len(group) < 2:
        return group
    overriding = [member for member in group if member.rule.trigger.group.override]
    if overriding:
        return [max(overriding, key=lambda member: member.rule.trigger.order)]
    return [_drawn(group, grouping.draw(name))]


def _best(group: list[Member], grouping: Grouping) -> list[Member]:
    """Without the members that take part in scoring and see fewer keys than the best."""

    def scored(member: Member) -> bool:
        own = member.rule.trigger.group.scoring
        return grouping.scoring if own is None else own

    if not any(map(scored, group)):
        return group
    scores = [grouping.score(member) for member in group]
    return [m for m, score in zip(group, scores, strict=True) if score == max(scores) or not scored(m)]


def _drawn(group: list[Member], draw: float) -> Member:
    """By weight; without any weight the first."""
    point = draw / 100 * sum(member.rule.trigger.group.weight for member in group)
    for member in group:
        point -= member.rule.trigger.group.weight
        if point < 0:
            return member
    return group[0]
