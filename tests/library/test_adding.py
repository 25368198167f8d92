"""Files of one upload are done one after the other: the next one is read while the vectors of one are made, and a fault
of one costs no other.
"""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from library_kit import check_whole, library, traces
from library_kit import pdf as locked_pdf
from reading_kit import BAD, MEMO, SECONDS, SMALL, Held, indexing, names, pdf, until

from rag_core.domain.ports import Step
from rag_core.errors import ModelUnavailable
from rag_core.library.indexing.indexer import Indexer
from rag_core.library.library import Library
from rag_core.library.stored.entry import Accepted
from rag_core.library.stored.sources import Source
from rag_core.wiring import hand_in


def test_given_several_files_when_one_is_embedded_then_only_the_next_is_read(opened: Library, embedder: Held) -> None:
    told: list[str] = []
    thread = threading.Thread(
        target=lambda: opened.add([pdf(n, 8) for n in range(3)], SMALL, progress=lambda what, *_: told.append(what))
    )
    thread.start()
    embedder.let(0)
    until(lambda: "bay-1.pdf: cutting" in told)
    assert "bay-2.pdf: reading" not in told
    assert names(opened) == []
    embedder.let(1)
    assert names(opened) == ["bay-0.pdf"]
    embedder.let_all()
    thread.join(SECONDS)

    assert names(opened) == [one.name for one in opened.snapshot.documents] == [f"bay-{n}.pdf" for n in range(3)]
    check_whole(opened)


@pytest.mark.usefixtures("short_batches")
@pytest.mark.parametrize("way", [Library.delete, Library.erase])
def test_given_a_file_of_which_the_first_pages_are_asked_when_deleted_then_it_is_gone_at_once_and_not_made_again(
    opened: Library, embedder: Held, tmp_path: Path, way: Any
) -> None:
    with indexing(opened, embedder, pdf(1), pdf(2)) as running:
        embedder.let(1)
        assert names(opened) == ["bay-1.pdf"]
        way(opened, f"sha256:{pdf(1).digest}")
        assert names(opened) == []
        assert [row.name for row in opened.unfinished()] == ["bay-2.pdf"]
        report = running.end()

    assert [one.name for one in report.added] == ["bay-2.pdf"]
    assert names(opened) == ["bay-2.pdf"]
    assert traces(tmp_path, pdf(1).digest.encode(), b"number105") == []
    assert not report.problems
    check_whole(opened)


@pytest.mark.usefixtures("short_batches")
def test_given_an_upload_behind_a_stopped_one_then_it_is_whole(tmp_path: Path, opened: Library, embedder: Held) -> None:
    with indexing(opened, embedder, pdf(0)) as running:
        listed = hand_in(tmp_path, "default", [pdf(1), MEMO], {})
        embedder.let(1)
        running.stop.set()
    assert running.report.cancelled
    assert names(opened) == []
    assert [row.name for row in opened.unfinished()] == ["bay-0.pdf", "bay-1.pdf", "memo"]

    assert [one.name for one in opened.add([pdf(1), MEMO], SMALL, listed=listed).added] == ["bay-1.pdf", "memo"]
    assert [row.name for row in opened.unfinished()] == ["bay-0.pdf"]
    check_whole(opened)


def test_given_a_bad_file_between_others_then_it_is_told_by_its_id_and_once(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []

    def progress(what: str, done: int, total: int) -> None:
        if what.endswith(": problem"):
            assert isinstance(what, Step)
            told.append((what, what.document))

    opened = library(tmp_path)
    report = opened.add([pdf(0, 2), BAD, pdf(1, 2)], SMALL, progress=progress)

    assert told == [("bad.pdf: problem", f"sha256:{BAD.digest}")]
    assert [name for name, _ in report.problems] == ["bad.pdf"]
    assert [one.name for one in report.added] == ["bay-0.pdf", "bay-1.pdf"]
    assert opened.unfinished() == ()


def test_given_two_files_of_one_name_then_each_step_says_whose_it_is(tmp_path: Path) -> None:
    sources = [Source("same.pdf", pdf(n, 2).data, "pdf") for n in range(2)]
    told: list[Step] = []

    library(tmp_path).add(
        sources, SMALL, progress=lambda what, done, total: told.append(what) if isinstance(what, Step) else None
    )

    assert {(str(one), one.document) for one in told} == {
        (f"same.pdf: {what}", f"sha256:{source.digest}")
        for source in sources
        for what in ("reading", "cutting", "embedding")
    }


def test_given_a_stop_while_a_file_is_read_then_it_ends_and_the_files_wait(
    tmp_path: Path,
) -> None:
    opened, stands, stop = library(tmp_path), threading.Event(), threading.Event()
    held = threading.Event()

    def progress(what: str, done: int, total: int) -> None:
        if what == "bay-0.pdf: reading":
            stands.set()
            held.wait(SECONDS)

    reports = []
    thread = threading.Thread(
        target=lambda: reports.append(opened.add([pdf(0), pdf(1)], SMALL, progress=progress, cancelled=stop.is_set))
    )
    thread.start()
    assert stands.wait(SECONDS)
    stop.set()
    held.set()
    thread.join(SECONDS)

    assert reports[0].cancelled
    assert [row.name for row in opened.unfinished()] == ["bay-0.pdf", "bay-1.pdf"]


@pytest.mark.parametrize("error", [ZeroDivisionError("trap"), ModelUnavailable("It is gone.", remedy="Try again.")])
def test_given_a_fault_of_ours_or_a_model_that_is_gone_on_a_file_then_it_costs_that_file_alone_or_the_call_ends_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    prepare = Indexer.prepare

    def fails(self: Indexer, row: Accepted, *others: Any) -> object:
        if row.name == "bay-1.pdf":
            raise error
        return prepare(self, row, *others)

    monkeypatch.setattr(Indexer, "prepare", fails)
    opened = library(tmp_path)
    if isinstance(error, ModelUnavailable):
        with pytest.raises(ModelUnavailable):
            opened.add([pdf(n, 2) for n in range(3)], SMALL)
        assert names(opened) == ["bay-0.pdf"]
        assert [row.name for row in opened.unfinished()] == ["bay-1.pdf", "bay-2.pdf"]
    else:
        report = opened.add([pdf(n, 2) for n in range(3)], SMALL)
        assert [(name, "ZeroDivisionError" in str(error)) for name, error in report.problems] == [("bay-1.pdf", True)]
        assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]
        assert "ZeroDivisionError: trap" in caplog.text


def test_given_what_is_there_already_then_it_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = library(tmp_path)
    opened.add([pdf(0, 2)], SMALL)
    read: Counter[str] = Counter()
    opened.add([pdf(n, 2) for n in range(2)], SMALL, progress=lambda what, done, total: read.update([what]))
    assert not any(what.startswith("bay-0") for what in read)

    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("can't start new thread")))
        opened.add([MEMO], SMALL)
    assert names(opened) == ["bay-0.pdf", "bay-1.pdf", "memo"]


def test_given_a_file_that_an_earlier_call_could_not_read_then_its_job_says_so(tmp_path: Path) -> None:
    opened = library(tmp_path)
    listed = hand_in(tmp_path, "default", [BAD, MEMO], {})
    assert [name for name, _ in opened.add([BAD], SMALL).problems] == ["bad.pdf"]

    report = opened.add([BAD, MEMO], SMALL, listed=listed)

    assert [(name, error.problem.split(":")[0]) for name, error in report.problems] == [
        ("bad.pdf", "It was taken off the list before its turn")
    ]
    assert [one.name for one in report.added] == ["memo"]
    assert opened.unfinished() == ()


def test_given_a_file_without_its_password_when_it_is_added_again_with_it_then_it_is_opened(tmp_path: Path) -> None:
    opened, data = library(tmp_path), locked_pdf("The buoy 7 shows a violet light.", password="key")
    assert [name for name, _ in opened.add([Source("locked.pdf", data, "pdf")], SMALL).problems] == ["locked.pdf"]

    report = opened.add([Source("locked.pdf", data, "pdf", password="key")], SMALL)

    assert [one.name for one in report.added] == ["locked.pdf"]
    assert opened.unfinished() == ()
    check_whole(opened)
