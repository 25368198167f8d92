"""Pictures outlive the run that showed them by a while, and then go."""

from __future__ import annotations

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from ui.app import media


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> MediaFileManager:
    monkeypatch.setattr(MediaFileManager, "_get_inactive_file_ids", MediaFileManager._get_inactive_file_ids)
    media.keep_awhile()
    return MediaFileManager(MemoryMediaFileStorage("/media"))


def shown(manager: MediaFileManager, data: bytes) -> str:
    """A picture that a session shows, as its file."""
    return manager.add(data, "image/png", "place").rpartition("/")[2]


def test_given_a_picture_that_is_shown_no_more_when_another_run_ends_then_it_is_there_until_its_time_is_over(
    manager: MediaFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(media.time, "monotonic", lambda: clock[0])
    name = shown(manager, b"first")
    manager.clear_session_refs()

    manager.remove_orphaned_files()
    clock[0] = media.KEPT_SECONDS - 1
    manager.remove_orphaned_files()
    kept = manager._storage.get_file(name)
    clock[0] = media.KEPT_SECONDS
    manager.remove_orphaned_files()

    assert kept.content == b"first"
    assert not manager._file_metadata


def test_given_a_picture_that_is_shown_again_when_its_time_was_over_then_it_stays(
    manager: MediaFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(media.time, "monotonic", lambda: clock[0])
    shown(manager, b"first")
    manager.clear_session_refs()
    manager.remove_orphaned_files()
    clock[0] = media.KEPT_SECONDS
    shown(manager, b"first")

    manager.remove_orphaned_files()

    assert len(manager._file_metadata) == 1
