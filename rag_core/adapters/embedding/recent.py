"""Remembers what a model said of the texts that were used last, so that each is read once.

The same sentences are compared with many questions, and a labelled run under other settings asks the same questions of
the same sentences. It also makes answers repeat: in float32, and with other models, a text's numbers depend a little on
the batch it was read in.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from hashlib import blake2b
from typing import Generic, TypeVar

DIGEST_BYTES = 16  # two keys with one digest do not come up
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def digest_of(*texts: str) -> bytes:
    """A key that stands for these texts: none of a deleted document is kept."""
    found = blake2b(digest_size=DIGEST_BYTES)
    for text in texts:
        found.update(len(text).to_bytes(8) + text.encode("utf-8", "surrogatepass"))
    return found.digest()


class Recent(Generic[Key, Value]):
    """The `size` values used last, by their keys. Safe to call from several threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._known: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def values(self, keys: Sequence[Key], make: Callable[[list[Key]], Iterable[Value]]) -> list[Value]:
        """The value of each key; `make` gives those that are not remembered, each once, in the order given."""
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        if missing:
            found |= dict(zip(missing, make(missing), strict=True))
        with self._lock:
            for key in keys:
                self._known[key] = found[key]
                self._known.move_to_end(key)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return [found[key] for key in keys]
