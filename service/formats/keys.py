"""Activation keys as other programs write them, read as names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator


def is_regex(key: str) -> bool:
    """Whether SillyTavern would take the key for a regular expression: `/pattern/flags` with a sound pattern.

    Source: `parseRegexFromString` of its `world-info.js`. Soundness is judged by brackets, escapes and quantifiers
    that have nothing to repeat, instead of compiling what a stranger wrote.
    """
    end = key.rfind("/")
    flags = key[end + 1 :]
    known = len(flags) < 7 and sorted(flags) == sorted(set(flags) & set("gimsuy"))
    return end > 1 and key[0] == "/" and known and _sound(key[1:end])


def patterns(keys: Iterable[str], is_pattern: Callable[[str], object], why: str) -> Iterator[tuple[str, str]]:
    """Kind and detail of a warning for each key that means more to its program than the words that it is made of."""
    return (
        ("literal_pattern", f"{key} {why}; it is kept as written and matches nothing else")
        for key in keys
        if is_pattern(key)
    )


def _sound(pattern: str) -> bool:
    depth = 0
    in_class = escaped = False
    before = "|"
    for char in pattern:
        if escaped:
            escaped, before = False, ""
            continue
        if char == "\\":
            escaped = True
        elif char == "/":
            return False
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth < 0:
                return False
        elif char in "*+?" and before in ("(", "|") and (before, char) != ("(", "?"):
            return False
        before = char
    return depth == 0 and not in_class and not escaped


def split(text: str) -> Iterator[str]:
    """A typed comma list as keys, trimmed, blank ones included: a comma inside a regular expression ends nothing.

    A regular expression begins at a slash that begins a key; one that is not sound is split at its commas after all.
    """
    return (part.strip() for token in _tokens(text) for part in _parts(token))


def _tokens(text: str) -> Iterator[str]:
    start = 0
    begun = inside = escaped = False
    for place, char in enumerate(text):
        if inside:
            inside = escaped or char != "/"
            escaped = char == "\\" and not escaped
        elif char == ",":
            yield text[start:place].strip()
            start, begun = place + 1, False
        elif not begun and not char.isspace():
            begun, inside = True, char == "/"
    yield text[start:].strip()


def _parts(token: str) -> list[str]:
    return token.split(",") if token.startswith("/") and not is_regex(token) else [token]
