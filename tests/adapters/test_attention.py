"""The attention of the texts of a batch: by two products as by torch, whatever stands beside a text."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch.nn import functional

from rag_core.adapters.embedding import attention
from rag_core.adapters.embedding.attention import LONG, SAME_ROWS, has_products, rows_behind
from rag_core.adapters.embedding.forward import compiled

HEADS, SIZE = 3, 32
attend = compiled(attention.attend)
lengths = st.lists(st.one_of(st.integers(1, LONG + 2), st.integers(LONG, 3 * LONG)), min_size=1, max_size=5)


def batch(sizes: list[int], seed: int = 0) -> tuple[list[torch.Tensor], list[tuple[int, int]]]:
    """Query, key and value of so many tokens and the rows behind them, and the bounds of the texts."""
    generator = torch.Generator().manual_seed(seed)
    rows = sum(sizes) + rows_behind(sizes)
    parts = [torch.randn(rows, HEADS, SIZE, generator=generator).bfloat16() for _ in range(3)]
    return parts, list(pairwise(accumulate(sizes, initial=0)))


def exact(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Of one text, in float32: shape (rows of the query, HEADS * SIZE)."""
    one, two, three = (part.float().transpose(0, 1) for part in (query, key, value))
    return (
        functional.scaled_dot_product_attention(one[None], two[None], three[None])[0]
        .transpose(0, 1)
        .reshape(len(query), -1)
    )


@given(sizes=lengths, seed=st.integers(0, 99), products=st.booleans(), first_only=st.booleans())
@example(sizes=[LONG], seed=0, products=True, first_only=False)
@example(sizes=[LONG + 1, 2 * LONG - SAME_ROWS + 1], seed=0, products=True, first_only=True)
def test_given_texts_of_any_lengths_then_each_attends_to_itself_alone(sizes, seed, products, first_only):
    (query, key, value), bounds = batch(sizes, seed)
    asking = query[[start for start, _ in bounds]] if first_only else query

    found = attend(asking, key, value, bounds, first_only=first_only, products=products and has_products())

    assert found.shape == (len(asking), HEADS * SIZE)
    needed = [start + -(-(end - start) // SAME_ROWS) * SAME_ROWS for start, end in bounds if end - start >= LONG]
    assert len(key) == max([sum(sizes), *needed])  # each long text can be filled up, and no row more is multiplied
    for text, (start, end) in enumerate(bounds):
        mine = slice(text, text + 1) if first_only else slice(start, end)
        assert torch.allclose(found[mine].float(), exact(asking[mine], key[start:end], value[start:end]), atol=0.03)


@pytest.mark.parametrize("products", [False, True])
def test_given_scores_far_apart_then_shares_are_numbers_and_the_rest_of_the_size_has_none(products: bool) -> None:
    """All scores of a text are far below nothing; a row that fills it up and had a share would take it all."""
    sizes = [LONG + 1]
    (query, key, value), bounds = batch(sizes)
    key[: sizes[0]] = -100 * query[0]
    key[sizes[0] :] = 0

    found = attend(query, key, value, bounds, first_only=False, products=products and has_products())

    assert torch.isfinite(found).all()
    expected = value[: sizes[0]].float().mean(0).reshape(-1)  # all keys are one key: each token has an equal share
    assert torch.allclose(found[0].float(), expected, atol=0.01)
