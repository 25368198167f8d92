"""The numbers measured on a retrieval: inputs of the calibrated answerability score.

Each has a range and a meaning that does not depend on the collection's size, so that one score holds for six articles and for a shelf of
filings. This module judges nothing and knows no threshold.

| signal | range | what it is |
|---|---|---|
| top_cosine, mean_cosine | [-1, 1] | cosine of the closest passage; mean of the five closest |
| cosine_gap | [0, 2] | closest minus the mean of the next four |
| best_sentence | [-1, 1] | highest cosine of the question to one sentence of the extract's candidates |
| top_lexical, lexical_gap | [0, 1] | best BM25 score over the question's own maximum; its lead over the fifth |
| coverage_best | [0, 1] | IDF-weighted share of the question's content terms that the best passage holds |
| coverage_dense, coverage_all | [0, 1] | the same for the closest passage; for all retrieved passages together |
| coverage_sentence | [0, 1] | the same for the best window of two sentences |
| pairs | [0, 1] | share of neighbouring question terms that stand next to each other in some passage |
| rarest_missing | [0, 1] | IDF of the rarest question term that no retrieved passage holds, over the largest possible |
| missing_entities | [0, 1] | share of the question's names, codes, years and numbers that the searched documents lack |
| agreement | [0, 1] | share of the five best by meaning among the five best by words |
| length | [0, 5] | log(1 + number of content terms) |
| searched | [0, 2] | log10(1 + number of searched passages) / 3: among more passages a wrong one looks better |
| known_language | {0, 1} | whether the embedding model knows the question's language |
| known_* | as the signal | the signals of `PAIRED` again, 0 unless the language is known |
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_core.domain import Hit
from rag_core.language import content_terms, sentences, terms
from rag_core.ports import LexicalIndex

# their scale differs between languages that the embedding model knows and those it does not
PAIRED = (
    "top_cosine",
    "mean_cosine",
    "cosine_gap",
    "best_sentence",
    "top_lexical",
    "lexical_gap",
    "coverage_best",
    "coverage_all",
    "coverage_sentence",
    "pairs",
    "rarest_missing",
    "agreement",
)
SIGNALS = (
    "top_cosine",
    "mean_cosine",
    "cosine_gap",
    "best_sentence",
    "top_lexical",
    "lexical_gap",
    "coverage_best",
    "coverage_dense",
    "coverage_all",
    "coverage_sentence",
    "pairs",
    "rarest_missing",
    "missing_entities",
    "agreement",
    "length",
    "searched",
    "known_language",
    *(f"known_{name}" for name in PAIRED),
)


@dataclass(frozen=True, slots=True)
class Weights:
    """The question's distinct content terms with their word weights, and the largest weight possible in the library."""

    idf: Mapping[str, float]
    order: tuple[str, ...]
    maximum: float

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return sum(self.idf.values())

    def coverage(self, held: frozenset[str] | set[str]) -> float:
        """IDF-weighted share of the terms that stand in `held`, in [0, 1]; 0 without terms."""
        return sum(weight for term, weight in self.idf.items() if term in held) / self.total if self.total else 0.0


def weigh(question: str, language: str, lexical: LexicalIndex) -> Weights:
    """The content terms of a question with their weights in this library; all its terms when it has no content terms."""
    order = content_terms(question, language) or terms(question, language)
    distinct = list(dict.fromkeys(order))
    return Weights(dict(zip(distinct, lexical.idf(distinct), strict=True)), tuple(order), max(lexical.idf(["\x00"])[0], 1e-9))


def measure(
    known_language: bool,
    weights: Weights,
    hits: Sequence[Hit],
    missing_entities: float,
    best_sentence: float,
    *,
    where: Sequence[str] = (),
    searched: int = 0,
) -> dict[str, float]:
    """All signals of one retrieval; every one is there, also when nothing was retrieved.

    Args:
        known_language: whether the embedding model knows the question's language.
        weights: from `weigh`.
        hits: best first.
        missing_entities: share in [0, 1].
        best_sentence: highest cosine of a sentence, in [-1, 1].
        where: for each hit its title, section and table header: words that it need not repeat.
        searched: how many passages were searched.
    """
    if not hits:
        return dict.fromkeys(SIGNALS, 0.0) | {"missing_entities": missing_entities, "rarest_missing": 1.0}
    known = float(known_language)
    cosines = sorted((hit.cosine for hit in hits), reverse=True)
    lexical = sorted((hit.lexical for hit in hits), reverse=True)
    held = [terms(hit.passage.text, hit.passage.language) for hit in hits]
    lines = [*where, *[""] * (len(hits) - len(where))]
    sets = [frozenset([*row, *terms(line, hit.passage.language)]) for row, line, hit in zip(held, lines, hits, strict=True)]
    closest = max(range(len(hits)), key=lambda i: (hits[i].cosine, -i))
    union = frozenset[str]().union(*sets)
    top = cosines[0]
    mean = sum(cosines[:5]) / len(cosines[:5])
    gap = top - (sum(cosines[1:5]) / len(cosines[1:5]) if len(cosines) > 1 else 0.0)
    total = weights.total or 1.0
    rarest = max((idf for term, idf in weights.idf.items() if term not in union), default=0.0)
    by_meaning = {i for i, hit in enumerate(hits) if 0 < hit.dense_rank <= 5}
    by_words = {i for i, hit in enumerate(hits) if 0 < hit.lexical_rank <= 5}
    found = {
        "top_cosine": top,
        "mean_cosine": mean,
        "cosine_gap": max(0.0, gap),
        "best_sentence": best_sentence,
        "top_lexical": min(1.0, lexical[0] / total),
        "lexical_gap": min(1.0, (lexical[0] - lexical[min(4, len(lexical) - 1)]) / total),
        "coverage_best": max(map(weights.coverage, sets)),
        "coverage_dense": weights.coverage(sets[closest]),
        "coverage_all": weights.coverage(union),
        "coverage_sentence": max((_window_coverage(weights, hit) for hit in hits[:5]), default=0.0),
        "pairs": _pairs(weights.order, held),
        "rarest_missing": min(1.0, rarest / weights.maximum),
        "missing_entities": missing_entities,
        "agreement": len(by_meaning & by_words) / max(1, min(5, len(hits))),
        "length": min(5.0, math.log1p(len(weights.order))),
        "searched": min(2.0, math.log10(1 + searched) / 3),
        "known_language": known,
    }
    return found | {f"known_{name}": known * found[name] for name in PAIRED}


def _window_coverage(weights: Weights, hit: Hit) -> float:
    """The best coverage by two neighbouring sentences of a passage."""
    text = hit.passage.text
    held = [frozenset(terms(text[start:end], hit.passage.language)) for start, end in sentences(text, hit.passage.language)]
    pairs = [a | b for a, b in pairwise(held)] or held
    return max(map(weights.coverage, pairs), default=0.0)


def _pairs(order: Sequence[str], held: Sequence[Sequence[str]]) -> float:
    """Share of neighbouring question terms that stand next to each other, with at most one word between, in some passage."""
    wanted = set(pairwise(order))
    if not wanted:
        return 0.0
    near = {pair for row in held for pair in pairwise(row)} | {pair for row in held for pair in zip(row, row[2:], strict=False)}
    return len(wanted & near) / len(wanted)
