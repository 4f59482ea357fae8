"""SillyTavern's activation written down a second time, as plainly as it can be, from formats.md 6 alone.

It shares the values (entries, request, effects) with the product and the source of its draws, and nothing else: no
automaton, no candidates, every key against every text with `re`, every pass over every entry. `chosen` names the
differences that it applies; without any it does what the program does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from service.lore.activation.state import Effect, State
from service.lore.book import Entry
from service.lore.open_book import AttachedBook
from service.lore.request import RetrieveRequest, SillyTavern

START, JOINER = "\x01", "\n\x01"
BLANKS = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
BLANKS += "\u2028\u2029\u202f\u205f\u3000\ufeff"


@dataclass
class Result:
    """Handles in prompt order, handles that the budget rejected, and the effects left."""

    prompt: list[str] = field(default_factory=list)
    rejected: set[str] = field(default_factory=set)
    effects: set[tuple[str, str, int, int, bool]] = field(default_factory=set)


class Oracle:
    """One generation."""

    def __init__(
        self,
        books: Sequence[AttachedBook],
        request: RetrieveRequest,
        state: State,
        draw: Callable[[str], float],
        count: Callable[[str], int],
        chosen: Collection[str],
    ) -> None:
        self.settings = request.sillytavern or SillyTavern()
        self.request = request
        self.draw = draw
        self.count = count
        self.chosen = chosen
        chat = [message for message in request.messages if message.role in ("user", "assistant")]
        self.length = request.messages_before + len(chat)
        texts = []
        for message in reversed(chat):
            named = self.settings.include_names and message.name
            texts.append((f"{message.name}: {message.content}" if named else message.content).strip(BLANKS))
        self.chat = texts
        self.entries = self.sort(books)
        self.known = {entry.handle: entry for book in books for entry in book.open.text.entries}
        self.listed = [entry.handle for book in books for entry in book.open.text.entries]
        self.decorated = {entry.handle: self.decorate(entry.content) for entry in self.entries}
        self.recursion: list[str] = []
        self.timed(state)

    def sort(self, books: Sequence[AttachedBook]) -> list[Entry]:
        chat, persona, character, world = [], [], [], []
        for book in books:
            if not book.open.text.book.enabled:
                continue
            kinds = {host.split(":")[0] for host in book.via}
            if kinds & {"request", "story", "novel", "server"}:
                of = world
            elif "conversation" in kinds:
                of = chat
            elif "persona" in kinds:
                of = persona
            elif "character" in kinds:
                of = character
            else:
                of = world
            of += book.open.text.entries

        def descending(entries: list[Entry]) -> list[Entry]:
            return sorted(entries, key=lambda entry: -entry.trigger.order)

        if self.settings.strategy == "evenly":
            places = {e.handle: n for n, e in enumerate(e for book in books for e in book.open.text.entries)}
            rest = descending(sorted(character + world, key=lambda entry: places[entry.handle]))
        elif self.settings.strategy == "character_first":
            rest = descending(character) + descending(world)
        else:
            rest = descending(world) + descending(character)
        return descending(chat) + descending(persona) + rest

    def decorate(self, content: str) -> tuple[set[str], str]:
        """The decorators that hold, and the content without them."""
        ours = "no-decorator-in-prompt" in self.chosen
        text = content.lstrip() if ours else content
        if not text.startswith("@@"):
            return set(), content
        lines = text.split("\n")
        block = []
        while lines and lines[0].startswith("@@"):
            block.append(lines.pop(0).strip())
        found, fallback = set(), False
        for line in block:
            if line.startswith("@@@") and not fallback:
                continue
            name = line.lstrip("@")
            exact = "exact-decorators" in self.chosen
            known = name in ("activate", "dont_activate") if exact else name.startswith(("activate", "dont_activate"))
            if known:
                found.add(name)
            fallback = not known
        if ours:
            return found, "\n".join(lines).lstrip("\r\n")
        return found, "\n".join(lines) if lines else content

    def timed(self, state: State) -> None:
        """6.8: which effects are in force."""
        by_handle = self.known
        sticky, cooldown = {}, {}
        for effect in state.effects:
            if effect.kind == "sticky":
                sticky[effect.handle] = effect
            elif effect.kind == "cooldown":
                cooldown[effect.handle] = effect
        for handle, effect in list(sticky.items()):
            entry = by_handle.get(handle)
            if (self.length <= effect.start and not effect.protected) or (entry and not entry.trigger.sticky):
                del sticky[handle]
            elif self.length >= effect.end:
                del sticky[handle]
                if entry and entry.trigger.cooldown:
                    end = self.length + entry.trigger.cooldown
                    cooldown[handle] = Effect(handle, "cooldown", self.length, end, True)
        for handle, effect in list(cooldown.items()):
            entry = by_handle.get(handle)
            if (
                (self.length <= effect.start and not effect.protected)
                or (entry and not entry.trigger.cooldown)
                or self.length >= effect.end
            ):
                del cooldown[handle]
        self.sticky, self.cooldown = sticky, cooldown

    def text_for(self, entry: Entry, skew: int, widened: bool) -> str:
        """6.2."""
        own = entry.trigger.scan_depth
        depth = self.settings.scan_depth + skew if own is None else own
        if depth == 0:
            return ""
        text = START + JOINER.join(self.chat[:depth])
        given = self.settings.texts
        for source in entry.trigger.sources:
            for each in given:
                if each.source == source and each.text:
                    text += JOINER + each.text
        for each in given:
            if each.source == "prompt" and each.text:
                text += JOINER + each.text
        if self.recursion and not widened:
            text += JOINER + JOINER.join(self.recursion)
        return text

    def macros(self, text: str) -> str:
        names = self.request.names
        if names is None:
            return text
        values = {"user": names.user, "char": names.char, "bot": names.bot or names.char}
        return re.sub(r"(?i)\{\{(user|char|bot)\}\}", lambda m: values[m[1].lower()] or m[0], text)

    def matches(self, key: str, text: str, entry: Entry) -> bool:
        """6.3."""
        key = self.macros(key)
        if key == "":
            return False
        key = key.strip(BLANKS)
        if text == "":
            return False
        shape = re.fullmatch(r"/(.+?)/([gimsuy]*)", key, re.DOTALL)
        if shape and not re.search(r"(?:^|[^\\])/", shape[1]) and len(set(shape[2])) == len(shape[2]):
            flags = re.A
            for letter, flag in (("i", re.I), ("m", re.M), ("s", re.S)):
                flags |= flag if letter in shape[2] else 0
            pattern = shape[1] if "m" in shape[2] else shape[1].replace("$", r"\Z")
            try:
                compiled = re.compile(pattern, flags & ~re.A if "\\" not in pattern else flags)
            except re.error:
                pass
            else:
                return bool(compiled.match(text) if "y" in shape[2] else compiled.search(text))
        own_case, own_whole = entry.trigger.case_sensitive, entry.trigger.whole_words
        if not (self.settings.case_sensitive if own_case is None else own_case):
            key, text = key.lower(), text.lower()
        if self.settings.whole_words if own_whole is None else own_whole:
            if len(re.split(f"[{BLANKS}]+", key)) > 1:
                return key in text
            return bool(re.search(rf"(?:\A|\W)({re.escape(key)})(?:\Z|\W)", text, re.A))
        return key in text

    def usable(self, keys: Sequence[str]) -> list[str]:
        if "blank-keys" not in self.chosen:
            return list(keys)
        return [key for key in keys if self.macros(key).strip(BLANKS)]

    def wakes(self, entry: Entry, skew: int, kind: str, level: int) -> bool:
        """6.4, per entry."""
        trigger, settings = entry.trigger, self.settings
        decorators = self.decorated[entry.handle][0]
        if not entry.enabled or entry.handle in self.request.exclude:
            return False
        if trigger.generations and settings.generation not in trigger.generations:
            return False
        character = settings.character or (self.request.names.char if self.request.names else None)
        if trigger.characters.names:
            included = character in trigger.characters.names
            if included if trigger.characters.exclude else not included:
                return False
        if trigger.characters.tags and settings.character_tags is not None:
            shared = any(tag in trigger.characters.tags for tag in settings.character_tags)
            if shared if trigger.characters.exclude else not shared:
                return False
        sticky, cooling = entry.handle in self.sticky, entry.handle in self.cooldown
        if trigger.delay and self.length < trigger.delay:
            return False
        if cooling and not sticky:
            return False
        delay = trigger.recursion.delay_until
        if delay and kind != "recursion" and not sticky:
            return False
        if delay and kind == "recursion" and delay > level and not sticky:
            return False
        if kind == "recursion" and settings.recursive and trigger.recursion.exclude and not sticky:
            return False
        if "activate" in decorators:
            return True
        if "dont_activate" in decorators:
            return False
        if trigger.constant or sticky:
            return True
        text = self.text_for(entry, skew, kind == "widened")
        if not any(self.matches(key, text, entry) for key in self.usable(trigger.keys)):
            return False
        secondary = self.usable(trigger.secondary_keys)
        if not trigger.selective or not secondary:
            return True
        found = [self.matches(key, text, entry) for key in secondary]
        return {"any": any(found), "all": all(found), "none": not any(found), "not_all": not all(found)}[trigger.logic]

    def passes_chance(self, entry: Entry) -> bool:
        """6.5."""
        chance = 100 if entry.trigger.chance is None else entry.trigger.chance
        if chance == 100 or entry.handle in self.sticky:
            return True
        roll = self.draw(entry.handle)
        return roll < chance if "chance-below" in self.chosen else roll <= chance

    def filter_groups(self, new: list[Entry], active: list[Entry], skew: int, kind: str) -> None:
        """6.7, in place."""
        gone: set[str] = set()

        def remove(entry: Entry) -> None:
            if "left-once" in self.chosen:
                gone.add(entry.handle)
                if entry in new:
                    new.remove(entry)
            elif entry in new:
                new.remove(entry)
            elif new:
                new.pop()

        groups: dict[str, list[Entry]] = {}
        for entry in new:
            for name in entry.trigger.group.names:
                groups.setdefault(name, []).append(entry)
        for name, everyone in groups.items():
            members = [entry for entry in everyone if entry.handle not in gone]
            sticky = [entry for entry in members if entry.handle in self.sticky]
            if sticky:
                for entry in members:
                    if entry not in sticky:
                        remove(entry)
                continue
            blocked = any(
                name in entry.trigger.group.names
                if "groups-by-member" in self.chosen
                else entry.trigger.group.names == (name,)
                for entry in active
            )
            if blocked:
                for entry in members:
                    remove(entry)
                continue
            best = self.score(members, remove, skew, kind)
            if len(best) <= 1:
                continue
            overriding = sorted((e for e in best if e.trigger.group.override), key=lambda e: -e.trigger.order)
            if overriding:
                winner = overriding[0]
            else:
                roll = self.draw(f"group {name}") / 100 * sum(e.trigger.group.weight for e in best)
                winner, weight = best[0], 0.0
                for entry in best:
                    weight += entry.trigger.group.weight
                    if roll < weight:
                        winner = entry
                        break
            for entry in best:
                if entry is not winner:
                    remove(entry)

    def score(self, members: list[Entry], remove: Callable[[Entry], None], skew: int, kind: str) -> list[Entry]:
        default = self.settings.group_scoring

        def scored(entry: Entry) -> bool:
            return default if entry.trigger.group.scoring is None else entry.trigger.group.scoring

        if not any(scored(entry) for entry in members):
            return members
        scores = {}
        for entry in members:
            text = self.text_for(entry, skew, kind == "widened")
            primary = [self.matches(key, text, entry) for key in self.usable(entry.trigger.keys)]
            secondary = (
                [self.matches(key, text, entry) for key in self.usable(entry.trigger.secondary_keys)]
                if entry.trigger.selective
                else []
            )
            points = sum(primary)
            if primary and (entry.trigger.logic == "any" or (entry.trigger.logic == "all" and all(secondary))):
                points += sum(secondary)
            scores[entry.handle] = points
        best = max(scores.values())
        for entry in list(members):
            if scored(entry) and scores[entry.handle] < best:
                remove(entry)
                members = [each for each in members if each is not entry]
        return members

    def run(self) -> Result:
        """6.4, 6.6 and 6.9."""
        settings = self.settings
        budget = int(settings.budget_percent * settings.max_context / 100 + 0.5) or 1
        if settings.budget_cap:
            budget = min(budget, settings.budget_cap)
        levels = sorted({e.trigger.recursion.delay_until for e in self.entries if e.trigger.recursion.delay_until})
        level = levels.pop(0) if levels else 0
        active: list[Entry] = []
        failed: set[str] = set()
        result = Result()
        overflow, spent, kind, skew, loops = False, 0, "first", 0, 0
        while True:
            if settings.max_recursion_steps and loops >= settings.max_recursion_steps:
                break
            loops += 1
            new = [
                entry
                for entry in self.entries
                if entry not in active
                and entry.handle not in failed
                and entry.handle not in result.rejected
                and self.wakes(entry, skew, kind, level)
            ]
            new.sort(key=lambda entry: entry.handle not in self.sticky)
            early = "chance-before-groups" in self.chosen
            if early:
                failed |= {entry.handle for entry in new if not self.passes_chance(entry)}
                new = [entry for entry in new if entry.handle not in failed]
            self.filter_groups(new, active, skew, kind)
            used, fresh = spent, []
            for entry in new:
                if not early and not self.passes_chance(entry):
                    failed.add(entry.handle)
                    continue
                size = self.count(self.content(entry))
                if not entry.trigger.ignore_budget and (overflow or used + size >= budget):
                    overflow = True
                    result.rejected.add(entry.handle)
                    if "cut-wakes-nobody" not in self.chosen:
                        fresh.append(entry)
                    continue
                used += size
                active.append(entry)
                fresh.append(entry)
                if "every-text-counts" in self.chosen or not entry.trigger.recursion.prevent:
                    spent += size
            fresh = [entry for entry in fresh if not entry.trigger.recursion.prevent]
            most = settings.min_activations_depth or len(self.chat)
            wants_more = not settings.max_recursion_steps and len(active) < settings.min_activations
            if settings.recursive and not overflow and fresh:
                kind = "recursion"
            elif not overflow and wants_more and settings.scan_depth + skew < min(most, len(self.chat)):
                kind, skew = "widened", skew + 1
            elif levels:
                kind, level = "recursion", levels.pop(0)
            else:
                break
            text = "\n".join(self.content(entry) for entry in fresh if self.content(entry))
            if text:
                self.recursion.append(text)
        result.prompt = self.place(active)
        result.effects = self.leave(active)
        return result

    def content(self, entry: Entry) -> str:
        return self.macros(self.decorated[entry.handle][1])

    def place(self, active: list[Entry]) -> list[str]:
        """6.9: lower order first among equal positions."""
        slots = ["before", "after", "examples_top", "examples_bottom", "note_top", "note_bottom", "depth", "outlet"]
        roles = {"system": 0, "user": 1, "assistant": 2}

        def key(entry: Entry) -> tuple[int, ...]:
            trigger = entry.trigger
            deep = trigger.depth if trigger.at == "depth" else 0
            role = roles[trigger.role] if trigger.at == "depth" and "order-before-role" not in self.chosen else 0
            return slots.index(trigger.at), -deep, role, trigger.order, self.listed.index(entry.handle)

        there = [
            entry
            for entry in active
            if self.content(entry).strip() and not (entry.trigger.at == "outlet" and not entry.trigger.outlet)
        ]
        return [entry.handle for entry in sorted(there, key=key)]

    def leave(self, active: list[Entry]) -> set[tuple[str, str, int, int, bool]]:
        """6.8: effects begin with an activation, unless they are in force."""
        sticky, cooldown = dict(self.sticky), dict(self.cooldown)
        for entry in active:
            for kind, known, lasts in (
                ("sticky", sticky, entry.trigger.sticky),
                ("cooldown", cooldown, entry.trigger.cooldown),
            ):
                if lasts and entry.handle not in known:
                    known[entry.handle] = Effect(entry.handle, kind, self.length, self.length + lasts)  # type: ignore[arg-type]
        return {(e.handle, e.kind, e.start, e.end, e.protected) for e in (*sticky.values(), *cooldown.values())}
