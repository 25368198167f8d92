"""Sources are read and cut while the ones before are embedded: their order, their batches and their progress are as if one by one."""

from __future__ import annotations

import threading

import pytest
from library_kit import SETTINGS, HashEmbedder, check_whole, library, text

from rag_core.errors import IngestError, LibraryError
from rag_core.library import adding
from rag_core.library.ahead import ahead
from rag_core.library.indexing import Indexer

WAIT = 20.0  # seconds, for what hangs


def test_given_work_that_ends_in_any_order_when_it_is_taken_then_it_comes_in_order_and_only_so_much_is_begun():
    begun, last = [], threading.Event()

    def work(item, left):
        begun.append(item)
        if item == 0:
            assert last.wait(WAIT)  # the first ends after the others
        if item == 2:
            last.set()
        if item == 3:
            raise ValueError("three")
        return item * 10

    came = []
    with ahead(range(7), work, 2) as results:
        for item, wait in results:
            assert max(begun) <= item + 2
            if item != 3:
                came.append(wait())
                continue
            with pytest.raises(ValueError, match="three"):
                wait()

    assert came == [0, 10, 20, 40, 50, 60]


def test_given_a_block_that_is_left_early_then_the_work_ahead_is_told_and_has_ended():
    ended = []

    def work(item, left):
        while item and not left():
            threading.Event().wait(0.001)
        ended.append(item)

    def full_disk():
        with ahead(range(9), work, 3) as results:
            next(results)[1]()
            raise LibraryError("The disk is full.", remedy="Free some room.")

    with pytest.raises(LibraryError):
        full_disk()

    assert 2 <= len(ended) <= 4
    assert not any(thread.name.startswith("reading ahead") and thread.is_alive() for thread in threading.enumerate())


def test_given_files_that_are_read_ahead_then_batches_reports_and_problems_are_as_if_one_by_one(tmp_path, monkeypatch):
    """Vectors in bfloat16 depend on their batch: which texts are embedded together must not depend on how quick a reader was."""
    batches: dict[int, list[list[str]]] = {}
    told: dict[int, list[str]] = {}

    class Noting(HashEmbedder):
        def __init__(self, readers: int) -> None:
            super().__init__()
            self.readers = readers

        def embed(self, texts):
            batches.setdefault(self.readers, []).append(list(texts))
            return super().embed(texts)

    sources = [text(f"d{n}", " ".join(f"Sentence {m} of item{n}." for m in range(20 * n))) for n in range(1, 9)]
    sources.insert(3, text("empty", "  \n"))
    for readers in (1, 4):
        monkeypatch.setattr(adding, "readers", lambda readers=readers: readers)
        opened = library(tmp_path / str(readers), embedder=Noting(readers))
        seen = told.setdefault(readers, [])
        report = opened.add(sources, SETTINGS, progress=lambda what, done, total, seen=seen: seen.append(f"{what} {done}/{total}"))
        assert [document.name for document in report.added] == [f"d{n}" for n in range(1, 9)]
        assert [(name, error.kind) for name, error in report.problems] == [("empty", "EmptyDocument")]
        check_whole(opened)

    assert batches[1] == batches[4]
    for seen in told.values():  # nothing is told of a file before its turn
        done = 0
        for line in seen:
            if line.startswith("documents "):
                done = int(line.split()[1].split("/")[0])
            elif "cutting" in line:
                assert line.startswith(f"{sources[done].name}: ")


def test_given_a_kill_while_others_are_read_ahead_when_resumed_then_nothing_is_lost(tmp_path, monkeypatch):
    sources = [text(f"d{n}", f"Document {n} is about item{n}.") for n in range(6)]
    prepare, prepared = Indexer.prepare, []

    def killed_at_the_third(self, row, *rest):
        prepared.append(row.name)
        if row.name == "d3":
            raise KeyboardInterrupt
        return prepare(self, row, *rest)

    monkeypatch.setattr(Indexer, "prepare", killed_at_the_third)
    monkeypatch.setattr(adding, "GROUP_PASSAGES", 1)
    with pytest.raises(KeyboardInterrupt):
        library(tmp_path).add(sources, SETTINGS)
    monkeypatch.undo()

    opened = library(tmp_path)
    there = {document.name for document in opened.snapshot.documents}
    assert there | {row.name for row in opened.unfinished()} == {f"d{n}" for n in range(6)}
    opened.resume(SETTINGS)
    assert [document.name for document in opened.snapshot.documents] == [f"d{n}" for n in range(6)]
    assert opened.unfinished() == ()
    check_whole(library(tmp_path))


def test_given_a_fault_of_ours_on_one_file_when_it_was_read_ahead_then_it_is_that_file_s_problem(tmp_path, monkeypatch):
    prepare = Indexer.prepare

    def faulty(self, row, *rest):
        if row.name == "d1":
            raise ZeroDivisionError
        return prepare(self, row, *rest)

    monkeypatch.setattr(Indexer, "prepare", faulty)
    opened = library(tmp_path)

    report = opened.add([text(f"d{n}", f"Document {n}.") for n in range(3)], SETTINGS)

    assert [document.name for document in report.added] == ["d0", "d2"]
    ((name, error),) = report.problems
    assert (name, type(error)) == ("d1", IngestError)
    assert "ZeroDivisionError" in error.problem
