"""Jobs: one at a time, in order, each ending with a report or an error."""

from __future__ import annotations

import threading
import time

import pytest

from rag_core.errors import LibraryBusy
from rag_core.ingest.library import AddReport
from rag_core.ports import Cancel, Progress
from ui.jobs import Job, Runner, Work

SECONDS = 10.0


def finished(job: Job) -> Job:
    deadline = time.monotonic() + SECONDS
    while not job.finished:
        assert time.monotonic() < deadline, "the job did not end"
        time.sleep(0.005)
    return job


def raising(error: Exception) -> Work:
    def work(progress: Progress, stop: Cancel) -> AddReport:
        raise error

    return work


def test_given_two_jobs_when_started_then_the_second_waits_for_the_first() -> None:
    go, order = threading.Event(), []

    def first(progress: Progress, stop: Cancel) -> AddReport:
        assert go.wait(SECONDS)
        order.append("first")
        return AddReport()

    def second(progress: Progress, stop: Cancel) -> AddReport:
        order.append("second")
        return AddReport()

    runner = Runner()
    jobs = [runner.start("first", first, 1), runner.start("second", second, 1)]
    time.sleep(0.05)
    assert order == []
    go.set()

    assert [finished(job).error for job in jobs] == [None, None]
    assert order == ["first", "second"]


def test_given_a_running_job_when_stopped_then_the_work_is_told_and_its_report_kept() -> None:
    def work(progress: Progress, stop: Cancel) -> AddReport:
        deadline = time.monotonic() + SECONDS
        while not stop() and time.monotonic() < deadline:
            time.sleep(0.005)
        return AddReport(cancelled=stop())

    job = Runner().start("work", work, 1)
    job.stop()

    assert finished(job).report == AddReport(cancelled=True)


@pytest.mark.parametrize(
    ("error", "problem"),
    [(LibraryBusy("Held by 7.", remedy="Wait."), "Held by 7."), (ZeroDivisionError(), "a fault in this program (ZeroDivisionError)")],
)
def test_given_work_that_fails_when_it_ends_then_the_job_says_why_and_the_next_one_runs(error: Exception, problem: str) -> None:
    runner = Runner()

    failed = finished(runner.start("failing", raising(error), 1))

    assert failed.error is not None
    assert problem in failed.error.problem
    assert finished(runner.start("next", lambda progress, stop: AddReport(), 1)).report == AddReport()


def test_given_progress_when_reported_then_files_and_steps_are_told_apart() -> None:
    def work(progress: Progress, stop: Cancel) -> AddReport:
        progress("a.pdf: reading", 3, 7)
        progress("documents", 1, 2)
        return AddReport()

    job = finished(Runner().start("work", work, 2))

    assert (job.step, job.done, job.total) == ("a.pdf: reading", 3, 7)
    assert (job.files_done, job.files) == (1, 2)


def test_given_one_key_when_started_by_many_sessions_then_the_work_runs_once() -> None:
    runs = []

    def work(progress: Progress, stop: Cancel) -> AddReport:
        runs.append(1)
        return AddReport()

    runner = Runner()
    jobs: list[Job] = []
    sessions = [threading.Thread(target=lambda: jobs.append(runner.start_once("samples", "Samples", work, 6))) for _ in range(8)]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join()

    assert len({id(job) for job in jobs}) == 1
    finished(jobs[0])
    assert runs == [1]
