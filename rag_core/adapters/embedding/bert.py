"""A BERT of six layers on torch alone: hidden states for token ids. Both networks of the embedded model run through it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

LAYERS, HEADS, DIM = 6, 12, 384  # the shape of all-MiniLM-L6-v2, as its config.json says
EPSILON = 1e-12  # in the layer norms, as its config.json says

Weights = Mapping[str, "Tensor"]


def encode(weights: Weights, ids: Tensor, mask: Tensor, kinds: Tensor | None = None) -> Tensor:
    """Hidden states of shape (batch, length, 384).

    Args:
        weights: by the names of the published model.
        ids: token ids of shape (batch, length).
        mask: of the same shape, False where a text is padded.
        kinds: 0 for tokens of the first text, 1 for those of the second; None where there is one text.
    """
    from torch.nn import functional

    batch, length = ids.shape
    words, types, places = (weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "token_type", "position"))
    x = norm(weights, words[ids] + (types[0] if kinds is None else types[kinds]) + places[:length], "embeddings")
    allowed = None if mask.all() else mask[:, None, None, :].expand(batch, 1, length, length)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            linear(weights, x, f"{layer}.attention.self.{name}").view(batch, length, HEADS, -1).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        heads = functional.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
        attended = linear(weights, heads.transpose(1, 2).reshape(batch, length, DIM), f"{layer}.attention.output.dense")
        x = norm(weights, attended + x, f"{layer}.attention.output")
        inner = functional.gelu(linear(weights, x, f"{layer}.intermediate.dense"))
        x = norm(weights, linear(weights, inner, f"{layer}.output.dense") + x, f"{layer}.output")
    return x


def linear(weights: Weights, x: Tensor, name: str) -> Tensor:
    """One linear layer."""
    from torch.nn import functional

    return functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])


def norm(weights: Weights, x: Tensor, name: str) -> Tensor:
    """One layer norm."""
    from torch.nn import functional

    return functional.layer_norm(x, (DIM,), weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"], EPSILON)
