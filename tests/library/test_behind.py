"""An upload whose job waits for its turn is read and asked meanwhile: by its words, for its own job, and as if made in its turn."""

from __future__ import annotations

import gc
import shutil
import threading
import weakref
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from early_kit import BAD, LONG, MEMO, PAGES, SECONDS, SMALL, Held, Waiting, deleting, indexing, names, pdf, reading, until
from library_kit import HashEmbedder, check_whole, library, text

from rag_core.decision.tools import Tools
from rag_core.domain.indexing import INDEXING
from rag_core.engine import Engine
from rag_core.ingest.reading import pdf_process
from rag_core.library.indexing import ahead, drafts
from rag_core.library.indexing.ahead import Ahead
from rag_core.library.indexing.behind import Upload
from rag_core.library.indexing.offering import Offering
from rag_core.library.library import Library
from rag_core.settings import Settings

pytestmark = pytest.mark.usefixtures("asked_early")

OPEN = Settings.load("open")


def test_given_an_upload_behind_a_running_one_then_it_is_answered_from_by_its_words_and_taken_in_its_turn(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)):
        second = Waiting(tmp_path, opened, pdf(1), MEMO)
        until(lambda: sorted(names(opened)) == ["bay-0.pdf", "bay-1.pdf", "memo"])
        decision = Engine(opened, Tools(embedder)).ask("What does buoy 105 show?", OPEN)
        assert opened.snapshot.documents == ()
    assert [(one.document, one.page) for one in decision.citations] == [("bay-1.pdf", 6)]
    assert decision.metadata[INDEXING] == {"documents": 3, "searched": 3, "passages": LONG + PAGES + 1, "embedded": 0}
    assert names(opened) == ["bay-0.pdf"], "nothing announces them between two calls"
    assert {id for _, id in second.told} == {f"sha256:{one.digest}" for one in second.sources}
    assert second.read() == {"bay-1.pdf"}  # a text is read in a moment

    report = second.turn()

    assert [one.name for one in report.added] == ["bay-1.pdf", "memo"]
    assert second.read() == set()
    assert not any(what.endswith(": cutting") for what, _ in second.told)
    assert names(opened) == [one.name for one in opened.snapshot.documents] == ["bay-0.pdf", "bay-1.pdf", "memo"]
    assert opened.unfinished() == ()
    assert not reading()
    check_whole(opened)


def test_given_an_upload_that_was_read_before_its_turn_then_the_library_is_byte_for_byte_the_one_that_is_made_in_turn(
    tmp_path: Path,
) -> None:
    other = SMALL.changed(passage_tokens=64)
    second, third = [text("note", "A note."), MEMO, pdf(1), BAD, text("long", "\n\n".join(f"Line {n}." for n in range(300)))], [pdf(2)]

    def made(name: str, *, behind: bool) -> tuple[dict[str, bytes], list[list[str]]]:
        folder, embedder = tmp_path / name, Held()
        opened = library(folder, embedder=embedder)
        waiting = []
        with indexing(opened, embedder, pdf(0, LONG)):
            if behind:
                waiting = [Waiting(folder, opened, *second), Waiting(folder, opened, *third, settings=other)]
                until(lambda: len(names(opened)) == 6)
        waiting = waiting or [Waiting(folder, opened, *second), Waiting(folder, opened, *third, settings=other)]
        reports = [one.turn() for one in waiting]
        assert all(one.read() <= {"bad.pdf"} for one in waiting) is behind
        files = {path for path in folder.rglob("*") if path.is_file() and {"documents", "sources"} & set(path.parts)}
        newest = max((folder / "default/indexes").iterdir(), key=lambda path: int(path.name))
        found = {str(path.relative_to(folder)): path.read_bytes() for path in files}
        found |= {path.name: path.read_bytes() for path in newest.rglob("*") if path.is_file()}
        return found, [[one.name for one in report.added] for report in reports]

    in_turn, before = made("turn", behind=False), made("behind", behind=True)

    assert before == in_turn
    assert before[1] == [["note", "memo", "bay-1.pdf", "long"], ["bay-2.pdf"]]


@pytest.mark.parametrize("ended", [False, True])
def test_given_an_upload_that_is_stopped_before_its_turn_then_it_is_out_of_sight_at_the_next_look_and_the_running_one_goes_on(
    tmp_path: Path, opened: Library, embedder: Held, ended: bool
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)) as running:
        second, third = Waiting(tmp_path, opened, pdf(1), pdf(2)), Waiting(tmp_path, opened, pdf(3))
        until(lambda: len(names(opened)) == 4)
        second.stop.set()
        if ended:  # as a job that waits for its turn does at once
            second.upload.leave()
        embedder.let(1)
        assert names(opened) == ["bay-0.pdf", "bay-3.pdf"]
        report = running.end()

    assert [one.name for one in report.added] == ["bay-0.pdf"]
    assert not report.cancelled
    assert [row.name for row in opened.unfinished()] == ["bay-1.pdf", "bay-2.pdf", "bay-3.pdf"]
    assert second.turn().cancelled
    assert [one.name for one in third.turn().added] == ["bay-3.pdf"]
    opened.resume(SMALL)
    assert sorted(names(opened)) == [f"bay-{n}.pdf" for n in range(4)]
    check_whole(opened)


def held_at(waiting: Callable[[], Waiting], what: str, embedder: Held, monkeypatch: pytest.MonkeyPatch) -> tuple[Waiting, threading.Event]:
    """An upload whose reading stands at a step until it is let go."""
    began, go, progress = threading.Event(), threading.Event(), Waiting.progress

    def held(self: Waiting, step: str, done: int, total: int) -> None:
        progress(self, step, done, total)
        if step == what and done >= PAGES // 2:
            began.set()
            assert go.wait(SECONDS)

    monkeypatch.setattr(Waiting, "progress", held)
    found = waiting()
    assert began.wait(SECONDS)
    return found, go


def test_given_an_upload_that_is_stopped_while_it_is_read_then_its_first_pages_go_and_it_is_read_no_further(
    tmp_path: Path, opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "FIRST_PAGES", 2)
    with indexing(opened, embedder, pdf(0, LONG)):
        second, go = held_at(lambda: Waiting(tmp_path, opened, pdf(1)), "bay-1.pdf: reading", embedder, monkeypatch)
        until(lambda: names(opened) == ["bay-0.pdf", "bay-1.pdf"])
        second.stop.set()
        go.set()
        embedder.let(1)
        assert names(opened) == ["bay-0.pdf"]
    assert second.told[-1][0] == "bay-1.pdf: waiting"
    assert second.turn().cancelled
    assert [row.name for row in opened.unfinished()] == ["bay-1.pdf"]


def test_given_a_running_call_that_is_stopped_then_the_upload_behind_it_loses_nothing(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)) as running:
        second = Waiting(tmp_path, opened, pdf(1))
        until(lambda: len(names(opened)) == 2)
        running.stop.set()
    assert running.report is not None
    assert running.report.cancelled
    assert not reading()
    assert names(opened) == []
    assert [row.name for row in opened.unfinished()] == ["bay-0.pdf", "bay-1.pdf"]

    assert [one.name for one in second.turn().added] == ["bay-1.pdf"]
    assert second.read() == set()
    assert [row.name for row in opened.unfinished()] == ["bay-0.pdf"]
    check_whole(opened)


def test_given_an_upload_that_is_half_read_when_the_running_call_ends_then_it_is_read_in_its_turn(
    tmp_path: Path, opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends, close = threading.Event(), Ahead.__exit__

    def closed(self: Ahead, *error: object) -> None:
        self._closed = True
        ends.set()
        close(self, *error)

    monkeypatch.setattr(Ahead, "__exit__", closed)
    monkeypatch.setattr(pdf_process, "CHUNK_BYTES", 256)  # less than a page: it is looked at whether to stop before each one
    with indexing(opened, embedder, pdf(0, LONG)) as running:
        second, go = held_at(lambda: Waiting(tmp_path, opened, pdf(1)), "bay-1.pdf: reading", embedder, monkeypatch)
        running.stop.set()
        embedder.let_all()
        assert ends.wait(SECONDS)
        go.set()
    assert second.told[-1][0] == "bay-1.pdf: waiting"
    assert [one.name for one in second.turn().added] == ["bay-1.pdf"]
    assert second.read() == {"bay-1.pdf"}
    check_whole(opened)


def test_given_a_kill_while_an_upload_was_read_before_its_turn_then_the_next_process_takes_up_both(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)):
        Waiting(tmp_path, opened, pdf(1), MEMO)
        until(lambda: len(names(opened)) == 3)
        shutil.copytree(tmp_path / "default", tmp_path / "killed" / "default")

    left = library(tmp_path / "killed")
    assert [row.name for row in left.unfinished()] == ["bay-0.pdf", "bay-1.pdf", "memo"]
    left.resume(SMALL)
    assert names(left) == ["bay-0.pdf", "bay-1.pdf", "memo"]
    check_whole(left)


def test_given_a_file_of_an_upload_behind_when_deleted_then_it_is_gone_for_good_also_in_its_turn(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)):
        second = Waiting(tmp_path, opened, pdf(1), pdf(2))
        until(lambda: len(names(opened)) == 3)
        thread = deleting(opened, pdf(1))
        assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]
        embedder.let(1)
        thread.join(SECONDS)
        assert not thread.is_alive()
        assert [row.name for row in opened.unfinished()] == ["bay-0.pdf", "bay-2.pdf"]
        assert second.upload.found.keys() == {f"sha256:{pdf(2).digest}"}

    assert [one.name for one in second.turn().added] == ["bay-2.pdf"]
    assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]
    assert not list(tmp_path.glob(f"default/*/*{pdf(1).digest}*"))
    check_whole(opened)


def test_given_a_file_that_is_deleted_between_two_calls_then_it_is_not_made_in_its_turn(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)):
        second = Waiting(tmp_path, opened, pdf(1), pdf(2))
        until(lambda: len(names(opened)) == 3)
    opened.delete(f"sha256:{pdf(1).digest}")

    assert [one.name for one in second.turn().added] == ["bay-2.pdf"]
    assert not list(tmp_path.glob(f"default/*/*{pdf(1).digest}*"))
    check_whole(opened)


@pytest.mark.parametrize("everywhere", [False, True])
def test_given_a_file_that_is_deleted_between_two_calls_when_the_next_one_has_begun_then_that_one_gives_it_up(
    tmp_path: Path, opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch, everywhere: bool
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)):
        second, third = Waiting(tmp_path, opened, pdf(1, LONG)), Waiting(tmp_path, opened, pdf(2), pdf(3))
        until(lambda: len(names(opened)) == 4)
    began, looked, go, renew, give_up = threading.Event(), threading.Event(), threading.Event(), Offering.renew, Library._give_up

    def renewed(self: Offering, but: Collection[str]) -> dict[str, Upload]:
        began.set()
        assert go.wait(SECONDS)
        return renew(self, but)

    def given_up(self: Library, ids: Collection[str], wait: float) -> frozenset[str]:
        found = give_up(self, ids, wait)
        looked.set()
        return found

    monkeypatch.setattr(Offering, "renew", renewed)
    monkeypatch.setattr(Library, "_give_up", given_up)
    id = f"sha256:{pdf(2).digest}"
    turn = threading.Thread(target=second.turn, name="indexing")
    deleting = threading.Thread(target=lambda: (opened.erase if everywhere else opened.delete)(id, wait=SECONDS))
    embedder.hold()
    turn.start()
    assert began.wait(SECONDS)  # it has the lock
    deleting.start()
    assert looked.wait(SECONDS)
    go.set()
    embedder.let(0)
    until(lambda: id in opened._waiting._unwanted or id not in {row.id for row in opened.unfinished()})  # the call may look at once
    embedder.let(1)
    until(lambda: id not in {row.id for row in opened.unfinished()})
    assert names(opened) == ["bay-0.pdf", "bay-1.pdf", "bay-3.pdf"]
    if not everywhere:  # else it waits for the lock, as older versions may have it
        deleting.join(SECONDS)
        assert not deleting.is_alive()
    embedder.let_all()
    turn.join(SECONDS)
    deleting.join(SECONDS)

    assert not deleting.is_alive()
    assert [one.name for one in third.turn().added] == ["bay-3.pdf"]
    assert not list(tmp_path.glob(f"default/*/*{pdf(2).digest}*"))
    check_whole(opened)


def test_given_a_bad_file_of_an_upload_behind_then_its_own_job_is_told_and_its_own_report_has_it(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)) as running:
        second = Waiting(tmp_path, opened, BAD, pdf(1))
        until(lambda: len(names(opened)) == 2)
        assert ("bad.pdf: problem", f"sha256:{BAD.digest}") in second.told
        report = running.end()
    assert report.problems == ()

    report = second.turn()
    assert [name for name, _ in report.problems] == ["bad.pdf"]
    assert [one.name for one in report.added] == ["bay-1.pdf"]
    assert opened.unfinished() == ()


def test_given_a_fault_of_ours_on_a_file_behind_then_the_running_call_goes_on_and_its_turn_makes_it(
    tmp_path: Path, opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as failing, indexing(opened, embedder, pdf(0, LONG)) as running:
        failing.setattr("rag_core.library.indexing.indexer.Indexer.waiting", lambda *_: 1 / 0)
        second = Waiting(tmp_path, opened, pdf(1))
        until(lambda: ("bay-1.pdf: waiting", f"sha256:{pdf(1).digest}") in second.told)
        report = running.end()
    assert (len(report.added), report.problems) == (1, ())
    assert [one.name for one in second.turn().added] == ["bay-1.pdf"]


def test_given_more_passages_than_may_wait_then_the_bound_holds_for_both_together_and_each_is_made_in_its_turn(
    tmp_path: Path, opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "MAX_PASSAGES", 3 * PAGES)
    with indexing(opened, embedder, pdf(0, LONG), pdf(1)):
        second = Waiting(tmp_path, opened, *map(pdf, range(2, 8)))
        third = Waiting(tmp_path, opened, pdf(8), pdf(9))
        until(lambda: len(names(opened)) >= 4)  # one is embedded, and three wait
        for _ in range(100):
            threading.Event().wait(0.01)
            assert len(names(opened)) <= 5  # or a fourth, which was begun while the third one was cut
        assert third.told == []
    assert len(second.turn().added) == 6
    assert len(third.turn().added) == 2
    assert names(opened) == [f"bay-{n}.pdf" for n in range(10)]


def test_given_an_upload_that_fills_the_line_then_the_files_of_a_call_before_it_are_made_all_the_same(
    tmp_path: Path, opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "MAX_PASSAGES", PAGES)
    with indexing(opened, embedder, pdf(0, LONG)):
        third = Waiting(tmp_path, opened, pdf(9))
        until(lambda: "bay-9.pdf" in names(opened))
    second = Waiting(tmp_path, opened, *map(pdf, range(1, 4)))

    assert len(second.turn().added) == 3
    assert third.turn().added
    check_whole(opened)


def test_given_a_third_upload_that_was_read_in_the_first_call_then_it_can_be_asked_in_the_second_one_and_is_not_read_again(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)):
        second, third = Waiting(tmp_path, opened, pdf(1)), Waiting(tmp_path, opened, pdf(2))
        until(lambda: len(names(opened)) == 3)
    seen: list[list[str]] = []
    progress = second.progress
    second.progress = lambda what, done, total: (progress(what, done, total), seen.append(names(opened)))  # type: ignore[assignment]
    second.turn()
    assert seen[0] == ["bay-0.pdf", "bay-1.pdf", "bay-2.pdf"]
    assert third.read() == {"bay-2.pdf"}
    assert third.turn().added
    assert third.read() == set()


def test_given_a_file_of_two_uploads_then_it_is_made_once_and_no_stop_of_the_second_touches_the_first(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG), pdf(1)) as running:
        second, third = Waiting(tmp_path, opened, pdf(1), pdf(2)), Waiting(tmp_path, opened, pdf(2), pdf(3))
        until(lambda: len(names(opened)) == 4)
        third.stop.set()
        embedder.let(1)
        assert names(opened) == ["bay-0.pdf", "bay-1.pdf", "bay-2.pdf"]
        assert (second.read(), third.read()) == ({"bay-2.pdf"}, {"bay-3.pdf"})
        assert len(running.end().added) == 2
    report = second.turn()
    assert [one.name for one in report.unchanged] == ["bay-1.pdf"]
    assert [one.name for one in report.added] == ["bay-2.pdf"]


def test_given_an_upload_whose_files_were_made_by_another_process_or_are_gone_or_are_asked_for_otherwise_then_they_are_made_as_usual(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)):
        waiting = [Waiting(tmp_path, opened, pdf(number)) for number in range(1, 5)]
        until(lambda: len(names(opened)) == 5)
    for path in (tmp_path / "default/work").glob(f"{pdf(1).digest}-*"):
        shutil.rmtree(path)
    (layout,) = (tmp_path / "default/work").glob(f"{pdf(2).digest}-*/layout.jsonl.gz")
    layout.write_bytes(b"damaged")
    waiting[2].settings = SMALL.changed(passage_tokens=64)
    other = library(tmp_path, embedder=HashEmbedder())
    other.resume(SMALL, only={f"sha256:{pdf(4).digest}"})

    assert [len(one.turn().added) for one in waiting] == [1, 1, 1, 0]
    assert [one.read() for one in waiting] == [{"bay-1.pdf"}, {"bay-2.pdf"}, set(), set()]
    assert names(opened) == ["bay-0.pdf", "bay-4.pdf", "bay-1.pdf", "bay-2.pdf", "bay-3.pdf"]
    check_whole(opened)


def test_given_a_library_whose_documents_workers_make_or_an_upload_that_has_left_then_nothing_is_read_early(
    tmp_path: Path, opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(opened, "_workers", lambda settings: object())
        second = Waiting(tmp_path, opened, pdf(1))
    third = Waiting(tmp_path, opened, pdf(2))
    third.upload.leave()
    with indexing(opened, embedder, pdf(0, LONG)):
        fourth = Waiting(tmp_path, opened, pdf(3))
        until(lambda: len(names(opened)) == 2)
    assert (second.told, third.told, fourth.read()) == ([], [], {"bay-3.pdf"})


def test_given_calls_that_have_ended_then_nothing_that_waits_holds_the_version_of_before(tmp_path: Path, embedder: Held) -> None:
    opened = library(tmp_path, embedder=embedder)
    gc.collect()
    gc.disable()
    try:
        with indexing(opened, embedder, pdf(0, LONG)):
            second = Waiting(tmp_path, opened, pdf(1))
            until(lambda: len(names(opened)) == 2)
        before = weakref.ref(opened.snapshot)
        second.turn()
        assert before() is None
    finally:
        gc.enable()
