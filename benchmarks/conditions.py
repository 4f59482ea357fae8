"""Under which conditions a figure was measured."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = (
    "worldbook",
    "torch",
    "sentence-transformers",
    "openvino",
    "faiss-cpu",
    "numkong",
    "sentencepiece",
    "ahocorasick_rs",
    "fastapi",
    "uvicorn",
)
_FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8")


def conditions() -> dict[str, Any]:
    """Processor, versions, date, the setting of the model, and how busy the machine is now."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "processor flags": [flag for flag in _FLAGS if flag in _processor_flags()],
        "packages": {name: version for name in _PACKAGES if (version := _version(name))},
        "backend": os.environ.get("WORLDBOOK_BACKEND", "torch"),
        "load before": round(os.getloadavg()[0], 2),
    }


def _processor_flags() -> set[str]:
    try:
        return set(Path("/proc/cpuinfo").read_text("ascii", "replace").split())
    except OSError:
        return set()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
