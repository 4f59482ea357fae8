"""Character books, on their own and in cards of every version and container, and Backyard's characters."""

from __future__ import annotations

from typing import Any

from tests.formats import boxes
from tests.formats.boxes import card
from tests.formats.samples.sample import Sample, lore, once

ORU = lore("Oru", "A salt port.", "oru", "the port")
ENTRY: dict[str, Any] = {
    "id": 1, "keys": ["oru", "the port"], "secondary_keys": [], "comment": "Oru", "content": "A salt port.",
    "constant": False, "selective": False, "insertion_order": 100, "enabled": True, "position": "before_char",
    "extensions": {"position": 0, "probability": 100, "useProbability": True, "depth": 4, "role": 0, "sticky": None},
}  # fmt: skip
ENTRY_V3 = {**ENTRY, "use_regex": False}
SETTINGS: dict[str, Any] = {
    "exclude_recursion": True, "prevent_recursion": True, "delay_until_recursion": 1, "probability": 40,
    "useProbability": False, "depth": 2, "selectiveLogic": 1, "outlet_name": "o", "group": "g", "group_override": True,
    "group_weight": 50, "ignore_budget": True, "match_persona_description": True, "match_character_description": True,
    "match_character_personality": True, "match_character_depth_prompt": True, "match_scenario": True,
    "match_creator_notes": True, "scan_depth": 3, "match_whole_words": False, "sticky": 2, "cooldown": 3, "delay": 4,
    "use_group_scoring": True, "automation_id": "a", "role": 1, "triggers": ["normal"],
}  # fmt: skip
EVERY = {
    **ENTRY, "secondary_keys": ["sea"], "insertion_order": 20, "position": "after_char", "priority": 5,
    "case_sensitive": True, "extensions": {**SETTINGS, "display_index": 0, "vectorized": True, "hub": {"a": 1}},
}  # fmt: skip
BOOK: dict[str, Any] = {
    "name": "Salt", "description": "The coast.", "scan_depth": 4, "token_budget": 500, "recursive_scanning": True,
    "extensions": {"hub": 1},
}  # fmt: skip
BOOK_NO_HOME = once(
    "scan_depth token_budget recursive_scanning insertion_order position priority case_sensitive selective"
)
NO_HOME = {**BOOK_NO_HOME, "extensions.hub": 2, **{f"extensions.{name}": 1 for name in SETTINGS}}
EVERYTHING: dict[str, Any] = {
    "name": "Salt",
    "description": "The coast.",
    "entries": (lore("Oru", "A salt port.", "oru", "the port", "sea"),),
    "no_home": NO_HOME,
}


ITEMS = [{"id": "i", "order": "a", "key": "oru, the port", "value": "A salt port."}, {"key": "", "value": "{user}"}, 7]
CHARACTER = {"schemaVersion": 1, "name": "ilse", "displayName": "Ilse", "persona": "Shy.", "loreItems": ITEMS}

SAMPLES = (
    Sample(shows="plain entries", format="character_book_v2", file={"entries": [ENTRY]}, entries=(ORU,)),
    Sample(
        shows="an empty book",
        format="character_book_v2",
        file={"name": "Salt", "entries": [], "extensions": {}},
        name="Salt",
    ),
    Sample(
        shows="every setting",
        format="character_book_v2",
        every_setting=True,
        file={**BOOK, "entries": [EVERY]},
        **EVERYTHING,
    ),
    Sample(
        shows="missing fields, other types, twice the same id, no entries, and an order of its own",
        format="character_book_v2",
        file={
            "name": None,
            "entries": [
                {"keys": ["oru"], "content": "A", "id": 3, "extensions": {"display_index": 4}},
                {"keys": "ash, /a,b/", "content": 7, "id": "3", "enabled": None},
                {
                    "keys": [" ", None, 5],
                    "content": "C",
                    "comment": "",
                    "name": "See",
                    "enabled": 0,
                    "constant": "true",
                },
                {"keys": ["d"], "content": " ", "x_foo": 1},
                7,
                {"keys": ["e"], "content": "E", "id": 2**50, "extensions": None, "x_foo": [None]},
            ],
        },
        entries=(
            lore("ash", "7", "ash", "/a,b/"),
            lore("See", "C", "5", tier="canon", enabled=False),
            lore("oru", "A", "oru"),
            lore("e", "E", "e"),
        ),
        places=(1, 2, 0, 5),
        skipped=((3, "no_content"), (4, "not_an_entry")),
        no_home={"x_foo": 1},
        warnings=(("duplicate_id", 1), ("literal_regex", 1), ("blank_alias", 2)),
    ),
    Sample(shows="plain entries", format="character_book_v3", file={"entries": [ENTRY_V3]}, entries=(ORU,)),
    Sample(
        shows="every setting",
        format="character_book_v3",
        every_setting=True,
        file={**BOOK, "entries": [{**EVERY, "use_regex": True, "id": "q"}]},
        lost={"sillytavern": {"id": 1}},
        **EVERYTHING,
    ),
    Sample(
        shows="every setting",
        format="lorebook_v3",
        every_setting=True,
        file={"spec": "lorebook_v3", "x_app": "a", "data": {**BOOK, "entries": [{**EVERY, "use_regex": True}]}},
        lost={
            name: {"extensions.lorebook_v3": 1} for name in ("sillytavern", "character_book_v2", "character_book_v3")
        },
        **EVERYTHING,
    ),
    Sample(
        shows="a book one level deeper",
        format="lorebook_v3",
        file={"spec": "lorebook_v3", "data": {"name": "Salt", "lorebook": {"entries": [ENTRY_V3]}}},
        name="Salt",
        entries=(ORU,),
    ),
    Sample(
        shows="every setting",
        format="character_card",
        version="2.0",
        every_setting=True,
        file=card(EVERY, **BOOK),
        **EVERYTHING,
    ),
    Sample(
        shows="a V3 card",
        format="character_card",
        version="3.0",
        file=card(ENTRY_V3, version=3),
        name="Ilse's Lorebook",
        entries=(ORU,),
    ),
    Sample(
        shows="the data of a card alone",
        format="character_card",
        file=card(ENTRY)["data"],
        name="Ilse's Lorebook",
        entries=(ORU,),
    ),
    Sample(
        shows="entries in SillyTavern's own names",
        format="character_card",
        version="2.0",
        file=card({"uid": 4, "key": ["oru", "the port"], "comment": "Oru", "content": "A salt port.", "order": 7}),
        name="Ilse's Lorebook",
        entries=(ORU,),
        no_home={"insertion_order": 1},
    ),
    Sample(
        shows="a PNG image",
        format="character_card",
        version="2.0",
        file=card(ENTRY),
        box=lambda data: boxes.png(behind=(boxes.text("chara", boxes.encoded(data)),)),
        name="Ilse's Lorebook",
        entries=(ORU,),
    ),
    Sample(
        shows="a PNG image with a compressed text",
        format="character_card",
        version="3.0",
        file=card(ENTRY_V3, version=3),
        box=lambda data: boxes.png(boxes.ztxt("ccv3", boxes.encoded(data)), boxes.text("chara", b"!")),
        name="Ilse's Lorebook",
        entries=(ORU,),
    ),
    Sample(
        shows="CHARX",
        format="character_card",
        version="3.0",
        file=card(ENTRY_V3, version=3),
        box=lambda data: boxes.archive({"assets/icon/images/main.png": b"\x89PNG", "card.json": data}),
        name="Ilse's Lorebook",
        entries=(ORU,),
    ),
    Sample(
        shows="every setting",
        format="backyard",
        version="1",
        every_setting=True,
        file={**CHARACTER, "loreItems": [{**ITEMS[0], "createdAt": "2026-11-30"}]},
        name="Ilse's Lorebook",
        entries=(lore("oru", "A salt port.", "oru", "the port"),),
        no_home={"extensions.backyard": 1},
    ),
    Sample(
        shows="BYAF, an item without keys and what is no item",
        format="backyard",
        version="1",
        file=CHARACTER,
        box=lambda data: boxes.archive({"manifest.json": {"characters": ["a.json"]}, "a.json": data}),
        name="Ilse's Lorebook",
        entries=(lore("oru", "A salt port.", "oru", "the port"), lore("{{user}}", "{{user}}")),
        skipped=((2, "not_an_entry"),),
        no_home={"extensions.backyard": 1},
    ),
)
