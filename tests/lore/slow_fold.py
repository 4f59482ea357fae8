"""The fold written plainly, one cluster after the other: what the fast fold must equal."""

from __future__ import annotations

import unicodedata

import regex

_MARK = regex.compile(r"\p{M}")
_GONE = regex.compile(
    r"[\u00ad\u034f\u061c\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
    r"\U000e0001\U000e0100-\U000e01ef"
    r"\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    r"\u08ca-\u08e1\u08e3-\u08ff"
    r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]"
)
_JOINER_OR_TAG = regex.compile(r"[\u200c\u200d\U000e0020-\U000e007f]")
_OTHER_ATTACHED = regex.compile(r"[\u0e33\u0eb3\uff9e\uff9f\U0001f3fb-\U0001f3ff]")
_REGIONAL = regex.compile(r"[\U0001f1e6-\U0001f1ff]")
_JAMO_AFTER = regex.compile(r"[\u1160-\u11ff\ud7b0-\ud7fb]")
_JAMO_BEFORE = regex.compile(r"[\u1100-\u11ff\ua960-\ua97f\uac00-\ud7fb]")
_PICTOGRAPH = regex.compile(r"[\U0001f000-\U0001faff↔]")
_LATIN_OR_GREEK = regex.compile(r"[\p{L}--[\p{Lm}ℲⅎↃ]&&[\p{Latin}\p{Greek}]]", regex.V1)  # but the symbols among them
_CYRILLIC = regex.compile(r"\p{Cyrillic}")
_ENCLOSED_NUMBER = regex.compile(r"[\p{No}&&[\u2460-\u24ff\u3200-\u32ff\U0001f100-\U0001f10f]]", regex.V1)
_APOSTROPHE = regex.compile(r"[\u2018\u2019\u201b\u02bb\u02bc\u05f3]")


def _vanishes(character: str) -> bool:
    return bool(_GONE.match(character) or _JOINER_OR_TAG.match(character))


def _pictograph(character: str) -> bool:
    return bool(_PICTOGRAPH.match(character)) or unicodedata.category(character) == "So"


def _joins(cluster: str, character: str) -> bool:
    """Whether the next character of the text belongs to the cluster that is being read."""
    if all(c.isspace() or _vanishes(c) for c in cluster) and cluster[0].isspace():
        if character.isspace():
            return True
    elif _REGIONAL.match(character) and len(cluster) == 1 and _REGIONAL.match(cluster):
        return True
    if unicodedata.category(character)[0] == "M" or _vanishes(character) or _OTHER_ATTACHED.match(character):
        return True
    if _JAMO_AFTER.match(character) and _JAMO_BEFORE.match(cluster[-1]):
        return True
    return cluster[-1] == "\u200d" and _pictograph(cluster[0]) and _pictograph(character)


def clusters(text: str) -> list[str]:
    found: list[str] = []
    for character in text:
        if found and _joins(found[-1], character):
            found[-1] += character
        else:
            found.append(character)
    return found


def _visible(cluster: str) -> str:
    if cluster[0].isspace():
        return " " + "".join(c for c in cluster if not c.isspace() and not _vanishes(c))
    emoji = _pictograph(cluster[0])
    kept = ""
    for at, character in enumerate(cluster):
        following = cluster[at + 1] if at + 1 < len(cluster) else ""
        if emoji and _JOINER_OR_TAG.match(character) and character > "\u200d":
            kept += character  # a tag of a flag
        elif emoji and character == "\u200d" and following and _pictograph(following):
            kept += character * (not "\U0001f3fb" <= following <= "\U0001f3ff")
        elif not _vanishes(character):
            kept += character
    return kept


def _compatibility_form(character: str) -> str:
    if unicodedata.category(character) == "Cs":
        return "\ufffd"
    form = unicodedata.normalize("NFKD", character)
    invented_blank = " " in form and not character.isspace()
    return character if invented_blank or _ENCLOSED_NUMBER.match(character) else form


def _fold_one(cluster: str) -> str:
    text = unicodedata.normalize("NFD", _visible(cluster)[:32])
    text = "".join(_compatibility_form(c) for c in text)
    text = unicodedata.normalize("NFD", text)
    text = _APOSTROPHE.sub("'", text).replace("\u2010", "-").replace("ı", "i").replace("ٱ", "ا")
    kept, base = "", " "
    for character in text:
        if not _MARK.match(character):
            base = character
        accent = unicodedata.category(character) == "Mn" and unicodedata.name(character).startswith("COMBINING")
        on_alef = base == "ا" and character in "\u0653\u0654\u0655"
        if not (_GONE.match(character) or on_alef or (accent and base.isalpha() and _LATIN_OR_GREEK.match(base))):
            kept += character
    text = unicodedata.normalize("NFC", kept.casefold())
    return text.replace("\u0301", "") if _CYRILLIC.match(text) and unicodedata.name(text[0], "") else text


def slow_fold(text: str) -> tuple[str, dict[int, tuple[int, int]]]:
    """The folded text, and for each of its cluster boundaries the original positions where a hit would end and start.

    The two differ where a cluster without a base (at the very beginning of a text) folds to nothing.
    """
    folded, original = "", 0
    breaks = {0: (0, 0)}
    for cluster in clusters(text):
        folded += _fold_one(cluster)
        original += len(cluster)
        end = breaks[len(folded)][0] if len(folded) in breaks else original
        breaks[len(folded)] = (end, original)
    return folded, breaks
