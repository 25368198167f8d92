"""An embedder that remembers what it embedded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_core.adapters.embedding.recent import Recent
from rag_core.domain.ports import Embedder, TextKind, Vectors

SIZE = 1 << 12  # texts; about 6 MB at 384 dimensions


class CachedEmbedder:
    """An `Embedder` in front of another, with the `size` most recently used vectors. Threads may share it."""

    def __init__(self, inner: Embedder, size: int = SIZE) -> None:
        self._inner = inner
        self._recent = Recent[tuple[TextKind, str], Vectors](size)

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def max_tokens(self) -> int:
        return self._inner.max_tokens

    @property
    def tokenizer(self) -> str:
        return self._inner.tokenizer

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        if not texts:
            return self._inner.embed([])
        keys = [(kind, text) for text in texts]
        return np.stack(
            self._recent.values(keys, lambda missing: self._inner.embed([text for _, text in missing], kind))
        )
