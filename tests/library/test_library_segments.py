"""A larger library's versions share the files of what did not change: a change costs what it touches, and nothing is left behind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from library_kit import SETTINGS, check_whole, found, library, text

from rag_core.adapters.index import flat, segments
from rag_core.errors import LibraryDamaged
from rag_core.library.stored import store as stored
from rag_core.library.stored import writer
from rag_core.library.stored.manifest import Head


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(segments, "MIN_ROWS", 2)
    monkeypatch.setattr(segments, "MAX_ROWS", 4)


def filled(folder, count=9):
    opened = library(folder)
    opened.add([text(f"d{number}", f"The house{number} has a cat{number}.", language="en") for number in range(count)], SETTINGS)
    return opened


def files(folder):
    return {path: path.stat().st_ino for path in sorted((folder / "default/indexes").rglob("*")) if path.is_file()}


def test_given_a_document_that_is_added_then_only_new_files_are_read_for_checksums_and_shared_ones_count_once(tmp_path, monkeypatch):
    opened, read = filled(tmp_path), []
    stamp_file = writer.stamp_file
    monkeypatch.setattr(writer, "stamp_file", lambda path: read.append(path) or stamp_file(path))
    before = files(tmp_path)

    opened.add([text("new", "Dogs run about.", language="en")], SETTINGS)

    new = {path: number for path, number in files(tmp_path).items() if path not in before}
    assert set(read) == {path for path, number in new.items() if number not in before.values()}
    assert len(read) < len(new)
    each = {path.stat().st_ino: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()}
    assert opened.size_bytes() == sum(each.values()) < sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    check_whole(opened)
    check_whole(library(tmp_path))
    assert found(library(tmp_path), "dogs")


def test_given_a_document_of_a_larger_library_that_is_erased_then_no_file_has_its_words_or_vectors(tmp_path):
    opened = filled(tmp_path)
    gone = opened.snapshot.documents[5].id
    vector = opened.snapshot.vectors.vectors(opened.snapshot.rows_of(gone)).tobytes()

    def holding(what):
        return [path for path in tmp_path.rglob("*") if path.is_file() and what in path.read_bytes()]

    assert [path.suffix for path in holding(vector)].count(".faiss") == 1
    assert holding(b"house5")
    opened.erase(gone)

    assert holding(vector) == holding(b"house5") == holding(b"cat5") == []
    assert len(opened.snapshot.passages) == 8
    assert found(opened, "house6 cat6")
    check_whole(library(tmp_path))


def test_given_a_shared_file_in_which_a_byte_changed_then_opening_says_so(tmp_path):
    opened = filled(tmp_path)
    opened.add([text("new", "Dogs run about.", language="en")], SETTINGS)
    path = max(tmp_path.glob("default/indexes/*/vectors.0/vectors.faiss"))
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")

    with pytest.raises(LibraryDamaged, match=r"vectors\.0/vectors\.faiss was changed"):
        library(tmp_path)


def test_given_a_version_whose_manifest_cannot_be_written_then_its_indexes_are_deleted_and_the_next_one_shares_what_it_may(
    tmp_path, monkeypatch
):
    opened = filled(tmp_path)
    before = files(tmp_path)
    publish = stored.Store.publish
    with monkeypatch.context() as full:
        full.setattr(stored.Store, "publish", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(Exception, match="No space left"):
            opened.add([text("new", "Dogs run about.", language="en")], SETTINGS)
    assert files(tmp_path) == before

    def half(self, *what):
        publish(self, *what)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as late:
        late.setattr(stored.Store, "publish", half)
        with pytest.raises(Exception, match="Input/output"):
            opened.resume(SETTINGS)
    assert found(library(tmp_path), "dogs"), "the version came into force: its files are needed"
    opened.delete(opened.snapshot.documents[0].id)
    check_whole(library(tmp_path))
    assert np.isfinite(opened.snapshot.vectors.vectors(range(len(opened.snapshot.passages)))).all()


def test_given_versions_that_did_not_come_into_force_then_the_next_one_writes_no_more_files_than_the_first(tmp_path, monkeypatch):
    opened = filled(tmp_path)
    publish, write, written, each = stored.Store.publish, flat.write, [], []
    monkeypatch.setattr(flat, "write", lambda path, data: written.append(path.name) or write(path, data))

    def full(self, *what):
        each.append(written[:])
        written.clear()
        if len(each) < 3:
            raise OSError(28, "No space left on device")
        publish(self, *what)

    monkeypatch.setattr(stored.Store, "publish", full)
    opened.delete(opened.snapshot.documents[0].id)

    assert len(each) == 3
    assert each[0] == each[1] == each[2] != []
    check_whole(library(tmp_path))


def test_given_a_manifest_that_is_known_then_clearing_away_reads_it_no_more_than_once(tmp_path, monkeypatch):
    filled(tmp_path)
    opened, read = library(tmp_path), []
    from_bytes = Head.from_bytes
    monkeypatch.setattr(Head, "from_bytes", lambda data, path: read.append(path.name) or from_bytes(data, path))

    for number in range(4):
        opened.add([text(f"new{number}", f"Dogs run about {number}.", language="en")], SETTINGS)

    assert len(read) <= 2  # those that another object published
    assert len(set(read)) == len(read)
    monkeypatch.setattr(Head, "from_bytes", lambda *_: pytest.fail("it was written here"))
    opened.delete(opened.snapshot.documents[-1].id)
    monkeypatch.undo()
    assert len([*(tmp_path / "default/manifests").iterdir()]) == stored.KEPT_VERSIONS
    check_whole(opened)


def test_given_a_version_of_another_process_then_only_the_files_that_are_new_are_compared_with_their_checksums(tmp_path, monkeypatch):
    opened, reader, read = filled(tmp_path), library(tmp_path), []
    before = set(files(tmp_path).values())
    verify_file = stored.verify_file
    monkeypatch.setattr(stored, "verify_file", lambda path, expected: read.append(path) or verify_file(path, expected))

    opened.add([text("new", "Dogs run about.", language="en")], SETTINGS)
    assert reader.refresh()

    newest = opened._store.manifest(known=True)
    assert set(read) == {tmp_path / "default" / name for name in newest.files if files(tmp_path)[tmp_path / "default" / name] not in before}
    assert 0 < len(read) < len(newest.files)
    assert found(reader, "dogs")
    assert len(library(tmp_path).snapshot.passages) == 10
    assert len(set(read)) == len(newest.files), "whoever opens it compares them all"


def test_given_a_file_that_was_changed_after_it_was_compared_then_the_next_version_is_refused(tmp_path):
    opened, reader = filled(tmp_path), library(tmp_path)
    opened.add([text("new", "Dogs run about.", language="en")], SETTINGS)
    path = max(tmp_path.glob("default/indexes/*/vectors.0/vectors.faiss"))
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")

    with pytest.raises(LibraryDamaged, match=r"vectors\.0/vectors\.faiss was changed"):
        reader.refresh()
    assert len(reader.snapshot.documents) == 9


def test_given_a_document_that_comes_again_under_another_name_with_a_new_one_then_its_parts_are_not_read_again(tmp_path, monkeypatch):
    opened, read = filled(tmp_path), []
    again = text("d5", "The house5 has a cat5.", language="en")
    passages = stored.Store.passages
    monkeypatch.setattr(stored.Store, "passages", lambda self, entry, dim=0: read.append(entry.names) or passages(self, entry, dim))
    before = files(tmp_path)

    opened.add([replace(again, name="another name"), text("new", "Dogs run about.", language="en")], SETTINGS)

    assert [document.name for document in opened.snapshot.documents][5] == "another name"
    assert read == []
    assert len(set(files(tmp_path).values()) & set(before.values())) > 1
    check_whole(library(tmp_path))
