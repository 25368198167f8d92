"""Whose turn it is: one at a time, and of those who wait the one served longest ago.

So nobody's many keep another's one waiting.
"""

from __future__ import annotations

import threading

from rag_core.domain.ports import Cancel

MAX_SERVED = 1_000  # names that are remembered; who is forgotten counts as never served


class Turns:
    """Lets one through at a time. Safe to share between threads."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.busy = False
        self.waiting: list[Turn] = []  # in the order in which they came
        self.served: dict[str, None] = {}  # who was served longest ago comes first

    def turn(self, whose: str, given_up: Cancel = lambda: False) -> Turn:
        """A turn, to be held within a `with` block. Turns are shared out evenly between these names.

        It stands in the line from now on: threads that wait for turns may begin to run in another order. Whoever never
        enters the block calls `Turn.leave`.

        Args:
            whose: the name.
            given_up: whether nobody waits for it any more. The block is entered then without its turn: what it does
                ends at once.
        """
        turn = Turn(self, whose, given_up)
        with self.changed:
            self.waiting.append(turn)
        return turn

    def look_again(self) -> None:
        """Have those who wait ask again whether they were given up."""
        with self.changed:
            self.changed.notify_all()

    def next(self) -> Turn:
        """Who never was served comes first, then who was longest ago; among equals, who came first."""
        order = {name: number for number, name in enumerate(self.served, 1)}
        return min(self.waiting, key=lambda one: order.get(one.whose, 0))


class Turn:
    """One turn of `Turns`, for one thread. `held` says whether it is this one's turn."""

    def __init__(self, turns: Turns, whose: str, given_up: Cancel) -> None:
        self.whose, self.held = whose, False
        self.turns, self._given_up = turns, given_up

    def __enter__(self) -> Turn:
        """Wait for it."""
        turns = self.turns
        with turns.changed:
            turns.changed.wait_for(lambda: self._given_up() or (not turns.busy and turns.next() is self))
            self.leave()
            if not self._given_up():
                self.held = turns.busy = True
                turns.served.pop(self.whose, None)
                turns.served[self.whose] = None
                if len(turns.served) > MAX_SERVED:
                    del turns.served[next(iter(turns.served))]
        return self

    def __exit__(self, *_: object) -> None:
        """Give it back."""
        if self.held:
            with self.turns.changed:
                self.held = self.turns.busy = False
                self.turns.changed.notify_all()

    def leave(self) -> None:
        """Nobody waits for it any more."""
        with self.turns.changed:
            if self in self.turns.waiting:
                self.turns.waiting.remove(self)
                self.turns.changed.notify_all()  # it may have been the next one

    def pass_on(self) -> None:
        """Let others who wait come first, and wait for the next turn; without one where it was given up meanwhile.

        What waits of the same name comes after: it would wait for what this work keeps, such as the lock of a
        collection.
        """
        with self.turns.changed:
            if self.held and any(one.whose != self.whose for one in self.turns.waiting):
                self.turns.waiting.insert(0, self)  # before others of the same name
                self.__exit__()
                self.__enter__()
