"""Lists of lore that no known program wrote, and our own JSON."""

from __future__ import annotations

from service.formats import write
from service.lore.book import Book
from tests.formats.samples.sample import Sample, lore, once

ORU = lore("Oru", "A salt port.", "oru", "the port")

SAMPLES = (
    Sample(
        shows="camel-case names of a character book",
        format="generic",
        file={
            "id": "b",
            "name": "Salt",
            "description": "The coast.",
            "enabled": True,
            "isGlobal": False,
            "entries": [
                {
                    "id": "1",
                    "keys": ["oru", "the port"],
                    "secondaryKeys": ["sea"],
                    "content": "A salt port.",
                    "comment": "Oru",
                    "enabled": False,
                    "constant": True,
                    "selective": False,
                    "position": 0,
                    "insertionOrder": 100,
                }
            ],
        },
        name="Salt",
        description="The coast.",
        entries=(lore("Oru", "A salt port.", "oru", "the port", "sea", tier="canon", enabled=False),),
    ),
    Sample(
        shows="a list with a chance and a search range",
        format="generic",
        file=[
            {
                "entry_id": 12,
                "title": "Oru",
                "content": "A salt port.",
                "keys": ["oru", "the port"],
                "search_range": 5,
                "insertion_order": 10,
                "activation_chance": 50,
                "enabled": True,
                "position": "char",
            }
        ],
        entries=(ORU,),
        no_home={"search_range": 1, "insertion_order": 1, "activation_chance": 1, "position": 1},
    ),
    Sample(
        shows="keys and values",
        format="generic",
        file=[{"key": "oru", "value": "A salt port."}, {"key": "/a,b/, c", "value": "B"}],
        entries=(lore("oru", "A salt port.", "oru"), lore("/a,b/", "B", "/a,b/", "c")),
        warnings=(("literal_regex", 1),),
    ),
    Sample(
        shows="names, keywords and priorities",
        format="generic",
        file={
            "_comment": "made by hand",
            "entries": [{"name": "Oru", "keywords": ["oru", "the port"], "content": "A salt port.", "priority": 3}],
        },
        entries=(ORU,),
        no_home={"priority": 1, "_comment": 1},
    ),
    Sample(
        shows="every name of a key, a text and a switch",
        format="generic",
        file=[
            {"displayName": "A", "triggers": ["a"], "text": "A", "disabled": True},
            {"name": "B", "key": ["b"], "filters": ["s"], "entry": "B", "disable": False, "forceActivation": True},
            {"title": "C", "keywords": "c, d", "description": "C", "alwaysActive": 1, "secondkey": "t"},
            {"comment": None, "name": "D", "keys": ["d"], "content": None, "text": "D", "description": "memo"},
        ],
        entries=(
            lore("A", "A", "a", enabled=False),
            lore("B", "B", "b", "s", tier="canon"),
            lore("C", "C", "c", "d", "t", tier="canon"),
            lore("D", "D", "d"),
        ),
        no_home={"description": 1},
    ),
    Sample(
        shows="every setting",
        format="generic",
        every_setting=True,
        file={
            "isGlobal": True,
            "entries": [
                {
                    "keywords": ["oru"],
                    "filters": ["sea"],
                    "content": "A salt port.",
                    "order": 1,
                    "insertion_order": 1,
                    "insertionOrder": 1,
                    "insertorder": 1,
                    "weight": 1,
                    "priority": 1,
                    "position": 1,
                    "probability": 1,
                    "activationPercent": 1,
                    "activation_chance": 1,
                    "selective": True,
                    "case_sensitive": True,
                    "caseSensitive": True,
                    "contextConfig": {"budgetPriority": 1},
                }
            ],
        },
        entries=(lore("oru", "A salt port.", "oru", "sea"),),
        no_home=once(
            "isGlobal order insertion_order insertionOrder insertorder weight priority position "
            "probability activationPercent activation_chance selective case_sensitive caseSensitive "
            "contextConfig.budgetPriority"
        ),
    ),
    Sample(
        shows="entries under their names, two of one, and what is none",
        format="generic",
        file=b'{"entries":{"Oru":{"keywords":["oru"],"text":"A"},"Oru":{"keywords":["o"],"text":"B"},'
        b'"3":{"keywords":["x"],"text":"C"},"4":7,"5":{"keywords":["y"]}}}',
        entries=(lore("Oru", "A", "oru"), lore("Oru", "B", "o"), lore("x", "C", "x")),
        skipped=((3, "not_an_entry"), (4, "no_content")),
        warnings=(("duplicate_id", 1),),
    ),
    Sample(
        shows="our own file",
        format="worldbook",
        version="1",
        every_setting=True,
        file=write(Book(name="Salt", description="The coast.", entries=(ORU,)), "worldbook"),
        name="Salt",
        description="The coast.",
        entries=(ORU,),
    ),
)
