"""Tells whether a text beside a sentence takes back, limits or frames it: a regression over the vector of the embedded
model for each side, so that every wording and language counts that the model knows.

It reads what stands beside alone: "This no longer holds." needs no sentence before it to be told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from safetensors.numpy import load_file

from rag_core.domain.ports import Embedder, Side, Vectors
from rag_core.settings import DATA

SIDES: tuple[Side, ...] = ("before", "after", "heading")
UNDOING_FILE = DATA / "models" / "undoing.safetensors"  # by `training.reader.undoing`


def undoing(texts: Sequence[tuple[Side, str]], embedder: Embedder) -> list[float]:
    """For each text beside a sentence the probability that it does, by the embedded model, which `embedder` must be."""
    vectors, fitted = embedder.embed([text for _, text in texts]), _fitted()
    odds = [vector @ fitted[side][:-1] + fitted[side][-1] for (side, _), vector in zip(texts, vectors, strict=True)]
    return [1 / (1 + math.exp(-float(one))) for one in odds]


@cache
def _fitted() -> dict[str, Vectors]:
    return load_file(UNDOING_FILE)
