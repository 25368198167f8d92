"""Pictures outlive the run that showed them by a while, and then go."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileKind, MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from rag_core.domain.acts import Action, Actor, acting, actor
from ui.app import media


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> MediaFileManager:
    patched = (
        (MediaFileManager, "_get_inactive_file_ids"),
        (MediaFileManager, "add_deferred"),
        (MemoryMediaFileStorage, "load_and_get_id"),
    )
    for holder, name in patched:
        monkeypatch.setattr(holder, name, getattr(holder, name))
    media.install()
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


def test_given_the_same_picture_for_two_people_when_it_is_asked_for_by_name_then_each_opens_their_own(
    manager: MediaFileManager,
) -> None:
    readers = {name: Actor(name, frozenset(), {"plans": frozenset({Action.ASK})}) for name in ("user:ann", "user:bob")}
    names = {}
    for name, who in readers.items():
        with acting(who):
            media._for.set(media.Owner(name, "plans"))
            names[name] = shown(manager, b"secret")

    assert len(set(names.values())) == 2
    for name, who in readers.items():
        for owner, file in names.items():
            assert media.is_theirs(file, who) == (name == owner)
            assert manager._storage.get_file(file).content == b"secret"
    plain = names["user:ann"][media.TAG :]
    assert not any(media.is_theirs(plain, who) for who in readers.values())
    with pytest.raises(MediaFileStorageError):
        manager._storage.get_file(plain)
    assert not media.is_theirs(names["user:ann"], Actor("user:ann", frozenset(), {"other": frozenset({Action.ASK})})), (
        "lost meanwhile"
    )


def test_given_a_download_that_is_made_on_a_click_when_it_is_made_outside_of_a_run_then_it_is_made_for_whoever_it_was_offered_to(  # noqa: E501
    manager: MediaFileManager,
) -> None:
    seen = []
    ann = Actor("user:ann", frozenset(), {"": frozenset({Action.ASK})})
    with acting(ann):
        offered = manager.add_deferred(lambda: seen.append(actor().name) or b"rows", "text/csv", "place", "rows.csv")

    file = copy_context().run(manager.execute_deferred, offered).rpartition("/")[2]

    assert seen == ["user:ann"]
    assert media.is_theirs(file, ann)
    assert not media.is_theirs(file, Actor("user:bob", frozenset(), {"": frozenset({Action.ASK})}))


def test_given_two_threads_that_show_the_same_picture_at_once_then_both_have_it(manager: MediaFileManager) -> None:
    def show() -> None:
        for number in range(200):
            name = manager._storage.load_and_get_id(b"%d" % (number % 3), "image/png", MediaFileKind.MEDIA)
            assert manager._storage.get_file(name).content == b"%d" % (number % 3)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(show) for _ in range(4)]:
            done.result()
