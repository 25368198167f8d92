"""Jobs of visitors of a shared demo: they keep nobody waiting, nobody else sees or stops them, and the end of a visit
does not wait.
"""

from __future__ import annotations

import threading

import pytest

from rag_core.domain.acts import acting
from rag_core.domain.ports import Cancel, Progress
from rag_core.library.library import AddReport
from rag_core.service.jobs import MAX_JOBS, Jobs
from rag_core.service.limits import Places
from rag_core.service.principal import LOCAL, NotFound, Overloaded, Principal, Scope, ShareTaken
from rag_core.service.visits import ADDRESS_SHARE, MAX_HOLDERS, Visit
from rag_core.work.jobs import Job, Turns
from rag_core.work.runner import MAX_VISITOR, MAX_VISITORS, Runner

SECONDS = 20.0  # for a thread of another test's; it takes a moment
HOUSE = Principal("house", frozenset({Scope.ADMIN}))


def visit(number: int) -> Visit:
    """A visitor."""
    return Visit(f"visit-{number:08x}{'0' * 24}", "samples")


class Held:
    """Work over some files that ends each when it is let."""

    def __init__(self, files: int = 1) -> None:
        self.files, self.begun, self.go, self.done = files, threading.Event(), threading.Semaphore(0), 0

    def __call__(self, progress: Progress, cancelled: Cancel) -> AddReport:
        """Do it."""
        for number in range(1, self.files + 1):
            self.begun.set()
            while not self.go.acquire(timeout=0.01):
                if cancelled():
                    return AddReport(cancelled=True)
            self.done = number
            progress("documents", number, self.files)
            if cancelled():
                return AddReport(cancelled=True)
        return AddReport()


def start(runner: Runner, whose: Visit, work: Held) -> object:
    """A job of a visitor's."""
    with acting(whose.actor):
        return runner.start("Adding", work, work.files, place=("library", whose.collection))


def test_given_half_of_the_visitors_with_all_their_jobs_then_others_and_whoever_has_a_token_start_theirs() -> None:
    runner, first = Runner(), Held()
    jobs = Jobs(runner)

    def begin(who: Principal, name: str) -> None:
        with who.acting():
            jobs.start(who, ("library", name), "Adding", first, 1)

    crowd = [visit(n + 1) for n in range(int(MAX_HOLDERS * ADDRESS_SHARE))]
    for one in crowd:
        for _ in range(MAX_VISITOR):
            begin(one.principal, one.collection)
        with pytest.raises(ShareTaken):
            begin(one.principal, one.collection)
    begin(visit(1000).principal, visit(1000).collection)
    for number in range(MAX_JOBS):
        begin(Principal(f"token{number}", frozenset({Scope.INDEX})), "house")
    with pytest.raises(Overloaded):
        begin(LOCAL, "house")

    assert len(runner.unfinished(visits=True)) == len(crowd) * MAX_VISITOR + 1 < MAX_VISITORS
    for job in runner.unfinished(visits=True) + runner.unfinished(visits=False):
        job.stop()


def test_given_a_job_of_a_visitor_when_a_token_for_everything_looks_then_it_sees_and_finds_none() -> None:
    runner, work = Runner(), Held()
    jobs, whose = Jobs(runner), visit(1)
    with whose.principal.acting():
        started = jobs.start(whose.principal, ("library", whose.collection), "Adding", work, 1)

    assert jobs.all(HOUSE) == jobs.all(LOCAL) == ()
    with pytest.raises(NotFound):
        jobs.find(HOUSE, started.id)
    assert jobs.find(whose.principal, started.id) is started
    started.stop()


def test_given_a_long_job_of_one_visitor_when_others_wait_then_they_come_after_its_current_file() -> None:
    runner, long, short = Runner(), Held(files=3), Held()
    first = start(runner, visit(1), long)
    assert long.begun.wait(SECONDS)
    second = start(runner, visit(2), short)
    assert not short.begun.wait(0.2)

    long.go.release()

    assert short.begun.wait(SECONDS)
    assert long.done == 1
    short.go.release()
    assert second.wait(SECONDS)
    for _ in range(2):
        long.go.release()
    assert first.wait(SECONDS)
    assert long.done == 3


def test_given_two_jobs_of_one_visitor_then_the_second_waits_for_the_whole_first_one_and_others_do_not():
    runner, long, own, other = Runner(), Held(files=2), Held(), Held()
    first = start(runner, visit(1), long)
    assert long.begun.wait(SECONDS)
    second, third = start(runner, visit(1), own), start(runner, visit(2), other)
    long.go.release()
    assert other.begun.wait(SECONDS)
    other.go.release()
    assert third.wait(SECONDS)
    assert not own.begun.wait(0.2)
    assert not first.finished

    long.go.release()
    assert first.wait(SECONDS)
    own.go.release()
    assert second.wait(SECONDS)


def test_given_a_job_that_waits_when_its_collection_goes_then_it_ends_at_once_and_the_next_one_gets_its_turn() -> None:
    runner, long, gone, after = Runner(), Held(), Held(), Held()
    first = start(runner, visit(1), long)
    assert long.begun.wait(SECONDS)
    start(runner, visit(2), gone)
    third = start(runner, visit(3), after)

    assert runner.end(("library", visit(2).collection), 5)

    assert not first.finished
    assert not gone.begun.is_set()
    for work in (long, after):
        work.go.release()
    assert third.wait(SECONDS)


def test_given_a_job_between_two_files_when_its_collection_goes_then_it_ends_though_it_is_not_its_turn() -> None:
    runner, long, other = Runner(), Held(files=2), Held()
    start(runner, visit(1), long)
    assert long.begun.wait(SECONDS)
    second = start(runner, visit(2), other)
    long.go.release()
    assert other.begun.wait(SECONDS)

    assert runner.end(("library", visit(1).collection), 5)

    assert long.done == 1
    assert not second.finished
    other.go.release()
    assert second.wait(SECONDS)


def test_given_jobs_that_wait_then_one_that_is_stopped_is_left_out_and_each_persons_come_in_their_order() -> None:
    turns, order = Turns(), list[str]()
    held, first, stopped, second = (
        Job(name, by=by) for name, by in zip("hfsx", ("one", "two", "two", "two"), strict=True)
    )
    assert turns.take(held)
    turns.pass_on(held)
    threads = [
        threading.Thread(target=lambda job=job: turns.take(job) and (order.append(job.title), turns.give_back(job)))
        for job in (second, stopped, first)
    ]
    for thread in threads:
        thread.start()
    stopped.stop()
    turns.look_again()
    threads[1].join(SECONDS)
    turns.give_back(first)  # it is not its own
    assert (order, [thread.is_alive() for thread in threads]) == ([], [True, False, True])
    turns.give_back(held)
    for thread in threads:
        thread.join(SECONDS)
    assert order == ["f", "x"]


def test_given_visitors_who_hold_all_places_that_they_may_when_a_token_comes_then_it_finds_one() -> None:
    places = Places("streams", 8, 3, 1)
    for number in range(2):
        for _ in range(3):
            places.take(visit(number).principal.id)

    with pytest.raises(Overloaded):
        places.take(visit(7).principal.id)
    places.take("token")
    places.take("token")
    with pytest.raises(Overloaded):
        places.take("other")
    places.free(visit(0).principal.id)
    places.take(visit(7).principal.id)
