"""Tells whether a text beside a sentence takes back, limits or frames it: a regression over the vector of the embedded
model for each side, so that every wording and language counts that the model knows.

It reads what stands beside alone: "This no longer holds." needs no sentence before it to be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from safetensors.numpy import load_file

from rag_core.domain.ports import Embedder, Side, Vectors
from rag_core.settings import DATA

SIDES: tuple[Side, ...] = ("before", "after", "heading")
BESIDE_FILE = DATA / "models" / "beside.safetensors"  # by `training.beside`
# probability from which a text is one: of the sentences and headings beside the answers of 24 real documents one in
# fifteen is; of those that undo an answer in attacks of two hands three in four. Chosen
LEAST = 0.2


def undoing(texts: Sequence[tuple[Side, str]], embedder: Embedder) -> list[bool]:
    """For each text beside a sentence whether it does, by the embedded model, which `embedder` must be."""
    vectors = embedder.embed([text for _, text in texts])
    fitted = _fitted()
    return [
        bool(vector @ fitted[side][:-1] + fitted[side][-1] >= 0)
        for (side, _), vector in zip(texts, vectors, strict=True)
    ]


@cache
def _fitted() -> dict[str, Vectors]:
    return load_file(BESIDE_FILE)
