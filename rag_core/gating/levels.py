"""The confidence level of a question, and what the checks before a draft read from its hits. Pure."""

from __future__ import annotations

from statistics import fmean

from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Hit
from rag_core.domain.status import ConfidenceLevel
from rag_core.settings import Mode, Settings


def least_answerability(settings: Settings, intent: str) -> float:
    """The limit of the answerability gate for a question of this intent, in [0, 1]. Rounded to 12 decimals: 0.5 + 0.06 is 0.56."""
    return _least(settings.min_answerability, settings.answerability_extra_procedural, settings.answerability_extra_comparative, intent)


def least_correctness(settings: Settings, intent: str) -> float:
    """The same of the correctness gate."""
    return _least(settings.min_correctness, settings.correctness_extra_procedural, settings.correctness_extra_comparative, intent)


def _least(minimum: float, procedural: float, comparative: float, intent: str) -> float:
    """A threshold with what is added to it for the intents that have something added."""
    extra = {"procedural": procedural, "comparative": comparative}.get(intent, 0.0)
    return round(max(0.0, min(1.0, minimum + extra)), 12)


def main_score(measurements: Measurements) -> float | None:
    """The calibrated probability that the preset's main gate is about, in [0, 1]; None where that is a distance, or was not measured."""
    scores = {"correctness": measurements.correctness, "answerability": measurements.answerability}
    return scores.get(measurements.settings.main_gate)


def mean_cosine(hits: tuple[Hit, ...]) -> float | None:
    """Mean cosine of the hits, in [-1, 1]; None when there are none. Rounded to 12 decimals: the mean of equal numbers equals them."""
    return round(fmean(hit.cosine for hit in hits), 12) if hits else None


def closest_distance(hits: tuple[Hit, ...]) -> float | None:
    """Distance of the closest hit, in [0, 2]; None when there are none."""
    return min((hit.distance for hit in hits), default=None)


def within_cut(hits: tuple[Hit, ...], settings: Settings) -> tuple[Hit, ...]:
    """The hits within `max_distance`; equal is within."""
    return tuple(hit for hit in hits if hit.distance <= settings.max_distance)


def cut_passages(measurements: Measurements) -> frozenset[str]:
    """Ids of the passages that the distance cut marks; a claim that rests on one is dropped. None unless the gate enforces."""
    if measurements.settings.distance_mode is not Mode.ENFORCE:
        return frozenset()
    return frozenset(hit.passage.id for hit in measurements.hits) - {
        hit.passage.id for hit in within_cut(measurements.hits, measurements.settings)
    }


def level(measurements: Measurements) -> ConfidenceLevel:
    """The confidence level: cuts of the score of the preset's main gate.

    It is `medium` at most where a claim was checked by facts and overlap only, whatever that check may do, or rests on a figure that OCR is
    not sure of, and `low` at most where sources contradict each other.
    """
    reached = _level_of_score(measurements)
    if shows_conflicts(measurements) and reached is not ConfidenceLevel.INSUFFICIENT:
        return ConfidenceLevel.LOW
    return ConfidenceLevel.MEDIUM if medium_at_most(measurements) and reached is ConfidenceLevel.HIGH else reached


def prompt_level(measurements: Measurements) -> ConfidenceLevel | None:
    """The level that words the prompt of a draft, and asks for none where it is insufficient; None where the settings use no levels."""
    return level(measurements) if measurements.settings.levels else None


def medium_at_most(measurements: Measurements) -> bool:
    """Whether something of the draft was not checked as it should be: no model has read it, or OCR is not sure of a figure."""
    return bool(unread(measurements)) or any(citation.doubtful for citation in measurements.draft.citations.values())


def unread(measurements: Measurements) -> int:
    """How many claims of the draft rest on evidence and were checked by facts and overlap only, since no entailment model has read them."""
    return sum(
        bool(claim.evidence) and not measured.read
        for claim, measured in zip(measurements.draft.claims, measurements.draft.measured, strict=True)
    )


def shows_conflicts(measurements: Measurements) -> bool:
    """Whether the sources contradict each other and the settings look at that."""
    return bool(measurements.conflicts) and measurements.settings.contradictions_mode is not Mode.OFF


def _level_of_score(measurements: Measurements) -> ConfidenceLevel:
    s = measurements.settings
    if not measurements.hits:
        return ConfidenceLevel.INSUFFICIENT
    score = main_score(measurements)
    if score is not None:
        if score >= s.high_answerability:
            return ConfidenceLevel.HIGH
        return ConfidenceLevel.MEDIUM if score >= s.medium_answerability else ConfidenceLevel.LOW
    closest = min(hit.distance for hit in measurements.hits)
    cuts = ((s.high_distance, ConfidenceLevel.HIGH), (s.medium_distance, ConfidenceLevel.MEDIUM), (s.low_distance, ConfidenceLevel.LOW))
    return next((name for cut, name in cuts if closest <= cut), ConfidenceLevel.INSUFFICIENT)
