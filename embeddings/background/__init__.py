"""Everyday sentences, the same ones in each language, and what was measured with them for the default model.

They tell a model's bias towards languages from what its texts say; see `embeddings.calibration`. One file a language,
named by its ISO 639 code, a list of the same 40 sentences in the same order. To add a language is to add a file.
"""

from __future__ import annotations

import json
from importlib.resources import files


def sentences() -> dict[str, list[str]]:
    """Language code to its sentences, in the order of the codes."""
    found = sorted((file for file in files(__name__).iterdir() if file.name.endswith(".json")), key=lambda f: f.name)
    return {file.name.removesuffix(".json"): json.loads(file.read_bytes()) for file in found}
