"""RisuAI lorebook exports."""

from __future__ import annotations

from typing import Any

from tests.formats.samples.sample import Sample, lore, once

PLAIN = {
    "key": "oru, the port", "secondkey": "", "comment": "Oru", "content": "A salt port.", "mode": "normal",
    "insertorder": 100, "alwaysActive": False, "selective": False, "useRegex": False, "bookVersion": 2, "id": "u",
    "extentions": {"risu_case_sensitive": False},
}  # fmt: skip
FOLDER = {**PLAIN, "key": "\uf000folder:f1", "mode": "folder", "comment": "Ports", "content": ""}
ORU = lore("Oru", "A salt port.", "oru", "the port")


def export(*rows: Any, **top: Any) -> dict[str, Any]:
    """A file with these rows."""
    return {"type": "risu", "ver": 1, "data": list(rows), **top}


SAMPLES = (
    Sample(shows="an entry by default", format="risuai", version="1", file=export(PLAIN), entries=(ORU,)),
    Sample(
        shows="every setting",
        format="risuai",
        version="1",
        every_setting=True,
        file=export(
            {
                **PLAIN,
                "secondkey": "sea",
                "selective": True,
                "mode": "child",
                "insertorder": 50,
                "activationPercent": 30,
                "useRegex": True,
                "key": "/oru/i",
                "folder": "\uf000folder:f1",
                "extentions": {"risu_case_sensitive": True},
            },
        ),
        entries=(lore("Oru", "A salt port.", "/oru/i", "sea"),),
        no_home=once("selective mode insertorder activationPercent useRegex folder extentions.risu_case_sensitive"),
        warnings=(("literal_regex", 0),),
    ),
    Sample(
        shows="folders are left out, and their entries read",
        format="risuai",
        version="1",
        file=export(FOLDER, {**PLAIN, "folder": "\uf000folder:f1"}, {"key": "\uf000folder:f2", "content": "x"}),
        entries=(ORU,),
        places=(1,),
        skipped=((0, "not_an_entry"), (2, "not_an_entry")),
        no_home={"folder": 1},
    ),
    Sample(
        shows="keys that are regular expressions are not split, and others that look like them neither",
        format="risuai",
        version="1",
        file=export(
            {"key": "/a,b/i", "content": "A", "useRegex": True},
            {"key": "a, b+", "content": "B", "useRegex": True},
            {"key": "/a,b/i, c", "content": "C"},
        ),
        entries=(lore("/a,b/i", "A", "/a,b/i"), lore("a, b+", "B", "a, b+"), lore("/a,b/i", "C", "/a,b/i", "c")),
        no_home={"useRegex": 2},
        warnings=(("literal_regex", 0), ("literal_regex", 1), ("literal_regex", 2)),
    ),
    Sample(
        shows="an empty key, none and null order; chance 0; always active",
        format="risuai",
        version="1",
        file=export(
            {**PLAIN, "key": ""},
            {"content": "No key."},
            {**PLAIN, "insertorder": None, "activationPercent": 0},
            {**PLAIN, "alwaysActive": True},
            {**PLAIN, "mode": "constant"},
            {**PLAIN, "activationPercent": 100, "selective": True},
        ),
        entries=(
            lore("Oru", "A salt port."),
            lore("No key.", "No key."),
            ORU,
            lore("Oru", "A salt port.", "oru", "the port", tier="canon"),
            lore("Oru", "A salt port.", "oru", "the port", tier="canon"),
            ORU,
        ),
        no_home={"activationPercent": 1},
    ),
    Sample(
        shows="decorators and macros stay in the content",
        format="risuai",
        version="1",
        file=export({"key": "oru,", "content": "@@depth 0\r\n@@@end\n{{user}} sees {{// not}} salt."}),
        entries=(lore("oru", "@@depth 0\r\n@@@end\n{{user}} sees {{// not}} salt.", "oru"),),
        warnings=(("blank_alias", 0),),
    ),
    Sample(
        shows="what is no entry, and fields that nobody knows",
        format="risuai",
        file=export(
            7, "text", PLAIN, {"key": "a", "content": ""}, {**PLAIN, "x_foo": 0}, ver=None, name="Salt", x_top=1
        ),
        name="Salt",
        entries=(ORU, ORU),
        places=(2, 4),
        skipped=((0, "not_an_entry"), (1, "not_an_entry"), (3, "no_content")),
        no_home={"x_foo": 1, "x_top": 1},
    ),
)
