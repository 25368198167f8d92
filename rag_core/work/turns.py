"""Whose turn it is: one at a time, and of those who wait the one served longest ago. So nobody's many keep another's one waiting."""

from __future__ import annotations

import threading
from collections import OrderedDict

from rag_core.domain.ports import Cancel

MAX_SERVED = 1_000  # names that are remembered; who is forgotten counts as never served


class Turns:
    """Lets one through at a time. Safe to share between threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = False
        self._waiting: list[Turn] = []  # in the order in which they came
        self._served: OrderedDict[str, None] = OrderedDict()  # who was served longest ago comes first

    def turn(self, whose: str, given_up: Cancel = lambda: False) -> Turn:
        """A turn, to be held within a `with` block. Turns are shared out evenly between these names.

        It stands in the line from now on: threads that wait for turns may begin to run in another order. Whoever never enters the block
        calls `Turn.leave`.

        Args:
            whose: the name.
            given_up: whether nobody waits for it any more. The block is entered then without its turn: what it does ends at once.
        """
        turn = Turn(self, whose, given_up)
        with self._changed:
            self._waiting.append(turn)
        return turn

    def look_again(self) -> None:
        """Have those who wait ask again whether they were given up."""
        with self._changed:
            self._changed.notify_all()

    def _take(self, turn: Turn, given_up: Cancel) -> bool:
        """Wait until the turn of one in the line has come; False for one that was given up."""
        with self._changed:
            self._changed.wait_for(lambda: given_up() or (not self._busy and self._next() is turn))
            if given_up():
                self._leave(turn)
                return False
            self._waiting.remove(turn)
            self._busy = True
            self._served.pop(turn.whose, None)
            self._served[turn.whose] = None
            while len(self._served) > MAX_SERVED:
                self._served.popitem(last=False)
            return True

    def _leave(self, turn: Turn) -> None:
        with self._changed:
            if turn in self._waiting:
                self._waiting.remove(turn)
                self._changed.notify_all()  # it may have been the next one

    def _give(self) -> None:
        with self._changed:
            self._busy = False
            self._changed.notify_all()

    def _pass_on(self, turn: Turn, given_up: Cancel) -> bool:
        """Let others come first, if any wait, but none of the same name; False for a turn that was given up meanwhile."""
        with self._changed:
            if not any(one.whose != turn.whose for one in self._waiting):
                return True
            self._waiting.insert(0, turn)  # before others of the same name
            self._give()
            return self._take(turn, given_up)

    def _next(self) -> Turn:
        """Who never was served comes first, then who was longest ago; among equals, who came first."""
        order = {name: number for number, name in enumerate(self._served, 1)}
        return min(self._waiting, key=lambda one: order.get(one.whose, 0))


class Turn:
    """One turn of `Turns`, for one thread."""

    def __init__(self, turns: Turns, whose: str, given_up: Cancel) -> None:
        self.whose = whose
        self._turns, self._given_up = turns, given_up
        self._held = False

    def __enter__(self) -> Turn:
        """Wait for it."""
        self._held = self._turns._take(self, self._given_up)
        return self

    def __exit__(self, *_: object) -> None:
        """Give it back."""
        if self._held:
            self._held = False
            self._turns._give()

    def leave(self) -> None:
        """Nobody will wait for it."""
        self._turns._leave(self)

    def pass_on(self, stopped: Cancel) -> None:
        """Let others who wait come first, and wait for the next turn; without one where the work was `stopped` meanwhile.

        What waits of the same name comes after: it would wait for what this work keeps, such as the lock of a collection.
        """
        if self._held:
            self._held = self._turns._pass_on(self, stopped)

    @property
    def held(self) -> bool:
        """Whether it is this one's turn."""
        return self._held

    def look_again(self) -> None:
        """Ask again whether it was given up."""
        self._turns.look_again()
