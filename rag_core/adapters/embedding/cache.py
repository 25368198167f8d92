"""An embedder that remembers what it embedded. Sentences of a passage are compared with many questions, but embedded once.

It also makes answers repeat: in bfloat16 a text's vector depends a little on the batch it was embedded in.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from rag_core.domain.ports import Embedder, Vectors

SIZE = 20_000  # texts; about 30 MB at 384 dimensions


class CachedEmbedder:
    """An `Embedder` in front of another, with the `size` most recently used vectors. Safe to call from several threads."""

    def __init__(self, inner: Embedder, size: int = SIZE) -> None:
        self._inner, self._size = inner, size
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Of the model behind it."""
        return self._inner.name

    @property
    def max_tokens(self) -> int:
        """Of the model behind it."""
        return self._inner.max_tokens

    @property
    def tokenizer(self) -> str:
        """Of the model behind it."""
        return self._inner.tokenizer

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """As the model behind it counts."""
        return self._inner.count_tokens(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dim); only texts that are not remembered are embedded."""
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing or not texts:
            fresh = self._inner.embed(missing)
            if not texts:
                return fresh
            found |= dict(zip(missing, fresh, strict=True))
        with self._lock:
            for text in texts:
                self._known[text] = found[text]
                self._known.move_to_end(text)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return np.stack([found[text] for text in texts])
