"""Uploads that wait, of which a file was deleted or cannot be read: nothing deleted is found, nothing is lost, and nothing stands still."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest
from early_kit import BAD, LONG, MEMO, PAGES, SECONDS, Held, Waiting, indexing, names, pdf, until
from library_kit import check_whole

from rag_core.library.indexing import ahead
from rag_core.library.library import AddReport, Library
from rag_core.library.stored.sources import Source

pytestmark = pytest.mark.usefixtures("asked_early")


def locked(password: str) -> bytes:
    """A PDF that this opens."""
    with pymupdf.open() as made:
        made.new_page().insert_textbox((50, 50, 545, 400), "The buoy 7 shows a violet light.")
        return bytes(made.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=password, owner_pw="owner"))


def test_given_a_file_that_was_deleted_before_any_call_read_it_then_no_call_of_others_reads_or_shows_it(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    second = Waiting(tmp_path, opened, pdf(1), MEMO)
    opened.delete(f"sha256:{pdf(1).digest}")
    with indexing(opened, embedder, pdf(0, LONG)):  # another person's, whose turn comes first
        until(lambda: "memo" in names(opened))
        assert sorted(names(opened)) == ["bay-0.pdf", "memo"]
    assert second.read() == set()
    assert [one.name for one in second.turn().added] == ["memo"]


def test_given_a_first_file_that_could_not_be_read_ahead_and_more_behind_it_than_may_wait_then_its_turn_does_not_stand_still(
    tmp_path: Path, opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "MAX_PASSAGES", PAGES)
    second, reports = Waiting(tmp_path, opened, BAD, pdf(1), MEMO), list[AddReport]()
    with indexing(opened, embedder, pdf(0, LONG)):
        until(lambda: "bay-1.pdf" in names(opened))
    turn = threading.Thread(target=lambda: reports.append(second.turn()))
    turn.start()
    turn.join(SECONDS / 4)
    second.stop.set()  # only one that stands still needs it
    turn.join(SECONDS)
    assert [one.name for one in reports[0].added] == ["bay-1.pdf", "memo"]
    assert [name for name, _ in reports[0].problems] == ["bad.pdf"]


@pytest.mark.parametrize("before", [True, False], ids=["handed in before", "handed in after"])
def test_given_a_file_that_the_call_before_cannot_read_when_its_upload_comes_then_that_says_so_or_opens_it(
    tmp_path: Path, opened: Library, embedder: Held, before: bool
) -> None:
    data = locked("key")
    sources: Sequence[Source] = (Source("locked.pdf", data, "pdf", password="key"), BAD, MEMO)
    second = [Waiting(tmp_path, opened, *sources)] if before else []
    with indexing(opened, embedder, pdf(0, LONG), Source("locked.pdf", data, "pdf"), BAD) as running:
        second = second or [Waiting(tmp_path, opened, *sources)]
        until(lambda: "memo" in names(opened))
        assert [name for name, _ in running.end().problems] == ["locked.pdf", "bad.pdf"]

    report = second[0].turn()

    assert [one.name for one in report.added] == ["locked.pdf", "memo"]
    assert [name for name, _ in report.problems] == ["bad.pdf"]
    assert opened.unfinished() == ()
    check_whole(opened)
