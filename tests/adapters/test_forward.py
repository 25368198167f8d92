"""The forward pass as TorchScript: the same numbers as the Python it is made of, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.adapters.embedding import embedded, forward
from rag_core.adapters.embedding.attention import rows_behind
from rag_core.adapters.embedding.e5_file import DIM, HEADS
from rag_core.adapters.embedding.embedded import EmbeddedModel, published_network
from rag_core.adapters.embedding.forward import compiled, encode, means
from rag_core.adapters.embedding.network import Network, _padded

TEXTS = ["The harbour bridge was opened in 1931.", "Notice is three months. " * 20, "Lhůta je třicet dní."]


@pytest.fixture(scope="module", params=["float32", "bfloat16"])
def network(request: pytest.FixtureRequest) -> Network:
    return published_network(request.param)


@settings(max_examples=12, deadline=None)
@given(lengths=st.lists(st.integers(1, 90), min_size=1, max_size=4), first_only=st.booleans(), seed=st.integers(0, 99))
def test_given_texts_of_any_lengths_then_the_compiled_pass_gives_the_same_bits(network, lengths, first_only, seed):
    ids = torch.randint(0, 250_000, (sum(lengths),), generator=torch.Generator().manual_seed(seed))
    words, kinds = network._words(ids.tolist()).to(network._kind), ids % 2
    rows = _padded(len(ids) + rows_behind(lengths))
    given = (network._embeddings, network._layers, words, kinds, lengths, HEADS, rows, first_only)

    with torch.inference_mode():
        plain, script = encode(*given), compiled(encode)(*given)

        assert script.shape == (len(lengths) if first_only else len(ids), DIM)
        assert torch.equal(plain, script)
        if not first_only:
            assert torch.equal(means(plain, lengths), compiled(means)(script, lengths))


def test_given_a_network_then_its_pass_is_compiled_so_that_it_runs_without_pythons_lock() -> None:
    assert isinstance(compiled(encode), torch.jit.ScriptFunction)
    assert isinstance(compiled(means), torch.jit.ScriptFunction)
    assert compiled(encode) is compiled(encode)


def test_given_a_torch_that_compiles_nothing_then_the_numbers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    before = EmbeddedModel("float32").embed(TEXTS)

    def refused(_: object) -> None:
        raise RuntimeError("TorchScript is gone.")

    monkeypatch.setattr(forward, "_compiled", {})
    monkeypatch.setattr(torch.jit, "script", refused)
    monkeypatch.setattr(embedded, "published_network", published_network.__wrapped__)  # loaded anew
    model = EmbeddedModel("float32")

    assert compiled(encode) is encode
    assert np.array_equal(model.embed(TEXTS), before)
