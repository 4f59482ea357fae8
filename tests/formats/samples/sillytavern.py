"""Files that share SillyTavern's shape: its own, Chub's and Tavern-Helper's."""

from __future__ import annotations

from typing import Any

from tests.formats.samples.sample import Sample, lore, once

PLAIN = {"uid": 0, "key": ["oru", "the port"], "keysecondary": [], "comment": "Oru", "content": "A salt port."}
ORU = lore("Oru", "A salt port.", "oru", "the port")
SETTINGS: dict[str, Any] = {
    "selective": False, "selectiveLogic": 3, "order": 20, "position": 4, "ignoreBudget": True,
    "excludeRecursion": True, "preventRecursion": True, "matchPersonaDescription": True,
    "matchCharacterDescription": True, "matchCharacterPersonality": True, "matchCharacterDepthPrompt": True,
    "matchScenario": True, "matchCreatorNotes": True, "delayUntilRecursion": 1, "probability": 40,
    "useProbability": False, "depth": 2, "outletName": "o", "group": "g", "groupOverride": True, "groupWeight": 50,
    "scanDepth": 3, "caseSensitive": True, "matchWholeWords": False, "useGroupScoring": True, "automationId": "a",
    "role": 1, "sticky": 2, "cooldown": 3, "delay": 4, "triggers": ["normal"],
    "characterFilter": {"isExclude": True, "names": ["x"], "tags": []},
}  # fmt: skip
HUB = {
    "name": "Salt", "description": "The coast.", "is_creation": False, "scan_depth": 50, "token_budget": 500,
    "recursive_scanning": False, "extensions": {"chub": {"id": 7, "full_path": "a/b"}},
}  # fmt: skip
TWICE = {
    **PLAIN,
    "uid": 1, "id": 1, "keys": ["oru", "the port"], "secondary_keys": [], "order": 100, "insertion_order": 100,
    "disable": False, "enabled": True, "priority": 10, "name": "Oru", "case_sensitive": False, "constant": False,
    "selective": True, "position": 0, "addMemo": True, "probability": 100, "useProbability": True, "depth": 4,
    "role": None, "sticky": 0, "cooldown": 0, "delay": 0, "characterFilter": None, "excludeRecursion": False,
    "extensions": {
        "depth": 4, "weight": 10, "addMemo": True, "displayIndex": 1, "useProbability": True, "characterFilter": None,
        "excludeRecursion": False,
    },
}  # fmt: skip
HUB_NO_HOME = {"is_creation": 1, "scan_depth": 1, "token_budget": 1, "recursive_scanning": 1, "extensions.chub": 1}
ENTRY_NO_HOME = {"priority": 1, "case_sensitive": 1, "extensions.weight": 1, "extensions.displayIndex": 1}
HELPED: dict[str, Any] = {
    "name": "Oru", "content": "A salt port.", "content_hash": "h", "enabled": True,
    "strategy": {"type": "selective", "keys": ["oru", "the port"], "keys_secondary": {"logic": "and_any", "keys": []}},
    "position": {"type": "before_character_definition", "role": "system", "depth": 4, "order": 100},
    "recursion": {"prevent_incoming": False, "prevent_outgoing": False, "delay_until": None},
    "probability": 100, "effect": {"sticky": None, "cooldown": None, "delay": None},
}  # fmt: skip
CHARACTER_BOOKS = ("character_book_v2", "character_book_v3", "lorebook_v3")
NO_FILTER = {name: {"characterFilter": 1} for name in CHARACTER_BOOKS}

SAMPLES = (
    Sample(shows="an empty book", format="sillytavern", file={"entries": {}}),
    Sample(
        shows="every setting",
        format="sillytavern",
        every_setting=True,
        file={
            "name": "Salt",
            "entries": {"0": {**PLAIN, **SETTINGS, "keysecondary": ["sea"], "vectorized": True, "addMemo": True}},
        },
        name="Salt",
        entries=(lore("Oru", "A salt port.", "oru", "the port", "sea"),),
        no_home=dict.fromkeys(SETTINGS, 1),
        lost=NO_FILTER,
    ),
    Sample(
        shows="an object with the names of a character book",
        format="sillytavern",
        file={
            "entries": {
                "1": {"keys": ["oru"], "content": "A salt port.", "enabled": True, "insertion_order": 20, "id": 1}
            }
        },
        entries=(lore("oru", "A salt port.", "oru"),),
        no_home={"order": 1, "position": 1},
    ),
    Sample(
        shows="both dialects, typed keys, other types and what is no entry",
        format="sillytavern",
        file={
            "name": "Salt",
            "entries": {
                "0": {"key": ["a", "/b,c/i", " "], "keysecondary": "d, e", "comment": 7, "content": "A", "order": "1"},
                "1": {
                    "keys": ["x", 1, None],
                    "content": 2.5,
                    "enabled": "false",
                    "id": 1,
                    "extensions": {"position": 4},
                },
                "2": {"content": None, "displayIndex": 0},
                "3": [7],
                "4": {"key": "a", "content": "Ж漢", "displayIndex": 0, "constant": "true"},
            },
            "originalData": {"entries": []},
        },
        name="Salt",
        entries=(
            lore("a", "Ж漢", "a", tier="canon"),
            lore("x", "2.5", "x", "1", enabled=False),
            lore("7", "A", "a", "/b,c/i", "d", "e"),
        ),
        places=(4, 1, 0),
        skipped=((2, "no_content"), (3, "not_an_entry")),
        no_home={"order": 1, "position": 1},
        warnings=(("blank_alias", 0), ("literal_regex", 0), ("blank_alias", 1)),
        lost={name: {"originalData": 1} for name in CHARACTER_BOOKS},
    ),
    Sample(
        shows="every setting",
        format="chub",
        every_setting=True,
        file={
            **HUB,
            "entries": {
                "1": {**TWICE, **SETTINGS, "keysecondary": ["sea"], "secondary_keys": ["sea"], "insertion_order": 20}
            },
        },
        name="Salt",
        description="The coast.",
        entries=(lore("Oru", "A salt port.", "oru", "the port", "sea"),),
        no_home={**HUB_NO_HOME, **ENTRY_NO_HOME, **dict.fromkeys(SETTINGS, 1)},
        lost=NO_FILTER,
    ),
    Sample(
        shows="SillyTavern's names win where the two dialects differ",
        format="chub",
        file={
            **HUB,
            "entries": {
                "1": TWICE,
                "2": {**TWICE, "keys": ["else"], "insertion_order": 5, "enabled": False, "secondary_keys": None},
                "3": {**TWICE, "disable": True, "enabled": False},
            },
        },
        name="Salt",
        description="The coast.",
        entries=(ORU, ORU, lore("Oru", "A salt port.", "oru", "the port", enabled=False)),
        no_home={**HUB_NO_HOME, **dict.fromkeys(ENTRY_NO_HOME, 3)},
        warnings=(("two_dialects", 1), ("two_dialects", 1), ("two_dialects", 1)),
    ),
    Sample(
        shows="an empty book of the hub",
        format="chub",
        file={**HUB, "entries": {}},
        name="Salt",
        description="The coast.",
        no_home=HUB_NO_HOME,
    ),
    Sample(
        shows="entries under their names",
        format="tavern_helper",
        version="1",
        file={"version": 1, "entries": {"Oru": HELPED, "Ash": {**HELPED, "name": "", "enabled": False}}},
        entries=(ORU, lore("Ash", "A salt port.", "oru", "the port", enabled=False)),
    ),
    Sample(
        shows="every setting",
        format="tavern_helper",
        every_setting=True,
        file={
            "entries": [
                {
                    **HELPED,
                    "uid": 3,
                    "strategy": {
                        "type": "constant",
                        "keys": ["oru"],
                        "scan_depth": 3,
                        "keys_secondary": {"logic": "not_any", "keys": ["/sea/"]},
                    },
                    "position": {"type": "at_depth", "role": "user", "depth": 2, "order": 7},
                    "recursion": {"prevent_incoming": True, "prevent_outgoing": True, "delay_until": 1},
                    "probability": 40,
                    "effect": {"sticky": 1, "cooldown": 2, "delay": 3},
                    "extra": {"mood": "wet"},
                }
            ]
        },
        entries=(lore("Oru", "A salt port.", "oru", "/sea/", tier="canon"),),
        no_home=once(
            "strategy.scan_depth strategy.keys_secondary.logic position.type position.role position.depth "
            "position.order recursion.prevent_incoming recursion.prevent_outgoing recursion.delay_until "
            "probability effect.sticky effect.cooldown effect.delay extra.mood"
        ),
        warnings=(("literal_regex", 0),),
    ),
    Sample(
        shows="secondary keys in a list, two entries of one name, and what is no entry",
        format="tavern_helper",
        file=b'{"entries":{"A":{"content":"A","strategy":{"keys_secondary":["s"]}},"A":{"content":"B"},"C":7,"D":{}}}',
        entries=(lore("A", "A", "s"), lore("A", "B")),
        skipped=((2, "not_an_entry"), (3, "no_content")),
        warnings=(("duplicate_id", 1),),
    ),
)
