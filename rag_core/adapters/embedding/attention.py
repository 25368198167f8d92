"""The attention of each text of a batch to itself, in the part of Python that TorchScript compiles (`forward`).

The texts stand one after another: no mask, no padding. Of a long text in bfloat16 it is made of two products and
oneDNN's softmax, since torch's own goes through it in small blocks: on one thread .94 and .37 ms for 208 tokens and
twelve heads. On several threads torch's own is faster (docs/decisions/23-speed.md).
"""

from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

LONG = 64  # tokens from which two products take no longer than torch's own attention: measured at 16, 32, 48, 64 and 96
SAME_ROWS = 16  # a text's tokens are filled up to a multiple of this, since oneDNN keeps a kernel for each size; chosen


@cache
def has_products() -> bool:
    """Whether oneDNN has the softmax of bfloat16 on this processor: one with AVX2 alone has not."""
    try:
        torch.zeros(1, 1, SAME_ROWS, dtype=torch.bfloat16).to_mkldnn().softmax(-1)
    except RuntimeError:
        return False
    return True


def rows_behind(lengths: list[int]) -> int:
    """So many rows have to stand behind those of all texts, so that each long one can be filled up."""
    start = needed = 0
    for length in lengths:
        if length >= LONG:
            needed = max(needed, start + -(-length // SAME_ROWS) * SAME_ROWS)
        start += length
    return max(0, needed - start)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bounds: list[tuple[int, int]],
    first_only: bool,
    products: bool,
    long: int = LONG,
) -> Tensor:
    """Shape (rows of the query, heads * numbers of a head).

    Args:
        query: of all texts, shape (rows, heads, numbers of a head); of each first token alone where `first_only`.
        key: of all tokens, with `rows_behind` more rows of anything finite.
        value: of the same shape.
        bounds: where each text begins and ends in `key` and `value`.
        first_only: only the first token of each text asks.
        products: multiply where a text has `long` tokens; in bfloat16 and where torch has oneDNN.
        long: see `products`.
    """
    found = query.new_zeros([query.size(0), query.size(1) * query.size(2)])
    queries, keys, values = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
    for text in range(len(bounds)):
        start, end = bounds[text]
        first, last = (text, text + 1) if first_only else (start, end)
        if products and end - start >= long:
            heads = _in_two_products(queries, keys, values, first, last, start, end)
        else:
            heads = functional.scaled_dot_product_attention(
                queries[None, :, first:last], keys[None, :, start:end], values[None, :, start:end]
            )[0]
        found[first:last] = heads.transpose(0, 1).reshape(last - first, -1)
    return found


def _in_two_products(
    query: Tensor, key: Tensor, value: Tensor, first: int, last: int, start: int, end: int, same_rows: int = SAME_ROWS
) -> Tensor:
    """As torch has it, of shape (heads, rows that ask, numbers of a head); rows that fill up are the next text's."""
    filled = start + (end - start + same_rows - 1) // same_rows * same_rows
    asked = query[:, first:last] if last - first == 1 else query[:, start:filled]
    keys = key[:, start:filled].contiguous().transpose(1, 2)
    scale = float(query.size(2)) ** -0.5
    scores = torch.baddbmm(query.new_empty([1]), asked.contiguous(), keys, beta=0, alpha=scale)
    scores[:, :, end - start :] = -float("inf")
    shares = scores.to_mkldnn().softmax(-1).to_dense()
    return torch.bmm(shares, value[:, start:filled])[:, : last - first]
