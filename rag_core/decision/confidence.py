"""One number for how sure an answer is, with its terms in the trace.

correctness, the default: the calibrated probability that the answer is right. Where no calibration fits the library,
the weighted number stands in, and its name and the trace say so.

weighted: 0.4 x support + 0.3 x consistency + 0.2 x recency + 0.1 x authority. A term without data is left out, the
weights are renormalised, and the trace row says so.

Where sources contradict each other the number is halved, whatever its basis: of two sides that exclude each other one
at most holds, and nothing here prefers either. Where it is the score that the level is cut from, it ends below the cut
of `medium`, as the level does.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from statistics import fmean

from rag_core.domain.claims import Claim
from rag_core.domain.measurements import Measurements
from rag_core.domain.trace import CheckResult, State
from rag_core.gating.levels import looks_at_conflicts, mean_cosine, shows_conflicts
from rag_core.retrieval.hybrid import recency_of
from rag_core.settings import Mode, Scale

SIDES = 2  # a contradiction has two
_LAST_DIGIT = 0.001  # the confidence has three places
WEIGHTS = {"support": 0.4, "consistency": 0.3, "recency": 0.2, "authority": 0.1}  # as published for this formula


def confidence(measurements: Measurements, claims: Sequence[Claim]) -> tuple[float, str, CheckResult]:
    """The confidence in [0, 1], its basis, and the trace row that shows how it came about."""
    basis: str = measurements.settings.confidence
    uncalibrated = basis in ("correctness", "answerability") and getattr(measurements, basis) is None
    if uncalibrated:
        basis = "weighted"
    if basis == "weighted":
        terms = weighted_terms(measurements, claims)
        known = {name: value for name, value in terms.items() if value is not None}
        total = sum(WEIGHTS[name] for name in known)
        value = sum(WEIGHTS[name] * term for name, term in known.items()) / total if total else 0.0
        found = ", ".join(f"{name} {term:.2f} x {WEIGHTS[name] / total:.2f}" for name, term in known.items())
        if "recency" in known and dated_by_files(measurements, claims):
            found += "; recency by the dates of the files, for want of better ones"
        missing = [name for name in terms if name not in known]
        if missing:
            found += f"; no data on {' and '.join(missing)}, the other weights fill in"
    else:
        top = max((hit.cosine for hit in measurements.hits), default=0.0)
        known_value, found = {
            "mean": (mean_cosine(measurements.hits), "mean cosine of the retrieved passages"),
            "top": (top, "cosine of the closest passage"),
            "correctness": (measurements.correctness, "calibrated probability that the answer is right"),
            "answerability": (
                measurements.answerability,
                "calibrated probability that the documents answer the question",
            ),
        }[basis]
        value = known_value or 0.0
    if uncalibrated:
        found = f"no calibration fits this library, so the weighted number stands in: {found or 'nothing is known'}"
    value = max(0.0, min(1.0, value))
    if shows_conflicts(measurements):
        value = _contradicted(value, basis, measurements)
        found += "; halved, for the sources contradict each other"
    value = round(value, 3)
    return value, basis, CheckResult("confidence", State.PASSED, Mode.OBSERVE, value, scale=Scale.SHARE, found=found)


def _contradicted(value: float, basis: str, measurements: Measurements) -> float:
    """Half of a confidence, and below the cut of `medium` where that is a cut of the same number."""
    s = measurements.settings
    same_scale = basis == s.main_gate
    return min(value / SIDES, max(0.0, s.medium_answerability - _LAST_DIGIT)) if same_scale else value / SIDES


def weighted_terms(measurements: Measurements, claims: Sequence[Claim]) -> dict[str, float | None]:
    """The terms of the formula, each in [0, 1] or None without data.

    support: mean probability that its evidence supports a claim, 1 for one that is its evidence word for word.
    consistency: share of the claims that no other source contradicts; None where that was not looked for, or all
    passages are of one document and none contradicts another. recency: 0.5 ** (age / half-life) of the cited documents'
    dates, those of the files only where no better one is known. authority: their stated authority.
    """
    supports = [
        measured.support
        for claim, measured in zip(measurements.draft.claims, measurements.draft.measured, strict=True)
        if claim in claims
    ]
    drafted, conflicts = measurements.draft.claims, measurements.conflicts if shows_conflicts(measurements) else ()
    sources = {hit.passage.document for hit in measurements.hits}
    documents = {evidence.document for claim in claims for evidence in claim.evidence}
    torn = [drafted[at] for one in conflicts for at in (one.claim, one.other)]
    compared = looks_at_conflicts(measurements.settings) and len(sources) > 1
    agreeing = [float(claim not in torn) for claim in claims]
    asked = date.fromisoformat(measurements.metadata["asked_on"]) if "asked_on" in measurements.metadata else None
    half_life, dates = measurements.settings.recency_half_life_days, measurements.library.dates
    ages = (
        []
        if asked is None
        else [recency_of(dates[document], half_life, asked) for document in _dated(measurements, claims)]
    )
    authorities = [measurements.library.authority[d] for d in documents if d in measurements.library.authority]
    return {
        "support": _mean([value for value in supports if value is not None]),
        "consistency": _mean(agreeing) if conflicts or compared else None,
        "recency": _mean([value for value in ages if value is not None]),
        "authority": _mean(authorities),
    }


def dated_by_files(measurements: Measurements, claims: Sequence[Claim]) -> bool:
    """Whether nothing better is known of the age of what is cited than the dates of files."""
    return any(measurements.library.by_file(document) for document in _dated(measurements, claims))


def _dated(measurements: Measurements, claims: Sequence[Claim]) -> list[str]:
    """The cited documents whose date counts: those of people or first pages, else those of files."""
    library = measurements.library
    dated = [
        one
        for one in dict.fromkeys(evidence.document for claim in claims for evidence in claim.evidence)
        if library.dates.get(one)
    ]
    return [one for one in dated if not library.by_file(one)] or dated


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
