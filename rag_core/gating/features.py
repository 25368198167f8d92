"""The numbers measured on a retrieval and its draft: inputs of the calibrated scores.

Each has a range and a meaning that does not depend on the collection's size, so that one score holds for six articles
and for a shelf of filings. This module judges nothing and knows no threshold. Whatever else was measured once did no
better on questions left out of the fit (docs/decisions/06-features-ablated.md).

| feature | range | what it is |
|---|---|---|
| top_cosine, mean_cosine | [-1, 1] | cosine of the closest passage; mean of the five closest |
| cosine_gap | [0, 2] | closest minus the mean of the next four |
| top_lexical, lexical_lead | [0, 1] | best BM25 score over the question's own maximum; its lead over the second |
| draft_cosine | [-1, 1] | cosine of the drafted sentence that is closest to the question |
| entities | {0, 1} | whether the question names anything |
| answer_first | [-10, 10] | log odds of the answerability model for the first passage |
| read | {0, 1} | whether it was asked |
| unit_best, unit_next | [-10, 10] | its log odds for the likest drafted sentence or row, and for the likest one that
was not drafted |
| draft_table | [0, 1] | share of the drafted sentences that are rows of a table |
| fit_row, fit_result | [0, 1] | how the likest drafted sentence fits what is asked for: see `gating/fit.py` |
| searched | [0, 2] | log10(1 + number of searched passages) / 3 |
| known_language | {0, 1} | whether the embedding model knows the question's language |
| crossed | {0, 1} | whether the first drafted sentence is in another language than the question, so that words cannot
be compared |
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.domain.claims import Claim
from rag_core.domain.passages import Hit, PassageKind
from rag_core.domain.ports import LexicalIndex
from rag_core.gating.fit import Fit
from rag_core.language import content_terms, terms

FITS = ("fit_row", "fit_result")
FEATURES = (
    "top_cosine",
    "mean_cosine",
    "cosine_gap",
    "top_lexical",
    "lexical_lead",
    "draft_cosine",
    "entities",
    "answer_first",
    "read",
    "unit_best",
    "unit_next",
    "draft_table",
    *FITS,
    "searched",
    "known_language",
    "crossed",
)
# the features that are of the draft; the others are of the retrieval, whoever drafts
DRAFTED = frozenset({"draft_cosine", "unit_best", "unit_next", "draft_table", "crossed", *FITS})

NO_ODDS = -10.0  # log odds where there is no unit to read


@dataclass(frozen=True, slots=True)
class Weights:
    """The question's distinct content terms with their word weights."""

    idf: Mapping[str, float]

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return sum(self.idf.values())


def weigh(question: str, language: str, lexical: LexicalIndex) -> Weights:
    """The content terms of a question with their weights in this library; all its terms when it has no content
    terms.
    """
    distinct = list(dict.fromkeys(content_terms(question, language) or terms(question, language)))
    return Weights(dict(zip(distinct, lexical.idf(distinct), strict=True)))


def measure(
    known_language: bool,
    weights: Weights,
    hits: Sequence[Hit],
    *,
    searched: int = 0,
    claims: Sequence[Claim] = (),
    entities: bool = False,
    answerability_logit: Sequence[float] = (),
    drafted: Sequence[float] = (),
    others: Sequence[float] = (),
    cosine: float = 0.0,
    fit: Fit | None = None,
    language: str = "und",
) -> dict[str, float]:
    """All features of one retrieval; every one is there, also when nothing was retrieved.

    Args:
        known_language: whether the embedding model knows the question's language.
        weights: from `weigh`.
        hits: best first.
        searched: how many passages were searched.
        claims: the draft's sentences, in order.
        entities: whether the question names anything: a name, a code, a year or a number.
        answerability_logit: what the answerability model says of the first passages, best first; none where it was not
            asked.
        drafted: what it says of the drafted sentences, in any order.
        others: what it says of the sentences that it read and that were not drafted.
        cosine: of the drafted sentence that is closest to the question.
        fit: how the likest drafted sentence fits what is asked for.
        language: the question's.
    """
    if not hits:
        return dict.fromkeys(FEATURES, 0.0)
    return {
        **_dense(sorted((hit.cosine for hit in hits), reverse=True)),
        **_lexical(weights, sorted((hit.lexical for hit in hits), reverse=True)),
        "draft_cosine": cosine,
        "entities": float(entities),
        "answer_first": answerability_logit[0] if answerability_logit else 0.0,
        "read": float(bool(answerability_logit)),
        # 0 where none was read, as where no passage was
        "unit_best": max(drafted, default=0.0),
        "unit_next": max(others, default=NO_ODDS) if drafted else 0.0,
        "draft_table": _rows(claims, hits),
        "fit_row": fit.row if fit else 0.0,
        "fit_result": fit.result if fit else 0.0,
        "searched": magnitude(searched),
        "known_language": float(known_language),
        "crossed": _crossed(claims, hits, language),
    }


def magnitude(searched: int) -> float:
    """The feature `searched` for so many passages."""
    return min(2.0, math.log10(1 + searched) / 3)


def _rows(claims: Sequence[Claim], hits: Sequence[Hit]) -> float:
    tables = {hit.passage.id for hit in hits if hit.passage.kind is PassageKind.TABLE}
    return sum(any(evidence.passage in tables for evidence in claim.evidence) for claim in claims) / max(1, len(claims))


def _crossed(claims: Sequence[Claim], hits: Sequence[Hit], language: str) -> float:
    written = {hit.passage.id: hit.passage.language for hit in hits}
    first = next(
        (written[one.passage] for claim in claims[:1] for one in claim.evidence if one.passage in written), "und"
    )
    return float("und" not in (language, first) and first != language)


def _dense(cosines: Sequence[float]) -> dict[str, float]:
    following = cosines[1:5]
    gap = cosines[0] - (sum(following) / len(following) if following else 0.0)
    mean = sum(cosines[:5]) / len(cosines[:5])
    return {"top_cosine": cosines[0], "mean_cosine": mean, "cosine_gap": max(0.0, gap)}


def _lexical(weights: Weights, scores: Sequence[float]) -> dict[str, float]:
    """Of the BM25 scores, best first."""
    best, total = scores[0], weights.total or 1.0
    second = scores[1] if len(scores) > 1 else 0.0
    return {"top_lexical": min(1.0, best / total), "lexical_lead": min(1.0, (best - second) / total)}
