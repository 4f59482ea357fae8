"""What the keys of a set of lorebooks are searched in: the newest messages, other texts, contents of entries.

Every text is read once by the automaton of each book, newest message first; what is kept is the first place of each
key. A key stands in the newest n messages when its first place does, so entries may have scan depths of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from service.lore.activation.keys import JS_SPACES, Spans
from service.lore.activation.patterns import Patience
from service.lore.activation.rules import Lorebook, Rule
from service.lore.activation.strips import Piece, Sighting, Strip
from service.lore.macros import without_comments
from service.lore.request import Message, SourceText, is_spoken

GLUE: Mapping[str, str] = {"folded": "\0", "javascript": "\n\x01"}
"""What parts two texts, so that no key stands across them; a boundary for every key."""
EVERYONE = "prompt"
"""The source that every entry scans."""


def read_messages(messages: Sequence[Message], glue: str, *, names: bool) -> list[Piece]:
    """User and assistant messages that say something, newest first.

    `names`: each after the name of who speaks, and trimmed (formats.md 6.2).
    """
    pieces = []
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if is_spoken(message):
            before = f"{message.name}: " if names and message.name else ""
            text = before + message.content
            trimmed = text.lstrip(JS_SPACES)
            offset = len(text) - len(trimmed) - len(before)
            pieces.append(Piece(trimmed.rstrip(JS_SPACES), glue, message=place, offset=offset))
    return pieces


class Scan:
    """The first place of every key in every kind of text."""

    def __init__(
        self, lorebooks: Sequence[Lorebook], messages: Sequence[Piece], texts: Sequence[SourceText], glue: str
    ) -> None:
        self.lorebooks = lorebooks
        self.messages = messages
        self.glue = glue
        self.patience = Patience()
        self.sources: dict[str, list[Piece]] = {}
        for given in texts:
            if given.text:
                self.sources.setdefault(given.source, []).append(Piece(given.text, glue, source=given.source))
        self.contents: list[Piece] = []
        self._read = 0
        self._strip = Strip(())
        self._in_messages: list[Spans] = [{} for _ in lorebooks]
        strips = {source: Strip(pieces) for source, pieces in self.sources.items()}
        self._in_sources: dict[str, list[dict[int, Sighting]]] = {
            source: [_sightings(strip, lorebook.index.first(strip)) for lorebook in lorebooks]
            for source, strip in strips.items()
        }
        self._in_contents: list[dict[int, Sighting]] = [{} for _ in lorebooks]
        self._joined: dict[object, Strip] = {}

    def read_to(self, depth: int) -> None:
        """Search the newest `depth` messages, as far as that was not done."""
        depth = min(depth, len(self.messages))
        if depth > self._read:
            self._read = depth
            self._strip = Strip(self.messages[:depth])
            self._in_messages = [lorebook.index.first(self._strip) for lorebook in self.lorebooks]

    def add_contents(self, contents: Iterable[tuple[str, str]]) -> None:
        """Search the contents of the entries of one pass, given as (handle, text), too, but for comments."""
        # The contents of one pass are one text to a pattern (formats.md 6.4), so only the first gets the glue.
        glue, pieces = self.glue, []
        for handle, text in contents:
            pieces.append(Piece(without_comments(text), glue, from_entry=handle))
            glue = "\n" if self.glue == GLUE["javascript"] else self.glue
        if pieces:
            self.contents += pieces
            strip = Strip(pieces)
            for known, lorebook in zip(self._in_contents, self.lorebooks, strict=True):
                for key, sighting in _sightings(strip, lorebook.index.first(strip)).items():
                    known.setdefault(key, sighting)

    def waking(self, number: int) -> set[int]:
        """Ordinals of the rules of a book of which some key was seen anywhere."""
        woken = self.lorebooks[number].woken
        found: list[Iterable[int]] = [self._in_messages[number], self._in_contents[number]]
        found += [books[number] for books in self._in_sources.values()]
        return {ordinal for keys in found for key in keys for ordinal in woken.get(key, ())}

    def sighting(self, number: int, rule: Rule, key: int, depth: int, *, contents: bool) -> Sighting | None:
        """Where this rule of this book sees the key in the newest `depth` messages and the other texts it scans.

        `contents`: whether it scans those of activated entries. Nothing is seen with a depth of 0.
        """
        if depth == 0:
            return None
        pattern = self.lorebooks[number].patterns.get(key)
        if pattern is not None:
            strip = self._text_of(rule, depth, contents=contents)
            span = pattern.search(strip.text, self.patience)
            return strip.sighting(*span) if span else None
        seen = self._in_messages[number].get(key)
        if seen is not None and self._strip.piece_at(seen[0]) < depth:
            return self._strip.sighting(*seen)
        for source in (*rule.trigger.sources, EVERYONE):
            if source in self._in_sources and (found := self._in_sources[source][number].get(key)):
                return found
        return self._in_contents[number].get(key) if contents else None

    def _text_of(self, rule: Rule, depth: int, *, contents: bool) -> Strip:
        sources = (*rule.trigger.sources, EVERYONE)
        key = (min(depth, len(self.messages)), sources, len(self.contents) if contents else 0)
        if key not in self._joined:
            pieces = list(self.messages[:depth])
            for source in sources:
                pieces += self.sources.get(source, ())
            self._joined[key] = Strip([*pieces, *(self.contents if contents else ())])
        return self._joined[key]


def _sightings(strip: Strip, spans: Spans) -> dict[int, Sighting]:
    return {key: strip.sighting(*span) for key, span in spans.items()}
