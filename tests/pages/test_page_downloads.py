"""A download is noted before it is sent, what cannot be noted is not sent, and it opens for whoever it was made for."""

from __future__ import annotations

from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from rag_core.adapters.act_log import FILE
from rag_core.domain.acts import Action, Actor, acting, actor
from rag_core.wiring import act_log
from ui.app import downloads


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """What a button that was drawn last gives to Streamlit, by name."""
    given: dict[str, Any] = {}

    def drawn(label: str, make: Any, file: str, kind: str, **_: Any) -> None:
        given.update(make=make, file=file, kind=kind)

    monkeypatch.setenv("RAG_LIBRARY", str(tmp_path))
    monkeypatch.setattr(st, "download_button", drawn)
    return given


def clicked(offered: dict[str, Any]) -> str:
    """The file that Streamlit makes on a click, which it does outside of any run, by its name."""
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    button = manager.add_deferred(offered["make"], offered["kind"], "place", offered["file"])
    return copy_context().run(manager.execute_deferred, button).rpartition("/")[2]


def someone(name: str, collection: str = "") -> Actor:
    return Actor(name, frozenset(), {collection: frozenset({Action.ASK, Action.EXPORT})})


def test_given_a_download_when_it_is_made_then_it_is_noted_as_whoever_it_was_offered_to_and_opens_for_them_alone(
    offered: dict[str, Any], tmp_path: Path
) -> None:
    ann, bob, made = someone("user:ann"), someone("user:bob"), list[str]()

    def rows() -> str:
        made.append(actor().name)
        return "rows"

    with acting(ann):
        downloads.download("export.pdf", rows, "rows.csv", "a")

    file = clicked(offered)

    (noted,) = act_log(tmp_path).entries()
    assert (noted.who, noted.action, noted.object) == ("user:ann", "export", f"media:{file.partition('.')[0]}")
    assert made == ["user:ann"]
    assert [downloads.is_theirs(file, who) for who in (ann, bob, someone("user:ann", "other"))] == [True, False, False]
    assert not downloads.is_theirs(f"{'a' * 56}.csv", ann)
    with acting(bob):
        downloads.download("export.pdf", rows, "rows.csv", "a")
    assert clicked(offered) == file
    assert all(downloads.is_theirs(file, who) for who in (ann, bob)), "both made the same file"


def test_given_a_log_that_cannot_be_written_when_a_download_is_clicked_then_it_is_not_sent(
    offered: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / FILE).mkdir()
    downloads.download("export.pdf", lambda: b"secret", "a.pdf", "a")

    with pytest.raises(MediaFileStorageError):
        clicked(offered)
