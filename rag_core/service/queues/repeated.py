"""Requests that were sent twice under one idempotency key: the second gets what the first came to, and starts nothing.

A request is remembered as a hash with a key of this process, which is on no disk: requests may hold a password, and a plain hash of one
can be guessed.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar, cast

from rag_core.errors import InvalidInput
from rag_core.service.callers.principal import Principal

T = TypeVar("T")
MAX_KEYS = 5_000  # that are remembered, those of the last calls; what is forgotten costs nothing: equal bytes are one document
MAX_KEY_CHARS = 200  # a key has; a UUID has 36
GATES = 64  # locks that keep equal keys apart in time; two different keys that share one wait for each other, and no more


class Repeated:
    """The outcomes of requests, by caller and key. Safe to share between threads."""

    def __init__(self) -> None:
        self._secret, self._lock = secrets.token_bytes(32), threading.Lock()
        self._gates = [threading.Lock() for _ in range(GATES)]
        self._known = OrderedDict[tuple[str, str], tuple[bytes, Any]]()

    def once(
        self, principal: Principal, key: str | None, request: object, begin: Callable[[], T], holds: Callable[[T], bool] = lambda _: True
    ) -> T:
        """The outcome of `begin`, now or when the same request came before under this key.

        Args:
            principal: who calls; a key means nothing to others.
            key: None for a request that may be done twice.
            request: all that tells two requests apart, as JSON has it.
            begin: does what is asked for; what it raises is not remembered.
            holds: whether an earlier result still counts; else it is done again.

        Raises:
            InvalidInput: another request had the key.
        """
        if key is None:
            return begin()
        place, seen = (principal.id, key), hmac.digest(self._secret, json.dumps(request, sort_keys=True).encode(), "sha256")
        with self._gates[hash(place) % GATES]:  # when two come at once, the second waits until the first has begun
            with self._lock:
                known = self._known.get(place)
            if known is not None and not hmac.compare_digest(known[0], seen):
                raise InvalidInput("Another request had this idempotency key.", remedy="Use a new key for each request.")
            if known is not None and holds(cast("T", known[1])):
                return cast("T", known[1])
            found = begin()
            with self._lock:
                self._known[place] = seen, found
                while len(self._known) > MAX_KEYS:
                    self._known.popitem(last=False)
            return found
