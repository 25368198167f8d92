"""Work beside the page: it ends in one way, and what came of it is handed on once."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from rag_core.errors import Cancelled, InvalidInput
from rag_core.work.background import Background

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 10.0


def ended(work: Background[int]) -> Background[int]:
    assert work.wait(SECONDS), "the work did not end"
    return work


def raising(error: Exception) -> Background[int]:
    def work(_: object) -> int:
        raise error

    return ended(Background[int]("testing", "Testing", "All is kept.").start(work))


def test_given_work_when_it_ends_then_it_has_a_result_or_an_error_with_its_remedy_or_was_stopped() -> None:
    assert ended(Background[int]("testing").start(lambda _: 7)).result == 7
    refused, stopped, fault = (
        raising(InvalidInput("No.", remedy="Yes.")),
        raising(Cancelled("a", remedy="b")),
        raising(KeyError("secret")),
    )

    assert (refused.error.problem, refused.error.remedy) == ("No.", "Yes.")
    assert (stopped.result, stopped.error) == (None, None)
    assert fault.error.problem == "Testing stopped because of a fault in this program (KeyError)."
    assert fault.error.remedy == "All is kept. Report it with the log."


def test_given_work_that_is_stopped_or_that_nobody_waits_for_when_it_looks_then_it_is_told_so() -> None:
    go, gone = threading.Event(), [False]

    def work(cancelled: object) -> int:
        go.wait(SECONDS)
        return int(cancelled())  # type: ignore[operator]

    stopped, left = Background[int]("testing").start(work), Background[int]("testing", gone=lambda: gone[0]).start(work)
    kept = Background[int]("testing").start(work)
    stopped.stop()
    gone[0] = True
    go.set()

    assert [ended(one).result for one in (stopped, left, kept)] == [1, 1, 0]
    assert [one.stopping for one in (stopped, left, kept)] == [True, False, False]


def test_given_a_run_that_is_ended_while_it_takes_the_result_when_the_next_one_looks_then_it_gets_it_once() -> None:
    work, taken = ended(Background[int]("testing").start(lambda _: 7)), []

    def ends(_: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        work.deliver(ends)
    work.deliver(taken.append)
    work.deliver(taken.append)

    assert taken == [7]


def test_given_the_pages_when_read_then_no_other_module_of_theirs_starts_a_thread() -> None:
    """One skeleton of thread, wait and error, not one a page."""
    starting = {
        str(path.relative_to(ROOT))
        for part in ("ui", "pages")
        for path in (ROOT / part).rglob("*.py")
        if re.search(r"\bThread\(|PoolExecutor\(|run_every", path.read_text(encoding="utf-8"))
    }

    assert starting == {"ui/app/jobs/background.py"}
