"""How sure an answer is: the weighted formula with its terms in the trace, and the other bases."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import claim, contradicted, draft, hit, hits, measurements, passage, settings
from builders import measured as measured_claim
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.decision.confidence import WEIGHTS, confidence, weighted_terms
from rag_core.domain.measurements import LibraryFacts, Measurements
from rag_core.gating.levels import level
from rag_core.settings import Mode

ratios = st.floats(0, 1)


def full(
    *, support: float | None = 0.8, two: bool = True, date: str = "2026-11-20", authority: float | None = 0.5
) -> Measurements:
    """Measurements with every term of the weighted formula: support, consistency over two documents, recency and
    authority.
    """
    found = (hit(0.9), *([hit(0.8, 2, of=passage(2, document="d2"))] if two else []))
    facts = LibraryFacts(dates={"d1": date} if date else {}, authority={} if authority is None else {"d1": authority})
    drafted = draft([claim(found[0].passage)], [measured_claim(support=support)])
    return measurements(
        of=settings(confidence="weighted", contradictions_mode=Mode.OBSERVE), hits=found, library=facts, draft=drafted
    )


def of(one: Measurements) -> tuple[float, str, str]:
    value, basis, row = confidence(one, one.draft.claims)
    assert (row.stage, row.value, row.mode) == ("confidence", value, Mode.OBSERVE)
    return value, basis, row.found


def test_given_all_terms_then_they_are_weighed_as_s3_says() -> None:
    """S3-22: 0.4 support + 0.3 consistency + 0.2 recency + 0.1 authority."""
    value, basis, found = of(full())

    assert WEIGHTS == {"support": 0.4, "consistency": 0.3, "recency": 0.2, "authority": 0.1}
    assert (value, basis) == (round(0.4 * 0.8 + 0.3 * 1 + 0.2 * 1 + 0.1 * 0.5, 3), "weighted")
    assert found == "support 0.80 x 0.40, consistency 1.00 x 0.30, recency 1.00 x 0.20, authority 0.50 x 0.10"


def test_given_a_term_without_data_then_the_others_fill_in_and_the_trace_says_so() -> None:
    """S3-22: without a date and an authority the weights are renormalised."""
    value, _, found = of(full(date="", authority=None))

    assert value == round((0.4 * 0.8 + 0.3) / 0.7, 3)
    assert (
        found
        == "support 0.80 x 0.57, consistency 1.00 x 0.43; no data on recency and authority, the other weights fill in"
    )


def test_given_a_date_one_half_life_ago_then_recency_is_one_half() -> None:
    aged = full(date="2025-11-20")

    assert weighted_terms(aged, aged.draft.claims)["recency"] == 0.5
    older = replace(aged, settings=settings(recency_half_life_days=730))
    assert weighted_terms(older, older.draft.claims)["recency"] == pytest.approx(0.5**0.5)
    assert weighted_terms(replace(aged, metadata={}), aged.draft.claims)["recency"] is None


def test_given_sources_then_consistency_is_the_share_of_claims_that_no_other_source_contradicts() -> None:
    """S3-22: consistency across sources is not how a passage was found; one document by itself agrees with nobody."""
    alone, torn = full(two=False), contradicted(settings(confidence="weighted", contradictions_mode=Mode.OBSERVE))
    claims = torn.draft.claims

    assert weighted_terms(alone, alone.draft.claims)["consistency"] is None
    assert weighted_terms(torn, claims)["consistency"] == pytest.approx(1 / 3)
    assert weighted_terms(torn, claims[2:])["consistency"] == 1.0
    assert weighted_terms(torn, claims[1:2])["consistency"] == 0.0
    unseen = replace(torn, settings=settings(contradictions_mode=Mode.OFF))
    assert weighted_terms(unseen, claims)["consistency"] is None


@each("basis", ["correctness", "answerability"])
def test_given_no_calibration_then_the_weighted_number_stands_in_under_its_own_name(basis: str) -> None:
    one = full()
    one = replace(one, settings=one.settings.changed(confidence=basis), correctness=None, answerability=None)
    value, told, found = of(one)

    assert (value, told) == of(full())[:2]
    assert found.startswith("no calibration fits this library, so the weighted number stands in: support 0.80")


def test_given_claims_that_were_dropped_then_only_the_shown_ones_count() -> None:
    first, second = passage(1), passage(2, document="d2")
    drafted = draft([claim(first), claim(second, "Other.")], [measured_claim(support=1.0), measured_claim(support=0.2)])
    facts = LibraryFacts(authority={"d1": 1.0, "d2": 0.0})
    mixed = measurements(
        of=settings(contradictions_mode=Mode.OBSERVE),
        hits=(hit(0.9, of=first), hit(0.2, 2, of=second)),
        library=facts,
        draft=drafted,
    )

    assert weighted_terms(mixed, drafted.claims) == {
        "support": 0.6,
        "consistency": 1.0,
        "recency": None,
        "authority": 0.5,
    }
    assert weighted_terms(mixed, drafted.claims[:1]) == {
        "support": 1.0,
        "consistency": 1.0,
        "recency": None,
        "authority": 1.0,
    }


def test_given_no_term_at_all_then_the_confidence_is_zero() -> None:
    assert of(replace(full(support=None, date="", authority=None), hits=()))[0] == 0.0


@pytest.mark.parametrize(
    ("basis", "value"), [("mean", 0.85), ("top", 0.88), ("correctness", 0.7), ("answerability", 0.6)]
)
def test_given_another_basis_then_it_is_that_number_to_three_places(basis: str, value: float) -> None:
    """S0-28, S0-31: round(avg_score, 3) is selectable."""
    one = measurements(0.88, 0.85, 0.82, of=settings(confidence=basis), correctness=0.70004, answerability=0.6)

    assert of(one)[:2] == (value, basis)
    assert of(replace(one, hits=hits(0.12345), settings=settings(confidence="mean")))[0] == 0.123


def test_given_a_closest_passage_that_is_not_the_first_then_the_top_basis_is_its_cosine() -> None:
    """Fusion and rerankers order the passages; the basis is still the highest cosine."""
    assert of(measurements(0.5, 0.88, of=settings(confidence="top")))[0] == 0.88


@each("basis", ["mean", "top", "correctness", "answerability", "weighted"])
def test_given_negative_or_no_scores_then_the_confidence_stays_in_its_range(basis: str) -> None:
    assert of(measurements(-0.5, -0.9, of=settings(confidence=basis), draft=draft([])))[0] == 0.0
    assert of(measurements(of=settings(confidence=basis)))[0] == 0.0


@given(
    support=st.none() | ratios,
    two=st.booleans(),
    authority=st.none() | ratios,
    date=st.sampled_from(["", "2020", "2026-11", "soon"]),
)
def test_given_any_terms_then_the_confidence_lies_between_the_least_and_the_greatest(
    support: float | None, two: bool, authority: float | None, date: str
) -> None:
    """S3-22: a weighted mean never leaves the range of its terms."""
    one = full(support=support, two=two, authority=authority, date=date)
    known = [term for term in weighted_terms(one, one.draft.claims).values() if term is not None]

    assert min(known, default=0.0) - 0.001 <= of(one)[0] <= max(known, default=0.0) + 0.001


@each("basis", ["weighted", "mean", "top", "correctness", "answerability"])
@each("mode", Mode)
def test_given_contradicting_sources_then_the_number_is_halved_where_looked_at(basis: str, mode: Mode) -> None:
    """S4-21: of two sides one at most holds; off is as if there were none."""
    of_basis = {"confidence": basis, "main_gate": "cosine"}
    plain = contradicted(settings(**of_basis, contradictions_mode=Mode.OFF), correctness=0.9, answerability=0.8)
    value, _, row = confidence(
        replace(plain, settings=settings(**of_basis, contradictions_mode=mode)), plain.draft.claims
    )
    whole, _, _ = confidence(plain, plain.draft.claims)
    if basis == "weighted":  # its own term falls too: one sentence of three agrees with the other document
        whole = (0.4 + 0.3 * (1.0 if mode is Mode.OFF else 1 / 3)) / 0.7

    assert value == (whole if mode is Mode.OFF else pytest.approx(whole / 2, abs=0.001))
    assert ("halved" in row.found) is (mode is not Mode.OFF)


@given(score=ratios, medium=st.integers(0, 90), high=st.integers(90, 100))
def test_given_contradicting_sources_then_number_and_level_agree(score: float, medium: int, high: int) -> None:
    """S4-21: half of the score that the level is cut from."""
    cuts = {"medium_answerability": medium / 100, "high_answerability": high / 100}
    s = settings(confidence="correctness", contradictions_mode=Mode.OBSERVE, **cuts)
    torn = contradicted(s, correctness=score)
    value, _, row = confidence(torn, torn.draft.claims)

    assert level(torn) == "low"
    assert value < s.medium_answerability or (value, medium) == (0, 0)
    assert value <= score / 2 + 0.001
    assert row.value == value
