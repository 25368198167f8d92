"""Measures how far the evidence supports a claim: by common words and by similarity of meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.ports import Embedder
from rag_core.facts.sentence.citation_marks import strip_marks
from rag_core.language import fold, word_texts


def overlap(claim_text: str, evidence_text: str) -> float | None:
    """Share of a claim's folded words, each once, that its evidence holds, in [0, 1]; None without words."""
    mine = word_set(claim_text)
    return len(mine & word_set(evidence_text)) / len(mine) if mine else None


def word_set(text: str) -> frozenset[str]:
    """The folded words of a text, citation marks left out."""
    return frozenset(map(fold, word_texts(strip_marks(text))))


def grounded_share(measured: Iterable[ClaimMeasurement], min_sentence_overlap: float) -> float | None:
    """Share of the claims that are grounded, in [0, 1]; None where no claim has words.

    A claim is grounded when its overlap reaches `min_sentence_overlap` and none of its facts was changed: all its other
    words do not make that good.
    """
    grounded = [
        one.overlap >= min_sentence_overlap and one.changed_facts == () for one in measured if one.overlap is not None
    ]
    return sum(grounded) / len(grounded) if grounded else None


def similarities(pairs: Sequence[tuple[str, str]], embedder: Embedder | None) -> list[float | None]:
    """Cosine of each pair of texts, in [-1, 1]; equal texts are 1, others None without an embedder."""
    found: list[float | None] = [1.0 if left == right else None for left, right in pairs]
    rest = [index for index, cosine in enumerate(found) if cosine is None]
    if embedder is None or not rest:
        return found
    vectors = embedder.embed([text for index in rest for text in pairs[index]])
    for row, index in enumerate(rest):
        found[index] = float(np.clip(vectors[2 * row] @ vectors[2 * row + 1], -1.0, 1.0))
    return found
