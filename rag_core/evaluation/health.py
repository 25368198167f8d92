"""The health of a collection from its kept questions: figures with target and alert, refusals, scores and their drift.

A figure is None where nothing was measured for it. The targets and alerts are those of the requirements. Refused
questions that ask for like things show what documents lack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from scipy import stats

from rag_core.decision.summary import Summary
from rag_core.domain.ports import Vectors
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.language import content_terms

SCORE_BINS = 10  # equal parts of [0, 1], as the bins of a calibration's reliability
# Population stability index: above 0.25 a population counts as shifted (Siddiqi, Credit Risk Scorecards, 2006)
DRIFT_ALERT = 0.25
MIN_TO_COMPARE = 50  # scores on either side: fewer tell a spread badly; chosen
SIGNIFICANT = 0.01  # a shift that chance gives more often than this is no alert
PERCENTILE = 95  # slow searches are what people remember


class Figure(StrEnum):
    """The five figures."""

    COVERAGE = "coverage"  # sentences of checked drafts with a source that holds the quote
    FAILED = "failed"  # drafts that the checks rejected
    CORRECTNESS = "correctness"  # mean probability that an answer is right, of answers
    RETRIEVAL = "retrieval"  # milliseconds of a search, 95th percentile
    MODEL = "model"  # milliseconds of language models by question, 95th percentile


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure's target and alert: below or above them, whichever side is the good one."""

    target: float
    alert: float

    def alerts(self, value: float | None) -> bool:
        return value is not None and (value < self.alert if self.target > self.alert else value > self.alert)


# the targets and alerts of the requirements
GOALS: Mapping[Figure, Goal] = {
    Figure.COVERAGE: Goal(1.0, 0.95),
    Figure.FAILED: Goal(0.0, 0.05),
    Figure.CORRECTNESS: Goal(0.8, 0.7),
    Figure.RETRIEVAL: Goal(100.0, 200.0),
    Figure.MODEL: Goal(2000.0, 5000.0),
}


@dataclass(frozen=True, slots=True)
class Kept:
    """A kept question: its id, when it was asked (ISO 8601, UTC), its text (untrusted), and how it went."""

    id: int
    at: str
    question: str
    language: str
    summary: Summary


@dataclass(frozen=True, slots=True)
class Drift:
    """The spread of the scores (`now`, in `SCORE_BINS` parts of [0, 1]) against that of the calibration (`then`, or
    ()).

    `index` is the population stability index, None for too few scores; `p` how often chance gives such a difference
    (chi-squared).
    """

    index: float | None
    p: float | None
    now: tuple[int, ...]
    then: tuple[int, ...]

    @property
    def alerts(self) -> bool:
        """Whether the scores have shifted, and not by chance."""
        return self.index is not None and self.p is not None and self.index > DRIFT_ALERT and self.p < SIGNIFICANT


def figure(which: Figure, kept: Sequence[Kept]) -> float | None:
    """A figure over these questions: a share in [0, 1], or milliseconds."""
    summaries = [one.summary for one in kept]
    if which is Figure.COVERAGE:
        return _share(sum(one.cited for one in summaries), sum(one.claims for one in summaries))
    if which is Figure.FAILED:
        return _share(sum(one.failed for one in summaries), sum(one.drafts for one in summaries))
    if which is Figure.CORRECTNESS:
        return _mean(one.correctness for one in summaries if one.status is AnswerStatus.SUCCESS and one.searched)
    times = [one.retrieval_ms if which is Figure.RETRIEVAL else one.model_ms for one in summaries]
    known = [time for time in times if time is not None]
    return float(np.percentile(known, PERCENTILE)) if known else None


def refusals(kept: Iterable[Kept]) -> list[tuple[str, int]]:
    """(reason, questions) of what was refused, most first."""
    return Counter(
        one.summary.reason.value for one in kept if one.summary.status is not AnswerStatus.SUCCESS
    ).most_common()


def scores(kept: Iterable[Kept]) -> tuple[int, ...]:
    """Questions by their probability of a right answer, in `SCORE_BINS` equal parts of [0, 1]."""
    known = [one.summary.correctness for one in kept if one.summary.searched and one.summary.correctness is not None]
    counts, _ = np.histogram(known, bins=SCORE_BINS, range=(0.0, 1.0))
    return tuple(int(count) for count in counts)


def spread_of(figures: Mapping[str, Any]) -> tuple[int, ...]:
    """The scores that a calibration was fitted on, from its `figures_of`, as `scores` counts them, or ()."""
    bins = figures.get("reliability") or ()
    found = [0] * SCORE_BINS
    for one in bins:
        found[min(int((one["low"] + one["high"]) / 2 * SCORE_BINS), SCORE_BINS - 1)] += int(one["n"])
    return tuple(found) if bins else ()


def drift(now: Sequence[int], then: Sequence[int]) -> Drift:
    """The shift between two spreads; each count is raised by a half, so that an empty part is no infinite shift."""
    known = (tuple(now), tuple(then))
    if not then or min(sum(now), sum(then)) < MIN_TO_COMPARE:
        return Drift(None, None, *known)
    table = np.array([now, then], dtype=float)
    parts = (table + 0.5) / (table + 0.5).sum(axis=1, keepdims=True)
    index = float(((parts[0] - parts[1]) * np.log(parts[0] / parts[1])).sum())
    used = table[:, table.sum(axis=0) > 0]
    p = float(stats.chi2_contingency(used).pvalue) if used.shape[1] > 1 else 1.0
    return Drift(index, p, *known)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


ALIKE_COSINE, ALIKE_TERMS = 0.6, 0.5  # from here on two questions ask for like things; chosen by looking, not measured
MAX_TERMS = 4  # that name a gap
_NO_GAP = frozenset({Reason.FOLLOW_UP, Reason.SUMMARY})  # no document would answer these


@dataclass(frozen=True, slots=True)
class Gap:
    """Refused questions about like things, the middle one first, untrusted; `nowhere` are names in no document."""

    questions: tuple[Kept, ...]
    terms: tuple[str, ...]
    nowhere: tuple[str, ...]


def unanswered(kept: Sequence[Kept]) -> list[Kept]:
    """The questions that the documents did not answer: refused by a gate, and not for a failure or a draft of ours."""
    wanted = (AnswerStatus.INSUFFICIENT_CONTEXT, AnswerStatus.LOW_CONFIDENCE)
    return [one for one in kept if one.summary.status in wanted and one.summary.reason not in _NO_GAP]


def gaps(kept: Sequence[Kept], vectors: Vectors) -> list[Gap]:
    """Groups of unanswered questions, largest first, then newest; `vectors` are unit ones of shape (n, dim).

    A question joins the group whose middle it is most like, by cosine or by shared words; otherwise it begins one.
    """
    words = [frozenset(content_terms(one.question, one.language)) for one in kept]
    groups: list[list[int]] = []
    centres: list[Vectors] = []

    def alike(row: int, at: int) -> float:
        """How much a question is like a group; from 1 on it belongs there."""
        others = [words[other] for other in groups[at]]
        shared = max(len(words[row] & other) / max(len(words[row] | other), 1) for other in others)
        return max(float(vectors[row] @ centres[at]) / ALIKE_COSINE, shared / ALIKE_TERMS)

    for row in range(len(kept)):
        closeness, likest = max(((alike(row, at), -at) for at in range(len(groups))), default=(0.0, 0))
        if closeness >= 1.0:
            group = groups[-likest]
            group.append(row)
            centre = vectors[group].mean(axis=0)
            centres[-likest] = centre / max(float(np.linalg.norm(centre)), 1e-9)
        else:
            groups.append([row])
            centres.append(vectors[row])
    made = [_gap(rows, centre, kept, words, vectors) for rows, centre in zip(groups, centres, strict=True)]
    return sorted(made, key=lambda gap: -len(gap.questions))


def _gap(
    rows: Sequence[int], centre: Vectors, kept: Sequence[Kept], words: Sequence[frozenset[str]], vectors: Vectors
) -> Gap:
    ordered = sorted(rows, key=lambda row: -float(vectors[row] @ centre))
    shared = Counter(word for row in rows for word in sorted(words[row]))
    least = max(2, len(rows) // 2) if len(rows) > 1 else 1
    named = [word for word, count in shared.most_common() if count >= least][:MAX_TERMS]
    nowhere = Counter(name for row in rows for name in kept[row].summary.nowhere)
    return Gap(
        tuple(kept[row] for row in ordered), tuple(named), tuple(name for name, _ in nowhere.most_common(MAX_TERMS))
    )
