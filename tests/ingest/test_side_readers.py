"""Several processes for one PDF: the same pages and problems as one process gives, wherever they begin, and whatever the file is."""

# mypy: allow-untyped-calls

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pymupdf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as any_of

from rag_core.domain.documents import Page
from rag_core.errors import Cancelled, LimitExceeded
from rag_core.ingest.limits import Limits
from rag_core.ingest.pdf_worker.damage import REPAIRED
from rag_core.ingest.reading import pdf, pdf_process, side_readers
from rag_core.ingest.reading.pdf import PdfContent, read_pdf
from rag_core.ingest.reading.pdf_process import Event
from rag_core.ingest.reading.side_readers import SideReaders

SETTLE_S = 60.0  # at most, until the further processes are done, at the first page: then what they read can count


def a_file(pages: int, change: Callable[[pymupdf.Document], object] = lambda made: None) -> bytes:
    """A PDF of so many pages, each with its own words and a row of cells."""
    made = pymupdf.open()
    for number in range(1, pages + 1):
        page = made.new_page()
        page.insert_textbox((50, 72, 500, 600), f"Page {number} says that part {number * 7} holds. " * 9)
        page.insert_text((50, 650), f"Net income {number}")
        page.insert_text((300, 650), f"{number * 1000:,}")
    change(made)
    return bytes(made.tobytes())


def everything(content: PdfContent) -> tuple[object, ...]:
    """The contents, with all that columns make of themselves only when asked."""

    def of(page: Page) -> tuple[object, ...]:
        measures = page.width, page.height, page.hidden_chars, page.hidden_sample
        return page.number, page.text, page.source, list(page.lines), list(page.words), page.problem, *measures

    pages = [of(page) for page in content.pages]
    return pages, content.problems, content.title, content.author, content.date


class Taken:
    """How many pages of further processes counted."""

    pages = 0


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> type[Taken]:
    rest = SideReaders.rest

    def counted(beside: SideReaders, event: Event) -> object:
        found = rest(beside, event)
        Taken.pages += len(found)
        return found

    monkeypatch.setattr(SideReaders, "rest", counted)
    monkeypatch.setattr(side_readers, "MIN_PAGES", 2)
    Taken.pages = 0
    return Taken


def read(data: bytes, readers: int, limits: Limits | None = None, waits: bool = True) -> PdfContent:
    """A file read by so many processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pdf, "cores", lambda: readers)
        return read_pdf(data, "a.pdf", limits=limits or Limits(), ocr=False, progress=settled if waits else None)


def settled(*_: object) -> None:
    """Wait for the further processes."""
    for thread in threading.enumerate():
        if thread.name == side_readers.THREAD:
            thread.join(SETTLE_S)


def test_given_a_long_file_when_read_by_several_then_all_is_the_same_and_most_pages_are_theirs(taken: type[Taken]) -> None:
    """Nothing of a reading depends on how many processes made it."""
    data = a_file(60)

    alone = everything(read(data, 1))
    assert taken.pages == 0

    assert everything(read(data, 2)) == alone
    assert taken.pages == 28  # all from the 33rd on


def test_given_no_more_threads_when_a_long_file_is_read_then_the_first_process_reads_all_of_it(
    taken: type[Taken], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, begun, start = a_file(60), list[threading.Thread](), threading.Thread.start
    alone = everything(read(data, 1))

    def full(thread: threading.Thread) -> None:
        if thread.name == side_readers.THREAD and begun:
            raise RuntimeError("can't start new thread")
        begun.extend([thread] if thread.name == side_readers.THREAD else [])
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", full)
    assert everything(read(data, 3)) == alone
    assert (len(begun), taken.pages) == (1, 0)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pages=any_of.integers(1, 30), readers=any_of.integers(1, 4), lag=any_of.integers(0, 20), waits=any_of.booleans())
def test_given_any_split_of_the_pages_when_read_then_all_is_the_same(
    pages: int, readers: int, lag: int, waits: bool, taken: type[Taken], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_readers, "LAG", min(lag, pages - 1))
    data = a_file(pages)

    assert everything(read(data, readers, waits=waits)) == everything(read(data, 1, waits=False))


def _without_content(made: pymupdf.Document) -> None:
    made.xref_set_key(made[25].xref, "Contents", "9999 0 R")


def _with_picture(made: pymupdf.Document) -> None:
    page = made[25]
    made.update_stream(page.get_contents()[0], b" ")
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 40, 40), False)
    picture.clear_with(90)
    picture.set_rect(pymupdf.IRect(5, 5, 20, 20), (250, 250, 250))
    page.insert_image(page.rect, pixmap=picture)


@pytest.mark.parametrize("change", [_without_content, _with_picture])
def test_given_an_odd_page_far_behind_when_read_by_several_then_the_first_process_alone_counts(
    change: Callable[[pymupdf.Document], object], taken: type[Taken]
) -> None:
    """A page that is damaged or a picture is told as one process tells it."""
    data = a_file(30, change)

    several = read(data, 2)

    assert taken.pages == 0
    assert everything(several) == everything(read(data, 1))
    assert several.problems


def _with_broken_object(page: int) -> bytes:
    """A file that is repaired when this page is read, and not before."""
    contents: list[int] = []
    data = a_file(30, lambda made: contents.extend(made[page - 1].get_contents()))
    head = b"\n%d 0 obj" % contents[0]
    assert data.count(head) == 1
    return data.replace(head, head[:-1] + b"x")


def _with_broken_table() -> bytes:
    """A file that is repaired when it is opened, so by each process, and of which no page has a problem."""
    return a_file(30).replace(b"\nxref", b"\nxxxx").replace(b"startxref", b"startxxxx")


@pytest.mark.parametrize("data", [_with_broken_object(3), _with_broken_table()], ids=["on a page before theirs", "at its opening"])
def test_given_a_file_that_is_repaired_when_read_by_several_then_that_is_said_as_by_one(data: bytes, taken: type[Taken]) -> None:
    """The note stands behind the last page, so what further processes read may not take the place of the first one's rest."""
    several = read(data, 2)

    assert taken.pages == 0
    assert everything(several) == everything(read(data, 1))
    assert REPAIRED in several.problems


def test_given_a_page_of_theirs_that_is_repaired_and_has_no_problem_when_read_by_several_then_that_is_said_as_by_one(
    taken: type[Taken], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repair need not hurt the page that met it; MuPDF blames each page here, so the blame is taken away."""
    events = pdf_process.events

    def blameless(*said: object, **more: object) -> Iterator[Event]:
        for event in events(*said, **more):  # type: ignore[arg-type]
            yield {**event, "problem": ""} if event["event"] == "page" else event

    monkeypatch.setattr(pdf_process, "events", blameless)
    data = _with_broken_object(26)

    several = read(data, 2)

    assert taken.pages == 0
    assert everything(several) == everything(read(data, 1))
    assert several.problems == (REPAIRED,)


@pytest.mark.parametrize(
    "limits", [Limits(chars=9_000), Limits(words=1_700), Limits(rows=100), Limits(pages=20)], ids=["chars", "words", "rows", "pages"]
)
def test_given_a_file_over_a_limit_when_read_by_several_then_the_error_is_the_same(limits: Limits, taken: type[Taken]) -> None:
    data = a_file(30)
    said = []
    for readers in (1, 2, 3):
        with pytest.raises(LimitExceeded) as caught:
            read(data, readers, limits)
        said.append(str(caught.value))

    assert len(set(said)) == 1
    assert taken.pages == 0


def test_given_several_processes_when_cancelled_then_reading_ends_within_a_second_and_nothing_runs_on(
    taken: type[Taken], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stops a reading waits no longer for several processes than for one."""
    monkeypatch.setattr(pdf, "cores", lambda: 4)
    asked_at: list[float] = []

    def stop(_: str, done: int, __: int) -> None:
        if done == 3:
            asked_at.append(time.monotonic())

    with pytest.raises(Cancelled):
        read_pdf(a_file(200), "a.pdf", progress=stop, cancelled=lambda: bool(asked_at))

    assert time.monotonic() - asked_at[0] < 1
    assert [thread.name for thread in threading.enumerate() if thread.name == side_readers.THREAD] == []


def test_given_more_than_may_be_held_when_read_by_several_then_it_is_thrown_away(
    taken: type[Taken], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_readers, "HELD_BYTES", 2_000)
    data = a_file(30)

    assert everything(read(data, 2)) == everything(read(data, 1))
    assert taken.pages == 0
