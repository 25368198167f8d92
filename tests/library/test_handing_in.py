"""Files that wait for their turn: they are on the list and on the disk meanwhile, and a start takes up what an end cut
off.
"""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from library_kit import SETTINGS, check_whole, found, library, text
from reading_kit import until

from rag_core import wiring
from rag_core.domain.acts import Action
from rag_core.domain.ports import Cancel, Progress
from rag_core.errors import LibraryBusy
from rag_core.library.library import AddReport
from rag_core.library.stored.collection import MAX_TRIES, Collection
from rag_core.library.stored.named import FILE
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.wiring import cut_off, drop_collection, hand_in
from rag_core.work import handing_in as taking_up
from rag_core.work import runner as dropping
from rag_core.work.handing_in import HandingIn
from rag_core.work.jobs import Job
from rag_core.work.runner import Runner

ONE, TWO = text("one", "The lease ends in May."), text("two", "The tenant pays the rent monthly.")
SECONDS = 60.0  # for a thread of another test's; it takes a moment


def test_given_a_writer_at_work_when_a_file_is_handed_in_then_it_is_listed_and_indexed_later(tmp_path: Path) -> None:
    opened, noted = library(tmp_path), list[object]()
    opened._note = lambda action, ids: noted.append((action, tuple(ids)))
    with opened._writing(0):
        listed = hand_in(tmp_path, "default", [TWO], {})
    assert [row.name for row in library(tmp_path).unfinished()] == ["two"]
    assert [row.name for row, _ in cut_off(tmp_path, "default")] == ["two"]
    opened.add([ONE], SETTINGS)

    report = opened.add([TWO], SETTINGS, listed=listed)

    assert [document.name for document in report.added] == ["two"]
    assert opened.unfinished() == ()
    assert noted == [(Action.INDEX, (f"sha256:{ONE.digest}",))], "the other was noted when it was handed in"
    assert found(opened, "rent") == [f"sha256:{TWO.digest}"]
    check_whole(library(tmp_path))


def test_given_a_file_deleted_while_it_waited_then_no_document(tmp_path: Path) -> None:
    listed = hand_in(tmp_path, "default", [ONE, TWO], {})
    opened = library(tmp_path)
    opened.delete(f"sha256:{ONE.digest}")
    report = opened.add([ONE, TWO], SETTINGS, listed=listed)
    assert [document.name for document in report.added] == ["two"]
    assert [name for name, _ in report.problems] == ["one"]


def test_given_a_list_that_is_damaged_when_handed_in_then_the_job_says_so_and_no_bytes_go(tmp_path: Path) -> None:
    library(tmp_path).add([ONE], SETTINGS)
    (tmp_path / "default" / FILE).write_text("[3]", encoding="utf-8")
    assert hand_in(tmp_path, "default", [TWO], {}) == frozenset()
    assert cut_off(tmp_path, "default") == []


class Held:
    """A job before the others, until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def __call__(self, progress: Progress, cancelled: Cancel) -> AddReport:
        assert self.go.wait(SECONDS)
        return AddReport()


def waiting(folder: Path, runner: Runner, source: Source, settings: Settings = SETTINGS) -> Job:
    """A job that adds a file, once its turn comes."""
    handed = HandingIn(folder, "default", settings, [source])

    def work(progress: Progress, stop: Cancel) -> AddReport:
        return library(folder).add([source], settings, listed=handed.listed(), cancelled=stop)

    job = runner.start("Adding", work, 1, handing_in=handed)
    until(lambda: source.digest in handed.listed())
    return job


def test_given_a_job_stopped_while_its_files_are_handed_in_then_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, first, stored = Runner(), Held(), threading.Event()

    def slow(*given: Any) -> frozenset[str]:
        assert stored.wait(SECONDS)
        return hand_in(*given)

    monkeypatch.setattr("rag_core.work.handing_in.hand_in", slow)
    before = runner.start("Before", first, 1)
    job = runner.start("Adding", first, 1, handing_in=HandingIn(tmp_path, "default", SETTINGS, [ONE]))
    job.call_off()
    assert not job.wait(0.2)  # until its files are on the list, where nothing of them is lost
    stored.set()
    assert job.wait(SECONDS)
    assert not job.started
    assert not before.finished
    assert [row.name for row in library(tmp_path).unfinished()] == ["one"]
    first.go.set()
    assert before.wait(SECONDS)


@pytest.mark.parametrize("late", [False, True])
def test_given_a_job_that_is_called_off_while_its_files_are_handed_in_then_no_start_takes_them_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    handed = HandingIn(tmp_path, "default", SETTINGS, [ONE])

    def called_off(*given: Any) -> frozenset[str]:
        listed = hand_in(*given) if late else frozenset[str]()
        handed.call_off()
        return listed or hand_in(*given)

    monkeypatch.setattr("rag_core.work.handing_in.hand_in", called_off)
    handed.hand_in()
    assert handed.listed() == {ONE.digest}
    assert cut_off(tmp_path, "default") == []
    assert [row.name for row in library(tmp_path).unfinished()] == ["one"]


def test_given_a_collection_that_goes_then_nothing_comes_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a file whose handing in has not begun, and of one that is added while the collection is deleted."""
    library(tmp_path).add([text("old", "It was there before.")], SETTINGS)
    runner, first, storing, go, deleted = Runner(), Held(), threading.Event(), threading.Event(), threading.Event()
    place, added, stored = (str(tmp_path), "default"), list[Job](), list[str]()

    def slow(*given: Any) -> frozenset[str]:
        stored.extend(one.name for one in given[2])
        storing.set()
        assert go.wait(SECONDS)
        return hand_in(*given)

    def slow_drop(*given: Any) -> bool:
        handed = HandingIn(tmp_path, "default", SETTINGS, [text("late", "It comes too late.")])
        added.append(runner.start("Adding", first, 1, place=place, handing_in=handed))
        return drop_collection(*given)

    monkeypatch.setattr("rag_core.work.handing_in.hand_in", slow)
    monkeypatch.setattr(dropping, "drop_collection", slow_drop)
    runner.start("Before", first, 1)
    jobs = [
        runner.start("Adding", first, 1, place=place, handing_in=HandingIn(tmp_path, "default", SETTINGS, [ONE])),
        Job("Adding", handing_in=HandingIn(tmp_path, "default", SETTINGS, [TWO]), given_up=True),  # not begun yet
    ]
    assert storing.wait(SECONDS)

    deleting = threading.Thread(target=lambda: (dropping.drop(tmp_path, "default", runner), deleted.set()))
    deleting.start()
    assert not deleted.wait(0.2)
    jobs[1].stop()  # as it is where a job is given up
    jobs[1].begin(first, runner._turns)
    go.set()
    deleting.join(SECONDS)

    assert deleted.is_set()
    assert all(job.wait(SECONDS) for job in jobs)
    assert stored == ["one"]
    assert not (tmp_path / "default").exists()
    assert added[0].wait(SECONDS)
    assert isinstance(added[0].error, LibraryBusy)
    first.go.set()
    again = runner.start("Adding", lambda *_: AddReport(), 1, place=place)
    assert again.wait(SECONDS)
    assert again.error is None, "a new one of that name may begin"


def test_given_no_more_threads_then_a_job_ends_with_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner, first = Runner(), Held()
    before = runner.start("Before", first, 1)
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("can't start new thread")))
        handed = HandingIn(tmp_path, "default", SETTINGS, [ONE])
        job = runner.start("Adding", first, 1, handing_in=handed)
    after = runner.start("After", first, 1)
    first.go.set()

    assert job.finished
    assert job.error.problem == "It could not begin: this machine gives the program no more threads."
    assert handed.listed() == frozenset()
    assert before.wait(SECONDS)
    assert after.wait(SECONDS)
    assert after.report is not None


def test_given_waiting_jobs_when_the_process_ends_then_a_start_takes_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, first = Runner(), Held()
    runner.start("Before", first, 1)
    job, stopped = waiting(tmp_path, runner, ONE), waiting(tmp_path, runner, TWO)
    stopped.call_off()
    job.stop()  # as the end of the service does
    first.go.set()
    assert job.wait(SECONDS)
    assert stopped.wait(SECONDS)
    assert {row.name for row in library(tmp_path).unfinished()} == {"one", "two"}

    opened = library(tmp_path)
    monkeypatch.setattr(taking_up.loading, "engine", lambda *_: SimpleNamespace(library=opened))
    monkeypatch.setattr(taking_up.loading, "known", lambda *_: None)
    with monkeypatch.context() as failing:
        failing.setattr("rag_core.library.library.Adding.run", lambda *_: AddReport())  # the process ends again
        (again,) = taking_up.take_up(tmp_path, ["default"], SETTINGS, Runner())
        assert again.wait(SECONDS)
    (again,) = taking_up.take_up(tmp_path, ["default"], SETTINGS, Runner())
    assert again.wait(SECONDS)

    assert [document.name for document in library(tmp_path).snapshot.documents] == ["one"]
    assert [row.name for row in opened.unfinished()] == ["two"]
    assert taking_up.take_up(tmp_path, ["default", "other"], SETTINGS, Runner()) == []


def test_given_files_that_were_handed_in_under_settings_of_their_own_when_taken_up_then_each_is_cut_as_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3-23: the settings of a request hold although the process was killed while its file waited."""
    long = " ".join(f"Clause {number} of the lease binds the tenant of flat {number}." for number in range(60))
    sources = [text(name, f"{name}: {long}") for name in ("usual", "small", "unknown")]
    small = SETTINGS.changed(passage_tokens=64, overlap_tokens=0)
    runner, first = Runner(), Held()
    runner.start("Before", first, 1)
    jobs = [
        waiting(tmp_path, runner, source, settings)
        for source, settings in zip(sources, (SETTINGS, small, SETTINGS), strict=True)
    ]
    Collection(tmp_path, "default").accept([sources[2]], taken_up={"passage_tokens": -1})  # of another version
    shutil.copytree(tmp_path / "default", tmp_path / "kept")
    for job in jobs:
        job.stop()
    first.go.set()
    assert all(job.wait(SECONDS) for job in jobs)
    shutil.rmtree(tmp_path / "default")
    shutil.move(tmp_path / "kept", tmp_path / "default")  # as the kill left it

    opened = library(tmp_path)
    monkeypatch.setattr(taking_up.loading, "engine", lambda *_: SimpleNamespace(library=opened))
    monkeypatch.setattr(taking_up.loading, "known", lambda *_: None)
    (again,) = taking_up.take_up(tmp_path, ["default"], SETTINGS, Runner())
    assert again.wait(SECONDS)

    assert isinstance(again.result, AddReport)
    assert sorted(document.name for document in again.result.added) == ["small", "unknown", "usual"]
    passages = Counter(passage.document for passage in opened.snapshot.passages)
    usual, fine, unknown = (passages[f"sha256:{source.digest}"] for source in sources)
    assert fine > 2 * usual
    assert usual == unknown
    assert opened.unfinished() == ()


def test_given_a_file_whose_indexing_was_begun_too_often_then_a_person_decides(tmp_path: Path) -> None:
    hand_in(tmp_path, "default", [ONE], {})
    collection = Collection(tmp_path, "default")
    for _ in range(MAX_TRIES):
        assert [row.name for row, _ in collection.cut_off()] == ["one"]
        with collection.writing() as db:
            collection.begin(db, [ONE.digest])
    assert collection.cut_off() == []
    collection.put_waiting(collection.waiting())
    assert collection.cut_off() == []
    with collection.writing() as db:
        collection.drop_waiting(db, [ONE.digest])
    assert wiring.cut_off(tmp_path, "default") == []
