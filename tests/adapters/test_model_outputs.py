"""The embedded networks give the numbers that they gave when their thresholds were fitted: a small golden table, in
float32.
"""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.adapters.embedding.reader import ReaderModel
from rag_core.adapters.embedding.support import SupportModel
from rag_core.domain.passages import Place

QUESTION = "How long is the notice period?"
SENTENCES = ("The contract may be ended by either side.", "The notice period is thirty days from the end of the month.")
NOTICE = " ".join(SENTENCES)
OFFICE = "The office is in Brno. It was built of brick and has four floors."
SHIFT = 1e-3  # by which another processor's sums may differ
READS = [[4.0225, -7.5134, 3.8218], [-5.5618, -7.4431]]  # log odds of places and of their units
ENTAILS = [2.3111, -5.0097, 2.9576, 3.0267]  # log odds
# the first five of 384 numbers
VECTORS = [[-0.0606, 0.0297, -0.0315, -0.0343, -0.0208], [-0.081, 0.0629, -0.0194, -0.015, -0.0308]]
COSINE = 0.6890


def test_given_fixed_questions_and_places_then_the_reader_says_what_it_said() -> None:
    places = [Place("Termination", SENTENCES), Place("", (OFFICE,))]
    found = [
        [one.log_odds, *(unit.log_odds for unit in one.units)] for one in ReaderModel("float32").read(QUESTION, places)
    ]

    for one, wanted in zip(found, READS, strict=True):
        assert one == pytest.approx(wanted, abs=SHIFT)


def test_given_fixed_claims_and_evidence_then_the_entailment_is_as_it_was() -> None:
    pairs = [
        (NOTICE, "The notice period is thirty days."),
        (NOTICE, "The notice period is ninety days."),
        (OFFICE, "The office has four floors."),
        ("delivery " * 240 + NOTICE, "The notice period is thirty days."),  # within the 320 tokens that it reads
    ]

    assert SupportModel("float32").supports(pairs) == pytest.approx(ENTAILS, abs=SHIFT)


def test_given_fixed_texts_then_their_vectors_are_as_they_were() -> None:
    model = EmbeddedModel("float32")
    found = np.concatenate([model.embed([QUESTION], "query"), model.embed([NOTICE])])

    assert found[:, :5] == pytest.approx(np.array(VECTORS), abs=SHIFT)
    assert float(found[0] @ found[1]) == pytest.approx(COSINE, abs=SHIFT)
