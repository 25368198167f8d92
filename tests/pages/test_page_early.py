"""A document that is still being read on the page: it can be asked, the page says how far it is, and shows where the
answer stands.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pymupdf
import pytest
from page_kit import JOB_SECONDS, ask, asked_of, by_key, session_of, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.domain.documents import Page
from rag_core.domain.indexing import INDEXING, indexing_of
from rag_core.library.indexing import batches
from ui.app import state
from ui.app.texts import say, tell

BUOYS = (
    "Alpha Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec Romeo"
).split()
BUOYS += "Sierra Tango Uniform Victor Whiskey Xray".split()
PAGES, FIRST = len(BUOYS), 4
QUESTION = "What does the buoy Charlie show?"


class Gate:
    """Lets a file be read up to a page, and waits there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stands = {number: threading.Event() for number in (FIRST + 1, 2 * FIRST + 1)}
        self.go = {number: threading.Event() for number in self.stands}
        read = batches.Batches.read

        def held(self_: batches.Batches, page: Page, size: int) -> None:
            read(self_, page, size)
            if page.number in self.stands:
                self.stands[page.number].set()
                assert self.go[page.number].wait(JOB_SECONDS)

        monkeypatch.setattr(batches, "FIRST_PAGES", FIRST)  # so the next batch has 8 pages
        monkeypatch.setattr(batches.Batches, "read", held)

    def asked(self, page: AppTest, pages: int) -> AppTest:
        """The page once so many pages of the file can be asked."""
        assert self.stands[pages + 1].wait(JOB_SECONDS)

        def read() -> int:
            view = state.engine().library.view
            return max((view.document(id).page_count for id in view.reading), default=0)

        assert until(lambda: read() == pages)
        return page.run()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate(monkeypatch)
    yield made
    for event in made.go.values():
        event.set()


def upload(page: AppTest, *others: tuple[str, bytes, str]) -> AppTest:
    """Drop a file of which each page is about a buoy, and others behind it."""
    made = pymupdf.open()
    for name in BUOYS:
        made.new_page().insert_textbox((50, 50, 545, 790), f"The buoy {name} shows two red flags. " * 3, fontsize=11)
    file = ("buoys.pdf", bytes(made.tobytes(deflate=True)), "application/pdf")
    return page.file_uploader[0].set_value([file, *others]).run()


def said(page: AppTest) -> str:
    return "\n".join(text.value for text in page.text)


def test_given_a_file_of_which_only_the_first_pages_are_read_when_asked_then_it_is_told_and_asked_again_as_more_is_read(
    app: AppTest, library: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_PRESET", "open")
    page = gate.asked(upload(settle(app)), FIRST)
    assert tell("jobs.early", n=FIRST) in texts(page)

    ask(page, QUESTION)

    first = asked_of(page)
    assert "two red flags" in first.decision.answer
    assert first.decision.citations[0].page == 3
    assert first.decision.citations[0].boxes
    assert len(page.image) == 1
    assert say("viewer.uncertain_here") not in [info.value for info in page.info]
    assert f"still being read: {FIRST} of {PAGES} pages can be searched so far" in said(page)
    assert texts(page).count("still being read") == 1  # not as a note too
    assert first.record is not None
    page.run()
    assert asked_of(page).measurements is first.measurements  # nothing has changed

    gate.go[FIRST + 1].set()
    gate.asked(page, 2 * FIRST)

    now = indexing_of(asked_of(page).measurements.metadata)
    assert (now.read, now.pages) == (2 * FIRST, PAGES)
    gate.go[2 * FIRST + 1].set()
    settle(page)
    later = asked_of(page)
    assert INDEXING not in later.decision.metadata
    assert later.decision.answer == first.decision.answer
    assert "still being read" not in said(page)
    assert len(session_of(page).history) == 1


def test_given_a_job_that_is_stopped_when_its_file_was_asked_then_the_page_asks_again_without_it(
    app: AppTest, empty_library: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_PRESET", "open")
    empty_library.mkdir()
    (empty_library / ".samples-offered").touch()
    page = settle(app)
    assert [box.value for box in page.info] == [say("examples.empty")]
    page = gate.asked(upload(page), FIRST)
    assert tell("jobs.early", n=FIRST) in said(page)
    assert not page.info, "the first pages can be asked"
    ask(page, QUESTION)
    assert asked_of(page).decision.citations[0].document == "buoys.pdf"

    page.button(key=by_key(page, "stop_")[0]).click().run()
    gate.go[FIRST + 1].set()
    settle(page)

    decision = asked_of(page).decision
    assert INDEXING not in decision.metadata
    assert "buoys.pdf" not in {name for name, _ in decision.retrieved}


def until(holds: Callable[[], bool]) -> bool:
    """Whether it came so far."""
    for _ in range(int(JOB_SECONDS * 20)):
        if holds():
            return True
        time.sleep(0.05)
    return False
