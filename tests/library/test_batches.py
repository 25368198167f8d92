"""The first pages of a long PDF are asked while the later ones are read: the places are exact, and the document is made
as without it.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pymupdf
import pytest
from builders import calibration
from library_kit import HashEmbedder, check_whole, library, text, traces
from reading_kit import FIRST, PAGES, SMALL, Held, indexing, kept, until

from rag_core.adapters.records.store import RecordStore
from rag_core.decision.decide import decide, replay
from rag_core.decision.notes import WHEN_READ
from rag_core.decision.tools import Tools
from rag_core.domain.documents import Metadata, Page
from rag_core.domain.indexing import ALLOWANCE, INDEXING
from rag_core.domain.measurements import UNREAD, Measurements
from rag_core.domain.passages import Passage
from rag_core.domain.status import ConfidenceLevel, Reason
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, ModelUnavailable
from rag_core.library.indexing import batches, reading
from rag_core.library.indexing.batches import Batches
from rag_core.library.indexing.reading import PageKeeper
from rag_core.library.library import AddReport, Library
from rag_core.library.stored.collection import Cut
from rag_core.library.stored.snapshot import Snapshot
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.work.recording import passage_of

pytestmark = pytest.mark.usefixtures("short_batches")

OPEN = Settings.load("open")
QUESTION = "What light does buoy 4 show?"
Look = Callable[[int], None]
CAT = text("cat", "The cat of the harbour office sleeps on the chart of the bay.", language="en")


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
    return Source.from_path(path)


@pytest.fixture
def opened(tmp_path: Path) -> Library:
    """A library with one short document."""
    made = library(tmp_path)
    assert not made.add([CAT], SMALL).problems
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


def seen(opened: Library, source: Source, pages: int) -> Snapshot:
    """What can be asked, once so many pages of the file can be: another thread embeds them."""
    document = f"sha256:{source.digest}"
    until(lambda: document in opened.view.reading and opened.view.document(document).page_count == pages)
    return opened.view


@dataclass
class Watched:
    """A library that was asked once the first batch of a PDF could be, and once the second could."""

    opened: Library
    document: str  # the PDF's id
    views: dict[int, Snapshot] = field(default_factory=dict)  # by the pages that can be asked
    early: list[Measurements] = field(default_factory=list)  # of a question on the first batch, by a calibrated engine
    kept: list[Measurements] = field(default_factory=list)  # the same, kept and read again each time
    nowhere: tuple[str, ...] | None = None
    other_process: int = 0  # pages of the document that another one saw
    read: list[Page] = field(default_factory=list)

    def engine(self) -> Engine:
        return Engine(self.opened, Tools(self.opened._embedder, replace(FITTED, correctness=FITTED)))


FITTED = calibration()
NOBODY = "What does buoy 20777 show?"


@pytest.fixture(scope="module")
def watched(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    folder = tmp_path_factory.mktemp("watched")
    source = replace(Source.from_path(path), metadata=Metadata(values={"class": "lights"}))
    made = Watched(library(folder), f"sha256:{source.digest}")
    made.opened.add([CAT], SMALL)
    store = RecordStore(folder / "default" / "records.sqlite")

    def again() -> None:
        id = store.keep(made.early[0])
        made.kept.append(store.measurements(id, made.opened.view.page_text, passage_of(made.opened.view)))

    def look(page: int) -> None:
        if page < FIRST:
            assert made.opened.view is made.opened.snapshot
        if page in (FIRST, 2 * FIRST):
            made.views[page] = view = seen(made.opened, source, page)
            made.other_process = library(folder).view.document(made.document).page_count
            if page == FIRST:
                made.early = [made.engine().measure(QUESTION, OPEN)]
                made.early.append(made.engine().measure("Where does the cat sleep?", OPEN, ["cat"]))
                made.nowhere = made.engine().measure(NOBODY, OPEN).nowhere
                made.read.append(view.page(made.document, 4))
            again()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "FIRST_PAGES", FIRST)
        add(made.opened, source, look)
    again()
    return made


def test_given_a_long_pdf_when_read_then_its_first_pages_can_be_asked_and_chosen(watched: Watched) -> None:
    document = watched.document
    for pages, view in watched.views.items():
        assert view.reading == {document: PAGES}
        assert {one.page for one in view.passages_of(document)} == set(range(1, pages + 1))
    view, every = watched.views[FIRST], list(watched.views[FIRST].rows_of(document))
    assert view.rows(["cat"]) == [0]
    assert view.rows(["buoys.pdf"]) == view.rows(None, {"class": "lights"}) == every
    assert view.rows(["cat", "buoys.pdf"], {"class": "lights"}) == every
    assert watched.other_process == 2 * FIRST, "another process asks it too"
    assert watched.opened.view is watched.opened.snapshot
    check_whole(watched.opened)


def test_given_a_question_while_pages_are_read_then_the_answer_is_marked_and_says_so(watched: Watched) -> None:
    decision, view, document = decide(watched.early[0]), watched.views[FIRST], watched.document

    assert "number4" in decision.answer
    assert [(one.document, one.page) for one in decision.citations] == [("buoys.pdf", 4)]
    assert decision.citations[0].boxes
    assert decision.metadata[INDEXING] == {"documents": 1, "searched": 2, "pages": PAGES, "read": FIRST}
    said = f"1 of 2 documents is still being read: {FIRST} of {PAGES} pages can be searched so far."
    assert said in decision.notes
    assert decision.confidence_level is not ConfidenceLevel.HIGH
    assert view.document(document).title == "Buoys of the bay"
    assert view.document(document).metadata.values["author"] == "The harbour office"
    # whoever holds that version still reads its pages when the document is published, and they are the published ones
    assert watched.read == [view.page(document, 4)] == [watched.opened.snapshot.page(document, 4)]
    assert view.page_text(document, FIRST) == watched.opened.snapshot.page_text(document, FIRST)
    assert view.page_text(view.documents[0].id, 1).startswith("The cat")
    with pytest.raises(InvalidInput, match="from 1 to 6"):
        view.page(document, FIRST + 1)


def test_given_passages_of_a_batch_then_they_have_no_id_of_the_whole_document(watched: Watched) -> None:
    first, second = (view.passages_of(watched.document) for view in watched.views.values())

    assert second[: len(first)] == first  # what was found stays where it is
    ids = [passage.id for passage in second]
    assert len(set(ids)) == len(ids)
    spans = [span for passage in second for span in passage.spans]
    text = watched.opened.snapshot.page_text
    assert all(text(watched.document, span.page)[span.start : span.end].strip() for span in spans)
    places = [(span.page, at) for span in spans for at in range(span.start, span.end)]
    assert len(set(places)) == len(places)  # no page is cut twice
    assert not set(ids) & {passage.id for passage in watched.opened.snapshot.passages_of(watched.document)}


def test_given_a_decision_on_a_batch_then_its_record_replays_then_and_later(watched: Watched) -> None:
    assert len(watched.kept) == 3
    assert all(decide(one) == decide(watched.early[0]) for one in watched.kept)
    last = watched.kept[-1]
    strict = replay(last, last.settings.changed(min_top_cosine=1.0, top_cosine_mode="enforce"))
    assert not strict.answered
    assert strict.suggestions[0] == WHEN_READ


def test_given_pages_to_be_read_then_estimates_are_lowered_and_no_name_is_nowhere(watched: Watched) -> None:
    early, apart = watched.early

    assert early.correctness == early.answerability
    assert early.correctness == pytest.approx(max(0.0, FITTED.probability(early.features) - ALLOWANCE))
    assert INDEXING not in apart.metadata  # nothing of what it searched is being read
    assert apart.correctness == FITTED.probability(apart.features)
    assert watched.nowhere == ()
    assert watched.engine().measure(NOBODY, OPEN).nowhere == ("20777",)


def test_given_batches_then_the_published_document_is_made_as_without_them_and_hardly_a_passage_is_embedded_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte by byte."""
    made = pymupdf.open()
    for number in range(PAGES):
        words = random.Random(number).choices(
            "pump valve tank meter gauge filter sensor boiler piston flange".split(), k=400
        )
        lines = [" ".join(words[at : at + 10]) for at in range(0, 400, 10)]
        said = ". ".join(f"{line[:1].upper()}{line[1:]} {number}" for line in lines)
        made.new_page().insert_textbox((50, 50, 545, 790), f"{said}.", fontsize=11)
    source = Source("pumps.pdf", made.tobytes(no_new_id=True), "pdf")

    def added(name: str) -> tuple[list[object], int]:
        embedder = HashEmbedder()
        opened = library(tmp_path / name, embedder=embedder)
        add(opened, source, lambda page: bool(name == "with" and page == FIRST and seen(opened, source, FIRST)))
        return kept(opened), embedder.embedded

    with_batches, embedded = added("with")
    monkeypatch.setattr(batches, "FIRST_PAGES", PAGES)
    without, once = added("without")

    assert with_batches == without
    assert len(without) > 6
    assert embedded <= once + 2  # the passage at the end of each batch


def test_given_passages_that_read_the_same_then_they_are_embedded_once(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    opened = library(tmp_path, embedder=embedder)
    body = "\n\n".join(["The buoy shows a green light, and ships keep well away from it in any weather at night."] * 20)

    opened.add([text("same", body, language="en")], SMALL)

    assert embedder.embedded < len(opened.snapshot.passages)
    check_whole(opened)


@pytest.mark.parametrize("page", [FIRST, 2 * FIRST + 1])
def test_given_a_file_that_is_refused_at_a_later_page_then_its_pages_go_and_the_refusal_is_told(
    opened: Library, source: Source, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    def look(read: int) -> None:
        if read == page:
            seen(opened, source, min(page, 2 * FIRST))
            monkeypatch.setattr(reading, "HELD_BYTES", 1)

    report = add(opened, source, look)

    assert "take more than" in str(report.problems[0][1])
    assert opened.view is opened.snapshot
    assert [one.name for one in opened.snapshot.documents] == ["cat"]
    assert not opened.unfinished()


def test_given_a_refused_file_then_its_pages_are_gone(
    opened: Library, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[list[str]] = []

    def look(what: str, done: int, total: int) -> None:
        if what == "buoys.pdf: reading" and done == FIRST:
            seen(opened, source, FIRST)
            monkeypatch.setattr(reading, "LAYOUT_BYTES", 500)
        if what == "dog: embedding":
            found.append([one.name for one in opened.view.documents])

    opened.add([source, text("dog", "The dog barks.", language="en")], SMALL, progress=look)

    assert found
    assert found == [["cat"]] * len(found)


def test_given_a_job_that_is_stopped_while_pages_are_read_then_nothing_of_them_is_found_and_it_is_indexed_when_resumed(
    opened: Library, source: Source
) -> None:
    read: list[int] = []

    def look(page: int) -> None:
        if page == FIRST:
            seen(opened, source, FIRST)
        read.append(page)

    report = add(opened, source, look, lambda: len(read) > FIRST)

    assert report.cancelled
    assert len(read) < PAGES
    assert opened.view is opened.snapshot
    assert [row.name for row in opened.unfinished()] == ["buoys.pdf"]
    opened.resume(SMALL)
    assert [one.name for one in opened.snapshot.documents] == ["cat", "buoys.pdf"]
    check_whole(opened)


def test_given_a_document_that_is_deleted_while_it_is_read_then_it_is_gone_at_once_and_the_other_files_are_indexed(
    opened: Library, source: Source, tmp_path: Path
) -> None:
    document, read = f"sha256:{source.digest}", list[int]()

    def look(what: str, done: int, total: int) -> None:
        read.append(done)
        if what == "buoys.pdf: reading" and done == FIRST:
            seen(opened, source, FIRST)
            opened.delete(document)
            assert [one.name for one in opened.view.documents] == ["cat"]

    report = opened.add([source, text("dog", "The dog barks at the buoy.", language="en")], SMALL, progress=look)

    assert [one.name for one in report.added] == ["dog"]
    assert PAGES not in read
    assert traces(tmp_path, source.digest.encode(), b"number4", b"buoys.pdf") == []
    assert [one.name for one in opened.view.documents] == ["cat", "dog"]
    assert not opened.unfinished()
    check_whole(opened)


def test_given_a_batch_that_cannot_be_cut_then_the_document_is_indexed_all_the_same(
    opened: Library, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def fails(*args: object) -> tuple[Passage, ...]:
        tried.append(1)
        raise ValueError("a fault of ours")

    monkeypatch.setattr(batches, "passages_of", fails)
    report = add(opened, source, lambda page: pytest.fail("a batch") if opened.view.reading else None)

    assert tried == [1]  # not tried again
    assert [one.name for one in report.added] == ["buoys.pdf"]
    check_whole(opened)


def test_given_a_model_that_is_gone_then_that_is_the_error_and_the_file_waits(tmp_path: Path, source: Source) -> None:
    class Gone(HashEmbedder):
        def embed(self, *given: object) -> object:
            raise ModelUnavailable("It is gone.", remedy="Try again.")

    opened = library(tmp_path, embedder=Gone())

    with pytest.raises(ModelUnavailable, match="It is gone"):
        add(opened, source)

    assert opened.view.documents == ()
    assert [row.name for row in opened.unfinished()] == ["buoys.pdf"]
    again: list[str] = []
    library(tmp_path).resume(SMALL, progress=lambda what, done, total: again.append(what))
    assert not any(what.endswith(": reading") for what in again)  # its pages are there


def test_given_a_document_that_is_there_then_it_is_asked_until_made_anew(opened: Library, source: Source) -> None:
    add(opened, source)
    document, same = f"sha256:{source.digest}", list[bool]()

    opened.reread([document], SMALL.changed(ocr=False), progress=lambda *_: same.append(opened.view is opened.snapshot))

    assert len(same) > PAGES
    assert all(same)
    assert opened.snapshot.document(document).page_count == PAGES


def test_given_a_process_killed_while_pages_are_read_then_the_next_asks_them(tmp_path: Path, source: Source) -> None:
    embedder = Held()
    with indexing(library(tmp_path, embedder=embedder), embedder, source):
        embedder.let(1)  # the vectors of the first batch
        shutil.copytree(tmp_path / "default", tmp_path / "killed/default")

    left = library(tmp_path / "killed")
    assert left.snapshot.documents == ()
    assert [row.name for row in left.unfinished()] == ["buoys.pdf"]
    assert "number4" in engine(left).ask(QUESTION, OPEN).answer
    other = library(tmp_path / "killed", embedder=HashEmbedder("other@float32"))
    assert other.view.documents == (), "its vectors are of another model"
    left.resume(SMALL)
    assert left.view is left.snapshot
    assert [one.name for one in left.snapshot.documents] == ["buoys.pdf"]
    check_whole(left)


def test_given_a_stop_when_all_pages_are_read_then_they_are_not_read_again(tmp_path: Path, source: Source) -> None:
    embedder = Held()
    opened = library(tmp_path, embedder=embedder)
    with indexing(opened, embedder, source) as running:
        embedder.let(2)  # those of both batches: the whole document stands
        assert seen(opened, source, 2 * FIRST).reading
        running.stop.set()
    assert running.report.cancelled
    assert opened.view is opened.snapshot
    assert opened.view.documents == ()

    again: list[str] = []
    opened.resume(SMALL, progress=lambda what, done, total: again.append(what))

    assert [one.name for one in opened.snapshot.documents] == ["buoys.pdf"]
    assert not any(what.endswith(": reading") for what in again)
    check_whole(opened)


def test_given_nothing_read_yet_but_a_file_added_then_a_refusal_says_to_wait(tmp_path: Path) -> None:
    """Whoever has added a file a moment ago is not told to add one."""
    made = library(tmp_path)
    engine = Engine(made, Tools(HashEmbedder()))
    before = engine.ask("What is the notice period?", Settings.load())
    made.add([text("lease", "The notice period is 30 days.")], Settings.load(), cancelled=lambda: True)
    during = engine.ask("What is the notice period?", Settings.load())
    made.resume(Settings.load())
    after = engine.ask("What is the notice period?", Settings.load())

    assert before.suggestions == ("Add documents first.",)
    assert (during.reason, during.suggestions) == (
        Reason.NOTHING_RETRIEVED,
        ("Ask again in a moment: what was added is not read yet.",),
    )
    made.add([text("annex", "The fee is 4 euros.")], Settings.load(), cancelled=lambda: True)
    waiting = engine.ask("Who may keep hens?", Settings.load())
    chosen = engine.ask("Who may keep hens?", Settings.load(), [made.snapshot.documents[0].id])

    assert (during.metadata[UNREAD], waiting.metadata[UNREAD]) == (1, 1)
    assert not any(UNREAD in one.metadata for one in (before, after, chosen))


@pytest.mark.parametrize(("count", "read"), [(PAGES, [6, 12]), (9, [6]), (8, []), (100, [6, 12, 24, 48])])
def test_given_pages_that_come_then_each_batch_has_twice_as_many_and_none_has_nearly_all(
    source: Source, opened: Library, count: int, read: list[int]
) -> None:
    cut: list[Cut] = []
    opened.add([source], SMALL, cancelled=lambda: True)
    (row,) = opened.unfinished()
    keeper = PageKeeper(opened._collection, opened._collection.begin_document(row, "key", ""))

    made = Batches(row, "key", SMALL, HashEmbedder(), keeper, cut.append, lambda: False)
    made.begun(Metadata(), count)
    for number in range(1, count + 1):
        page = Page(number, f"The buoy {number} shows a light.")
        keeper.put(page)
        made.read(page, 1)

    assert [one.entry.document.page_count for one in cut] == read
    assert {one.pages for one in cut} <= {count}
