"""The embedded model: its vectors are those of transformers' own network on the same weights, whatever stands beside a
text.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_core.adapters.embedding.embedded import EmbeddedModel, count_tokens
from rag_core.adapters.embedding.network import Network
from rag_core.domain.ports import TextKind
from rag_core.errors import ModelUnavailable

KINDS: tuple[TextKind, ...] = ("query", "passage")
TEXTS = [
    "The notice period is 30 days.",
    "",
    "Lhůta činí třicet dní.",
    "नोटिस की अवधि",
    "the cat",
    "the cat",
    *(f"word {number} " * number for number in (7, 40)),
    "  § 3 — “ﬁne” ½ ",
    "long " * 600,
]

GOLDEN: dict[TextKind, list[list[float]]] = {
    "query": [
        [-0.0904, 0.0647, -0.0192],
        [-0.0053, 0.0663, -0.0675],
        [-0.0318, 0.0121, -0.028],
        [-0.0526, 0.0435, -0.0044],
        [-0.0077, 0.0193, -0.0693],
        [-0.0077, 0.0193, -0.0693],
        [-0.0088, 0.0547, 0.0726],
        [-0.0216, 0.0833, 0.0248],
        [0.0019, -0.0472, -0.0367],
        [-0.0881, 0.0808, 0.0628],
    ],
    "passage": [
        [-0.0695, 0.086, 0.0572],
        [0.0014, 0.0541, 0.0311],
        [-0.0264, -0.0283, -0.0077],
        [-0.0426, 0.0068, -0.0113],
        [-0.0088, 0.0307, 0.0282],
        [-0.0088, 0.0307, 0.0282],
        [0.0141, 0.0386, 0.0806],
        [0.0076, 0.0741, 0.0218],
        [0.0053, -0.0197, -0.0208],
        [-0.088, 0.0957, 0.095],
    ],
}


@pytest.fixture(scope="module")
def model() -> EmbeddedModel:
    return EmbeddedModel("float32")


def test_given_texts_of_all_kinds_then_the_vectors_are_those_that_transformers_gave(model):
    """Empty, of one length and of many, cut off at the limit, in several scripts: the first three numbers of each, when
    all of them were those of transformers' own network on the same weights, which read each text by itself.
    """
    rough = EmbeddedModel("bfloat16")

    for kind, wanted in GOLDEN.items():
        vectors = model.embed(TEXTS, kind)
        assert vectors[:, :3] == pytest.approx(np.array(wanted), abs=1e-3)
        assert (rough.embed(TEXTS, kind) * vectors).sum(axis=1).min() > 0.999


def test_given_texts_then_their_tokens_are_counted_as_those_of_passages(model):
    assert count_tokens(TEXTS) == model.count_tokens(TEXTS) == [11, 4, 14, 7, 6, 6, 18, 84, 11, 604]
    assert model.max_tokens == 512
    assert count_tokens([]) == []


@settings(max_examples=20)
@given(texts=st.lists(st.text(max_size=80), min_size=1, max_size=5), kind=st.sampled_from(KINDS))
@example(texts=["</s>", "<mask> <pad>", "\x00", "🦜" * 700], kind="passage")
def test_given_any_texts_then_they_have_finite_unit_vectors(texts, kind, model):
    vectors = model.embed(texts, kind)

    assert (vectors.shape, vectors.dtype) == ((len(texts), 384), np.float32)
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_given_a_text_in_any_company_then_its_vector_is_the_same(model):
    alone = np.concatenate([model.embed([text]) for text in TEXTS])

    for texts in (TEXTS[::-1], [*TEXTS[:3], "another"]):
        found = dict(zip(texts, model.embed(texts), strict=True))
        for text, vector in zip(TEXTS, alone, strict=True):
            assert text not in found or np.abs(found[text] - vector).max() < 1e-5


def test_given_a_network_that_gives_no_numbers_then_it_is_a_typed_problem(model, monkeypatch):
    monkeypatch.setattr(Network, "run", lambda self, texts, head: [torch.full((384,), math.nan) for _ in texts])

    with pytest.raises(ModelUnavailable, match="returned no numbers"):
        model.embed(["abc"])
