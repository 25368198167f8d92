"""The embedded model, all-MiniLM-L6-v2, on torch alone: the mean over its tokens' hidden states, a unit vector.

sentence-transformers gives the same vectors to the last digits (a test compares them), but importing it takes 3.5 s more on a free
processor, and every start of the program would wait for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from rag_core.adapters.embedding.by_name import EMBEDDED, embedded_folder, unit_vectors, vocabulary_hash
from rag_core.adapters.embedding.minilm import DIM, MiniLm
from rag_core.domain.ports import Vectors

if TYPE_CHECKING:
    from torch import Tensor

MAX_TOKENS = 256  # as published with the model, special tokens included


class TokenCounter:
    """Counts tokens as the embedded model does, with a tokenizer of its own: whoever counts waits for no forward pass.

    Safe to call from several threads.

    Args:
        text: of its tokenizer.json.
    """

    def __init__(self, text: str) -> None:
        from tokenizers import Tokenizer

        self._whole = Tokenizer.from_str(text)
        self._whole.no_truncation()
        self._whole.no_padding()

    @classmethod
    def of_package(cls) -> TokenCounter:
        """With the tokenizer of the package that has the weights; raises ModelUnavailable, OSError or others where that cannot be used."""
        return cls((embedded_folder() / "tokenizer.json").read_text(encoding="utf-8"))

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens included, without any cut."""
        return [len(encoded) for encoded in self._whole.encode_batch_fast(list(texts))]

    def vocabulary(self) -> Mapping[str, int]:
        """Its tokens with their numbers."""
        found: Mapping[str, int] = self._whole.get_vocab()
        return found


class EmbeddedModel:
    """An `Embedder` on the embedded model. Safe to call from several threads.

    Args:
        precision: float32, bfloat16 or auto (bfloat16 where the processor has it).

    Raises:
        ModelUnavailable: its package is missing or damaged.
    """

    def __init__(self, precision: str = "auto") -> None:
        self._model = MiniLm("embedded", precision, MAX_TOKENS)
        self.precision = self._model.precision
        self._counter = TokenCounter(self._model.tokenizer.to_str())

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
        return vocabulary_hash(self._counter.vocabulary())

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens included, without any cut."""
        return self._counter.count(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), 384), float32.

        Raises:
            ModelUnavailable: the model returns something that is not a number.
        """
        return unit_vectors(self._model.run(texts, DIM, _mean).numpy())


def _mean(x: Tensor, lengths: Sequence[int]) -> Tensor:
    """Unit vectors of shape (texts, 384), the mean over the tokens of each text."""
    from rag_core.adapters.embedding.forward import compiled, means

    return compiled(means)(x, list(lengths))
