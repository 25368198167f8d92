"""How often each caller may call: a bucket that fills evenly and holds a short burst."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from rag_core.service.callers.refusals import TooOften

PER_MINUTE = 120  # calls of one caller; a person with a program behind them needs fewer
BURST_SHARE = 0.25  # this share of a minute's calls may come at once
MAX_CALLERS = 10_000  # that are remembered; an address that is forgotten begins with a full bucket


class Rate:
    """The buckets of all callers. Safe to share between threads.

    Args:
        per_minute: calls of one caller, at least 1.
        clock: seconds that never go back.
        at_once: calls that may come together, at least 1; None for a share of a minute's.
    """

    def __init__(
        self, per_minute: int = PER_MINUTE, clock: Callable[[], float] = time.monotonic, *, at_once: int | None = None
    ) -> None:
        self._per_second, self._most = per_minute / 60, max(1.0, at_once or per_minute * BURST_SHARE)
        self._clock, self._lock = clock, threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # by caller: what was left, and when

    def take(self, caller: str) -> None:
        """Count one call.

        Raises:
            TooOften: the bucket is empty; it says after how many seconds there is a call again.
        """
        now = self._clock()
        with self._lock:
            left, since = self._buckets.pop(caller, (self._most, now))
            left = min(self._most, left + (now - since) * self._per_second)
            self._buckets[caller] = (left - 1 if left >= 1 else left), now
            while len(self._buckets) > MAX_CALLERS:
                self._buckets.popitem(last=False)
        if left < 1:
            wait = math.ceil((1 - left) / self._per_second)
            raise TooOften(
                "You have called too often.", remedy=f"Call again in {wait} seconds, and less often.", retry_after=wait
            )
