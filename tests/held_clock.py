"""A clock that a test holds: the thread that talks to language models goes by it, however busy the machine is.

Deadlines and pauses of `rag_core.adapters.llm` are times of that thread's event loop. While the clock is held it stands
still, and only the test moves it on. A call that waits for longer than it may ends in pytest's own limit, not in a late
assertion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from model_server import ModelServer

from rag_core.adapters.llm import http as model_http


class HeldClock:
    """Seconds since the clock was taken hold of, in `passed`; `pauses` are the seconds of each `pause`."""

    def __init__(self) -> None:
        self._loop = model_http.loop()
        self._start = self._loop.time()
        self.passed = 0.0
        self.pauses: list[float] = []

    def time(self) -> float:
        """What the event loop is told."""
        return self._start + self.passed

    def forward(self, seconds: float) -> None:
        """Move the clock on; what was due by then happens at once."""
        self.passed += seconds
        self._loop.call_soon_threadsafe(lambda: None)  # wakes it, so that it looks at the clock

    async def pause(self, seconds: float) -> None:
        """Stands in for `asyncio.sleep`: no time passes but on this clock."""
        self.pauses.append(seconds)
        self.forward(seconds)

    def ticking(self, server: ModelServer, step: float) -> Callable[[], bool]:
        """For `cancelled`, which a waiting question asks again and again: once the server was asked, each time is a
        `step` in seconds.
        """

        def never() -> bool:
            if server.calls:
                self.forward(step)
            return False

        return never


@contextmanager
def held() -> Iterator[HeldClock]:
    """Hold the clock of the thread that talks to language models."""
    loop, clock = model_http.loop(), HeldClock()
    loop.time = clock.time  # type: ignore[method-assign]
    try:
        yield clock
    finally:
        del loop.time  # type: ignore[method-assign]
        loop.call_soon_threadsafe(lambda: None)
