"""Jobs: one at a time, in order, each ending with a report or an error."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.acts import acting
from rag_core.domain.ports import Cancel, Progress, Step
from rag_core.errors import LibraryBusy, NotAPdf, PasswordNeeded
from rag_core.library.library import AddReport
from rag_core.library.stored.sources import Source
from rag_core.work.jobs import LEFT_ALONE_SECONDS, File, Job, Work
from rag_core.work.runner import Runner
from ui.app.jobs.progress import step_in_words

SECONDS = 120.0  # reached by what hangs, on a busy machine too


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


def test_given_one_persons_many_jobs_when_another_starts_one_then_it_comes_second_and_not_last() -> None:
    go, order = threading.Event(), list[str]()

    def work(name: str) -> Work:
        def run(progress: Progress, stop: Cancel) -> AddReport:
            assert go.wait(SECONDS)
            order.append(name)
            return AddReport()

        return run

    runner = Runner()
    jobs = list[Job]()
    for who, name in (("one", "1"), ("one", "2"), ("one", "3"), ("two", "a"), ("two", "b"), ("three", "x")):
        with acting(who):
            jobs.append(runner.start(name, work(name), 1))
        while len(runner._turns._waiting) < len(jobs) - 1:
            time.sleep(0.001)
    go.set()
    for job in jobs:
        finished(job)

    assert order == ["1", "a", "x", "2", "b", "3"]


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (LibraryBusy("Held by 7.", remedy="Wait."), "Held by 7."),
        (ZeroDivisionError(), "a fault in this program (ZeroDivisionError)"),
    ],
)
def test_given_work_that_fails_when_it_ends_then_the_job_says_why_and_the_next_one_runs(
    error: Exception, problem: str
) -> None:
    runner = Runner()

    failed = finished(runner.start("failing", raising(error), 1))

    assert problem in failed.error.problem
    assert finished(runner.start("next", lambda progress, stop: AddReport(), 1)).report == AddReport()


def test_given_one_key_when_started_by_many_sessions_then_the_work_runs_once() -> None:
    runs = []

    def work(progress: Progress, stop: Cancel) -> AddReport:
        runs.append(1)
        return AddReport()

    runner = Runner()
    jobs: list[Job] = []
    sessions = [
        threading.Thread(target=lambda: jobs.append(runner.start_once("samples", "Samples", work, 6))) for _ in range(8)
    ]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join()

    assert len({id(job) for job in jobs}) == 1
    finished(jobs[0])
    assert runs == [1]


def job_of(*names: str) -> Job:
    return Job("work", files=len(names), listed=tuple(File(name, f"sha256:{name}") for name in names))


def test_given_a_file_with_a_long_name_when_its_job_is_shown_then_the_line_names_its_beginning_and_end() -> None:
    name = f"{'Annual report: as filed, ' * 4}fiscal 2022 (signed).pdf"
    job = job_of(name)
    job.progress(f"{name}: reading", 3, 9)

    assert step_in_words(job) == "File 1 of 1. Annual report: as filed…fiscal 2022 (signed).pdf: reading 3 of 9 pages."


PAGES_AND_PASSAGES = st.tuples(st.integers(0, 5), st.integers(1, 5))  # pages read before may be used again


def test_given_files_that_need_a_password_when_the_job_ends_then_only_their_bytes_are_kept() -> None:
    locked, fine = Source("locked.pdf", b"locked", "pdf"), Source("fine.pdf", b"fine", "pdf")
    report = AddReport(
        problems=(
            ("locked.pdf", PasswordNeeded("Locked.", remedy="Give it.")),
            ("fine.pdf", NotAPdf("No.", remedy="x")),
        )
    )

    job = finished(Runner().start("work", lambda progress, stop: report, 2, [locked, fine]))

    assert job.sources == (locked,)


def test_given_jobs_of_several_libraries_when_asked_for_then_each_has_its_own_until_they_end() -> None:
    runner, go = Runner(), threading.Event()

    def work(progress: Progress, stop: Cancel) -> AddReport:
        assert go.wait(SECONDS)
        return AddReport()

    one = runner.start("one", work, 1, place=("lib", "default"))
    two = runner.start("two", work, 1, place=("lib", "law"))

    assert (runner.jobs(("lib", "default")), runner.jobs(("lib", "law")), runner.jobs(("other", "law"))) == (
        (one,),
        (two,),
        (),
    )
    go.set()
    finished(two)
    assert runner.jobs(("lib", "default")) == runner.jobs(("lib", "law")) == ()


def test_given_a_job_whose_session_was_closed_when_it_ended_then_its_result_is_for_the_others_until_seen() -> None:
    runner = Runner()
    job = finished(runner.start("work", lambda progress, stop: AddReport(), 1, place=("lib", "default")))
    assert not job.left_alone

    job.looked_at -= LEFT_ALONE_SECONDS + 1
    assert runner.jobs(("lib", "default")) == (job,)
    job.look()  # as one that was running a moment ago
    job.looked_at -= LEFT_ALONE_SECONDS + 1
    assert runner.jobs(("lib", "default")) == (job,)
    job.look(result=True)
    assert runner.jobs(("lib", "default")) == ()


def test_given_a_run_of_questions_when_they_are_counted_then_the_bar_follows_and_the_time_left_comes_from_those_measured_now(  # noqa: E501
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    job = Job("run", "evaluating", files=50)
    assert job.seconds_left is None

    job.progress("questions", 10, 50)  # recorded before: took no time
    assert (job.share, job.seconds_left) == (0.2, None)
    now = 104.0
    job.progress("questions", 20, 50)
    assert (job.share, job.seconds_left) == (0.4, pytest.approx(12.0))


def test_given_passages_that_are_embedded_then_the_time_left_comes_from_their_pace_once_that_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 90.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    job = job_of("a.pdf", "b.pdf")
    job.progress("a.pdf: reading", 90, 90)
    assert job.seconds_left is None

    job.progress("a.pdf: embedding", 0, 416)
    now = 100.0  # the model was loaded
    job.progress("a.pdf: embedding", 16, 416)
    assert job.seconds_left is None
    now = 102.0
    job.progress("a.pdf: embedding", 32, 416)
    assert job.seconds_left is None  # too soon to tell
    now = 104.0
    job.progress("a.pdf: embedding", 216, 416)
    assert job.seconds_left == pytest.approx(4.0)
    job.progress("documents", 1, 2)
    assert job.seconds_left is None
    job.progress("b.pdf: embedding", 16, 32)
    now = 110.0
    assert job.seconds_left is None  # nothing of this one was timed yet


def test_given_files_that_are_read_while_one_is_embedded_then_each_is_told_by_its_id_whatever_its_name() -> None:
    job = Job("work", files=4, listed=tuple(File("same.pdf", f"sha256:{n}") for n in range(4)))

    def told(number: int, what: str, done: int, total: int) -> None:
        job.progress(Step(f"same.pdf: {what}", f"sha256:{number}"), done, total)

    told(0, "reading", 3, 3)
    told(0, "embedding", 1, 9)
    told(1, "reading", 1, 7)
    assert (job.step, job.done, job.total, job.stage) == ("same.pdf: embedding", 1, 9, "embedding")
    told(1, "cutting", 6, 7)
    told(1, "cutting", 7, 7)
    told(2, "problem", 1, 1)
    told(3, "reading", 2, 5)
    job.progress("documents", 1, 4)
    assert (job.stage, job.done, job.total) == ("cutting", 7, 7)  # what was told of it before its turn
    job.progress("documents", 3, 4)
    assert (job.stage, job.done, job.total) == ("reading", 2, 5)


def test_given_a_job_that_waits_with_its_files_on_the_list_when_stopped_then_it_ends_at_once_and_the_others_go_on() -> (
    None
):
    class Listed:
        def __init__(self) -> None:
            self.begun = threading.Event()

        def hand_in(self) -> None:
            self.begun.set()

        def call_off(self) -> None:
            self.called_off = True

    runner, go, handed = Runner(), threading.Event(), Listed()
    first = runner.start("first", lambda progress, stop: AddReport(cancelled=not go.wait(SECONDS)), 1)
    second = runner.start("second", raising(AssertionError("its turn has not come")), 1, handing_in=handed)  # type: ignore[arg-type]
    third = runner.start("third", lambda progress, stop: AddReport(), 1)
    assert handed.begun.wait(SECONDS)

    second.call_off()

    assert second.wait(SECONDS)
    assert (second.report, second.error, second.started) == (AddReport(cancelled=True), None, False)
    assert handed.called_off
    assert not first.finished
    go.set()
    assert [finished(job).report for job in (first, third)] == [AddReport(), AddReport()]


def test_given_a_job_without_files_that_waits_when_stopped_then_it_ends_at_once() -> None:
    runner, go = Runner(), threading.Event()
    first = runner.start("first", lambda progress, stop: AddReport(cancelled=not go.wait(SECONDS)), 1)
    second = runner.start("second", raising(AssertionError("its turn has not come")), 1, kind="evaluating")

    second.call_off()

    assert (finished(second).report, second.error, second.started) == (AddReport(cancelled=True), None, False)
    assert not first.finished
    go.set()
    finished(first)


def test_given_files_that_nobody_listed_then_the_next_one_that_is_read_is_not_taken_for_the_current_one() -> None:
    job = Job("samples", files=3)

    job.progress(Step("a.pdf: embedding", "a"), 1, 9)
    job.progress(Step("b.pdf: reading", "b"), 1, 2)
    assert (job.step, job.stage) == ("a.pdf: embedding", "embedding")
    job.progress("documents", 1, 3)
    assert job.step == "b.pdf: reading"


@given(files=st.lists(PAGES_AND_PASSAGES, min_size=1, max_size=4), ahead=st.integers(0, 3))
def test_given_any_files_of_which_the_next_are_read_ahead_then_the_bar_never_goes_back(
    files: list[tuple[int, int]], ahead: int
) -> None:
    job = Job("work", files=len(files), listed=tuple(File("file", str(n)) for n in range(len(files))))
    shares, begun = [0.0], 0

    def told(number: int, what: str, total: int) -> None:
        for done in range(what == "reading", total + 1):
            job.progress(Step(f"file: {what}", str(number)), done, total)
            shares.append(job.share)

    for number, (_, passages) in enumerate(files):
        while begun < min(number + 1 + ahead, len(files)):
            told(begun, "reading", files[begun][0])
            told(begun, "cutting", files[begun][0])
            begun += 1
        told(number, "embedding", passages)
        job.progress("documents", number + 1, len(files))
        shares.append(job.share)

    assert all(after >= before - 1e-12 for before, after in pairwise(shares))  # a sum of parts is rounded
    assert shares[-1] == 1.0


def test_given_texts_that_are_embedded_together_when_all_are_read_then_the_line_names_no_file_that_is_not_there() -> (
    None
):
    job = job_of("a", "b")
    job.progress("documents", 2, 2)
    job.progress("2 texts: embedding", 1, 9)

    assert step_in_words(job).startswith("File 2 of 2. 2 texts: embedding 1 of 9")
