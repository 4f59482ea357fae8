"""Measuring the model that the settings name, once, so that small talk matches nothing by meaning."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from embeddings import background, calibrating
from embeddings.calibrating import Tell, silent
from embeddings.calibration import Calibration, kept_in, shipped
from embeddings.embedder import EmbedderError
from service.actions.loading import load_embedder
from service.lore.errors import Unavailable
from service.settings import Settings


@dataclass(frozen=True)
class Calibrated:
    """The constants of a model, and the file that keeps them; none when they come with the program."""

    model: str
    constants: Calibration
    file: Path | None


def folder(settings: Settings) -> Path:
    """Where the constants of models are kept, one file a vector space."""
    return settings.data_dir / "calibrations"


def calibrate(settings: Settings, tell: Tell = silent) -> Calibrated:
    """Measure the model and keep its constants for every later start; one that ships with constants keeps those.

    Raises Unavailable.
    """
    try:
        embedder = load_embedder(settings)
        space = embedder.space
        if (constants := shipped(space)) is not None:
            return Calibrated(model=space.model, constants=constants, file=None)
        constants = calibrating.calibrate(embedder, background.sentences(), tell)
    except (EmbedderError, ImportError) as error:
        raise Unavailable(f"{settings.model}: {error}", remedy="`worldbook doctor` says what works.") from error
    file = kept_in(folder(settings), space)
    try:
        constants.save(file, space)
    except OSError as error:
        raise Unavailable(
            f"the figures cannot be kept: {error}", remedy="Set WORLDBOOK_DATA_DIR to a folder of yours."
        ) from error
    return Calibrated(model=space.model, constants=constants, file=file)
