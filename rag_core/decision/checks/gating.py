"""The checks before any draft, in the order in which they are judged: the first enforced failure refuses.

A check measures nothing itself: it reads what was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from rag_core.decision.checks.row import Check
from rag_core.domain.given import given_of
from rag_core.domain.measurements import UNREAD, Measurements
from rag_core.domain.status import Reason
from rag_core.domain.trace import Direction, several
from rag_core.gating.asked import FIGURED, asks_to_compute, computed_in_words
from rag_core.gating.features import drafted_in
from rag_core.gating.levels import closest_distance, mean_cosine, within_cut
from rag_core.language import LANGUAGES
from rag_core.settings import Scale

REPHRASE = "Ask with words that the document uses, or add the document that holds the answer."
SPELL = "Add the document that is about it, or check the spelling."
NEAR = "Read what was found, and judge whether it answers the question. Or ask for less certainty."
LIKELY = 0.5  # a probability from which a refusal does not deny that there is an answer: then only the limit is higher
WIDEN = "Search all documents, or add the document that holds the answer."


def _held(name: str, value: float | None, threshold: float) -> str:
    if value is None:
        return ""
    # "1.00, 1.00 required" would explain nothing
    digits = 2 if value == threshold or f"{value:.2f}" != f"{threshold:.2f}" else 4
    return f"{name} {value:.{digits}f}, {threshold:.{digits}f} required"


def _nothing(m: Measurements) -> str:
    return "" if m.hits else "nothing was retrieved"


def _known_keywords(m: Measurements) -> int:
    return len(m.keywords.matched) + len(m.keywords.missing)


def _keywords_in_words(m: Measurements, value: float | None, required: float) -> str:
    found = f"{len(m.keywords.matched)} of {several(_known_keywords(m), 'keyword')} found, {required:g} required"
    return f"{found}; missing: {', '.join(m.keywords.missing)}" if m.keywords.missing else found


def _distance_in_words(m: Measurements, value: float | None, threshold: float) -> str:
    within = len(within_cut(m.hits, m.settings))
    return (
        ""
        if value is None
        else f"distance {value:.2f}, at most {threshold:.2f} allowed; {within} of {len(m.hits)} within"
    )


def _remedy_of_correctness(m: Measurements, value: float | None) -> str:
    """Why no sentence can answer a question that asks for more than finding, and what to ask instead; otherwise how to
    ask better.
    """
    kind = asks_to_compute(m.question, m.understanding.language)
    if kind in FIGURED and m.features.get("fit_result", 0.0):
        kind = ""  # the sentence has words for such a result: it is doubted, and need not be computed
    return computed_in_words(kind) if kind else _other_language(m) or _rephrase(m, value)


def _other_language(m: Measurements) -> str:
    """That the question is better asked in another language: in the documents' where the model does not know its own,
    in that of the likeliest place where that is another one.
    """
    own, theirs = m.understanding.language, [code for code in m.library.languages if code in LANGUAGES]
    if own not in LANGUAGES:
        return ""
    place = drafted_in(m.draft.claims, m.hits)
    if place != own and place in theirs:
        name = LANGUAGES.name(place)
        return f"The question is in {LANGUAGES.name(own)}, the likeliest place is in {name}. Ask in {name}."
    if m.features.get("known_language", 1.0) or own in theirs or not theirs:
        return ""
    names = ", ".join(map(LANGUAGES.name, theirs))
    told = f"The question is in {LANGUAGES.name(own)}, the documents are in {names}."
    return f"{told} Ask in their language: across two, only words that are spelled alike are found."


def _rephrase(m: Measurements, value: float | None) -> str:
    """Other words do not help where nothing speaks of what is named, nor where only the limit is higher."""
    if m.nowhere:
        return SPELL
    return NEAR if value is not None and value >= LIKELY else REPHRASE


def _searched(m: Measurements) -> str:
    """The texts that were looked through: of ready passages their documents are not known."""
    return "the given passages" if given_of(m.metadata) else "the searched documents"


def _remedy_of_nothing(m: Measurements, _: float | None) -> str:
    if given_of(m.metadata):
        return "Let your retrieval search more documents."
    return WIDEN if m.library.passages else WAIT if m.metadata.get(UNREAD) else "Add documents first."


WAIT = "Ask again in a moment: what was added is not read yet."


def _of_score(
    score: str, scale: Scale, asks: str, remedy: Callable[[Measurements, float | None], str], source: str
) -> Check[Measurements]:
    return Check(
        name=score,
        asks=asks,
        reason=Reason(score),
        scale=scale,
        value=lambda m: cast("float | None", getattr(m, score)),
        threshold=f"min_{score}",
        mode=f"{score}_mode",
        said=lambda m, value, at: (
            "no calibration fits this library" if value is None else _held("probability", value, at)
        ),
        remedy=remedy,
        timing="signals",
        certifiable=True,
        source=source,
    )


GATING: tuple[Check[Measurements], ...] = (
    Check(
        name="availability",
        asks="Is there anything to answer from?",
        reason=Reason.NOTHING_RETRIEVED,
        scale=Scale.COUNT,
        value=lambda m: float(len(m.hits)),
        threshold=1,  # not a setting: without a passage there is nothing to cite
        said=lambda m, value, _: (
            f"{several(len(m.hits), 'passage')} retrieved from {several(m.library.documents, 'document')}"
        ),
        remedy=_remedy_of_nothing,
    ),
    _of_score(
        "correctness",
        Scale.CORRECTNESS,
        "Is the drafted answer right, by the calibrated score?",
        _remedy_of_correctness,
        "data/answerability.json, fitted on labelled questions; docs/calibration.md has the curves.",
    ),
    _of_score(
        "answerability",
        Scale.ANSWERABILITY,
        "Do the documents answer the question, by the calibrated score?",
        _rephrase,
        "data/answerability.json, fitted on labelled questions in five languages. At the default 0.56, 4 % or less "
        "of the unanswerable "
        "training questions over a few documents are answered in each of them, with whole articles left out of the "
        "fit.",
    ),
    Check(
        name="top_cosine",
        asks="Is the closest passage close enough?",
        reason=Reason.TOP_COSINE,
        scale=Scale.COSINE,
        value=lambda m: max((hit.cosine for hit in m.hits), default=None),
        threshold="min_top_cosine",
        mode="top_cosine_mode",
        abstains=_nothing,
        said=lambda m, value, at: _held("cosine", value, at),
        remedy=REPHRASE,
        certifiable=True,
        source="0.72 comes from a system with another, multilingual model; without data.",
    ),
    Check(
        name="mean_confidence",
        asks="Are the retrieved passages close enough on average?",
        reason=Reason.MEAN_CONFIDENCE,
        scale=Scale.COSINE,
        value=lambda m: mean_cosine(m.hits),
        threshold="min_mean_cosine",
        mode="mean_confidence_mode",
        abstains=_nothing,
        said=lambda m, value, at: _held("mean cosine", value, at),
        remedy=REPHRASE,
        certifiable=True,
        source="0.6 comes from a tutoring system, without data.",
    ),
    Check(
        name="relevance",
        asks="Do the top passages begin near the question?",
        reason=Reason.RELEVANCE,
        scale=Scale.COSINE,
        value=lambda m: 0.0 if m.relevance is None else m.relevance,
        threshold="min_relevance",
        mode="relevance_mode",
        said=lambda m, value, at: _held("mean cosine of the top passages", value, at),
        remedy=REPHRASE,
        timing="relevance",
        certifiable=True,
        source="0.4 comes from a relevance guard, 0.3 from its hybrid; without data.",
    ),
    Check(
        name="distance",
        asks="Is the closest passage within the distance cut? Passages beyond it are "
        "cut one by one when this check enforces.",
        reason=Reason.DISTANCE,
        scale=Scale.DISTANCE,
        passes=Direction.AT_MOST,
        value=lambda m: closest_distance(m.hits),
        threshold="max_distance",
        mode="distance_mode",
        abstains=_nothing,
        said=_distance_in_words,
        remedy=REPHRASE,
        certifiable=True,
        source="0.5, 0.8 and 1.2 come from a scoping guide, without data.",
    ),
    Check(
        name="min_documents",
        asks="Are there enough passages within the distance cut?",
        reason=Reason.MIN_DOCUMENTS,
        scale=Scale.COUNT,
        value=lambda m: float(len(within_cut(m.hits, m.settings))),
        threshold="min_documents",
        mode="min_documents_mode",
        also=("max_distance",),
        threshold_of=lambda m, at: min(at, m.library.passages or at),  # a library of one passage can be asked
        said=lambda m, value, at: f"{several(int(value or 0), 'passage')} within the distance cut, {at:g} required",
        remedy=WIDEN,
        value_column=lambda of, s: (of.distances <= s.max_distance).sum(axis=1).astype(float),
        threshold_column=lambda of, s: np.minimum(float(s.min_documents), of.searched),
    ),
    Check(
        name="keywords",
        asks="Do the passages hold the question's content words? It abstains without keywords, and across languages.",
        reason=Reason.KEYWORDS,
        scale=Scale.COUNT,
        value=lambda m: float(len(m.keywords.matched)),
        threshold="min_keywords",
        mode="keywords_mode",
        threshold_of=lambda m, at: min(at, _known_keywords(m)),
        abstains=lambda m: (
            m.keywords.abstain
            or ("" if _known_keywords(m) else "the question has no content words longer than three characters")
        ),
        said=_keywords_in_words,
        remedy=REPHRASE,
        certifiable=True,
        threshold_column=lambda of, s: np.minimum(float(s.min_keywords), of.known_keywords),
    ),
    Check(
        name="required_entities",
        asks="Do the searched documents hold every name, code, year and number of the question?",
        reason=Reason.REQUIRED_ENTITIES,
        scale=Scale.COUNT,
        passes=Direction.AT_MOST,
        value=lambda m: float(len(m.missing_entities)),
        threshold="max_missing_entities",
        mode="required_entities_mode",
        abstains=lambda m: "" if m.understanding.entities else "the question names nothing particular",
        said=lambda m, value, _: (
            f"not in {_searched(m)}: " + ", ".join(m.missing_entities)
            if m.missing_entities
            else f"all are in {_searched(m)}"
        ),
        remedy=SPELL,
        certifiable=True,
    ),
)
