"""The first pages of a long PDF are asked while the later ones are read: the places are exact, and the document is made
as without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest
from early_kit import SMALL
from library_kit import HashEmbedder, check_whole, library, text
from test_ahead import kept

from rag_core.adapters.records.store import RecordStore
from rag_core.decision.decide import decide, replay
from rag_core.decision.notes import WHEN_READ
from rag_core.decision.tools import Tools
from rag_core.domain.documents import Metadata, Page
from rag_core.domain.indexing import INDEXING, Indexing
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Passage
from rag_core.engine import Engine
from rag_core.errors import InvalidInput
from rag_core.library.disk.files import Stamp
from rag_core.library.indexing import drafts, reading
from rag_core.library.indexing.drafts import Drafts
from rag_core.library.indexing.early import WaitingDocument, early
from rag_core.library.indexing.reading import PageKeeper
from rag_core.library.library import AddReport, Library
from rag_core.library.stored.snapshot import Snapshot
from rag_core.library.stored.sources import Source, sources_from
from rag_core.settings import Settings
from rag_core.work.recording import passage_of

PAGES, FIRST = 24, 6  # drafts of 6 and of 12 pages
OPEN = Settings.load("open")
QUESTION = "What light does buoy 4 show?"
Look = Callable[[int], None]


@pytest.fixture(autouse=True)
def _short_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "FIRST_PAGES", FIRST)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF of which page n speaks of buoy n."""
    made, colours = pymupdf.open(), ("green", "amber", "violet")
    made.set_metadata({"title": "Buoys of the bay", "author": "The harbour office"})
    told = "Ships keep well away from it in any weather, and the harbour office is told of every light that fails."
    for number in range(1, PAGES + 1):
        page = made.new_page()
        page.insert_text((50, 40), "Buoys of the bay", fontsize=8)
        page.insert_text((50, 80), f"Chapter {number}", fontsize=16)
        page.insert_textbox(
            (50, 100, 545, 400),
            f"The buoy {number} shows a {colours[number % 3]} light number{number}. {told}",
            fontsize=11,
        )
    target = tmp_path_factory.mktemp("buoys") / "buoys.pdf"
    made.save(target)
    return target


@pytest.fixture
def source(path: Path) -> Source:
    found = next(iter(sources_from([path])))
    assert isinstance(found, Source)
    return found


@pytest.fixture
def opened(tmp_path: Path) -> Library:
    """A library with one short document."""
    made = library(tmp_path)
    assert not made.add(
        [text("cat", "The cat of the harbour office sleeps on the chart of the bay.", language="en")], SMALL
    ).problems
    return made


def add(
    opened: Library, source: Source, look: Look = lambda read: None, stopped: Callable[[], bool] = lambda: False
) -> AddReport:
    """Add the file; `look` is called after each page that was read, with its number, by the thread that reads."""

    def progress(what: str, done: int, total: int) -> None:
        if what.endswith(": reading"):
            look(done)

    return opened.add([source], SMALL, progress=progress, cancelled=stopped)


def engine(opened: Library) -> Engine:
    return Engine(opened, Tools(opened._embedder))


def state(view: Snapshot) -> Indexing | None:
    return view.waiting.indexing(None) if view.waiting is not None else None


def test_given_a_long_pdf_when_its_pages_are_read_then_the_first_ones_can_be_asked_and_it_is_told_how_many(
    opened: Library, source: Source
) -> None:
    read: dict[int, int] = {}

    def look(page: int) -> None:
        now = state(opened.view)
        read[page] = now.read if now else 0
        assert now is None or now.pages == PAGES

    add(opened, source, look)

    assert [read[page] for page in (1, FIRST - 1, FIRST, 2 * FIRST - 1, 2 * FIRST, PAGES)] == [
        0,
        0,
        FIRST,
        FIRST,
        2 * FIRST,
        2 * FIRST,
    ]
    assert opened.view is opened.snapshot
    check_whole(opened)


def test_given_a_question_while_pages_are_read_then_the_answer_names_its_page_is_marked_and_says_so(
    opened: Library, source: Source
) -> None:
    found: list[object] = []

    def look(page: int) -> None:
        if page == FIRST:
            view = opened.view
            found.extend((engine(opened).ask(QUESTION, OPEN), view, view.page(f"sha256:{source.digest}", 4)))

    add(opened, source, look)
    decision, view, page = found
    assert isinstance(view, Snapshot)
    document = f"sha256:{source.digest}"

    assert "number4" in decision.answer
    assert [(one.document, one.page) for one in decision.citations] == [("buoys.pdf", 4)]
    assert decision.citations[0].boxes
    assert decision.metadata[INDEXING] | {"passages": 0, "embedded": 0} == {
        "documents": 1,
        "searched": 2,
        "passages": 0,
        "embedded": 0,
        "pages": PAGES,
        "read": FIRST,
    }
    said = (
        f"1 of 2 documents is still being read: {FIRST} of {PAGES} pages can be searched "
        f"so far, 0 % of their passages by meaning"
    )
    assert any(note.startswith(said) for note in decision.notes)
    assert view.document(document).title == "Buoys of the bay"
    assert view.document(document).metadata.values["author"] == "The harbour office"
    # whoever holds that version still reads its pages when the document is published, and they are the published ones
    assert page == view.page(document, 4) == opened.snapshot.page(document, 4)
    assert view.page_text(document, FIRST) == opened.snapshot.page_text(document, FIRST)
    assert view.words(document, 4)
    assert view.page_text(view.documents[0].id, 1).startswith("The cat")
    with pytest.raises(InvalidInput, match="from 1 to 6"):
        view.page(document, FIRST + 1)


def test_given_drafts_then_the_published_document_is_made_as_without_them_byte_by_byte(
    tmp_path: Path, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    def files(name: str) -> list[object]:
        made, drafted = library(tmp_path / name), list[bool]()
        add(made, source, lambda page: drafted.append(state(made.view) is not None))
        assert any(drafted) is (name == "with")
        made.add([text("cat", "The cat sleeps.", language="en")], SMALL)
        return kept(made)

    with_drafts = files("with")
    monkeypatch.setattr(drafts, "FIRST_PAGES", PAGES)
    without = files("without")

    assert with_drafts == without
    assert len(without) > 6


def test_given_passages_of_a_draft_then_they_stand_on_their_pages_and_have_no_id_of_the_whole_document(
    opened: Library, source: Source
) -> None:
    drafted: list[tuple[Passage, ...]] = []
    document = f"sha256:{source.digest}"

    def look(page: int) -> None:
        if page in (FIRST, 2 * FIRST):
            view = opened.view
            drafted.append(view.passages_of(document))
            for passage in drafted[-1]:
                assert all(view.page_text(document, span.page)[span.start : span.end].strip() for span in passage.spans)

    add(opened, source, look)
    first, second = drafted

    assert second[: len(first)] == first  # what was found stays where it is
    assert {passage.page for passage in second} == set(range(1, 2 * FIRST + 1))
    ids = [passage.id for passage in second]
    assert len(set(ids)) == len(ids)
    places = [(span.page, at) for passage in second for span in passage.spans for at in range(span.start, span.end)]
    assert len(set(places)) == len(places)  # no page is cut twice
    assert not set(ids) & {passage.id for passage in opened.snapshot.passages_of(document)}


def test_given_a_decision_on_a_draft_then_its_record_replays_while_pages_are_read_and_when_the_document_is_published(
    opened: Library, source: Source, tmp_path: Path
) -> None:
    store, measured, again = (
        RecordStore(tmp_path / "default" / "records.sqlite"),
        list[Measurements](),
        list[Measurements](),
    )

    def look(page: int) -> None:
        if page == FIRST:
            engine(opened).ask(QUESTION, OPEN, on_measured=measured.append)
        if page in (FIRST, 2 * FIRST):
            again.append(store.measurements(store.keep(measured[0]), opened.view.page_text, passage_of(opened.view)))

    add(opened, source, look)
    again.append(store.measurements(store.keep(measured[0]), opened.view.page_text, passage_of(opened.view)))

    assert all(decide(one) == decide(measured[0]) for one in again)
    strict = replay(again[-1], again[-1].settings.changed(min_top_cosine=1.0, top_cosine_mode="enforce"))
    assert not strict.answered
    assert strict.suggestions[0] == WHEN_READ


def test_given_a_name_that_no_page_so_far_holds_then_a_refusal_does_not_say_that_no_document_has_it(
    opened: Library, source: Source
) -> None:
    question, said = "What does buoy 20777 show?", list[tuple[str, ...]]()

    def look(page: int) -> None:
        if page == FIRST:
            said.append(engine(opened).measure(question, OPEN).nowhere)

    add(opened, source, look)

    assert said == [()]
    assert engine(opened).measure(question, OPEN).nowhere == ("20777",)


@pytest.mark.parametrize("page", [FIRST, 2 * FIRST + 1])
def test_given_a_file_that_is_refused_at_a_later_page_then_its_draft_goes_and_the_refusal_is_told(
    opened: Library, source: Source, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    def look(read: int) -> None:
        if read == page:
            assert state(opened.view) is not None
            monkeypatch.setattr(reading, "HELD_BYTES", 1)

    report = add(opened, source, look)

    assert "take more than" in str(report.problems[0][1])
    assert opened.view is opened.snapshot
    assert [one.name for one in opened.snapshot.documents] == ["cat"]
    assert not opened.unfinished()


def test_given_a_file_that_is_refused_then_its_draft_is_gone_while_the_next_file_is_read(
    opened: Library, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def look(what: str, done: int, total: int) -> None:
        if what == "buoys.pdf: reading" and done == FIRST:
            monkeypatch.setattr(reading, "HELD_BYTES", 1)
        if what.startswith("dog"):
            monkeypatch.undo()
            seen.append([one.name for one in opened.view.documents])

    opened.add([source, text("dog", "The dog barks.", language="en")], SMALL, progress=look)

    assert seen
    assert seen == [["cat"]] * len(seen)


def test_given_a_draft_beside_a_document_that_waits_then_the_state_tells_them_apart(
    opened: Library, source: Source
) -> None:
    states: list[Indexing | None] = []

    def look(page: int) -> None:
        if page == FIRST:
            (draft,) = opened._loaded.early.values()
            other = WaitingDocument(
                replace(opened.snapshot.entries[0], key="other"), "", draft.passages[:2], draft.terms[:2]
            )
            view = early(opened.snapshot, [draft, other], opened._loader.lexical, HashEmbedder())
            assert view is not None
            states.extend((state(view), Indexing(2, 3, len(draft.passages) + 2, 0, pages=PAGES, read=FIRST, reading=1)))

    add(opened, source, look)

    assert states[0] == states[1] is not None


def test_given_a_draft_that_has_all_vectors_then_it_is_told_that_pages_are_missing(
    opened: Library, source: Source
) -> None:
    states: list[Indexing | None] = []

    def look(page: int) -> None:
        if page == FIRST:
            (draft,) = opened._loaded.early.values()
            count = len(draft.passages)
            draft.put(range(count), HashEmbedder().embed([passage.text for passage in draft.passages]))
            states.extend((state(opened.view), Indexing(1, 2, count, count, pages=PAGES, read=FIRST)))

    add(opened, source, look)

    assert states[0] == states[1] is not None


def test_given_a_job_that_is_stopped_while_pages_are_read_then_nothing_of_them_is_found_and_it_is_indexed_when_resumed(
    opened: Library, source: Source
) -> None:
    read: list[int] = []

    report = add(opened, source, read.append, lambda: len(read) > FIRST)

    assert report.cancelled
    assert len(read) < PAGES
    assert opened.view is opened.snapshot
    assert [row.name for row in opened.unfinished()] == ["buoys.pdf"]
    opened.resume(SMALL)
    assert [one.name for one in opened.snapshot.documents] == ["cat", "buoys.pdf"]
    check_whole(opened)


def test_given_a_document_that_is_deleted_while_it_is_read_then_it_is_gone_at_once_and_the_other_files_are_indexed(
    opened: Library, source: Source
) -> None:
    document, read = f"sha256:{source.digest}", list[int]()

    def look(what: str, done: int, total: int) -> None:
        read.append(done)
        if what == "buoys.pdf: reading" and done == FIRST:
            opened.delete(document)
            assert [one.name for one in opened.view.documents] == ["cat"]

    report = opened.add([source, text("dog", "The dog barks at the buoy.", language="en")], SMALL, progress=look)

    assert [one.name for one in report.added] == ["dog"]
    assert PAGES not in read
    assert [one.name for one in opened.view.documents] == ["cat", "dog"]
    assert not opened.unfinished()
    check_whole(opened)


def test_given_a_draft_that_cannot_be_made_then_the_document_is_indexed_all_the_same(
    opened: Library, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def fails(*args: object) -> tuple[Passage, ...]:
        tried.append(1)
        raise ValueError("a fault of ours")

    monkeypatch.setattr(drafts, "passages_of", fails)
    report = add(opened, source, lambda page: None if state(opened.view) is None else pytest.fail("a draft"))

    assert tried == [1]  # not tried again
    assert [one.name for one in report.added] == ["buoys.pdf"]
    check_whole(opened)


def test_given_a_document_that_is_there_already_or_a_rebuild_then_it_has_no_draft(
    opened: Library, source: Source, tmp_path: Path
) -> None:
    add(opened, source)
    document, seen = f"sha256:{source.digest}", list[bool]()

    opened.reread([document], SMALL.changed(ocr=False), progress=lambda *_: seen.append(opened.view is opened.snapshot))

    assert len(seen) > PAGES
    assert all(seen)
    assert opened.snapshot.document(document).page_count == PAGES


@pytest.mark.parametrize(("count", "read"), [(PAGES, [6, 12]), (9, [6]), (8, []), (100, [6, 12, 24, 48])])
def test_given_pages_that_come_then_each_draft_has_twice_as_many_and_none_has_nearly_all(
    source: Source, opened: Library, count: int, read: list[int]
) -> None:
    seen: list[int] = []
    opened.add([source], SMALL, cancelled=lambda: True)
    (row,) = opened.unfinished()
    keeper = PageKeeper(opened._collection, opened._collection.begin_document(row, "key", ""))

    def look() -> None:
        opened.refresh()
        seen.append(opened.view.documents[-1].page_count)

    made = Drafts(row, "key", SMALL, HashEmbedder(), keeper, look, lambda: False)
    made.begun(Metadata(), count)
    for number in range(1, count + 1):
        page = Page(number, f"The buoy {number} shows a light.")
        keeper.put(page)
        made.read(page, Stamp("0", 1))

    assert seen == read
