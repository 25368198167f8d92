"""The lock that is given in the order in which it was asked for, and to who can wait after the others."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from folding import each

from rag_core.adapters.child.process import MOMENT, PATIENCE, InTurn


def test_given_a_thread_that_takes_it_again_at_once_when_others_wait_then_they_come_first_and_in_their_order() -> None:
    turn, order, holding = InTurn(), list[str](), threading.Event()

    def once(name: str) -> None:
        with turn.held():
            order.append(name)

    def greedy() -> None:
        for number in range(3):
            with turn.held():
                order.append(f"greedy {number}")
                holding.set()
                while number == 0 and len(turn._line) < 3:
                    time.sleep(0.001)

    threads = [threading.Thread(target=greedy, daemon=True)]
    threads[0].start()
    assert holding.wait(10)
    for name in "abc":
        threads.append(threading.Thread(target=once, args=(name,), daemon=True))
        threads[-1].start()
        while len(turn._line) < len(threads) - 1 and threads[0].is_alive() and "a" not in order:
            time.sleep(0.001)
    for thread in threads:
        thread.join(10)

    assert order == ["greedy 0", "a", "b", "c", "greedy 1", "greedy 2"]


@each(
    ("asked", "order"),
    [
        ([(0.0, "x"), (0.0, "a"), (0.0, "y"), (0.0, "b")], "abxy"),
        ([(0.0, "x"), (PATIENCE - 0.01, "a"), (PATIENCE - 0.01, "b")], "abx"),
        ([(0.0, "x"), (PATIENCE + 0.01, "a"), (PATIENCE + 0.01, "b")], "xab"),
        ([(0.0, "x"), (0.5, "y")], "xy"),
    ],
)
def test_given_who_can_wait_then_others_go_first_until_its_patience_is_over(asked, order):
    """Those named x and y can wait; somebody has the lock while they come, and until their patience is over."""
    now, found = [0.0], list[str]()
    turn = InTurn(clock=lambda: now[0])

    def wait(name: str) -> None:
        with turn.held(name in "xy"):
            found.append(name)

    threads = []
    with turn.held():
        for at, name in asked:
            now[0] = at
            threads.append(threading.Thread(target=wait, args=(name,), daemon=True))
            threads[-1].start()
            while len(turn._line) < len(threads):
                time.sleep(0.001)
        now[0] = 2 * PATIENCE
    for thread in threads:
        thread.join(10)

    assert "".join(found) == order
    assert not turn.locked()


def test_given_a_short_request_that_is_done_then_who_can_wait_lets_a_moment_pass() -> None:
    now = [0.0]
    turn, begun = InTurn(clock=lambda: now[0]), threading.Event()
    with turn.held(True):
        pass  # nobody came before: at once
    with turn.held():
        pass
    with turn.held(True):
        pass  # its own was the last: at once

    def long() -> None:
        with turn.held(True):
            begun.set()

    thread = threading.Thread(target=long, daemon=True)
    thread.start()
    assert not begun.wait(3 * MOMENT)
    now[0] += MOMENT / 2
    with turn.held():
        pass  # the next one of the same question
    now[0] += MOMENT * 0.9
    assert not begun.wait(3 * MOMENT)
    now[0] += MOMENT * 0.1
    assert begun.wait(10)
    thread.join(10)


def test_given_two_places_then_two_have_one_each_and_who_can_wait_begins_when_both_are_free() -> None:
    turn, begun, held = InTurn(places=2), threading.Event(), list[int]()

    def long() -> None:
        with turn.held(True) as place:
            held.append(place)
            begun.set()

    thread = threading.Thread(target=long, daemon=True)
    with ThreadPoolExecutor(1) as pool, turn.held() as one:
        with turn.held() as other:
            thread.start()
            assert {one, other} == {0, 1}
        assert not begun.wait(3 * MOMENT)
        assert pool.submit(_place, turn).result(10) == other
    assert begun.wait(10)
    thread.join(10)
    assert not turn.locked()


def _place(turn: InTurn) -> int:
    with turn.held() as place:
        return place


def test_given_a_wait_that_a_signal_ends_then_the_lock_is_handed_to_the_next() -> None:
    for behind in (False, True):
        turn = InTurn()
        with turn.held(), pytest.raises(KeyboardInterrupt):
            _interrupted(turn, behind)
        assert not turn.locked()
        assert not turn._line


def _interrupted(turn: InTurn, behind: bool) -> None:
    # what Ctrl+C does; a run in the background (nohup, a shell's &) ignores SIGINT itself, and would wait here for ever
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with turn.held(behind):
            raise AssertionError("it was free")
    finally:
        signal.signal(signal.SIGALRM, old)
