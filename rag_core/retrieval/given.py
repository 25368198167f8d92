"""The ranking of passages that something else retrieved: its order stands, and each of them is measured here all the
same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_core.domain.given import Given
from rag_core.domain.passages import Hit
from rag_core.domain.ports import Corpus, Reranker, Vectors
from rag_core.retrieval.hybrid import Ranking, reranked


def in_given_order(
    question: str,
    vector: Vectors,
    terms: Sequence[str],
    corpus: Corpus,
    given: Given,
    k: int,
    reranker: Reranker | None = None,
) -> Ranking:
    """The first `k` rows of a corpus of ready passages, in the order in which they were given.

    A passage that makes several rows is represented by its closest one; its other rows follow after all passages, the
    closer ones first. `score` is one over the place: a given score is on a scale that is not known. Dense and lexical
    ranks, cosines and word scores are measured over all given passages, as in a library of just these. `vector` is the
    question's, of shape (dim,); a `reranker` reorders all rows.
    """
    rows = list(range(len(corpus.passages)))
    if not rows:
        return Ranking((), ())
    dense = {row: rank for rank, (row, _) in enumerate(corpus.vectors.search(vector, len(rows), None), 1)}
    lexical = {row: rank for rank, (row, _) in enumerate(corpus.lexical.search(terms, len(rows), None), 1)}
    cosines = np.clip(corpus.vectors.vectors(rows) @ vector, -1.0, 1.0)
    words = corpus.lexical.scores(terms, rows)
    pairs = [
        (
            row,
            Hit(
                corpus.passages[row], 1 / place, float(cosines[row]), words[row], dense.get(row, 0), lexical.get(row, 0)
            ),
        )
        for place, row in enumerate(_order(given.places, dense), 1)
    ]
    if reranker is not None:
        pairs = reranked(question, pairs, reranker)
    order = tuple(row for row, _ in pairs)
    return Ranking(tuple(hit for _, hit in pairs[:k]), order)


def _order(places: Sequence[int], dense: dict[int, int]) -> list[int]:
    """The rows: the closest of each passage in the given order, then the second ones, and so on."""
    nth: dict[int, int] = {}
    turn: dict[int, int] = {}
    for row in sorted(range(len(places)), key=lambda row: dense[row]):
        turn[row] = nth[places[row]] = nth.get(places[row], -1) + 1
    return sorted(turn, key=lambda row: (turn[row], places[row]))
