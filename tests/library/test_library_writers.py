"""Several processes and threads at one library: one writes, the others wait or are told; readers never wait."""

from __future__ import annotations

import multiprocessing
import shutil
import threading
import time

import pytest
from library_kit import SETTINGS, HashEmbedder, check_whole, found, library, text

from rag_core.domain.documents import Metadata
from rag_core.errors import LibraryBusy, LibraryError
from rag_core.library.disk.lock import writing

NUMBERS = range(7)
SPAWN = multiprocessing.get_context("spawn")  # forking a process that has threads is not safe


def add_some(folder, writer):
    opened = library(folder)
    for number in NUMBERS:
        opened.add([text(f"w{writer}n{number}", f"Writer {writer} says item{number}.", language="en")], SETTINGS)


def test_given_two_processes_that_add_at_once_when_both_are_done_then_every_document_is_there(tmp_path):
    processes = [SPAWN.Process(target=add_some, args=(tmp_path, writer)) for writer in (1, 2)]
    for process in processes:
        process.start()
    opened, seen = library(tmp_path), 0
    while any(process.is_alive() for process in processes):
        opened.refresh()
        now = len(opened.snapshot.documents)
        assert now >= seen, "a published document vanished"
        seen = now
        if seen:
            assert opened.snapshot.page_text(opened.snapshot.documents[-1].id, 1)
        time.sleep(0.02)
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0, 0]
    opened.refresh()
    assert {document.name for document in opened.snapshot.documents} == {f"w{w}n{n}" for w in (1, 2) for n in NUMBERS}
    assert not opened.refresh()
    check_whole(opened)


def test_given_another_writer_when_adding_then_it_is_told_who_writes_and_readers_go_on(tmp_path):
    opened = library(tmp_path)
    opened.add([text("a", "Alpha is first.")], SETTINGS)

    with writing(tmp_path / "default", 0):
        started = time.monotonic()
        with pytest.raises(LibraryBusy, match="written by another process") as caught:
            opened.add([text("b", "Beta.")], SETTINGS, wait=0.2)
        assert time.monotonic() - started >= 0.2
        assert "questions can be asked" in caught.value.remedy
        reader = library(tmp_path)
        assert found(reader, "alpha")
    opened.add([text("b", "Beta.")], SETTINGS, wait=0.2)
    assert len(opened.snapshot.documents) == 2


def test_given_a_collection_when_asked_who_writes_to_it_then_only_a_lock_that_is_held_counts(tmp_path):
    assert library(tmp_path).writer() == ""
    assert not (tmp_path / "default").exists(), "it is only asked"
    opened = library(tmp_path)
    opened.add([text("a", "Alpha is first.")], SETTINGS)
    assert opened.writer() == ""

    with writing(tmp_path / "default", 0):
        assert opened.writer() == "another process"
        with pytest.raises(LibraryBusy):
            opened.add([text("b", "Beta.")], SETTINGS, wait=0.0)
    assert opened.writer() == ""
    opened.add([text("b", "Beta.")], SETTINGS, wait=0.0)


def test_given_a_writer_that_finishes_in_time_when_waiting_then_the_second_goes_on_from_its_generation(tmp_path):
    first, second = library(tmp_path), library(tmp_path)
    held, go = threading.Event(), threading.Event()

    class Slow(HashEmbedder):
        def embed(self, texts, kind="passage"):
            held.set()
            go.wait(120)
            return super().embed(texts, kind)

    slow = library(tmp_path, embedder=Slow())
    thread = threading.Thread(target=lambda: slow.add([text("slow", "Slow text.")], SETTINGS))
    thread.start()
    assert held.wait(120)
    threading.Timer(0.2, go.set).start()

    second.add([text("quick", "Quick text.")], SETTINGS, wait=120)
    thread.join()

    first.refresh()
    assert [document.name for document in first.snapshot.documents] == ["slow", "quick"]


def test_given_a_library_that_was_behind_when_it_writes_then_it_builds_on_what_the_other_process_published(tmp_path):
    behind, ahead = library(tmp_path), library(tmp_path)
    behind.add([text("a", "Alpha.")], SETTINGS)
    ahead.refresh()
    id = ahead.add([text("b", "Beta.")], SETTINGS).added[0].id

    behind.set_metadata(id, Metadata(title="Second"))

    assert [document.title for document in behind.snapshot.documents] == ["a", "Second"]
    check_whole(behind)


def test_given_a_held_snapshot_when_its_document_is_deleted_then_all_is_there_but_its_pages(tmp_path):
    opened = library(tmp_path)
    id = opened.add([text("a", "Alpha is first."), text("b", "Beta is second.")], SETTINGS).added[0].id
    reader = library(tmp_path)
    held = reader.snapshot

    opened.delete(id)

    assert [document.name for document in held.documents] == ["a", "b"]
    assert held.passages[held.lexical.search(["alpha"], 1, None)[0][0]].document == id
    assert held.vectors.vectors([0, 1]).shape[0] == 2
    with pytest.raises(LibraryError, match="was deleted"):
        held.page_text(id, 1)
    assert held.page_text(held.documents[1].id, 1) == "Beta is second."
    assert reader.refresh()
    assert [document.name for document in reader.snapshot.documents] == ["b"]


def test_given_a_library_made_anew_then_a_refresh_sees_it_and_an_older_question_no_page_of_it(tmp_path):
    first = library(tmp_path)
    first.add([text("a", "Alpha.")], SETTINGS)
    held = first.snapshot
    shutil.rmtree(tmp_path / "default")
    assert first.refresh()
    assert first.snapshot.documents == ()
    library(tmp_path).add([text("b", "Beta.")], SETTINGS)

    with pytest.raises(LibraryError, match="deleted or indexed anew"):
        held.page_text(held.documents[0].id, 1)
    assert first.refresh()
    assert [document.name for document in first.snapshot.documents] == ["b"]


def test_given_many_threads_when_they_read_pages_at_once_then_each_gets_its_own(tmp_path):
    opened = library(tmp_path)
    report = opened.add([text(f"d{n}", f"Text number {n}.", language="en") for n in range(20)], SETTINGS)
    snapshot, wrong = opened.snapshot, []

    def read(offset):
        for turn in range(60):
            number = (offset * 7 + turn) % 20
            if snapshot.page(report.added[number].id, 1).text != f"Text number {number}.":
                wrong.append(number)

    threads = [threading.Thread(target=read, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


@pytest.mark.parametrize("before", [0, 1], ids=["empty", "with a document"])
def test_given_a_document_just_published_elsewhere_when_deleted_then_all_is_whole(tmp_path, monkeypatch, before):
    other = library(tmp_path)
    other.add([text(f"d{number}", f"Document {number} is about cats.") for number in range(before)], SETTINGS)
    late = library(tmp_path).add([text("late", "It comes late.")], SETTINGS).added[0].id
    monkeypatch.setattr(other, "refresh", lambda: False)  # it was published after that

    other.delete(late)

    assert len(library(tmp_path).snapshot.documents) == before
    check_whole(library(tmp_path))
