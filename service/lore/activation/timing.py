"""Sticky, cooldown and what activated before: the effects in force at a turn, and those it leaves (formats.md 6.8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from service.lore.activation.rules import Rule
from service.lore.activation.state import Effect, EffectKind, State


@dataclass(frozen=True)
class Effects:
    """The effects in force, by handle."""

    sticky: Mapping[str, Effect]
    cooldown: Mapping[str, Effect]
    matched: Mapping[str, Effect]

    @classmethod
    def at(cls, length: int, state: State, rules: Mapping[str, Rule]) -> Effects:
        """Of a state, when the conversation has `length` messages. `rules` are those that take part, by handle.

        An effect ends when its time is over, when its entry no longer has it, and when the conversation became shorter
        than it was (unless protected). When a sticky one ends, a protected cooldown begins.
        """
        kinds: dict[EffectKind, dict[str, Effect]] = {"sticky": {}, "cooldown": {}, "matched": {}}
        for effect in state.effects:
            kinds[effect.kind][effect.handle] = effect
        for kind in ("sticky", "cooldown"):
            for handle, effect in list(kinds[kind].items()):
                rule = rules.get(handle)
                if (rule is None or getattr(rule.trigger, kind)) and lasts(effect, length):
                    continue
                del kinds[kind][handle]
                over = began_before(effect, length) and length >= effect.end
                if kind == "sticky" and over and rule and rule.trigger.sticky and rule.trigger.cooldown:
                    end = length + rule.trigger.cooldown
                    kinds["cooldown"][handle] = Effect(handle, "cooldown", length, end, protected=True)
        return cls(**kinds)

    def after(self, length: int, activated: Iterable[Rule]) -> State:
        """What is left to the next turn: an effect that is in force is not begun anew."""
        begun: dict[EffectKind, dict[str, Effect]] = {"sticky": {}, "cooldown": {}, "matched": {}}
        for rule in activated:
            handle = rule.entry.handle
            for kind, lasts in (("sticky", rule.trigger.sticky), ("cooldown", rule.trigger.cooldown)):
                if lasts:
                    begun[kind][handle] = Effect(handle, kind, length, length + lasts)  # type: ignore[index, arg-type]
            if rule.said.after_match:
                begun["matched"][handle] = Effect(handle, "matched", length, length)
        return State.of(
            effect
            for kind, known in (("sticky", self.sticky), ("cooldown", self.cooldown), ("matched", self.matched))
            for effect in {**begun[kind], **known}.values()  # type: ignore[index]
        )


def began_before(effect: Effect, length: int) -> bool:
    """False when the conversation became shorter than it was, by a deleted or a regenerated message."""
    return effect.start < length or effect.protected


def lasts(effect: Effect, length: int) -> bool:
    """Whether a sticky or cooling effect is in force when the conversation has `length` messages."""
    return began_before(effect, length) and length < effect.end
