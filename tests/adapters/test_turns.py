"""The lock that is given in the order in which it was asked for, and to who can wait after the others."""

from __future__ import annotations

import signal
import threading
import time

import pytest

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
                while number == 0 and len(turn._waiting) < 3:
                    time.sleep(0.001)

    threads = [threading.Thread(target=greedy, daemon=True)]
    threads[0].start()
    assert holding.wait(10)
    for name in "abc":
        threads.append(threading.Thread(target=once, args=(name,), daemon=True))
        threads[-1].start()
        while len(turn._waiting) < len(threads) - 1 and threads[0].is_alive() and "a" not in order:
            time.sleep(0.001)
    for thread in threads:
        thread.join(10)

    assert order == ["greedy 0", "a", "b", "c", "greedy 1", "greedy 2"]


def _order(waits: list[tuple[str, bool]], seconds: float) -> str:
    """The order in which these get the lock that somebody has, where each has it for so many seconds."""
    now, order = [0.0], list[str]()
    turn = InTurn(clock=lambda: now[0])

    def wait(name: str, behind: bool) -> None:
        with turn.held(behind):
            order.append(name)
            now[0] += seconds

    threads = []
    with turn.held():
        for name, behind in waits:
            threads.append(threading.Thread(target=wait, args=(name, behind), daemon=True))
            threads[-1].start()
            while len(turn._waiting) + len(turn._behind) < len(threads):
                time.sleep(0.001)
        now[0] += seconds
    while len(order) < sum(not behind for _, behind in waits):
        time.sleep(0.001)
    now[0] += MOMENT
    for thread in threads:
        thread.join(10)
    assert not turn.locked()
    return "".join(order)


def test_given_who_can_wait_then_others_go_first_until_its_patience_is_over() -> None:
    waits = [("x", True), ("a", False), ("y", True), ("b", False), ("c", False)]

    assert _order(waits, 0.0) == "abcxy"
    assert _order(waits, PATIENCE / 2) == "axybc"
    assert _order(waits, PATIENCE) == "xyabc"
    assert _order([("x", True), ("y", True)], 0.0) == "xy"


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


def test_given_a_wait_that_a_signal_ends_then_the_lock_is_handed_to_the_next() -> None:
    for behind in (False, True):
        turn = InTurn()
        with turn.held(), pytest.raises(KeyboardInterrupt):
            _interrupted(turn, behind)
        assert not turn.locked()
        assert not turn._waiting
        assert not turn._behind


def _interrupted(turn: InTurn, behind: bool) -> None:
    # what Ctrl+C does; a run in the background (nohup, a shell's &) ignores SIGINT itself, and would wait here for ever
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with turn.held(behind):
            raise AssertionError("it was free")
    finally:
        signal.signal(signal.SIGALRM, old)
