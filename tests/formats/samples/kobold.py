"""KoboldAI's saved games and lists, and what AI Dungeon and aidg.club write."""

from __future__ import annotations

from tests.formats.samples.sample import Sample, lore, once

PLAIN = {
    "key": "oru, the port", "keysecondary": "", "content": "A salt port.", "comment": "", "folder": None,
    "selective": False, "constant": False, "num": 0, "init": True, "uid": -7,
}  # fmt: skip
ORU = lore("oru", "A salt port.", "oru", "the port")
CARD = {
    "keys": "oru,the port", "value": "A salt port.", "type": "", "title": "Oru", "description": "",
    "useForCharacterCreation": True,
}  # fmt: skip
NAMED_ORU = lore("Oru", "A salt port.", "oru", "the port")

SAMPLES = (
    Sample(
        shows="an old save with key and content alone",
        format="kobold",
        file={"worldinfo": [{"key": "oru, the port", "content": "A salt port."}]},
        entries=(ORU,),
    ),
    Sample(
        shows="every setting",
        format="kobold",
        every_setting=True,
        file={
            "gamestarted": True,
            "prompt": "Once",
            "memory": "It was wet.",
            "actions": [],
            "worldinfo": [
                {
                    **PLAIN,
                    "keysecondary": "sea",
                    "selective": True,
                    "constant": True,
                    "comment": "Oru",
                    "folder": -12,
                    "keyanti": "desert",
                    "probability": "40",
                    "wigroup": "ports",
                    "widisabled": True,
                }
            ],
            "wifolders_d": {"-12": {"name": "Ports", "collapsed": False}},
            "wifolders_l": [-12],
        },
        entries=(lore("Oru", "A salt port.", "oru", "the port", "sea", tier="canon", enabled=False),),
        no_home=once("selective folder keyanti probability wigroup wifolders_d wifolders_l"),
        warnings=(("rest_left_out", None),),
    ),
    Sample(
        shows="the defaults of a row, a blank key and what is no row",
        format="kobold",
        file={"worldinfo": [PLAIN, {**PLAIN, "key": "oru, , the port,"}, None, {"key": "", "content": ""}]},
        entries=(ORU, ORU),
        skipped=((2, "not_an_entry"), (3, "no_content")),
        warnings=(("blank_alias", 1),),
    ),
    Sample(
        shows="a list of world info",
        format="kobold",
        file=[{"key": "oru, the port", "content": "A salt port."}, 7],
        entries=(ORU,),
        skipped=((1, "not_an_entry"),),
    ),
    Sample(shows="a save without world info", format="kobold", file={"worldinfo": []}),
    Sample(
        shows="world info of AI Dungeon",
        format="aidungeon",
        file=[{"id": "1", "keys": "oru, the port", "entry": "A salt port.", "hidden": False}],
        entries=(ORU,),
    ),
    Sample(shows="a story card", format="aidungeon", file=[CARD], entries=(NAMED_ORU,)),
    Sample(
        shows="every setting",
        format="aidungeon",
        every_setting=True,
        file={
            "title": "The Tide",
            "description": "It comes.",
            "promptContent": "Once",
            "worldInfos": [
                {
                    **CARD,
                    "id": 4,
                    "hidden": True,
                    "type": "location",
                    "description": "Salt!",
                    "comment": "memo",
                    "keysecondary": "sea",
                    "selective": True,
                    "constant": True,
                    "folder": 3,
                    "createdAt": "2024-01-01",
                    "updatedAt": "2024-01-02",
                }
            ],
        },
        name="The Tide",
        description="It comes.",
        entries=(lore("Oru", "A salt port.", "oru", "the port", "sea", tier="canon"),),
        no_home=once("hidden type description selective folder"),
        warnings=(("rest_left_out", None),),
    ),
    Sample(
        shows="keys of scripts stay as they are written",
        format="aidungeon",
        file=[{"keys": "#[t=5], (salt|sea) port", "entry": "Salt."}, {"keys": "c", "entry": None, "value": "C"}],
        entries=(lore("#[t=5]", "Salt.", "#[t=5]", "(salt|sea) port"), lore("c", "C", "c")),
        warnings=(("literal_pattern", 0), ("literal_pattern", 0)),
    ),
    Sample(
        shows="what is no card",
        format="aidungeon",
        file=[CARD, "card", {"keys": "a", "value": ""}, {"keys": None, "value": "No key.", "x_foo": [0]}],
        entries=(NAMED_ORU, lore("No key.", "No key.")),
        places=(0, 3),
        skipped=((1, "not_an_entry"), (2, "no_content")),
        no_home={"x_foo": 1},
    ),
    Sample(
        shows="a plain list with the switches and titles of other programs",
        format="kobold",
        file=[
            {"key": "oru, the port", "content": "A salt port.", "enabled": False, "name": "Oru"},
            {"key": "oru, the port", "content": "A salt port.", "disable": True, "title": "Oru"},
            {"key": "oru, the port", "content": "A salt port.", "enabled": True, "widisabled": 1, "comment": "Oru"},
        ],
        entries=(lore("Oru", "A salt port.", "oru", "the port", enabled=False),) * 3,
    ),
    Sample(
        shows="cards with the switches and titles of other programs",
        format="aidungeon",
        file=[
            {"keys": "oru, the port", "entry": "A salt port.", "enabled": False, "name": "Oru"},
            {"keys": "oru, the port", "value": "A salt port.", "disable": True, "title": "Oru"},
        ],
        entries=(lore("Oru", "A salt port.", "oru", "the port", enabled=False),) * 2,
    ),
)
