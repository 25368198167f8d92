"""Requests that were sent twice under one idempotency key: the second gets what the first came to."""

from __future__ import annotations

import threading
from collections import OrderedDict

from rag_core.errors import InvalidInput
from rag_core.service.principal import Principal

MAX_KEYS = 5_000  # that are remembered, those of the last calls; what is forgotten costs nothing: equal bytes are one document
MAX_KEY_CHARS = 200  # a key has; a UUID has 36


class Repeated:
    """The jobs of requests by caller and key. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock, self._known = threading.Lock(), OrderedDict[tuple[str, str], tuple[str, str]]()

    def job(self, principal: Principal, key: str, request: str) -> str | None:
        """The job that this request started before under this key; None where it is new. `request` is a hash of it.

        Raises:
            InvalidInput: another request had the key.
        """
        with self._lock:
            known = self._known.get((principal.id, key))
        if known is None:
            return None
        if known[0] != request:
            raise InvalidInput("Another request had this idempotency key.", remedy="Use a new key for each request.")
        return known[1]

    def note(self, principal: Principal, key: str, request: str, job: str) -> None:
        """Remember a request."""
        with self._lock:
            self._known[principal.id, key] = request, job
            while len(self._known) > MAX_KEYS:
                self._known.popitem(last=False)
