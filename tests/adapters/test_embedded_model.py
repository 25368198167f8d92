"""The embedded model: its vectors are those of transformers' own network on the same weights, whatever stands beside a
text.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from folding import each
from hypothesis import example, given, settings
from hypothesis import strategies as st
from plain_e5 import MAX_TOKENS, PREFIXES, Plain, published, read

from rag_core.adapters.embedding.embedded import CENTRED, MEANS_FILE, EmbeddedModel, count_tokens
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


@pytest.fixture(scope="module")
def model() -> EmbeddedModel:
    return EmbeddedModel("float32")


@pytest.fixture(scope="module")
def plain() -> Plain:
    return read(published())


@pytest.fixture(scope="module")
def plainly(plain: Plain) -> dict[TextKind, np.ndarray]:
    """The vectors of `TEXTS` as the model's card has them made, each text by itself, less the share of their mean."""
    tokenizer, bert = plain.tokenizer(), plain.bert()
    tokenizer.enable_truncation(MAX_TOKENS)
    means = json.loads(MEANS_FILE.read_text(encoding="utf-8"))
    found = {}
    for kind in KINDS:
        rows = []
        for text in TEXTS:
            with torch.inference_mode():
                hidden = bert(input_ids=torch.tensor([tokenizer.encode(PREFIXES[kind] + text).ids])).last_hidden_state
            rows.append(hidden[0].mean(0).numpy())
        vectors = np.stack(rows)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors -= CENTRED * np.array(means[kind], dtype=np.float32)
        found[kind] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found


@pytest.mark.parametrize(("precision", "least"), [("float32", 0.99999), ("bfloat16", 0.999)])
def test_given_texts_of_all_kinds_then_the_vectors_agree_with_those_of_transformers(precision, least, plainly):
    """Empty, of one length and of many, cut off at the limit, in several scripts."""
    ours = EmbeddedModel(precision)

    for kind in KINDS:
        assert (ours.embed(TEXTS, kind) * plainly[kind]).sum(axis=1).min() > least


def test_given_texts_then_their_tokens_are_counted_as_a_plain_tokenizer_counts_those_of_passages(model, plain):
    tokenizer = plain.tokenizer()

    assert model.count_tokens(TEXTS) == [len(tokenizer.encode(PREFIXES["passage"] + text).ids) for text in TEXTS]
    assert count_tokens(TEXTS) == model.count_tokens(TEXTS)
    assert max(count_tokens(TEXTS)) > model.max_tokens == MAX_TOKENS
    assert count_tokens([]) == []


@settings(max_examples=20)
@given(texts=st.lists(st.text(max_size=80), min_size=1, max_size=5), kind=st.sampled_from(KINDS))
@example(texts=["</s>", "<mask> <pad>", "\x00", "🦜" * 700], kind="passage")
def test_given_any_texts_then_they_have_finite_unit_vectors(texts, kind, model):
    vectors = model.embed(texts, kind)

    assert (vectors.shape, vectors.dtype) == ((len(texts), 384), np.float32)
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


@each("kind", KINDS)
def test_given_a_text_in_any_company_then_its_vector_is_the_same(kind: TextKind, model: EmbeddedModel) -> None:
    alone = np.concatenate([model.embed([text], kind) for text in TEXTS])

    for texts in (TEXTS, TEXTS[::-1], TEXTS * 4, [*TEXTS[:3], "another"]):
        found = dict(zip(texts, model.embed(texts, kind), strict=True))
        for text, vector in zip(TEXTS, alone, strict=True):
            assert text not in found or np.abs(found[text] - vector).max() < 1e-5


def test_given_a_network_that_gives_no_numbers_then_it_is_a_typed_problem(model, monkeypatch):
    monkeypatch.setattr(Network, "run", lambda self, texts, head: [torch.full((384,), math.nan) for _ in texts])

    with pytest.raises(ModelUnavailable, match="returned no numbers"):
        model.embed(["abc"])
