"""The embedded networks give the numbers that they gave when their thresholds were fitted: a small golden table, in float32."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.adapters.embedding.pair_models import AnswerModel, SupportModel

QUESTION = "How long is the notice period?"
NOTICE = "The contract may be ended by either side. The notice period is thirty days from the end of the month."
OFFICE = "The office is in Brno. It was built of brick and has four floors."
SHIFT = 1e-3  # by which another processor's sums may differ
ANSWERS = [2.5032, -4.2340, 3.5070]  # log odds
ENTAILS = [2.3111, -5.0097, 2.9576, 3.0267]  # log odds
VECTORS = [[0.0171, 0.049, 0.0545, 0.0498, 0.0516], [0.046, 0.0024, 0.0245, 0.0113, 0.0308]]  # the first five of 384 numbers
COSINE = 0.6262


def test_given_fixed_questions_and_passages_then_the_answerability_is_as_it_was() -> None:
    found = AnswerModel("float32").answers(QUESTION, [NOTICE, OFFICE, "delivery " * 200 + NOTICE])

    assert found == pytest.approx(ANSWERS, abs=SHIFT)


def test_given_fixed_claims_and_evidence_then_the_entailment_is_as_it_was() -> None:
    pairs = [
        (NOTICE, "The notice period is thirty days."),
        (NOTICE, "The notice period is ninety days."),
        (OFFICE, "The office has four floors."),
        ("delivery " * 240 + NOTICE, "The notice period is thirty days."),  # within the 320 tokens that it reads
    ]

    assert SupportModel("float32").supports(pairs) == pytest.approx(ENTAILS, abs=SHIFT)


def test_given_fixed_texts_then_their_vectors_are_as_they_were() -> None:
    found = EmbeddedModel("float32").embed([QUESTION, NOTICE])

    assert found[:, :5] == pytest.approx(np.array(VECTORS), abs=SHIFT)
    assert float(found[0] @ found[1]) == pytest.approx(COSINE, abs=SHIFT)
