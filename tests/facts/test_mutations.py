"""The audit of facts against sentences with one fact changed: over the sample documents and four texts of ours, in four
languages.

The evidence of a sentence is about 1,000 characters around it, as of a passage. Every cell has at least ten cases.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from folding import each

from rag_core.ingest.normalise import normalise
from training.files import SEED
from training.mutations import OPERATORS
from training.mutations.lists import LANGUAGES
from training.mutations.rates import UNCHANGED, Rates, measure
from training.mutations.rewriting import REWRITES
from training.mutations.texts import Sample, samples

ROOT = Path(__file__).resolve().parents[2]
TEXTS = Path(__file__).parent / "mutations"
CAUGHT, UNCHANGED_FLAGGED, HARMLESS_FLAGGED = 0.98, 0.005, 0.05
CASES, MOST = 10, 25  # at least and at most, of each operator in each language


@cache
def everything() -> tuple[Sample, ...]:
    """Every statement once: two sample documents are versions of one."""
    paths = [*sorted((ROOT / "data" / "samples").glob("*.pdf")), *sorted(TEXTS.glob("*.txt"))]
    return tuple({sample.sentence: sample for path in paths for sample in samples(path)}.values())


@pytest.fixture(scope="session")
def rates(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Rates:
    """Counted once for all processes, over the statements in any order; `python -m training.mutations` counts all
    variants.
    """

    def fill(folder: Path) -> None:
        drawn = random.Random(SEED)
        (folder / "rates").write_bytes(
            pickle.dumps(measure(drawn.sample(everything(), len(everything())), drawn, MOST))
        )

    counted = made_once("rates", fill)
    return pickle.loads((counted / "rates").read_bytes())  # type: ignore[no-any-return]


def misses(rates: Rates, operator: str, lang: str) -> str:
    """What came out wrong, for whoever reads the failure."""
    wrong = [
        (variant, found)
        for variant, found in rates.wrong
        if (variant.operator, variant.sample.lang) == (operator, lang)
    ]
    return "\n".join(f"{variant.sample.sentence}\n -> {variant.text} {found}" for variant, found in wrong)


@each("lang", LANGUAGES)
@each("operator", OPERATORS)
def test_given_one_changed_fact_then_it_is_caught(operator: str, lang: str, rates: Rates) -> None:
    """S2-17: nearly every changed fact is seen, whichever it is, in each of the four languages."""
    share = rates.of(operator, lang)

    assert rates.tried[operator, lang] >= CASES
    assert share >= CAUGHT, misses(rates, operator, lang)


@each("lang", LANGUAGES)
def test_given_a_sentence_that_stands_in_its_evidence_then_it_is_not_flagged(lang: str, rates: Rates) -> None:
    share = rates.of(UNCHANGED, lang)

    assert share <= UNCHANGED_FLAGGED, misses(rates, UNCHANGED, lang)


@each("lang", LANGUAGES)
def test_given_harmless_changes_then_few_are_flagged(lang: str, rates: Rates) -> None:
    found = {kind: rates.of(kind, lang) for kind in REWRITES}

    assert {kind for kind, share in found.items() if share is None} <= ({"case"} if lang == "hi" else set())
    for kind, share in found.items():
        assert (share or 0) <= HARMLESS_FLAGGED, misses(rates, kind, lang)


def test_given_a_page_then_the_evidence_is_what_a_passage_would_be() -> None:
    for sample in everything():
        assert sample.evidence in sample.page
        assert "".join(sample.sentence.split()) in "".join(normalise(sample.evidence).text.split())
        assert len(sample.evidence) <= len(sample.sentence) * 1.2 + 1500
        assert len(sample.evidence) >= min(len(sample.page), 250)
