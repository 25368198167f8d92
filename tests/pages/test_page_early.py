"""A document that is still being indexed on the page: it can be asked, the page says how far it is, and shows where the
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

from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.domain.documents import Page
from rag_core.domain.indexing import INDEXING, indexing_of
from rag_core.domain.ports import TextKind, Vectors
from rag_core.library.disk.files import Stamp
from rag_core.library.indexing import adding, drafts
from ui.app.texts import say, tell

BUOYS = (
    "Alpha Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec Romeo"
).split()
BUOYS += "Sierra Tango Uniform Victor Whiskey Xray".split()
PAGES = 24  # enough once `EARLY_PASSAGES` is lower: a busy machine embeds a hundred for minutes
QUESTION = "What does buoy 17 show?"


class Gate:
    """The model, which lets a job's first batch wait."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stands, self.go = threading.Event(), threading.Event()
        embed = EmbeddedModel.embed

        def held(model: EmbeddedModel, given: list[str], kind: TextKind = "passage") -> Vectors:
            if threading.current_thread().name == "a job":
                self.stands.set()
                assert self.go.wait(JOB_SECONDS)
            return embed(model, given, kind)

        monkeypatch.setattr(EmbeddedModel, "embed", held)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate(monkeypatch)
    yield made
    made.go.set()


@pytest.fixture
def waiting(app: AppTest, library: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The Ask page under limits that let pass, where a long file was read and cut and has no vector yet."""
    monkeypatch.setenv("RAG_PRESET", "open")
    monkeypatch.setattr(adding, "EARLY_PASSAGES", PAGES // 3)
    page = settle(app)
    made = pymupdf.open()
    for number in range(1, PAGES + 1):
        light = ("a green light", "a yellow cross", "two red flags")[number % 3]
        text = (
            f"The buoy {number} shows {light}. Ships keep {number + 40} metres away from buoy {number} in any weather. "
            * 8
        )
        made.new_page().insert_textbox((50, 50, 545, 790), f"Chapter {number}. {text}", fontsize=11)
    page.file_uploader[0].set_value([("buoys.pdf", bytes(made.tobytes(deflate=True)), "application/pdf")]).run()
    assert gate.stands.wait(JOB_SECONDS)
    return page.run()


def said(page: AppTest) -> str:
    return "\n".join(text.value for text in page.text)


def test_given_a_file_without_vectors_when_asked_then_it_is_answered_marked_and_told_and_asked_again_when_it_is_indexed(
    waiting: AppTest, gate: Gate
) -> None:
    page = waiting
    assert "buoys.pdf: embedding 0 of" in texts(page)
    assert say("jobs.early") in texts(page)

    ask(page, QUESTION)

    first = asked_of(page)
    assert "two red flags" in first.decision.answer
    state = indexing_of(first.measurements.metadata)
    assert state is not None
    assert state.embedded == 0
    assert (
        f"1 of {state.searched} documents is still being indexed: 0 % of its passages can be found by meaning"
        in said(page)
    )
    assert texts(page).count("still being indexed") == 1  # not as a note too
    cited = first.decision.citations[0]
    assert cited.document == "buoys.pdf"
    assert cited.boxes
    assert len(page.image) == 1
    assert say("viewer.uncertain_here") not in [info.value for info in page.info]
    assert first.record is not None

    gate.go.set()
    settle(page)

    later = asked_of(page)
    assert INDEXING not in later.decision.metadata
    assert "still being indexed" not in said(page)
    assert later.decision.answer == first.decision.answer
    assert len(session_of(page).history) == 1


def test_given_a_first_file_that_can_be_asked_before_it_is_indexed_then_the_page_does_not_say_that_it_cannot(
    app: AppTest, empty_library: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty_library.mkdir()
    (empty_library / ".samples-offered").touch()
    monkeypatch.setattr(adding, "EARLY_PASSAGES", 2)
    page = settle(app)
    assert [box.value for box in page.info] == [say("examples.empty")]
    page.file_uploader[0].set_value([("bay-1.pdf", short_pdf(1), "application/pdf")]).run()
    assert gate.stands.wait(JOB_SECONDS)
    page.run()

    assert say("jobs.early") in said(page)
    assert not page.info


def test_given_a_job_that_is_stopped_when_its_file_was_asked_then_the_page_asks_again_without_it(
    waiting: AppTest, gate: Gate
) -> None:
    page = ask(waiting, QUESTION)
    assert asked_of(page).decision.citations[0].document == "buoys.pdf"

    page.button(key=by_key(page, "stop_")[0]).click().run()
    gate.go.set()
    settle(page)

    decision = asked_of(page).decision
    assert INDEXING not in decision.metadata
    assert "buoys.pdf" not in {name for name, _ in decision.retrieved}
    assert not page.exception


def test_given_a_file_of_which_only_the_first_pages_are_read_when_asked_then_it_is_told_and_asked_again_as_more_is_read(
    app: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_PRESET", "open")
    monkeypatch.setattr(drafts, "FIRST_PAGES", 4)  # so the next draft has 8 pages
    stands = {number: threading.Event() for number in (5, 9)}
    go = {number: threading.Event() for number in stands}
    read = drafts.Drafts.read

    def held(self: drafts.Drafts, page: Page, source: Stamp) -> None:
        read(self, page, source)
        if page.number in stands:
            stands[page.number].set()
            assert go[page.number].wait(JOB_SECONDS)

    monkeypatch.setattr(drafts.Drafts, "read", held)
    page = settle(app)
    made = pymupdf.open()
    for number in range(1, PAGES + 1):
        made.new_page().insert_textbox(
            (50, 50, 545, 790), f"The buoy {BUOYS[number - 1]} shows two red flags. " * 3, fontsize=11
        )
    page.file_uploader[0].set_value([("buoys.pdf", bytes(made.tobytes(deflate=True)), "application/pdf")]).run()
    try:
        assert stands[5].wait(JOB_SECONDS)
        page.run()
        assert tell("jobs.early_reading", n=4) in texts(page)

        ask(page, "What does the buoy Charlie show?")

        first = asked_of(page)
        assert "two red flags" in first.decision.answer
        assert first.decision.citations[0].page == 3
        assert first.decision.citations[0].boxes
        assert len(page.image) == 1
        assert f"still being read: 4 of {PAGES} pages can be searched so far" in said(page)
        assert texts(page).count("still being read") == 1  # not as a note too
        page.run()
        assert asked_of(page).measurements is first.measurements  # nothing has changed

        go[5].set()
        assert stands[9].wait(JOB_SECONDS)
        page.run()

        state = indexing_of(asked_of(page).measurements.metadata)
        assert state is not None
        assert (state.read, state.pages) == (8, PAGES)
    finally:
        for event in go.values():
            event.set()
    settle(page)
    assert INDEXING not in asked_of(page).decision.metadata
    assert not page.exception


def test_given_several_files_of_which_the_first_has_no_vector_then_the_last_can_be_asked_and_the_page_says_how_many(
    app: AppTest, library: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_PRESET", "open")
    monkeypatch.setattr(adding, "EARLY_PASSAGES", 2)
    page = settle(app)
    files = [(f"bay-{number}.pdf", short_pdf(number), "application/pdf") for number in range(3)]
    page.file_uploader[0].set_value([*files, ("bad.pdf", b"%PDF-1.7 nothing", "application/pdf")]).run()
    (job,) = session_of(page).jobs
    assert gate.stands.wait(JOB_SECONDS)
    assert until(lambda: job.state(3, ()) == "problem")
    page.run()

    assert tell("jobs.early_files", n=3, files=4) in texts(page)
    table = next(frame.value for frame in page.dataframe if say("jobs.state") in frame.value)
    assert list(table[say("jobs.file")]) == ["bay-0.pdf", "bay-1.pdf", "bay-2.pdf", "bad.pdf"]
    assert list(table[say("jobs.state")])[1:] == [tell("jobs.state_cut_early")] * 2 + [tell("jobs.state_problem")]

    ask(page, "What does buoy 21 show?")

    first = asked_of(page)
    assert first.decision.citations[0].document == "bay-2.pdf"
    assert f"3 of {first.measurements.metadata[INDEXING]['searched']} documents are still being indexed: 0 %" in said(
        page
    )
    gate.go.set()
    settle(page)
    assert INDEXING not in asked_of(page).decision.metadata
    assert not page.exception


def test_given_a_second_upload_while_the_first_has_no_vector_then_it_can_be_asked_before_its_turn_and_the_page_says_so(
    app: AppTest, library: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_PRESET", "open")
    monkeypatch.setattr(adding, "EARLY_PASSAGES", 2)
    page = settle(app)
    page.file_uploader[0].set_value([("bay-1.pdf", short_pdf(1), "application/pdf")]).run()
    assert gate.stands.wait(JOB_SECONDS)
    page.file_uploader[0].set_value([("memo.pdf", short_pdf(7), "application/pdf")]).run()
    first, second = session_of(page).jobs
    assert until(lambda: second.state(0, ()) == "cut")
    page.run()

    assert (first.started, second.started) == (True, False)
    assert f"{say('jobs.waiting')} {say('jobs.early')}" in texts(page)
    ask(page, "What does buoy 72 show?")
    assert asked_of(page).decision.citations[0].document == "memo.pdf"
    gate.go.set()
    settle(page)
    assert INDEXING not in asked_of(page).decision.metadata
    assert [document.name for document in second.report.added] == ["memo.pdf"]
    assert not page.exception


def short_pdf(number: int) -> bytes:
    """Four pages about buoys of their own."""
    made = pymupdf.open()
    for at in range(4):
        text = (
            f"The buoy {10 * number + at} shows two red flags. Ships keep well away from buoy {10 * number + at} in "
            f"any weather. " * 3
        )
        made.new_page().insert_textbox((50, 50, 545, 790), text, fontsize=11)
    return bytes(made.tobytes(deflate=True))


def until(holds: Callable[[], bool]) -> bool:
    """Whether it came so far."""
    for _ in range(int(JOB_SECONDS * 20)):
        if holds():
            return True
        time.sleep(0.05)
    return False
