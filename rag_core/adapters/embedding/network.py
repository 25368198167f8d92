"""A BERT on torch alone, whose tokens are packed one text after another: how every network of ours runs.

What an output means is said by its users: `embedded.py` makes a vector of a text, `reader.py` and `support.py` log odds
of texts that are read together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rag_core.adapters.embedding.by_name import BATCH
from rag_core.adapters.embedding.cores import cores, even_parts

if TYPE_CHECKING:
    from torch import Tensor

    from rag_core.adapters.embedding.forward import Embeddings, Layer, Norm

# up to so many tokens they are filled up to a multiple of the second number; chosen
ROWS = ((64, 16), (512, 32), (math.inf, 64))
PACKED_FOR = 256  # rows; what is packed for so many serves any number as well (measured for 5 to 1,216)

Weights = Mapping[str, "Tensor"]
Words = Callable[[Sequence[int]], "Tensor"]
Head = Callable[["Tensor", Sequence[int]], Sequence["Tensor"]]
Tokens = tuple[Sequence[int], Sequence[int]]


class Network:
    """One network. Threads may share it, and the cores.

    Args:
        weights: of all layers but the vocabulary, by the names of transformers' BERT, float32.
        words: the embeddings of token ids, shape (len(ids), numbers of a token).
        layers: how many it has, each with so many `heads`.
        heads: of each.
        precision: float32 or bfloat16.
        below: a network whose embeddings and lowest `shared` layers are this one's too; `weights` has the others alone.
        shared: how many.
    """

    def __init__(
        self,
        weights: Weights,
        words: Words,
        layers: int,
        heads: int,
        precision: str,
        *,
        below: Network | None = None,
        shared: int = 0,
    ) -> None:
        import torch

        self._kind = getattr(torch, precision)
        own = range(shared, layers)
        self._weights = _packed(_joined({name: weight.to(self._kind) for name, weight in weights.items()}, own))
        self._words, self._heads = words, heads
        self._layers: list[Layer] = [*(below._layers[:shared] if below else ()), *_layers(self._weights, own)]
        self._embeddings: Embeddings = below._embeddings if below else _embeddings(self._weights)

    def run(self, texts: Sequence[Tokens], head: Head, *, first_only: bool = False) -> list[Tensor]:
        """The output of `head` for each text, in their order.

        The tokens of a batch are packed one text after another, without padding: 1.2 to 1.6 times faster. Batches of
        about as many tokens each are worked on side by side.

        Args:
            texts: token ids, and for each 0 in the first or 1 in the second part of a text.
            head: given hidden states of shape (tokens, numbers of a token) and the lengths, gives a tensor for each
                text.
            first_only: give it those of each text's first token alone, shape (texts, numbers of a token).
        """
        shared = cores()
        with shared.share() as parts:
            batches = even_parts([len(ids) for ids, _ in texts], parts, BATCH)
            outputs = shared.each(lambda rows: self._batch([texts[row] for row in rows], head, first_only), batches)
        found = {
            row: one
            for rows, output in zip(batches, outputs, strict=True)
            for row, one in zip(rows, output, strict=True)
        }
        return [found[row] for row in range(len(texts))]

    def _batch(self, texts: Sequence[Tokens], head: Head, first_only: bool) -> Sequence[Tensor]:
        import torch

        from rag_core.adapters.embedding.attention import rows_behind
        from rag_core.adapters.embedding.forward import compiled, encode

        lengths = [len(ids) for ids, _ in texts]
        words = self._words([id for ids, _ in texts for id in ids]).to(self._kind)
        kinds = torch.tensor([kind for _, kinds in texts for kind in kinds])
        rows = _padded(len(kinds) + rows_behind(lengths)) if self._layers[0].outer.weight.is_mkldnn else len(kinds)
        with torch.inference_mode():
            x = compiled(encode)(self._embeddings, self._layers, words, kinds, lengths, self._heads, rows, first_only)
            return head(x, lengths)

    def linear(self, x: Tensor, layer: str) -> Tensor:
        from torch.nn import functional

        return functional.linear(x, self._weights[f"{layer}.weight"], self._weights[f"{layer}.bias"])


def _joined(weights: Weights, layers: Iterable[int]) -> Weights:
    """The weights, where one layer makes both key and value of an attention: a larger product instead of two."""
    import torch

    left = dict(weights)
    for number in layers:
        attention = f"encoder.layer.{number}.attention.self"
        for kind in ("weight", "bias"):
            left[f"{attention}.both.{kind}"] = torch.cat(
                [left.pop(f"{attention}.{name}.{kind}") for name in ("key", "value")]
            )
    return left


def _packed(weights: Weights) -> Weights:
    """The weights, those of linear layers laid out as oneDNN multiplies by them, where torch can do that.

    By the operators of torch's own compiler, in bfloat16: a product takes 5 % less, one of a few rows 20 %, with the
    same bits.
    """
    import torch

    from rag_core.adapters.embedding.attention import has_products

    if not has_products():
        return weights
    packed = dict(weights)
    with torch.inference_mode():
        for layer, weight in weights.items():
            if layer.startswith("encoder.") and weight.dim() == 2 and weight.dtype == torch.bfloat16:
                try:
                    packed[layer] = torch.ops.mkldnn._reorder_linear_weight(weight, PACKED_FOR)
                except (AttributeError, RuntimeError):  # a torch without oneDNN
                    return weights
    return packed


def _layers(weights: Weights, numbers: Iterable[int]) -> list[Layer]:
    """The weights of these layers where the forward pass looks for them, and that pass compiled."""
    from rag_core.adapters.embedding.forward import Layer, Linear, compiled, encode

    def linear(name: str) -> Linear:
        return Linear(weights[f"{name}.weight"], weights[f"{name}.bias"])

    compiled(encode)
    return [
        Layer(
            linear(f"{layer}.attention.self.query"),
            linear(f"{layer}.attention.self.both"),
            linear(f"{layer}.attention.output.dense"),
            _norm(weights, f"{layer}.attention.output"),
            linear(f"{layer}.intermediate.dense"),
            linear(f"{layer}.output.dense"),
            _norm(weights, f"{layer}.output"),
        )
        for layer in (f"encoder.layer.{number}" for number in numbers)
    ]


def _embeddings(weights: Weights) -> Embeddings:
    from rag_core.adapters.embedding.forward import Embeddings

    types, places = (weights[f"embeddings.{name}_embeddings.weight"] for name in ("token_type", "position"))
    return Embeddings(types, places, _norm(weights, "embeddings"))


def _norm(weights: Weights, name: str) -> Norm:
    from rag_core.adapters.embedding.forward import Norm

    return Norm(weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"])


def _padded(tokens: int) -> int:
    """So many rows that they fall into few sizes: oneDNN keeps a kernel for each that it met, 2 MB more a batch."""
    step = next(step for most, step in ROWS if tokens <= most)
    return -(-tokens // step) * step
