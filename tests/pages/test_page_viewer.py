"""The page beside the answer: what is marked, turning, and what stands there when no page can be drawn."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pymupdf
import pytest
from builders import with_outcome
from hypothesis import given
from hypothesis import strategies as st
from page_kit import CALIBRATION, PDF, VACATION, ask, asked_of, badges, by_key, captions, field, settle, texts
from PIL import Image
from streamlit.testing.v1 import AppTest

from rag_core.domain.claims import Citation
from rag_core.domain.documents import Box, Page, Span, WordBox
from rag_core.ingest.reading.pdf import render_page
from ui.app import state, tables
from ui.ask import stages
from ui.documents import viewer
from ui.documents.place import Place, around, is_cut
from ui.documents.viewer import AROUND

LEAVE = "How long is parental leave?"  # two sentences of one page, and one of another document
SPEED = "How do I set the zero point of the meter?"  # two sentences of one page


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """What was asked of the drawing, picture by picture; it really draws."""
    calls: list[dict[str, object]] = []

    def counting(data: bytes, number: int, boxes: object = (), **given: object) -> bytes:
        calls.append({"page": number, "boxes": tuple(boxes), **given})  # type: ignore[call-overload]
        return render_page(data, number, boxes, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(viewer, "render_page", counting)
    return calls


def alts(page: AppTest) -> str:
    return "\n".join(one.alt for image in page.image for one in image.proto.imgs)


def code(page: AppTest) -> str:
    return "\n".join(element.value for element in page.code)


def upload(page: AppTest, name: str, data: bytes, kind: str = PDF) -> AppTest:
    page.file_uploader[0].set_value([(name, data, kind)]).run()
    return settle(page)


def test_given_an_answer_when_shown_then_the_page_of_its_first_source_is_there_and_can_be_turned(
    page: AppTest, drawn: list[dict[str, Any]]
) -> None:
    """S3-19, S4-17: the page, with exactly the cited words marked."""
    ask(page, CALIBRATION)

    cited = asked_of(page).decision.citations[0]
    boxes = tuple(box for _, box in cited.boxes)
    part = drawn[0].pop("part")
    how = {"doubted": (), "dpi": viewer.DPI["lines"], "max_pixels": viewer.MAX_PIXELS, "form": "pdf"}
    assert drawn == [{"page": 3, "boxes": boxes, **how}]
    assert page.image[0].proto.imgs[0].url.startswith("data:image/png;base64,"), "an address that others could open"
    assert all(part.x0 < box.x0 and part.y0 < box.y0 and part.x1 > box.x1 and part.y1 > box.y1 for box in boxes)
    assert part.y1 - part.y0 < 200  # a few lines around the words, not the page
    assert "The lines around the words on page 3 of the document, with the words marked." in alts(page)
    assert "Page 3 of 4" in captions(page)
    assert page.button(key="show_1").disabled

    number = asked_of(page).number

    page.segmented_control(key=f"viewer_size_{number}").set_value("whole").run()
    assert (drawn[-1]["dpi"], drawn[-1]["part"]) == (viewer.DPI["whole"], None)
    assert drawn[-1]["boxes"] == drawn[0]["boxes"]
    assert "Page 3 of the document, with the words marked." in alts(page)

    page.button(key="viewer_next").click().run()

    assert drawn[-1]["page"] == 4
    assert drawn[-1]["boxes"] == ()
    assert "Page 4 of the document, with nothing marked." in alts(page)
    assert "The marked words stand on another page." in captions(page)
    assert page.button(key="viewer_next").disabled  # it is the last one
    page.button(key="viewer_back").click().run()
    assert "Page 3 of 4" in captions(page)
    assert "viewer_back" not in by_key(page, "viewer")
    page.button(key="viewer_previous").click().run()
    assert "Page 2 of 4" in captions(page)

    asked = asked_of(page)
    place = replace(Place.of(asked.decision.citations[0]), also=((4, Box(60, 100, 200, 112)),))
    page.session_state["viewer"] = ((asked.collection, asked.number), place)
    page.run()

    page.button(key="viewer_next").click().run()

    assert "Page 4 of 4" in captions(page)
    assert "The marked words stand on another page." not in captions(page)
    page.button(key="viewer_previous").click().run()
    page.button(key="viewer_previous").click().run()
    assert "The marked words stand on another page." in captions(page)

    page.session_state["viewer"] = ((asked_of(page).collection, asked_of(page).number), Place("sha256:gone", 1))

    page.run()

    assert "There is no document 'sha256:gone' in the library." in texts(page)


def test_given_an_answer_with_two_sentences_of_a_page_then_both_are_marked_before_any_source_is_opened(
    page: AppTest, drawn: list[dict[str, Any]]
) -> None:
    ask(page, LEAVE)

    cited = asked_of(page).decision.citations
    there = [one for one in cited if one.document_id == cited[0].document_id]
    assert len(there) == 2 < len(cited)
    assert set(drawn[0]["boxes"]) == {box for one in there for _, box in one.boxes}
    assert page.button(key=f"show_{there[1].id}").disabled is Place.of(there[0], cited).shows(there[1])


def viewer_place(page: AppTest) -> Place:
    place: Place = page.session_state["viewer"][1]
    return place


def test_given_a_page_of_any_size_when_drawn_then_its_picture_stays_within_the_limit() -> None:
    made = pymupdf.open()
    made.new_page(width=5000, height=5000)

    picture = Image.open(
        io.BytesIO(render_page(made.tobytes(), 1, dpi=viewer.DPI["lines"], max_pixels=viewer.MAX_PIXELS))
    )

    assert picture.width * picture.height <= viewer.MAX_PIXELS


def test_given_words_without_a_certain_place_when_shown_then_nothing_is_marked_and_the_page_says_why(
    page: AppTest,
) -> None:
    ask(page, VACATION)
    asked = asked_of(page)
    asked.decision = with_outcome(
        asked.decision, citations=tuple(replace(one, boxes=()) for one in asked.decision.citations)
    )

    page.run()

    assert page.info[0].value.startswith("Place not certain: the words were read on this page")
    assert "with nothing marked." in alts(page)
    assert badges(page).count("Place not certain") == len(asked.decision.citations)  # on the card of each source
    assert page.button(key="show_1").help == "Shows the page these words were read on, with nothing marked."

    gone = [replace(one, boxes=(), document_id="sha256:gone") for one in asked.decision.citations]
    claims = [
        replace(claim, evidence=tuple(replace(one, document="sha256:gone") for one in claim.evidence))
        for claim in asked.decision.claims
    ]
    asked.decision = with_outcome(asked.decision, citations=tuple(gone), claims=tuple(claims))

    page.run()

    assert "There is no document 'sha256:gone' in the library." in texts(page)
    assert "Place not certain" not in badges(page)


def test_given_sources_when_one_is_chosen_then_its_page_stays_until_another_question_is_asked(
    page: AppTest, drawn: list[dict]
) -> None:
    ask(page, VACATION)

    assert "Place not certain" not in badges(page)
    assert not page.info
    assert page.button(key="show_1").help == "Shows the page with exactly these words marked."

    assert page.button(key="viewer_previous").disabled
    assert not page.button(key="viewer_next").disabled

    assert "company-policies-2024.pdf" not in texts(page).splitlines()[-1]

    page.button(key="show_2").click().run()

    assert page.button(key="show_2").disabled
    assert page.button(key="show_2").label == "This is the page shown"
    assert not page.button(key="show_1").disabled
    shown = viewer_place(page)
    assert shown == Place.of(asked_of(page).decision.citations[1])

    pictures = len(drawn)

    field(page, "knob_min_correctness").set_value(0.5).run()

    assert page.button(key="show_2").disabled
    assert len(drawn) == pictures

    page.button(key="viewer_next").click().run()

    ask(page, CALIBRATION)

    assert "Page 3 of 4" in captions(page)
    assert drawn[-1]["part"] is not None
    assert page.button(key="show_1").disabled


def test_given_a_text_document_when_cited_then_its_own_text_stands_there_with_the_words_set_apart(
    page: AppTest,
) -> None:
    before, after = "The harbour was built in stages. " * 40, "Ships of any size may pass below it. " * 40
    quoted = "The harbour bridge is 412 metres long."
    upload(page, "notes.txt", f"{before}\n{quoted}\n{after}".encode(), "text/plain")

    ask(page, "How long is the harbour bridge?")

    assert "A text document has no page to show." in page.info[0].value
    assert "Place not certain" not in badges(page)
    assert len(page.image) == 0
    shown = [element.value for element in page.code][2:5]  # after the answer and the link to it, both to be copied
    assert shown[1] == quoted
    assert shown[0].startswith("… ")
    assert shown[2].endswith(" …")
    assert all(len(text) <= AROUND + 2 for text in shown)


def test_given_words_on_pages_when_set_apart_then_each_page_has_its_own_and_stretches_that_overlap_are_one() -> None:
    place = Place(
        "d", 1, words=(Span(1, 40, 50), Span(1, 10, 20)), also_words=(Span(1, 45, 60), Span(1, 80, 90), Span(2, 0, 5))
    )

    assert place.stretches(1) == [(10, 60), (80, 90)]
    assert place.stretches(2) == [(0, 5)]
    assert place.stretches(3) == []

    place = Place("d", 1, ((1, BOX), (2, BOX), (2, BOX)), (Span(1, 0, 5), Span(2, 0, 9)))

    assert [len(place.on(number)) for number in (1, 2, 3)] == [1, 2, 0]
    assert [place.holds(number) for number in (1, 2, 3)] == [True, True, False]


def test_given_a_file_that_cannot_be_drawn_when_shown_then_the_problem_stands_there_with_its_text(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer, "render_page", lambda *_, **__: render_page(b"%PDF-1.7 broken", 1))

    ask(page, CALIBRATION)

    assert "What to do:" in texts(page)
    assert "Calibrate the meter every 5 years in an accredited laboratory." in code(page)


def test_given_the_table_of_passages_when_a_row_is_chosen_then_its_page_is_shown_with_its_words_marked(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(page, CALIBRATION)
    decision, places = asked_of(page).decision, []
    monkeypatch.setattr(tables, "show", lambda *_, on_select, **__: on_select())
    monkeypatch.setattr(viewer, "open_at", places.append)
    shown: list[dict[str, object]] = [{} for _ in decision.retrieved]

    for rows in ([], [99], [3]):
        assert places == []
        # AppTest has no click on a table
        chosen = {"found_rows": SimpleNamespace(selection=SimpleNamespace(rows=rows))}
        monkeypatch.setattr(tables, "st", SimpleNamespace(session_state=chosen))
        tables.show_rows(shown, "", "found_rows", partial(stages._open_hit, state.engine(), decision.retrieved))

    (place,) = places
    passage = decision.retrieved[3][1].passage
    assert (place.document, place.page, place.words) == (passage.document, passage.page, passage.spans)
    assert place.on(passage.page)


BOX = Box(1, 2, 3, 4)


def cited(*boxes: Box, page: int = 1, document: str = "d", start: int = 0) -> Citation:
    marks = tuple((page, box) for box in boxes)
    return Citation(1, "a.pdf", document, "A", page, "c", "words", (Span(page, start, start + 5),), boxes=marks)


def line(y: float) -> Box:
    return Box(60, y, 200, y + 10)


def test_given_an_answer_of_several_sentences_then_all_are_marked_and_those_near_the_first_are_in_view() -> None:
    """Who reads both sentences finds both on the page, without opening the second source."""
    first, near, far, turned = (
        cited(line(100)),
        cited(line(130), start=9),
        cited(line(700), start=19),
        cited(line(50), page=2),
    )
    elsewhere = cited(line(300), document="e")

    place = Place.of(first, [first, near, far, turned, elsewhere])

    assert place.on(1) == (line(100), line(130), line(700))
    assert place.in_view(1) == (line(100), line(130))
    assert place.on(2) == place.in_view(2) == (line(50),)
    assert [place.shows(one) for one in (first, near, far, turned, elsewhere)] == [True, True, False, False, False]
    assert not place.shows(cited(document="d", start=9)), "words whose place is not certain are not in view"
    assert Place.of(far, [first]).in_view(1) == (line(700),)
    assert Place.of(cited(start=3)).shows(cited(start=3))


def page_of(*words: tuple[float, float, float]) -> Page:
    """A4 with one word at each (left, top, right), ten points high."""
    boxes = [WordBox(0, 1, x0, y0, x1, y0 + 10) for x0, y0, x1 in words]
    return Page(1, "x", words=boxes, width=595, height=842)


@given(st.floats(30, 300), st.floats(301, 590), st.floats(100, 700))
def test_given_any_page_when_its_strip_is_cut_out_then_no_word_is_cut_unless_the_strip_says_so(
    left: float, right: float, y: float
) -> None:
    mark = Box(max(left, 60), y, max(left, 60) + 50, y + 10)
    page = page_of((left, y, left + 20), (right - 20, y + 12, right))

    part = around([mark], page)

    assert part.x0 <= mark.x0
    assert part.x1 >= mark.x1
    whole = part.x1 >= right
    assert whole or is_cut(part, page)


def test_given_lines_of_usual_width_then_they_are_shown_whole_and_wider_ones_fade() -> None:
    mark = Box(80, 300, 200, 310)
    usual, wide = page_of((70, 300, 100), (500, 300, 525)), page_of((30, 300, 100), (500, 300, 585))

    assert (around([mark], usual).x0, around([mark], usual).x1) == (64, 531)
    assert [is_cut(around([mark], page), page) for page in (usual, wide)] == [False, True]
    assert not is_cut(around([Box(30, 300, 585, 310)], wide), wide)
