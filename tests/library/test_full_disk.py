"""On a full disk a document can be deleted, and its room is free then; where that cannot be, nothing is lost and it says what to do."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from disk_kit import FULL, Disk
from early_kit import SECONDS, SMALL, Held, buoys, indexing
from library_kit import SETTINGS, check_whole, found, library, text

from rag_core.adapters.llm import cache
from rag_core.errors import InvalidInput, LibraryError
from rag_core.library.deletion import NOTE
from rag_core.library.disk import private, room
from rag_core.library.disk.lock import writing
from rag_core.library.library import Library
from rag_core.library.stored import store as stored


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """What the library writes below the test's folder is taken from this disk."""
    made = Disk(tmp_path)
    made.limit(monkeypatch.setattr)
    return made


def body(number: int) -> str:
    return " ".join(f"word{number}x{n}" for n in range(2_000))


def filled(folder: Path, documents: int = 4) -> Library:
    """Each document in a version of its own."""
    opened = library(folder)
    for number in range(documents):
        opened.add([text(f"d{number}", body(number), language="en")], SETTINGS)
    return opened


def contents(folder: Path) -> dict[str, bytes]:
    names = ("lock", "inbox.lock", room.RESERVE)
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name not in names}


@pytest.mark.parametrize("left", [0, 4096, 12_288, 40_000])
def test_given_a_full_disk_when_a_document_is_deleted_then_it_is_gone_and_its_room_is_free(tmp_path, disk, left):
    opened = filled(tmp_path)
    gone = opened.snapshot.documents[1].id
    own = opened.snapshot.size_bytes(gone)
    disk.fill(left)

    opened.delete(gone)

    assert disk.free() >= left + own
    assert found(opened, "word1x7") == []
    assert len(found(opened, "word2x7")) == 1
    assert (tmp_path / "default" / room.RESERVE).stat().st_size > 100_000, "room is kept for the next time"
    check_whole(library(tmp_path))


def test_given_a_full_disk_and_one_version_alone_when_a_document_is_deleted_then_the_reserve_is_room_enough(tmp_path, disk):
    opened = library(tmp_path)
    opened.add([text(f"d{number}", body(number), language="en") for number in range(3)], SETTINGS)
    assert len([*tmp_path.glob("default/manifests/*.json")]) == 1
    disk.fill()

    opened.delete(opened.snapshot.documents[0].id)

    assert disk.free() > 0
    check_whole(library(tmp_path))


def test_given_a_full_disk_without_any_room_to_make_when_a_document_is_deleted_then_all_is_as_it_was_and_it_says_what_to_do(tmp_path, disk):
    forgotten = []
    opened = filled(tmp_path)
    opened.erase(opened.snapshot.documents[0].id)  # so that one version is left
    opened._on_delete = lambda documents, version: forgotten.append(documents)
    room.give_up_reserve(tmp_path / "default")
    before = contents(tmp_path)
    disk.fill(4096)

    with pytest.raises(LibraryError) as caught:
        opened.delete(opened.snapshot.documents[0].id)

    assert caught.value.problem == "The disk is full, and nothing was deleted: the indexes without the document are written first."
    assert caught.value.remedy == "Free about 1 MB elsewhere on that disk, then delete it again."
    assert contents(tmp_path) == before
    assert forgotten == [], "what a model wrote of it goes with it, and not before"
    check_whole(library(tmp_path))
    disk.fill(1_000_000)
    opened.delete(opened.snapshot.documents[0].id)
    assert len(forgotten) == 1
    check_whole(library(tmp_path))


def test_given_a_full_disk_when_only_what_is_half_made_is_left_then_it_goes_and_its_source_can_be_resumed(tmp_path, disk):
    opened = filled(tmp_path)
    opened.add([text("half", body(9), language="en")], SETTINGS, cancelled=lambda: True)
    opened.erase(opened.snapshot.documents[0].id)
    (half,) = opened.unfinished()
    made = [tmp_path / "default" / folder / f"{half.digest}-0" / "pages" for folder in ("work", "documents")]
    for path in made:
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes(200_000))
    room.give_up_reserve(tmp_path / "default")
    disk.fill()

    opened.delete(opened.snapshot.documents[0].id)

    assert [path.exists() for path in made] == [False, False]
    check_whole(library(tmp_path))
    disk.capacity = 1 << 40
    assert len(opened.resume(SETTINGS).added) == 1


def test_given_room_enough_when_a_document_is_deleted_then_older_versions_stay_for_their_readers(tmp_path, disk):
    opened = filled(tmp_path)
    opened.delete(opened.snapshot.documents[0].id)
    assert len([*tmp_path.glob("default/manifests/*.json")]) == stored.KEPT_VERSIONS
    disk.fill(room.SHORT_BYTES // 2)

    opened.delete(opened.snapshot.documents[0].id)

    assert len([*tmp_path.glob("default/manifests/*.json")]) == 1, "little is free: what was deleted frees room at once"


def test_given_a_full_disk_when_a_file_is_discarded_then_it_goes(tmp_path, disk):
    opened = filled(tmp_path)
    opened.add([text("half", body(9), language="en")], SETTINGS, cancelled=lambda: True)
    disk.fill()
    opened.discard([row.id for row in opened.unfinished()])
    assert opened.unfinished() == ()
    check_whole(library(tmp_path))


def test_given_a_full_disk_when_a_document_is_deleted_everywhere_then_it_goes(tmp_path, disk):
    opened = filled(tmp_path)
    disk.fill()
    opened.erase(opened.snapshot.documents[0].id)
    assert len(library(tmp_path).snapshot.documents) == 3
    check_whole(library(tmp_path))


@pytest.mark.parametrize(("published", "audited"), [(True, True), (False, True), (True, False)])
def test_given_a_full_disk_when_a_document_that_waits_for_its_vectors_is_deleted_then_it_is_gone_and_its_room_is_free(
    tmp_path, disk, published, audited
):
    embedder = Held()
    opened = library(tmp_path, embedder=embedder)
    if published:
        opened.add([text("d2", body(2), language="en")], SETTINGS)
    if audited:
        opened._note = lambda action, ids: private.write(tmp_path / f"audit-{action}", bytes(100))
    opened._on_delete = lambda ids, version: private.write(tmp_path / "records", bytes(100_000))
    with indexing(opened, embedder, buoys(), settings=SMALL):
        (one,) = opened._waiting.all()
        digest, at = one.id.removeprefix("sha256:"), tmp_path / "default"
        own = (at / "sources" / digest).stat().st_size + sum(path.stat().st_size for path in one.folder.iterdir())
        disk.fill()
        deleting = threading.Thread(target=lambda: opened.delete(one.id, wait=SECONDS))
        deleting.start()
        while not opened._waiting.unwanted():
            assert deleting.is_alive()
            time.sleep(0.001)
        embedder.let_all()
        deleting.join(SECONDS)
        kept = (at / room.RESERVE).stat().st_size

    assert one.id not in {document.id for document in opened.view.documents}
    assert opened.unfinished() == ()
    assert [path for path in at.rglob("*") if digest in path.name] == []
    assert disk.free() + kept >= own
    assert kept >= room.OWN_BYTES // 4, "room is kept for the next time"
    assert not (at / NOTE).exists()
    check_whole(library(tmp_path))


def test_given_a_full_disk_without_a_reserve_when_a_document_that_waits_is_deleted_then_it_stays_and_it_says_what_to_do(tmp_path, disk):
    embedder = Held()
    opened = library(tmp_path, embedder=embedder)
    with indexing(opened, embedder, buoys(), settings=SMALL):
        (one,) = opened._waiting.all()
        room.give_up_reserve(tmp_path / "default")
        disk.fill()
        opened._note = lambda action, ids: private.write(tmp_path / f"audit-{action}", bytes(100))
        with pytest.raises(LibraryError) as caught:
            opened.delete(one.id)
        assert caught.value.problem == "The disk is full, and nothing was deleted: what is deleted is noted first."
        disk.capacity = 1 << 40
    assert [document.id for document in opened.snapshot.documents] == [one.id]


def test_given_no_room_for_the_list_when_a_document_that_waits_is_given_up_then_older_versions_go(tmp_path, disk):
    opened = filled(tmp_path)
    opened.add([text("half", body(9), language="en")], SETTINGS, cancelled=lambda: True)
    room.give_up_reserve(tmp_path / "default")
    disk.fill()

    opened._deletions.forget_waiting([row.digest for row in opened.unfinished()])

    assert opened.unfinished() == ()
    assert len([*tmp_path.glob("default/manifests/*.json")]) == 1
    check_whole(library(tmp_path))


def test_given_something_else_that_refuses_when_deleting_then_no_room_is_made(tmp_path, disk):
    opened = filled(tmp_path)
    before = contents(tmp_path)

    def refuse(*_: object) -> None:
        raise LibraryError("The words of a model cannot be deleted.", remedy="Try again.")

    opened._on_delete = refuse
    with pytest.raises(LibraryError, match="words of a model"):
        opened.delete(opened.snapshot.documents[0].id)
    with pytest.raises(InvalidInput):
        opened.delete("sha256:0")

    assert contents(tmp_path) == before, "not even the version that was ready is left over"
    assert (tmp_path / "default" / room.RESERVE).exists()


def test_given_no_room_for_who_holds_the_lock_when_somebody_waits_then_no_earlier_holder_is_named(tmp_path, disk):
    (tmp_path / "lock.json").write_text('{"pid": 1, "host": "elsewhere", "since": "2026"}')
    disk.capacity = 0
    with writing(tmp_path, 0.0):
        assert not (tmp_path / "lock.json").exists()


def _caused(error: BaseException) -> LibraryError:
    try:
        raise LibraryError("The words cannot be deleted.", remedy="Free room.") from error
    except LibraryError as raised:
        return raised


def _sqlite(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = code
    return error


def test_given_errors_when_asked_whether_a_disk_is_full_then_only_those_without_room_are():
    full = [FULL, OSError(errno.EDQUOT, "Quota"), _caused(FULL), _caused(_caused(FULL)), _caused(_sqlite(13)), _sqlite(4874)]
    assert [error for error in full if not room.is_full(error)] == []
    other = [None, OSError(errno.EACCES, "No"), OSError(errno.EIO, "No"), _caused(ValueError()), _sqlite(5), sqlite3.OperationalError("no")]
    assert [error for error in other if room.is_full(error)] == []


def test_given_indexes_that_grow_and_shrink_when_room_is_kept_then_it_follows_within_bounds(tmp_path, disk):
    def kept(size: int) -> int:
        room.keep_reserve(tmp_path, size)
        path = tmp_path / room.RESERVE
        return path.stat().st_size if path.exists() else 0

    assert kept(0) == room.OWN_BYTES
    assert kept(1 << 20) == room.OWN_BYTES + (1 << 20)
    assert kept(1 << 30) == room.MAX_RESERVE
    assert kept(9 << 20) == room.MAX_RESERVE, "it is less than twice what is needed"
    assert kept(1 << 20) == room.OWN_BYTES + (1 << 20)
    assert (tmp_path / room.RESERVE).stat().st_blocks * 512 >= 1 << 20
    disk.fill(1 << 18)
    assert kept(2 << 20) == room.OWN_BYTES + (1 << 20) + (1 << 17), "half of what is free is left to others"


def test_given_a_disk_that_refuses_a_larger_reserve_then_the_one_that_is_there_stays(tmp_path, disk, monkeypatch):
    room.keep_reserve(tmp_path, 0)
    monkeypatch.setattr(os, "posix_fallocate", lambda *_: (_ for _ in ()).throw(OSError(*FULL.args)))
    room.keep_reserve(tmp_path, 1 << 20)
    assert (tmp_path / room.RESERVE).stat().st_size == room.OWN_BYTES


def test_given_a_full_disk_when_a_models_answers_are_to_be_forgotten_then_the_cache_is_deleted(tmp_path, monkeypatch):
    kept = cache.ModelCache(tmp_path / cache.FILE)
    kept._file.begin()
    assert kept._file.path.exists()

    def writing(*_: object) -> Callable[..., object]:
        raise _caused(_sqlite(sqlite3.SQLITE_FULL))

    monkeypatch.setattr(kept._file, "writing", writing)
    kept.clear()
    assert not kept._file.path.exists()
