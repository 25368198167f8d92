"""The confidence level of a question, and what the checks before a draft read from its hits. Pure."""

from __future__ import annotations

from math import inf
from statistics import fmean

from rag_core.domain.indexing import indexing_of
from rag_core.domain.measurements import BESIDE, Measurements
from rag_core.domain.passages import Hit
from rag_core.domain.status import ConfidenceLevel
from rag_core.settings import Mode, Settings

_ORDER = tuple(ConfidenceLevel)  # the highest first


def lowest(*levels: ConfidenceLevel) -> ConfidenceLevel:
    return max(levels, key=_ORDER.index)


def main_score(measurements: Measurements) -> float | None:
    """The probability that the main gate is about, in [0, 1]; None for a distance, or where not measured."""
    scores = {"correctness": measurements.correctness, "answerability": measurements.answerability}
    return scores.get(measurements.settings.main_gate)


def mean_cosine(hits: tuple[Hit, ...]) -> float | None:
    """Mean cosine of the hits, in [-1, 1]; None without hits.

    Rounded to 12 decimals, so that the mean of equal numbers equals them.
    """
    return round(fmean(hit.cosine for hit in hits), 12) if hits else None


def closest_distance(hits: tuple[Hit, ...]) -> float | None:
    """Distance of the closest hit, in [0, 2]; None when there are none."""
    return min((hit.distance for hit in hits), default=None)


def within_cut(hits: tuple[Hit, ...], settings: Settings) -> tuple[Hit, ...]:
    """The hits within `max_distance`; equal is within."""
    return tuple(hit for hit in hits if hit.distance <= settings.max_distance)


def cut_distance(settings: Settings) -> float:
    """The distance beyond which no claim of an answer rests on a passage; infinite unless the gate enforces."""
    return settings.max_distance if settings.distance_mode is Mode.ENFORCE else inf


def looks_at_conflicts(settings: Settings) -> bool:
    """Whether contradictions of the sources count."""
    return settings.contradictions_mode is not Mode.OFF


def cut_passages(measurements: Measurements) -> frozenset[str]:
    """Ids of passages beyond the distance cut: a claim that rests on one is dropped. None unless it enforces."""
    if cut_distance(measurements.settings) == inf:
        return frozenset()
    return frozenset(hit.passage.id for hit in measurements.hits) - {
        hit.passage.id for hit in within_cut(measurements.hits, measurements.settings)
    }


def level(measurements: Measurements) -> ConfidenceLevel:
    """The confidence level: cuts of the score of the preset's main gate.

    It is medium at most where a claim was not read, or needs what stands beside it, OCR is unsure of a figure, or
    pages, perhaps better ones, were unread, whatever their checks may do. It is low at most where sources contradict
    each other.
    """
    doubtful = any(citation.doubtful for citation in measurements.draft.citations.values())
    doubtful = doubtful or BESIDE in measurements.metadata
    doubtful = doubtful or bool(unread(measurements)) or indexing_of(measurements.metadata) is not None
    caps = [ConfidenceLevel.MEDIUM] * doubtful + [ConfidenceLevel.LOW] * shows_conflicts(measurements)
    return lowest(_level_of_score(measurements), *caps)


def prompt_level(measurements: Measurements) -> ConfidenceLevel | None:
    """The level that words a draft's prompt, if sufficient; None where the settings use no levels."""
    return level(measurements) if measurements.settings.levels else None


def unread(measurements: Measurements) -> int:
    """How many claims with evidence were checked by facts and overlap only: no entailment model read them."""
    return sum(
        bool(claim.evidence) and not measured.read
        for claim, measured in zip(measurements.draft.claims, measurements.draft.measured, strict=True)
    )


def shows_conflicts(measurements: Measurements) -> bool:
    """Whether the sources contradict each other and the settings look at that."""
    return bool(measurements.conflicts) and looks_at_conflicts(measurements.settings)


def _level_of_score(measurements: Measurements) -> ConfidenceLevel:
    """The level by the score of the main gate; by the closest distance where there is none."""
    s = measurements.settings
    if not measurements.hits:
        return ConfidenceLevel.INSUFFICIENT
    score = main_score(measurements)
    if score is not None:
        reached = ((s.high_answerability, ConfidenceLevel.HIGH), (s.medium_answerability, ConfidenceLevel.MEDIUM))
        return next((name for cut, name in reached if score >= cut), ConfidenceLevel.LOW)
    closest = min(hit.distance for hit in measurements.hits)
    cuts = (s.high_distance, s.medium_distance, s.low_distance, inf)
    found = next(name for cut, name in zip(cuts, _ORDER, strict=True) if closest <= cut)
    keywords = measurements.keywords  # a distance alone does not see that half of them or more stand in no passage
    half = bool(keywords.missing) and len(keywords.missing) >= len(keywords.matched)
    return lowest(found, ConfidenceLevel.LOW) if half else found
