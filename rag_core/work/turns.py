"""Whose turn it is: one at a time, and of those who wait the one served longest ago. So nobody's many keep another's one waiting."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

MAX_SERVED = 1_000  # names that are remembered; who is forgotten counts as never served


class Turns:
    """Lets one through at a time. Safe to share between threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = False
        self._waiting: list[tuple[str, object]] = []  # whose, and a mark of its own; in the order in which they came
        self._served: OrderedDict[str, None] = OrderedDict()  # who was served longest ago comes first

    @contextmanager
    def turn(self, whose: str) -> Iterator[None]:
        """Wait for a turn, and hold it within the block. Turns are shared out evenly between these names."""
        mine = whose, object()
        with self._changed:
            self._waiting.append(mine)
            self._changed.wait_for(lambda: not self._busy and self._next() is mine)
            self._waiting.remove(mine)
            self._busy = True
            self._served.pop(whose, None)
            self._served[whose] = None
            while len(self._served) > MAX_SERVED:
                self._served.popitem(last=False)
        try:
            yield
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _next(self) -> tuple[str, object]:
        """Who never was served comes first, then who was longest ago; among equals, who came first."""
        order = {name: number for number, name in enumerate(self._served, 1)}
        return min(self._waiting, key=lambda one: order.get(one[0], 0))
