"""Folders in the cache that are made once from something else, whole or not at all, and checked before each use."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

_MANIFEST = "manifest.json"


def derived_folder(cache_dir: Path, name: str, write: Callable[[Path], None]) -> Path:
    """The folder `name` in `cache_dir`, filled by `write` when it is not there or does not match its manifest.

    Several processes may call this at once: each builds in a folder of its own and the first rename wins. Raises
    OSError, and what `write` raises.
    """
    folder = cache_dir / name
    if intact(folder):
        return folder
    cache_dir.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(dir=cache_dir, prefix=f".{name}-"))
    try:
        write(building)
        _seal(building)
        _move_into_place(building, folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return folder


def intact(folder: Path) -> bool:
    """Whether the folder holds what was written, to the last byte."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        return bool(manifest) and all(sha256(folder / name) == digest for name, digest in manifest.items())
    except (OSError, ValueError, AttributeError):
        return False


def sha256(path: Path) -> str:
    """64 hex digits of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _seal(folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    manifest = folder / _MANIFEST
    manifest.write_text(json.dumps({path.relative_to(folder).as_posix(): sha256(path) for path in files}, indent=1))
    for path in [*files, manifest]:
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    for path in [*(path for path in folder.rglob("*") if path.is_dir()), folder]:
        _sync_directory(path)


def _move_into_place(building: Path, folder: Path) -> None:
    """Rename, which is atomic; a complete folder put there meanwhile by another process stays."""
    try:
        building.rename(folder)
    except OSError:
        if intact(folder):
            return
        broken = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f"{building.name}-broken-"))
        folder.rename(broken / folder.name)
        building.rename(folder)
        shutil.rmtree(broken, ignore_errors=True)
    _sync_directory(folder.parent)


def _sync_directory(folder: Path) -> None:
    if os.name != "posix":
        return  # elsewhere a directory cannot be opened, and a rename needs no such care
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
