"""How a network of ours runs: what its first tokens say, what it shares with another, and into how many sizes its
batches fall.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from rag_core.adapters.embedding.cores import cores
from rag_core.adapters.embedding.e5_file import HEADS, LAYERS, e5_file
from rag_core.adapters.embedding.embedded import published_network
from rag_core.adapters.embedding.network import Network, _padded

TEXTS = ["How long is the notice period?", "", "The office is in Brno. " * 20, "delivery " * 300, "नोटिस की अवधि"]


@pytest.fixture(scope="module")
def network() -> Network:
    return published_network("float32")


def tokens(texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
    """Each with its ends; the second half of it is its second part."""
    _, start, end, *_ = e5_file().special
    found = [[start, *ids, end] for ids in e5_file().ids(texts)]
    return [(ids, [0] * (len(ids) // 2) + [1] * (len(ids) - len(ids) // 2)) for ids in found]


def split(x: torch.Tensor, lengths: Sequence[int]) -> Sequence[torch.Tensor]:
    return torch.split(x, list(lengths))


def test_given_a_network_above_another_then_it_has_the_others_lower_layers_and_its_own_upper_ones(network):
    file = e5_file()
    weights = {name: torch.from_numpy(weight) for name, weight in file.layers()}
    upper = {
        name: weight
        for name, weight in weights.items()
        if any(name.startswith(f"encoder.layer.{at}.") for at in range(4, LAYERS))
    }
    same = Network(upper, network._words, LAYERS, HEADS, "float32", below=network, shared=4)
    other = Network(
        {name: weight * 0.9 for name, weight in upper.items()},
        network._words,
        LAYERS,
        HEADS,
        "float32",
        below=network,
        shared=4,
    )

    for one, two, three in zip(*(each.run(tokens(TEXTS), split) for each in (network, same, other)), strict=True):
        assert torch.equal(one, two)
        assert not torch.allclose(one, three, atol=1e-2)
    assert all(same._layers[at] is network._layers[at] for at in range(4))


def test_given_any_number_of_tokens_then_it_is_filled_up_to_one_of_few_sizes() -> None:
    """A library of matrix products keeps a kernel for each: docs/decisions/23-speed.md."""
    filled = [_padded(tokens) for tokens in range(1, 1601)]

    assert all(tokens <= rows < tokens + 64 for tokens, rows in enumerate(filled, 1))
    assert len(set(filled)) <= 36
    assert _padded(16) == 16  # a question costs no more than it has to


def test_given_tasks_side_by_side_then_each_is_parted_into_fewer_batches_and_says_the_same(network, monkeypatch):
    alone, batches, batch = network.run(tokens(TEXTS), split), list[int](), network._batch
    monkeypatch.setattr(network, "_batch", lambda texts, *others: batches.append(len(texts)) or batch(texts, *others))
    with cores().share() as count:
        beside = network.run(tokens(TEXTS), split)

    assert (count, len(batches)) == (cores().count, max(1, cores().count // 2))
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in zip(alone, beside, strict=True))
    with cores().share() as count:
        assert count == cores().count
