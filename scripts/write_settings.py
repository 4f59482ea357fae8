"""Write docs/settings.md from the settings themselves; with --check, only say whether it is up to date."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from service.settings import Settings

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"
HEAD = """# Settings

Read once, at start, from the environment or from a file `.env` in the working directory. Lists are JSON:
`WORLDBOOK_CORS_ORIGINS='["https://app.example"]'`. This page is written by `make docs`.

| variable | default | meaning |
|---|---|---|
"""


def page() -> str:
    """The page: one row per setting, in the order of the code."""
    prefix = Settings.model_config.get("env_prefix", "")
    return HEAD + "".join(_row(f"{prefix}{name}".upper(), field) for name, field in Settings.model_fields.items())


def _row(variable: str, field: FieldInfo) -> str:
    if not field.description:
        raise SystemExit(f"{variable} has no docstring in service/settings.py")
    meaning = " ".join(field.description.split()).replace("|", "\\|")
    return f"| `{variable}` | {_default(field)} | {meaning} |\n"


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return "as the platform has it"
    value = field.default
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value == "":
        return "empty"
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


if __name__ == "__main__":
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        sys.exit(f"{PAGE.name} is not up to date: make docs")
