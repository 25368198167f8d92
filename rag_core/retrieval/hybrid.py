"""Hybrid retrieval: dense and lexical, fused by reciprocal rank. It can rerank, and weigh authority and recency.

Restriction to documents happens before ranking; word weights come from the whole collection. This module measures and
orders; it judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from rag_core.domain.documents import Document
from rag_core.domain.passages import Hit
from rag_core.domain.ports import Corpus, Reranker, Vectors
from rag_core.settings import Settings

OVER_RETRIEVE = 2  # candidates of either search, as a multiple of top_k
RRF_CONSTANT = 60  # as published


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hits, best first, and all rows that were fused, in their final order: those of the hits are the first."""

    hits: tuple[Hit, ...]
    candidates: tuple[int, ...]

    @property
    def rows(self) -> tuple[int, ...]:
        """Those of the hits."""
        return self.candidates[: len(self.hits)]


@dataclass(frozen=True, slots=True)
class Wider:
    """More to search by, which orders passages only: index terms, and the unit vector, shape (dim,), with them."""

    terms: tuple[str, ...]
    vector: Vectors


def reciprocal_rank_fusion(rankings: Sequence[tuple[float, Mapping[int, int]]]) -> dict[int, float]:
    """Sum of weight / (rank + `RRF_CONSTANT`) over the rankings that hold a row; ranks from 1.

    Source: Cormack, Clarke and Buettcher, SIGIR 2009. A ranking of weight 0 still contributes its rows, with 0.
    """
    fused: dict[int, float] = {}
    for weight, ranks in rankings:
        for row, rank in ranks.items():
            fused[row] = fused.get(row, 0.0) + weight / (rank + RRF_CONSTANT)
    return fused


def retrieve(
    question: str,
    vector: Vectors,
    terms: Sequence[str],
    corpus: Corpus,
    settings: Settings,
    allowed: Sequence[int] | None = None,
    *,
    reranker: Reranker | None = None,
    language: str = "und",
    known_language: bool = True,
    time_sensitive: bool = False,
    today: date | None = None,
    wider: Wider | None = None,
    titled: Sequence[int] = (),
) -> Ranking:
    """The `top_k` passages for a question, best first; equal scores keep row order.

    Args:
        question: as asked, for the reranker.
        vector: its unit vector, shape (dim,).
        terms: its index terms.
        corpus: what is searched.
        settings: the retrieval knobs.
        allowed: rows that may be found; None for all.
        reranker: reorders the fused candidates.
        language: of the question, ISO 639-1. In other passages the dense ranking counts for both. "und" looks at none.
        known_language: whether the embedding model knows the question's language: it chooses the dense weight.
        time_sensitive: whether recency counts at all.
        today: for the age of a document; now when not given.
        wider: what else to search by; None for nothing.
        titled: rows of the documents that the question names; ranked once more among themselves, and both count.
    """
    k = settings.top_k
    searched = wider.vector if wider else vector
    wanted = (*terms, *wider.terms) if wider else terms

    def ranks(rows: Sequence[int] | None) -> tuple[dict[int, int], dict[int, int]]:
        dense = corpus.vectors.search(searched, k * OVER_RETRIEVE, rows)
        lexical = corpus.lexical.search(wanted, k * OVER_RETRIEVE, rows)
        return _ranks(dense), _ranks(lexical)

    def by_words(dense: Mapping[int, int], lexical: Mapping[int, int]) -> Mapping[int, int]:
        if language == "und" or not known_language:
            return lexical
        foreign = {row for row in {*dense, *lexical} if corpus.passages[row].language not in (language, "und")}
        return {row: rank for row, rank in lexical.items() if row not in foreign} | {
            row: dense[row] for row in foreign & dense.keys()
        }

    dense, lexical = ranks(allowed)
    weight = settings.semantic_weight if known_language else 0.0  # a language that the embedding model does not know
    rankings: list[tuple[float, Mapping[int, int]]] = [(weight, dense), (1 - weight, by_words(dense, lexical))]
    if titled:
        near, worded = ranks(titled)
        rankings += [(weight, near), (1 - weight, by_words(near, worded))]
    fused = reciprocal_rank_fusion(rankings)
    candidates = sorted(fused)
    cosines = np.clip(corpus.vectors.vectors(candidates) @ vector, -1.0, 1.0) if candidates else []
    words = corpus.lexical.scores(terms, candidates)
    scores = fused
    if settings.authority_weight or (settings.recency_weight and time_sensitive):
        known = {document.id: document for document in corpus.documents}
        recency = settings.recency_weight if time_sensitive else 0.0

        def boost(document: Document) -> float:
            """Factor >= 1 on a fused score; a term without data adds nothing."""
            fresh = recency_of(document.date, settings.recency_half_life_days, today or date.today()) or 0.0
            return 1.0 + settings.authority_weight * (document.metadata.standing or 0.0) + recency * fresh

        scores = {row: score * boost(known[corpus.passages[row].document]) for row, score in fused.items()}
    order = sorted(candidates, key=lambda row: (-scores[row], row))
    measured = dict(zip(candidates, zip(cosines, words, strict=True), strict=True))

    def hit(row: int) -> Hit:
        cosine, score = measured[row]
        return Hit(corpus.passages[row], scores[row], float(cosine), score, dense.get(row, 0), lexical.get(row, 0))

    # the passages of a large library are unpacked when they are asked for: no others than those that are needed are
    pairs = [(row, hit(row)) for row in (order if reranker else order[:k])]
    if reranker is not None:
        pairs = reranked(question, pairs, reranker)
        order = [row for row, _ in pairs]
    return Ranking(tuple(one for _, one in pairs[:k]), tuple(order))


def _ranks(found: Sequence[tuple[int, float]]) -> dict[int, int]:
    return {row: rank for rank, (row, _) in enumerate(found, 1)}


def reranked(question: str, pairs: list[tuple[int, Hit]], reranker: Reranker) -> list[tuple[int, Hit]]:
    """The rows with their hits in the reranker's order, its score in each hit; equal ones keep that of `score`."""
    scores = reranker.score(question, [hit.passage.text for _, hit in pairs])
    scored = [(row, replace(hit, rerank=score)) for (row, hit), score in zip(pairs, scores, strict=True)]
    return sorted(scored, key=lambda pair: (-(pair[1].rerank or 0.0), -pair[1].score, pair[0]))


def age_in_days(stated: str, today: date) -> int | None:
    """Days since the end of an ISO date or period, never negative; None when it states none."""
    parts = stated.split("-") if stated else []
    try:
        year, month, day = [*map(int, parts), 12, 28][:3] if len(parts) == 1 else [*map(int, parts), 28][:3]
        return max(0, (today - date(year, month, day)).days)
    except (ValueError, OverflowError):
        return None


def recency_of(stated: str, half_life_days: int, today: date) -> float | None:
    """0.5 ** (age / half-life), in (0, 1]; None when there is no date."""
    age = age_in_days(stated, today)
    return None if age is None else 0.5 ** (age / half_life_days)
