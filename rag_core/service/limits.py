"""How often each caller may call, and how much is done at once: rates, places, and lanes of threads."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import TypeVar

from rag_core.service.principal import Overloaded, ShareTaken, Stopping, TooOften
from rag_core.settings.request_context import REQUEST

PER_MINUTE = 120  # calls of one caller; a person with a program behind them needs fewer
BURST_SHARE = 0.25  # this share of a minute's calls may come at once
MAX_CALLERS = 10_000  # that are remembered; an address that is forgotten begins with a full bucket
People = Callable[[str], int]  # how many people are behind a caller


def alone(caller: str) -> int:
    return 1


class Rate:
    """The buckets of all callers. Safe to share between threads.

    Each of the `people` behind a caller may make `per_minute` calls, of which a share may come together.
    The clock's seconds never go back.
    """

    def __init__(
        self,
        per_minute: int = PER_MINUTE,
        clock: Callable[[], float] = time.monotonic,
        *,
        people: People = alone,
    ) -> None:
        self._per_second, self._most = per_minute / 60, max(1.0, per_minute * BURST_SHARE)
        self._clock, self._lock, self._people = clock, threading.Lock(), people
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # by caller: what was left, and when

    def take(self, caller: str) -> None:
        """Count one call; raises TooOften, which says after how many seconds there is a call again."""
        now, people = self._clock(), self._people(caller)
        most, per_second = self._most * people, self._per_second * people
        with self._lock:
            left, since = self._buckets.pop(caller, (most, now))
            left = min(most, left + (now - since) * per_second)
            self._buckets[caller] = (left - 1 if left >= 1 else left), now
            while len(self._buckets) > MAX_CALLERS:
                self._buckets.popitem(last=False)
        if left < 1:
            wait = math.ceil((1 - left) / per_second)
            raise TooOften(
                "You have called too often.", remedy=f"Call again in {wait} seconds, and less often.", retry_after=wait
            )


class Places:
    """Safe to share between threads.

    `most` are in all, `each` of one caller and each of the `people` behind it; one at least stays for others. `what` is
    worked on, in the plural; after `retry_after` seconds there may be a place again.
    """

    def __init__(self, what: str, most: int, each: int, retry_after: int, people: People = alone) -> None:
        self.most, self.each, self._people = most, each, people
        self._what, self._retry = what, retry_after
        self._lock, self._held = threading.Lock(), Counter[str]()

    @property
    def taken(self) -> int:
        with self._lock:
            return self._held.total()

    def take(self, caller: str) -> None:
        """Take one, until `free`; raises ShareTaken where this caller has theirs, Overloaded where none is left."""
        come = f"Call again in {self._retry} seconds."
        people = self._people(caller)
        each = self.each if people == 1 else max(self.each, min(self.each * people, self.most - 1))
        with self._lock:
            if caller and self._held[caller] >= each:
                raise ShareTaken(f"You have {each} {self._what} at once.", remedy=come, retry_after=self._retry)
            if self._held.total() >= self.most:
                raise Overloaded(
                    f"The service has {self.most} {self._what}, as many as it takes at once.",
                    remedy=come,
                    retry_after=self._retry,
                )
            self._held[caller] += 1

    def free(self, caller: str) -> None:
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


T = TypeVar("T")
RETRY_SECONDS = 5  # a question takes less than one; those before it in a full queue take a few


def stopping() -> Stopping:
    """The error for a call that comes when the service was told to stop."""
    return Stopping("The service is stopping.", remedy="Call again when it runs again.", retry_after=RETRY_SECONDS)


class Lane:
    """`threads` that work, and at most `waiting` calls before them."""

    def __init__(self, name: str, threads: int, waiting: int, people: People = alone) -> None:
        self.name = name
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        most = threads + waiting
        self.places = Places(f"{name} calls", most, max(1, most * 2 // 3), RETRY_SECONDS, people)
        self._closed = False

    async def run(self, work: Callable[[], T]) -> T:
        """The result of `work`, which runs in a thread of this lane.

        Raises:
            ShareTaken: the caller has as many calls in it as one may have.
            Overloaded: the queue is full, or the service stops.
        """
        if self._closed:
            raise stopping()
        caller = request.caller if (request := REQUEST.get()) else ""
        self.places.take(caller)
        try:
            future = self._pool.submit(copy_context().run, work)  # its log lines are the request's
        except RuntimeError:  # it was closed meanwhile
            self.places.free(caller)
            raise stopping() from None
        # also of one that nobody waits for any more, and never began
        future.add_done_callback(lambda _: self.places.free(caller))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Take no more work. What runs goes to its end; what waits is dropped."""
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
