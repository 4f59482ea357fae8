"""Hand-written files of every format and oddity, each with what reading it answers.

Tests and the fuzz enumerate SAMPLES: a format without one fails them.
"""

from __future__ import annotations

from tests.formats.samples import agnai, cards, generic, kobold, novelai, risuai, sillytavern
from tests.formats.samples.sample import Sample

SAMPLES: tuple[Sample, ...] = (
    *sillytavern.SAMPLES,
    *novelai.SAMPLES,
    *risuai.SAMPLES,
    *agnai.SAMPLES,
    *kobold.SAMPLES,
    *generic.SAMPLES,
    *cards.SAMPLES,
)
