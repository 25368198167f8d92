"""An embedding model for tests that is there at once; apart from `builders`, since child processes import it too."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from rag_core.domain.ports import TextKind, Vectors
from rag_core.language import words

DIM = 32


class HashEmbedder:
    """Unit vectors from the words of a text alone: equal words, equal vectors; `alike` words share one."""

    max_tokens = 256
    tokenizer = "words"

    def __init__(self, dim: int = DIM, alike: Mapping[str, str] | None = None, name: str = "hash@float32") -> None:
        self.name = name
        self._dim = dim
        self._alike = alike or {}

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(words(text)) + 2 for text in texts]

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        rows = np.zeros((len(texts), self._dim), dtype=np.float32)
        rows[:, 0] = 1e-3
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                spelling = word.text.casefold()
                seed = hashlib.sha256(self._alike.get(spelling, spelling).encode()).digest()[:8]
                row += np.random.default_rng(int.from_bytes(seed)).standard_normal(self._dim).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
