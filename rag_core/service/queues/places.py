"""Places for work: so many in all, and so many for each caller, so that nobody can take them all."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rag_core.service.callers.principal import VISITOR
from rag_core.service.callers.refusals import Overloaded, ShareTaken

# whose call this is; "" where there is one caller only, who has no share
CALLER: ContextVar[str] = ContextVar("caller", default="")
VISITORS_SHARE = 0.75  # a part of all places, for all visitors together: whoever has a token finds one


class Places:
    """Safe to share between threads. Visitors of a shared demo, who cost nothing, have `VISITORS_SHARE` of the places.

    Args:
        what: is worked on, in the plural, for the message.
        most: in all.
        each: of one caller, fewer than `most`.
        retry_after: seconds until there may be a place again.
    """

    def __init__(self, what: str, most: int, each: int, retry_after: int) -> None:
        self.most, self.each = most, each
        self._what, self._retry = what, retry_after
        self._lock, self._held = threading.Lock(), Counter[str]()

    @property
    def taken(self) -> int:
        """Those that are taken now."""
        with self._lock:
            return self._held.total()

    def take(self, caller: str) -> None:
        """Take one, until `free`.

        Raises:
            ShareTaken: this caller has as many as one may have.
            Overloaded: there is none left.
        """
        come = f"Call again in {self._retry} seconds."
        with self._lock:
            if caller and self._held[caller] >= self.each:
                raise ShareTaken(f"You have {self.each} {self._what} at once.", remedy=come, retry_after=self._retry)
            of_visitors = sum(count for name, count in self._held.items() if name.startswith(VISITOR))
            full = caller.startswith(VISITOR) and of_visitors >= max(1, int(self.most * VISITORS_SHARE))
            if full or self._held.total() >= self.most:
                raise Overloaded(
                    f"The service has {self.most} {self._what}, as many as it takes at once.",
                    remedy=come,
                    retry_after=self._retry,
                )
            self._held[caller] += 1

    def free(self, caller: str) -> None:
        """Give one back."""
        with self._lock:
            self._held[caller] -= 1
            self._held = +self._held  # whoever holds none is forgotten

    @contextmanager
    def held(self, caller: str) -> Iterator[None]:
        """Hold one within the block; raises as `take`."""
        self.take(caller)
        try:
            yield
        finally:
            self.free(caller)
