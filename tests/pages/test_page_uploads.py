"""Files on their way from the browser to the library: on disk, bounded, and forgotten by Streamlit once they are
taken.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pymupdf
import pytest
import streamlit as st
from page_kit import badges, settle, texts
from starlette.exceptions import HTTPException
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime import memory_uploaded_file_manager
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec
from streamlit.testing.v1 import AppTest

import ui.serve
from rag_core.errors import IngestError, LibraryError, LimitExceeded
from rag_core.library.disk.private import HeldFile
from rag_core.library.stored.sources import Source
from ui import frame
from ui.app.jobs import uploads
from ui.app.jobs.uploads import COUNTED_BYTES, SMALL_BYTES, OnDisk

SESSION = "one"
Drop = Callable[..., list[UploadedFile]]


@pytest.fixture
def manager() -> OnDisk:
    return OnDisk("/upload")


@pytest.fixture
def drop(manager: OnDisk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Drop:
    """Sends files as a browser does, and gives them as `st.file_uploader` does."""
    monkeypatch.setenv("RAG_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setattr(
        uploads, "get_script_run_ctx", lambda: SimpleNamespace(session_id=SESSION, uploaded_file_mgr=manager)
    )

    def send(**files: bytes) -> list[UploadedFile]:
        for name, data in files.items():
            manager.add_file(SESSION, UploadedFileRec(name, f"{name}.pdf", "application/pdf", data))
        return [UploadedFile(record, FileURLs()) for record in manager.get_files(SESSION, list(files))]

    return send


def test_given_files_of_any_size_when_sent_and_taken_then_large_ones_stand_on_disk_and_none_is_held(
    manager: OnDisk, drop: Drop, tmp_path: Path
) -> None:
    large, small = b"%PDF" + bytes(SMALL_BYTES), b"%PDF small"

    files = drop(large=large, small=small)

    assert [len(record.data) for record in manager.get_files(SESSION, ["large", "small"])] == [0, len(small)]
    assert [uploads.contents(file) for file in files] == [large, small]
    assert list((tmp_path / "library").iterdir()) == []

    sources = uploads.taken(drop(large=large, small=small))

    for source, data in zip(sources, (large, small), strict=True):
        assert isinstance(source, Source)
        assert isinstance(source.data, HeldFile)
        assert b"".join(source.data.blocks()) == data
    assert manager.get_files(SESSION, ["large", "small"]) == []
    assert manager.held == {}


def test_given_more_than_is_allowed_at_once_when_taken_then_the_rest_is_named_and_forgotten(
    manager: OnDisk, drop: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_FILES", 3)
    monkeypatch.setattr(uploads, "MAX_BYTES", 10_000_000)

    found = uploads.taken(drop(a=b"1", b=bytes(9_999_998), c=b"12", d=b"4"))

    assert [isinstance(each, Source) for each in found] == [True, True, False, False]
    refused = [each for each in found if isinstance(each, IngestError)]
    assert all(isinstance(each, LimitExceeded) and each.remedy for each in refused)
    assert [each.problem for each in refused] == [
        "c.pdf was not taken: files of at most 10 MB together can be added at once.",
        "d.pdf was not taken: at most 3 files can be added at once.",
    ]
    assert manager.get_files(SESSION, list("abcd")) == []


def test_given_a_session_that_sends_without_end_when_its_share_is_full_then_the_server_refuses_until_it_is_forgotten(
    manager: OnDisk, drop: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_BYTES", 3 * SMALL_BYTES)
    drop(a=bytes(SMALL_BYTES + 1))

    with pytest.raises(HTTPException) as caught:
        drop(b=bytes(2 * SMALL_BYTES))
    manager.remove_session_files(SESSION)

    assert caught.value.status_code == 413
    assert manager.held == {}
    assert len(drop(c=bytes(2 * SMALL_BYTES))) == 1


def test_the_server_keeps_uploads_on_disk() -> None:
    assert ui.serve.SERVED
    assert memory_uploaded_file_manager.MemoryUploadedFileManager is OnDisk


def test_given_an_upload_when_the_next_touch_ends_its_run_then_it_is_indexed_all_the_same(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = pymupdf.open()
    made.new_page().insert_text((72, 100), "The harbour bridge is 412 metres long.")
    with monkeypatch.context() as ended:
        ended.setattr(frame, "start", st.stop)
        page.file_uploader[0].set_value([("bridge.pdf", made.tobytes(), "application/pdf")]).run()

    page.run()
    settle(page)

    assert "Indexed and ready to be asked: 1" in badges(page)


def test_given_a_file_that_the_browser_still_lists_when_more_is_dropped_then_the_field_stays_and_only_what_is_new_is_taken(  # noqa: E501
    page: AppTest,
) -> None:
    """A field that made room for an empty one would lose what is dropped on it meanwhile."""

    def dropped(name: str) -> int:
        page.file_uploader[0].set_value([(name, name.encode(), "text/plain")]).run()
        settle(page)
        page.run()  # each run sends the list again
        return badges(page).count("Indexed and ready to be asked: 1")

    key = page.file_uploader[0].key
    assert dropped("bridge.txt") == 1
    assert page.file_uploader[0].value != []
    assert dropped("pier.txt") == 2
    assert page.file_uploader[0].key == key


def test_given_a_disk_that_takes_nothing_when_a_file_is_dropped_then_the_page_says_so_until_the_next_one(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = LibraryError("The disk is full.", remedy="Free some space.")
    with monkeypatch.context() as broken:
        broken.setattr(uploads, "taken", Mock(side_effect=full))
        page.file_uploader[0].set_value([("bridge.txt", b"The harbour bridge is 412 metres long.", "text/plain")]).run()
    told = texts(page)
    page.file_uploader[0].set_value([("bridge.txt", b"The harbour bridge is 412 metres long.", "text/plain")]).run()
    settle(page)

    assert "The disk is full." in told
    assert "The disk is full." not in texts(page)
    assert "Indexed and ready to be asked: 1" in badges(page)


def test_given_many_small_files_that_no_page_takes_when_sent_then_they_count_too(
    manager: OnDisk, drop: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_BYTES", 3 * COUNTED_BYTES)
    drop(a=b"1", b=b"")
    drop(c=bytes(COUNTED_BYTES))

    with pytest.raises(HTTPException) as caught:
        drop(d=b"")

    assert caught.value.status_code == 413
    manager.remove_file(SESSION, "a")
    assert len(drop(d=b"")) == 1
