"""The gates before any generation: each a pure function from a measured `Measurements` to a `CheckResult`.

A gate measures nothing itself: it reads what was measured and holds it against a knob. `GATES` is their documented order:
availability, then the scores, then what the passages hold. The first enforced failure refuses, before any model is called.

A gate's docstring says what it judges with unit and range, which knob is its limit, and where the default came from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Hit
from rag_core.domain.status import ConfidenceLevel, Reason
from rag_core.domain.trace import CheckResult, Direction, State, judge
from rag_core.settings import Mode, Settings

Gate = Callable[[Measurements], CheckResult]

REPHRASE = "Ask with words that the document uses, or add the document that holds the answer."
WIDEN = "Search all documents, or add the document that holds the answer."
NOTHING = "nothing was retrieved"


def availability(case: Measurements) -> CheckResult:
    """Is there anything to answer from?

    Judges:  the number of retrieved passages (count).
    Limit:   1, not a setting: without a passage there is nothing to cite (S0-3, S1-5, S2-1).
    """
    found = f"{len(case.hits)} passages retrieved from {case.library.documents} documents"
    remedy = WIDEN if case.library.passages else "Add documents first."
    return judge(
        "availability", float(len(case.hits)), 1, Direction.AT_LEAST, "count", Reason.NOTHING_RETRIEVED, Mode.ENFORCE,
        found=found, remedy=remedy,
    )  # fmt: skip


def answerability(case: Measurements) -> CheckResult:
    """Do the documents answer the question, by the calibrated score?

    Judges:  `Case.answerability`, a probability in [0, 1].
    Limit:   `min_answerability`, and for questions that compare or ask how something is done what is added for them (S4-25).
    Source:  data/answerability.json, fitted on labelled questions in five languages. At the default 0.56, 4 % or less of the unanswerable
             training questions over a few documents are answered in each of them, with whole articles left out of the fit.
    """
    s, value, limit = case.settings, case.answerability, least_answerability(case.settings, case.understanding.intent)
    found = "no calibration fits this library" if value is None else _held("probability", value, limit)
    return judge(
        "answerability", value, limit, Direction.AT_LEAST, "answerability", Reason.ANSWERABILITY, s.answerability_mode,
        found=found, remedy=REPHRASE, ms=case.timings.get("signals", 0.0),
    )  # fmt: skip


def top_cosine(case: Measurements) -> CheckResult:
    """Is the closest passage close enough?

    Judges:  cosine of the closest retrieved passage, in [-1, 1].
    Limit:   `min_top_cosine`; equal passes (S0-5).
    Source:  0.72 is S0's number, for its own multilingual model; it came without data.
    """
    s = case.settings
    value = max((hit.cosine for hit in case.hits), default=None)
    return judge(
        "top_cosine", value, s.min_top_cosine, Direction.AT_LEAST, "cosine", Reason.TOP_COSINE, s.top_cosine_mode,
        found=_held("cosine", value, s.min_top_cosine), remedy=REPHRASE, abstain="" if case.hits else NOTHING,
    )  # fmt: skip


def mean_confidence(case: Measurements) -> CheckResult:
    """Are the retrieved passages close enough on average?

    Judges:  mean cosine of the retrieved passages, in [-1, 1].
    Limit:   `min_mean_cosine`.
    Source:  0.6 is S2's number (S2-2), without data.
    """
    s = case.settings
    value = mean_cosine(case.hits)
    return judge(
        "mean_confidence", value, s.min_mean_cosine, Direction.AT_LEAST, "cosine", Reason.MEAN_CONFIDENCE, s.mean_confidence_mode,
        found=_held("mean cosine", value, s.min_mean_cosine), remedy=REPHRASE, abstain="" if case.hits else NOTHING,
    )  # fmt: skip


def relevance(case: Measurements) -> CheckResult:
    """Do the top passages begin near the question?

    Judges:  mean cosine of the question to the first `relevance_chars` characters of the top `relevance_passages`
             passages, in [-1, 1]; 0.0 when there are
             no similarities (S1-6).
    Limit:   `min_relevance`.
    Source:  0.4 is S1's number, 0.3 in its hybrid (S1-11), without data.
    """
    s = case.settings
    value = case.relevance if case.relevance is not None else 0.0
    return judge(
        "relevance", value, s.min_relevance, Direction.AT_LEAST, "cosine", Reason.RELEVANCE, s.relevance_mode,
        found=_held("mean cosine of the top passages", value, s.min_relevance), remedy=REPHRASE,
        ms=case.timings.get("relevance", 0.0),
    )  # fmt: skip


def distance(case: Measurements) -> CheckResult:
    """Is the closest passage within the distance cut?

    Judges:  1 - cosine of the closest retrieved passage, in [0, 2].
    Limit:   `max_distance`; passages beyond it are cut one by one when this gate enforces (S4-1).
    Source:  0.5 / 0.8 / 1.2 are S4's numbers (S4-3), without data.
    """
    s = case.settings
    value = min((hit.distance for hit in case.hits), default=None)
    within = len(within_cut(case.hits, s))
    found = "" if value is None else f"distance {value:.2f}, at most {s.max_distance:.2f} allowed; {within} of {len(case.hits)} within"
    return judge(
        "distance", value, s.max_distance, Direction.AT_MOST, "distance", Reason.DISTANCE, s.distance_mode,
        found=found, remedy=REPHRASE, abstain="" if case.hits else NOTHING,
    )  # fmt: skip


def min_documents(case: Measurements) -> CheckResult:
    """Are there enough passages within the distance cut?

    Judges:  passages within `max_distance` (count).
    Limit:   `min_documents`; 1 by default, since 2 refuses every answer that lives in one passage (S4-6).
    """
    s = case.settings
    value = len(within_cut(case.hits, s))
    return judge(
        "min_documents", float(value), s.min_documents, Direction.AT_LEAST, "count", Reason.MIN_DOCUMENTS, s.min_documents_mode,
        found=f"{value} passages within the distance cut, {s.min_documents} required", remedy=WIDEN,
    )  # fmt: skip


def keywords(case: Measurements) -> CheckResult:
    """Do the passages hold the question's content words?

    Judges:  matched keywords (count), of min(`min_keywords`, number of keywords) required (S0-9, S0-17).
    Limit:   `min_keywords`; lower loosens it (S0-37). Without keywords the guard abstains, and across languages too.
    """
    s, match = case.settings, case.keywords
    known = len(match.matched) + len(match.missing)
    required = min(s.min_keywords, known)
    abstain = match.abstain or ("" if known else "the question has no content words longer than three characters")
    found = f"{len(match.matched)} of {known} keywords found, {required} required"
    if match.missing:
        found += "; missing: " + ", ".join(match.missing)
    return judge(
        "keywords", float(len(match.matched)), required, Direction.AT_LEAST, "count", Reason.KEYWORDS, s.keywords_mode,
        found=found, remedy=REPHRASE, abstain=abstain,
    )  # fmt: skip


def required_entities(case: Measurements) -> CheckResult:
    """Do the searched documents hold every name, code, year and number of the question?

    Judges:  entities that stand in none of them (count).
    Limit:   `max_missing_entities`.
    """
    s, missing = case.settings, case.missing_entities
    found = "not in the searched documents: " + ", ".join(missing) if missing else "all are in the searched documents"
    abstain = "" if case.understanding.entities else "the question names nothing particular"
    return judge(
        "required_entities", float(len(missing)), s.max_missing_entities, Direction.AT_MOST, "count", Reason.REQUIRED_ENTITIES,
        s.required_entities_mode, found=found, abstain=abstain, remedy="Add the document that is about it, or check the spelling.",
    )  # fmt: skip


GATES: tuple[Gate, ...] = (
    availability,
    answerability,
    top_cosine,
    mean_confidence,
    relevance,
    distance,
    min_documents,
    keywords,
    required_entities,
)


def least_answerability(settings: Settings, intent: str) -> float:
    """The limit of the answerability gate for a question of this intent, in [0, 1]. Rounded to 12 decimals: 0.5 + 0.06 is 0.56."""
    extra = {"procedural": settings.answerability_extra_procedural, "comparative": settings.answerability_extra_comparative}
    return round(max(0.0, min(1.0, settings.min_answerability + extra.get(intent, 0.0))), 12)


def mean_cosine(hits: tuple[Hit, ...]) -> float | None:
    """Mean cosine of the hits, in [-1, 1]; None when there are none. Rounded to 12 decimals: the mean of equal numbers equals them."""
    return round(fmean(hit.cosine for hit in hits), 12) if hits else None


def within_cut(hits: tuple[Hit, ...], settings: Settings) -> tuple[Hit, ...]:
    """The hits within `max_distance`; equal is within."""
    return tuple(hit for hit in hits if hit.distance <= settings.max_distance)


def cut_passages(case: Measurements) -> frozenset[str]:
    """Ids of the passages that the distance cut marks; a claim that rests on one is dropped. None unless the gate enforces."""
    if case.settings.distance_mode is not Mode.ENFORCE:
        return frozenset()
    return frozenset(hit.passage.id for hit in case.hits) - {hit.passage.id for hit in within_cut(case.hits, case.settings)}


def level(case: Measurements) -> ConfidenceLevel:
    """The confidence level: cuts of the score of the preset's main gate (S4-2, S4-5).

    It is `medium` at most where a claim was checked by facts and overlap only, whatever that audit may do, and `low` at most where sources
    contradict each other.
    """
    reached = _level_of_score(case)
    if shows_conflicts(case) and reached is not ConfidenceLevel.INSUFFICIENT:
        return ConfidenceLevel.LOW
    return ConfidenceLevel.MEDIUM if unread(case) and reached is ConfidenceLevel.HIGH else reached


def unread(case: Measurements) -> int:
    """How many claims of the draft rest on evidence and were checked by facts and overlap only, since no verifier has read them."""
    return sum(bool(claim.evidence) and not audit.read for claim, audit in zip(case.draft.claims, case.draft.audits, strict=True))


def shows_conflicts(case: Measurements) -> bool:
    """Whether the sources contradict each other and the settings look at that."""
    return bool(case.conflicts) and case.settings.contradictions_mode is not Mode.OFF


def _level_of_score(case: Measurements) -> ConfidenceLevel:
    s = case.settings
    if not case.hits:
        return ConfidenceLevel.INSUFFICIENT
    if s.main_gate == "answerability" and case.answerability is not None:
        if case.answerability >= s.high_answerability:
            return ConfidenceLevel.HIGH
        return ConfidenceLevel.MEDIUM if case.answerability >= s.medium_answerability else ConfidenceLevel.LOW
    closest = min(hit.distance for hit in case.hits)
    cuts = ((s.high_distance, ConfidenceLevel.HIGH), (s.medium_distance, ConfidenceLevel.MEDIUM), (s.low_distance, ConfidenceLevel.LOW))
    return next((name for cut, name in cuts if closest <= cut), ConfidenceLevel.INSUFFICIENT)


def _held(name: str, value: float | None, limit: float) -> str:
    if value is None:
        return ""
    digits = 2 if value == limit or f"{value:.2f}" != f"{limit:.2f}" else 4  # "1.00, 1.00 required" would explain nothing
    return f"{name} {value:.{digits}f}, {limit:.{digits}f} required"


def not_reached(check: CheckResult) -> CheckResult:
    """The same measurement, marked as not reached because an earlier gate refused. What never applied stays abstained or off."""
    settled = check.state is State.ABSTAINED or check.mode is Mode.OFF
    return check if settled else replace(check, state=State.NOT_REACHED)
