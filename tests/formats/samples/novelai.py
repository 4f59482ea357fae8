"""NovelAI lorebooks, stories and scenarios."""

from __future__ import annotations

from typing import Any

from tests.formats.samples.sample import Sample, lore, once

CONTEXT = {
    "prefix": "", "suffix": "\n", "tokenBudget": 1, "reservedTokens": 0, "budgetPriority": 400,
    "trimDirection": "trimBottom", "insertionType": "newline", "maximumTrimType": "sentence", "insertionPosition": -1,
}  # fmt: skip
NO_BIAS = {"phrases": [], "ensureSequenceFinish": False, "generateOnce": True, "bias": 0, "enabled": True}
PLAIN = {
    "text": "A salt port.", "displayName": "Oru", "keys": ["oru", "the port"], "enabled": True, "id": "a",
    "lastUpdatedAt": 1, "searchRange": 1000, "forceActivation": False, "keyRelative": False,
    "nonStoryActivatable": False, "hidden": False, "category": "", "contextConfig": CONTEXT,
    "loreBiasGroups": [NO_BIAS],
}  # fmt: skip
ORU = lore("Oru", "A salt port.", "oru", "the port")


def book(*entries: Any, **top: Any) -> dict[str, Any]:
    """A lorebook of version 5."""
    settings = {"orderByKeyLocations": False}
    return {"lorebookVersion": 5, "entries": list(entries), "settings": settings, "categories": [], "order": [], **top}


SAMPLES = (
    Sample(shows="version 5 by default", format="novelai", version="5", file=book(PLAIN), entries=(ORU,)),
    *(
        Sample(
            shows=f"version {version} with the text and keys alone",
            format="novelai",
            version=str(version),
            file={"lorebookVersion": version, "entries": [{"text": "A salt port.", "keys": ["oru"]}]},
            entries=(lore("oru", "A salt port.", "oru"),),
        )
        for version in range(1, 7)
    ),
    Sample(
        shows="every setting",
        format="novelai",
        version="6",
        every_setting=True,
        file=book(
            {
                **PLAIN,
                "searchRange": 500,
                "keyRelative": True,
                "nonStoryActivatable": True,
                "hidden": True,
                "category": "c",
                "loreBiasGroups": [{**NO_BIAS, "phrases": ["salt"]}],
                "contextConfig": {
                    "prefix": "[",
                    "suffix": "]",
                    "tokenBudget": 0.5,
                    "reservedTokens": 9,
                    "budgetPriority": 1,
                    "trimDirection": "doNotTrim",
                    "insertionType": "token",
                    "maximumTrimType": "token",
                    "insertionPosition": -4,
                },
            },
            lorebookVersion=6,
            settings={"orderByKeyLocations": True},
            categories=[{"id": "c", "name": "Ports", "enabled": True}],
        ),
        entries=(ORU,),
        no_home=once(
            "searchRange keyRelative nonStoryActivatable hidden category loreBiasGroups "
            "contextConfig.prefix contextConfig.suffix contextConfig.tokenBudget "
            "contextConfig.reservedTokens contextConfig.budgetPriority contextConfig.trimDirection "
            "contextConfig.insertionType contextConfig.maximumTrimType contextConfig.insertionPosition "
            "settings.orderByKeyLocations categories"
        ),
    ),
    Sample(
        shows="what is forced is canon, what is off is disabled, also by its category",
        format="novelai",
        version="5",
        file=book(
            {**PLAIN, "forceActivation": True},
            {**PLAIN, "enabled": False},
            {**PLAIN, "category": "off"},
            {**PLAIN, "category": "on"},
            {"text": "No switch."},
            categories=[{"id": "off", "name": "Old", "enabled": False}, {"id": "on"}, {"enabled": False}, 7],
        ),
        entries=(
            lore("Oru", "A salt port.", "oru", "the port", tier="canon"),
            lore("Oru", "A salt port.", "oru", "the port", enabled=False),
            lore("Oru", "A salt port.", "oru", "the port", enabled=False),
            ORU,
            lore("No switch.", "No switch."),
        ),
        no_home={"category": 2, "categories": 1},
        warnings=(("category_off", 2),),
    ),
    Sample(
        shows="regular expressions and joined keys stay as they are written",
        format="novelai",
        version="5",
        file=book({"text": "Salt.", "keys": ["/Salt/", "salt & sea", "salt&sea", " ", None, 7]}),
        entries=(lore("/Salt/", "Salt.", "/Salt/", "salt & sea", "salt&sea", "7"),),
        warnings=(("blank_alias", 0), ("literal_regex", 0), ("literal_pattern", 0)),
    ),
    Sample(
        shows="the order of a lorebook, with ids that are not there and an entry without",
        format="novelai",
        version="6",
        file=book(
            {"id": "a", "text": "A"},
            {"text": "no id"},
            {"id": "b", "text": "B"},
            lorebookVersion=6,
            order=["b", "x", 7, "a", "b"],
        ),
        entries=(lore("B", "B"), lore("A", "A"), lore("no id", "no id")),
        places=(2, 0, 1),
    ),
    Sample(
        shows="what is no entry",
        format="novelai",
        version="5",
        file=book(
            PLAIN, None, [], {"displayName": "Empty"}, {"text": " \n", "keys": ["blank"]}, {"text": "x" * 100_001}
        ),
        entries=(ORU,),
        skipped=((1, "not_an_entry"), (2, "not_an_entry"), (3, "no_content"), (4, "no_content"), (5, "too_long")),
    ),
    Sample(
        shows="a story",
        format="novelai",
        version="4",
        file={
            "storyContainerVersion": 1,
            "metadata": {"title": "The Tide", "description": "It comes.", "tags": []},
            "content": {"story": {"text": "Once"}, "context": [], "lorebook": book(PLAIN, lorebookVersion=4)},
        },
        name="The Tide",
        description="It comes.",
        entries=(ORU,),
        warnings=(("rest_left_out", None),),
    ),
    Sample(
        shows="a scenario",
        format="novelai",
        version="3",
        file={
            "scenarioVersion": 2,
            "title": "The Tide",
            "description": "It comes.",
            "prompt": "Once",
            "lorebook": book(PLAIN, lorebookVersion=3),
        },
        name="The Tide",
        description="It comes.",
        entries=(ORU,),
        warnings=(("rest_left_out", None),),
    ),
    Sample(
        shows="a later version, and fields of it",
        format="novelai",
        version="7",
        file=book({**PLAIN, "x_mood": "wet", "x_more": {"a": 1, "b": None}}, lorebookVersion=7, x_top=[1]),
        entries=(ORU,),
        no_home={"x_mood": 1, "x_more.a": 1, "x_top": 1},
        warnings=(("unknown_version", None),),
    ),
)
