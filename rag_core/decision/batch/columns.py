"""The numbers of many recorded questions as columns, for judging. Read once; this judges nothing, and knows no model, index or file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.decision.batch.asked import Walks, drafts_of, every_claim
from rag_core.decision.checks import GATING, GROUNDING
from rag_core.decision.present import scores
from rag_core.domain.claims import Claim
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.gating.levels import unread
from rag_core.settings import Settings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Objects = NDArray[np.object_]

JUDGED = (*GATING, *GROUNDING)
REASONS = tuple(Reason)
CODE = {reason: code for code, reason in enumerate(REASONS)}  # 0 is `none`
_NO_CONFLICT: tuple[int, int, int, bool] = (0, 0, 0, False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)  # what is worked out from a set lives as long as it
class ReplaySet:
    """n cases as columns. A column of one number a case has shape (n,), one of claims (n, most claims), padded; NaN is "not measured".

    `settled` is the code of a reason that no setting changes (a greeting, a failure), or of `none`. `rests_on` is the distance in [0, 2] of
    the farthest retrieved passage a claim rests on, -inf where none was retrieved. Conflicts are rows of (case, claim, other, added).
    What a language model drafted is in no column: such cases are walked by themselves once their gates pass.
    """

    measured_under: tuple[Settings, ...]  # each once
    scores: Mapping[str, Floats]  # the named measurements of decisions, for charts; NaN where a case has none of that name
    values: Mapping[str, Floats]  # by the check's name; of those whose value is the same under all settings
    abstains: Mapping[str, Flags]  # by the check's name
    intent: Objects
    settled: Ints
    distances: Floats  # distances of the hits, (n, most hits)
    answerability: Floats
    known_keywords: Floats
    claims: Flags
    rests: Flags  # a claim with evidence
    rests_on: Floats
    overlap: Floats
    unread: Flags  # (n,), whether no entailment model has read a claim
    changed_facts: Floats
    conflicts: Ints
    most_claims: int  # that a case has, its drafts all together; see `asked.every_claim`
    walks: Walks

    def __len__(self) -> int:
        return len(self.settled)

    @classmethod
    def of(cls, cases: Sequence[Measurements]) -> ReplaySet:
        """Read the cases once.

        Raises:
            ValueError: a draft whose claims were not all measured.
        """
        for draft in (draft for case in cases for draft in drafts_of(case)):
            if len(draft.audits) != len(draft.claims):
                raise ValueError(f"{len(draft.claims)} claims need as many measurements, got {len(draft.audits)}")
        named_scores = [scores(case) for case in cases]
        names = dict.fromkeys(name for row in named_scores for name in row)
        clashes = [
            (row, one.claim, one.other, one.added) for row, case in enumerate(cases) for one in case.conflicts
        ]  # fmt: skip
        return cls(
            measured_under=tuple(dict.fromkeys(case.settings for case in cases)),
            scores={name: _floats(row.get(name) for row in named_scores) for name in names},
            values={check.name: _floats(map(check.value, cases)) for check in JUDGED if check.columns.values is None},
            abstains={check.name: _flags(bool(check.abstains(case)) for case in cases) for check in JUDGED},
            intent=np.array([*(case.understanding.intent for case in cases), None], dtype=object)[:-1],
            settled=np.array([CODE[_settled(case)] for case in cases], dtype=np.int64),
            distances=_table(([hit.distance for hit in case.hits] for case in cases), np.nan),
            answerability=_floats(case.answerability for case in cases),
            known_keywords=_floats(len(case.keywords.matched) + len(case.keywords.missing) for case in cases),
            claims=_of_claims(cases, lambda claim: True),
            rests=_of_claims(cases, lambda claim: bool(claim.evidence)),
            rests_on=_table((_rests_on(case) for case in cases), -np.inf),
            overlap=_of_audits(cases, "overlap"),
            unread=_flags(bool(unread(case)) for case in cases),
            changed_facts=_table(
                ([1.0 if audit.changed_facts is None else len(audit.changed_facts) for audit in case.draft.audits] for case in cases), 0.0
            ),
            conflicts=np.array(clashes or [_NO_CONFLICT], dtype=np.int64)[: len(clashes)],
            most_claims=max((len(every_claim(case)) for case in cases), default=0),
            walks=Walks({row: case for row, case in enumerate(cases) if case.llm_trace is not None}),
        )

    @property
    def no_claims(self) -> Flags:
        """Shape (n,); no draft to audit."""
        return np.asarray(~self.claims.any(axis=1))

    def by_intent(self, threshold: Callable[[str], float]) -> Floats:
        """Shape (n,); the threshold of each question by its intent."""
        known = {intent: threshold(intent) for intent in set(self.intent)}
        return np.array([known[intent] for intent in self.intent], dtype=float)

    def grounded_share(self, min_overlap: float) -> Floats:
        """Shape (n,); share of the claims with evidence that are grounded, NaN where none has words. See `grounding.overlap`."""
        compared = self.rests & ~np.isnan(self.overlap)
        grounded = compared & (self.overlap >= min_overlap) & (self.changed_facts == 0)
        count = compared.sum(axis=1)
        return np.where(count > 0, grounded.sum(axis=1) / np.maximum(count, 1), np.nan)


def _settled(case: Measurements) -> Reason:
    """The reason of a case that no gate or audit judges; `none` where they do."""
    if case.failure:
        return Reason.FAILURE
    if case.answer:
        return Reason.GREETING if case.understanding.intent == "greeting" else Reason.ABOUT_LIBRARY
    return Reason.NONE


def _rests_on(case: Measurements) -> list[float]:
    """For each claim the distance of the farthest passage it rests on; a passage counts by its nearest hit."""
    nearest: dict[str, float] = {}
    for hit in case.hits:
        nearest[hit.passage.id] = min(hit.distance, nearest.get(hit.passage.id, np.inf))
    return [max((nearest.get(piece.passage, -np.inf) for piece in claim.evidence), default=-np.inf) for claim in case.draft.claims]


def _of_claims(cases: Sequence[Measurements], holds: Callable[[Claim], bool]) -> Flags:
    return _table(([float(holds(claim)) for claim in case.draft.claims] for case in cases), 0.0).astype(bool)


def _of_audits(cases: Sequence[Measurements], name: str) -> Floats:
    return _table(([getattr(audit, name) for audit in case.draft.audits] for case in cases), np.nan)


def _floats(values: Iterable[float | None]) -> Floats:
    """Shape (n,); NaN for None."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _flags(values: Iterable[bool]) -> Flags:
    return np.array(list(values), dtype=bool)


def _table(rows: Iterable[Sequence[float | None]], fill: float) -> Floats:
    """Shape (n, longest row); short rows are filled up, None is NaN."""
    listed: list[Any] = list(rows)
    table = np.full((len(listed), max(map(len, listed), default=0)), fill)
    for row, values in zip(table, listed, strict=True):
        row[: len(values)] = [np.nan if value is None else value for value in values]
    return table
