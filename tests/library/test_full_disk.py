"""On a full disk one error says what to do, and nothing is lost: the library is as it was."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from library_kit import SETTINGS, check_whole, found, library, text

from rag_core.domain.documents import Metadata
from rag_core.errors import LibraryError
from rag_core.library.library import Library

FULL = OSError(errno.ENOSPC, "No space left on device")


@contextmanager
def pages_left(opened: Library, pages: int) -> Iterator[None]:
    """The library's file can grow by so many pages; SQLite tells of the next one as of a full disk."""
    file = opened._collection._writer
    with file.writing() as db:
        (now,) = db.execute("PRAGMA page_count").fetchone()
    file._connection.execute(f"PRAGMA max_page_count = {now + pages}")
    try:
        yield
    finally:
        file._connection.execute("PRAGMA max_page_count = 1073741823")


def body(number: int) -> str:
    return " ".join(f"word{number}x{n}" for n in range(2_000))


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    opened = library(tmp_path_factory.mktemp("template"))
    opened.add([text(f"d{number}", body(number), language="en") for number in range(3)], SETTINGS)
    opened._collection.close()
    return opened._collection.root


@pytest.fixture
def opened(template, tmp_path) -> Library:
    shutil.copytree(template, tmp_path / "default")
    return library(tmp_path)


@pytest.mark.parametrize("pages", [0, 3, 8, 20])
def test_given_a_disk_that_is_full_at_some_point_when_adding_then_nothing_is_lost(opened, tmp_path, pages):
    before = opened.snapshot

    with pages_left(opened, pages), pytest.raises(LibraryError) as caught:
        opened.add([text(f"new{number}", body(10 + number), language="en") for number in range(4)], SETTINGS)

    assert "full" in caught.value.problem
    assert "Free disk space" in caught.value.remedy
    assert opened.snapshot is before
    check_whole(library(tmp_path))
    opened.resume(SETTINGS)
    opened.add([text(f"new{number}", body(10 + number), language="en") for number in range(4)], SETTINGS)
    assert len(opened.snapshot.documents) == 7
    assert found(opened, "word12x7")
    check_whole(library(tmp_path))


def test_given_no_room_for_the_bytes_of_a_file_then_no_half_file_stays(opened, tmp_path, monkeypatch):
    before = sorted((tmp_path / "default/sources").iterdir())
    monkeypatch.setattr("rag_core.library.disk.private.create", lambda *_: (_ for _ in ()).throw(OSError(*FULL.args)))
    with pytest.raises(LibraryError, match="No space left"):
        opened.add([text("new", body(9))], SETTINGS)
    assert opened.unfinished() == ()
    assert sorted((tmp_path / "default/sources").iterdir()) == before


@pytest.mark.parametrize("act", ["delete", "erase", "describe"])
def test_given_a_disk_that_refuses_a_change_then_all_is_as_it_was(opened, tmp_path, monkeypatch, act):
    before, id = opened.snapshot, opened.snapshot.documents[1].id
    acts = {
        "delete": lambda: opened.delete(id),
        "erase": lambda: opened.erase(id),
        "describe": lambda: opened.set_metadata(id, Metadata(title="New")),
    }
    load = opened._loader.load

    def full(db: sqlite3.Connection, *rest: object, **more: object) -> object:
        load(db, *rest, **more)
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(opened._loader, "load", full)
        with pytest.raises(LibraryError, match="disk is full"):
            acts[act]()
    assert opened.snapshot is before
    assert library(tmp_path).snapshot.documents == before.documents
    acts[act]()
    check_whole(library(tmp_path))
