"""The lock that is given in the order in which it was asked for."""

from __future__ import annotations

import threading
import time

from rag_core.adapters.embedding.turns import InTurn


def test_given_a_thread_that_takes_it_again_at_once_when_others_wait_then_they_come_first_and_in_their_order() -> None:
    turn, order, holding = InTurn(), list[str](), threading.Event()

    def once(name: str) -> None:
        with turn:
            order.append(name)

    def greedy() -> None:
        for number in range(3):
            with turn:
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


def test_given_many_threads_when_each_takes_it_often_then_never_two_have_it() -> None:
    turn, inside, most, count = InTurn(), 0, 0, 0

    def work() -> None:
        nonlocal inside, most, count
        for _ in range(200):
            with turn:
                inside += 1
                most, count = max(most, inside), count + 1
                inside -= 1

    threads = [threading.Thread(target=work, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert (most, count, turn._taken) == (1, 1600, False)
