import numpy as np
import pytest
from builders import measured as measured_claim
from folding import each

from rag_core.domain.ports import TextKind, Vectors
from rag_core.grounding.overlap import grounded_share, overlap, similarities


class Directions:
    """An embedder whose vectors are told by the first letter: equal letters are one direction, others at right
    angles.
    """

    name, max_tokens = "directions", 8

    def __init__(self) -> None:
        self.seen: list[str] = []

    def count_tokens(self, texts: list[str]) -> list[int]:
        return [1 for _ in texts]

    def embed(self, texts: list[str], kind: TextKind = "passage") -> Vectors:
        self.seen += texts
        return np.stack([np.eye(26, dtype=np.float32)[ord(text[0]) - 97] * np.float32(1.0001) for text in texts])


@each(
    ("claim", "evidence", "share"),
    [
        ("plants need blue light", "Light is what plants need.", 0.75),
        ("plants, plants, plants: moss", "Plants!", 0.5),
        ("Záruční lhůta", "ZÁRUČNÍ LHŮTA je 24 měsíců", 1.0),
    ],
)
def test_given_a_sentence_then_the_share_of_its_words_in_the_evidence_is_measured(
    claim: str, evidence: str, share: float
) -> None:
    """S2-13: word-set overlap over the sentence's words."""
    assert overlap(claim, evidence) == pytest.approx(share)


@each("claim", ["", "   ", "…?!", "[Source 1]", "— [1][2]."])
def test_given_a_sentence_without_words_then_nothing_is_divided(claim: str) -> None:
    """S2-19: an empty answer or sentence is no division by zero."""
    assert overlap(claim, "Plants need light.") is None
    assert grounded_share([measured_claim(overlap=None)], 0.5) is None
    assert grounded_share([], 0.5) is None


def test_given_citations_and_punctuation_then_they_do_not_change_the_overlap() -> None:
    """S2-20: marks and punctuation are not words."""
    assert overlap("Plants need light [Source 1] !", "plants need light") == 1.0
    assert overlap("moss [1]", "fern [1]") == 0.0


def test_given_the_examples_of_the_source_then_both_sentences_are_grounded() -> None:
    """S2-13: 85 % and 92 % of the words give 100 % grounded; a share equal to the threshold is grounded."""
    assert grounded_share([measured_claim(overlap=0.85), measured_claim(overlap=0.92)], 0.5) == 1.0
    assert (
        grounded_share([measured_claim(overlap=0.5), measured_claim(overlap=0.49), measured_claim(overlap=None)], 0.5)
        == 0.5
    )


def test_given_pairs_then_equal_texts_need_no_model_and_rounding_never_leaves_the_range() -> None:
    """S4-10: similarity by an embedding model."""
    embedder = Directions()
    assert similarities([("same", "same"), ("ab", "ac"), ("ab", "bc")], embedder) == [1.0, 1.0, 0.0]
    assert "same" not in embedder.seen


def test_given_no_embedder_then_what_is_not_equal_stays_unmeasured() -> None:
    assert similarities([("same", "same"), ("ab", "ac")], None) == [1.0, None]


def test_given_a_changed_fact_then_the_claim_is_not_grounded_whatever_its_overlap() -> None:
    """S2-17: an overlap of 0.89 does not make a changed operator good."""
    assert (
        grounded_share(
            [measured_claim(overlap=0.89, changed_facts=(("operator", "n + 1"),)), measured_claim(overlap=0.6)], 0.5
        )
        == 0.5
    )
