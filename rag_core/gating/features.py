"""The numbers measured on a retrieval and its draft: inputs of the calibrated scores.

Each has a range and a meaning that does not depend on the collection's size, so that one score holds for six articles
and for a shelf of filings. This module judges nothing and knows no threshold. Whatever else was measured once did no
better on questions left out of the fit (docs/decisions/06-features-ablated.md).

| feature | range | what it is |
|---|---|---|
| top_cosine | [-1, 1] | cosine of the closest passage |
| draft_cosine | [-1, 1] | cosine of the drafted sentence that is closest to the question |
| answer_first | [-10, 10] | log odds of the answerability model for the first passage |
| unit_best, unit_next | [-10, 10] | its log odds for the likest drafted sentence or row, and for the likest one that
was not drafted |
| fit_row, fit_result | [0, 1] | how the likest drafted sentence fits what is asked for: see `gating/fit.py` |
| searched | [0, 2] | log10(1 + number of searched passages) / 3 |
| known_language | {0, 1} | whether the embedding model knows the question's language |
| crossed | {0, 1} | whether the first drafted sentence is in another language than the question, so that words cannot
be compared |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from rag_core.domain.claims import Claim
from rag_core.domain.passages import Hit, Place, ReadPlace
from rag_core.domain.ports import AnswerabilityModel, Embedder
from rag_core.gating.fit import Fit

Read = Callable[[Sequence[Place]], Sequence[ReadPlace]]
Near = Callable[[Sequence[str]], Sequence[float]]


def nearness(question: str, embedder: Embedder) -> Near:
    return lambda texts: (
        [float(one) for one in embedder.embed(list(texts)) @ embedder.embed([question], "query")[0]] if texts else []
    )


def reader(question: str, answerability_model: AnswerabilityModel | None) -> Read | None:
    """Reads places together with the question; None where nobody reads."""
    if answerability_model is None:
        return None
    asked = question.rstrip("?？ ") + "?"  # it learned from questions that end so; people type them without
    return partial(answerability_model.read, asked)


FITS = ("fit_row", "fit_result")
FEATURES = (
    "top_cosine",
    "draft_cosine",
    "answer_first",
    "unit_best",
    "unit_next",
    *FITS,
    "searched",
    "known_language",
    "crossed",
)
# Inputs of a score. What the answerability model says weighs otherwise in a large library than among few passages, and
# a cosine otherwise across languages: products with these two tell it as well as a score of its own for each
# (docs/decisions/06-features-ablated.md).
INPUTS = (
    "answer_first",
    "unit_best",
    "unit_next",
    "draft_cosine",
    "top_cosine",
    "searched",
    "crossed",
    "answer_first*searched",
    "unit_best*searched",
    "unit_next*searched",
    "draft_cosine*searched",
    "draft_cosine*crossed",
)
# the features that are of the draft; the others are of the retrieval, whoever drafts
DRAFTED = frozenset({"draft_cosine", "unit_best", "unit_next", "crossed", *FITS})

NO_ODDS = -10.0  # log odds where there is no unit to read


def measure(
    known_language: bool,
    hits: Sequence[Hit],
    *,
    searched: int = 0,
    claims: Sequence[Claim] = (),
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
        hits: best first.
        searched: how many passages were searched.
        claims: the draft's sentences, in order.
        answerability_logit: what the answerability model says of the first passages, best first; none where not asked.
        drafted: what it says of the drafted sentences, in any order.
        others: what it says of the sentences that it read and that were not drafted.
        cosine: of the drafted sentence that is closest to the question.
        fit: how the likest drafted sentence fits what is asked for.
        language: the question's.
    """
    if not hits:
        return dict.fromkeys(FEATURES, 0.0)
    return {
        "top_cosine": max(hit.cosine for hit in hits),
        "draft_cosine": cosine,
        "answer_first": answerability_logit[0] if answerability_logit else 0.0,
        # 0 where none was read, as where no passage was
        "unit_best": max(drafted, default=0.0),
        "unit_next": max(others, default=NO_ODDS) if drafted else 0.0,
        "fit_row": fit.row if fit else 0.0,
        "fit_result": fit.result if fit else 0.0,
        "searched": magnitude(searched),
        "known_language": float(known_language),
        "crossed": _crossed(claims, hits, language),
    }


def magnitude(searched: int) -> float:
    """The feature `searched` for so many passages."""
    return min(2.0, math.log10(1 + searched) / 3)


def drafted_in(claims: Sequence[Claim], hits: Sequence[Hit]) -> str:
    """The language of the passage that the first sentence of a draft is from, as ISO 639-1; "und" where unknown."""
    written = {hit.passage.id: hit.passage.language for hit in hits}
    return next(
        (written[one.passage] for claim in claims[:1] for one in claim.evidence if one.passage in written), "und"
    )


def _crossed(claims: Sequence[Claim], hits: Sequence[Hit], language: str) -> float:
    first = drafted_in(claims, hits)
    return float("und" not in (language, first) and first != language)
