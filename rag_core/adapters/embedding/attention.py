"""The attention of each text of a batch to itself. The texts stand one after another: no mask between them, no padding to the longest.

Of a long text in bfloat16 it is made of two products and oneDNN's softmax, since torch's own goes through it in small blocks: on one thread
.94 and .37 ms for 208 tokens and twelve heads. On several threads torch's own is faster (docs/log/2026-11-27-one-thread-a-core.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

LONG = 64  # tokens from which two products take no longer than torch's own attention: measured at 16, 32, 48, 64 and 96
SAME_ROWS = 16  # a text's tokens are filled up to a multiple of this, since oneDNN keeps a kernel for each size; chosen


def rows_behind(lengths: Sequence[int]) -> int:
    """So many rows have to stand behind those of all texts, so that the last text can be filled up."""
    return SAME_ROWS - 1 if max(lengths) >= LONG else 0


def attend(query: Tensor, key: Tensor, value: Tensor, bounds: Sequence[tuple[int, int]], *, first_only: bool, products: bool) -> Tensor:
    """Shape (rows of the query, heads * numbers of a head).

    Args:
        query: of all texts, shape (rows, heads, numbers of a head); of the first token of each text alone where `first_only`.
        key: of all tokens, with `rows_behind` more rows of anything finite.
        value: of the same shape.
        bounds: where each text begins and ends in `key` and `value`.
        first_only: only the first token of each text asks.
        products: multiply where a text is long; in bfloat16 and where torch has oneDNN.
    """
    found = query.new_zeros(len(query), query.shape[1] * query.shape[2])
    queries, keys, values = (one.transpose(0, 1) for one in (query, key, value))
    for text, (start, end) in enumerate(bounds):
        asking = slice(text, text + 1) if first_only else slice(start, end)
        how = _in_two_products if products and end - start >= LONG else _at_once
        found[asking] = how(queries, keys, values, asking, start, end).transpose(0, 1).reshape(-1, found.shape[1])
    return found


def _at_once(query: Tensor, key: Tensor, value: Tensor, asking: slice, start: int, end: int) -> Tensor:
    """As torch has it: of shape (heads, rows that ask, numbers of a head), as all that is given."""
    from torch.nn import functional

    return functional.scaled_dot_product_attention(query[None, :, asking], key[None, :, start:end], value[None, :, start:end])[0]


def _in_two_products(query: Tensor, key: Tensor, value: Tensor, asking: slice, start: int, end: int) -> Tensor:
    """The same of products. The rows that fill a text up are those of the next one; their share is nothing."""
    import torch

    rows = asking.stop - asking.start
    filled = start + -(-(end - start) // SAME_ROWS) * SAME_ROWS
    asked = asking if rows == 1 else slice(start, filled)
    keys = key[:, start:filled].contiguous().transpose(1, 2)
    scale = query.shape[2] ** -0.5
    scores = torch.baddbmm(query.new_empty(1), query[:, asked].contiguous(), keys, beta=0, alpha=scale)
    scores[:, :, end - start :] = -torch.inf
    shares = scores.to_mkldnn().softmax(-1).to_dense()
    return torch.bmm(shares, value[:, start:filled])[:, :rows]
