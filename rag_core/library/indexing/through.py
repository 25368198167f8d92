"""An embedding model that hands everything on to another one; those who count its tokens for something more build on it."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.domain.ports import Embedder, TextKind, Vectors


class Through:
    """An `Embedder` that is the one behind it in all things."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        """The model's name."""
        return self._embedder.name

    @property
    def max_tokens(self) -> int:
        """Tokens that it reads."""
        return self._embedder.max_tokens

    @property
    def tokenizer(self) -> str:
        """Hash of its vocabulary."""
        return self._embedder.tokenizer

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        return self._embedder.count_tokens(texts)

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """Unit vectors."""
        return self._embedder.embed(texts, kind)
