"""How the model of a service is loaded."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from embeddings.embedder import EmbedderError
from embeddings.hashing import HashingEmbedder
from service.cli.serving import load_for_good
from service.settings import Settings


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """Other tests have their garbage collected."""
    yield
    gc.unfreeze()


def test_what_is_loaded_is_never_collected() -> None:
    """All that was made until the model is there stays out of later collections, which go on."""
    gc.unfreeze()
    assert isinstance(load_for_good(Settings(model="hashing")), HashingEmbedder)
    assert gc.get_freeze_count() > 1000
    assert gc.isenabled()


def test_a_model_that_cannot_be_loaded() -> None:
    """A failed load leaves the collector as it was."""
    gc.unfreeze()
    with pytest.raises(EmbedderError):
        load_for_good(Settings(model="/nowhere"))
    assert gc.get_freeze_count() == 0
    assert gc.isenabled()
