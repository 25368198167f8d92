"""What a page shows beside its text: scans with a stamp or in strips, print in a picture, files in a file, XFA."""

from __future__ import annotations

import random

import pymupdf
import pytest

from rag_core.domain.documents import Document, PageSource
from rag_core.errors import EmptyDocument
from rag_core.ingest.reading.ocr_engines import find_tessdata
from rag_core.ingest.reading.pdf import read_pdf

LINES = (
    "The mooring of a barge costs 31 crowns a night.",
    "The keys of the lock house hang behind the door.",
    "Every boat is weighed before it enters the canal.",
    "Lamps are lit from the fall of dusk to nine.",
)


def is_partly_read(problems):
    """What a question is told by: the findings of the file, as the library keeps them with the document."""
    return Document("d", "d.pdf", "en", 1, problems=problems).is_partly_read


STAMPS = ("Docket 44-B", "Filed on 3 March 2021 in the registry of the port", f"{'Sheet of the port authority ' * 3}7")
needs_engine = pytest.mark.skipif("eng" not in find_tessdata()[0], reason="reads English pictures")


def print_of(lines, width=420, height=200):
    with pymupdf.open() as made:
        page = made.new_page(width=width, height=height)
        for at, line in enumerate(lines):
            page.insert_text((20, 40 + 30 * at), line, fontsize=13)
        return page.get_pixmap(dpi=200, colorspace=pymupdf.csGRAY).tobytes("png")


def photo(width=300, height=200):
    """A picture of no print: grey levels that run, with noise."""
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, width, height), False)
    noise = random.Random(5)
    for y in range(height):
        for x in range(width):
            picture.set_pixel(x, y, (min(255, (x + y) // 2 + noise.randrange(40)),))
    return picture.tobytes("png")


def page_with(*pictures, stamp=""):
    with pymupdf.open() as made:
        page = made.new_page(width=595, height=842)
        for box, picture in pictures:
            page.insert_image(pymupdf.Rect(box), stream=picture, keep_proportion=False)
        if stamp:
            page.insert_text((40, 820), stamp, fontsize=8)
        return made.tobytes()


def strips(count):
    with pymupdf.open(stream=print_of(LINES, 595, 842), filetype="png") as whole, pymupdf.open() as made:
        page, high = made.new_page(width=595, height=842), 842 / count
        for at in range(count):
            clip = pymupdf.Rect(0, at * whole[0].rect.height / count, whole[0].rect.width, whole[0].rect.height)
            clip.y1 = clip.y0 + whole[0].rect.height / count
            part = whole[0].get_pixmap(dpi=200, clip=clip, colorspace=pymupdf.csGRAY).tobytes("png")
            page.insert_image(pymupdf.Rect(0, at * high, 595, (at + 1) * high), stream=part, keep_proportion=False)
        page.insert_text((40, 820), STAMPS[1], fontsize=8)
        return made.tobytes()


@needs_engine
@pytest.mark.parametrize("stamp", STAMPS)
def test_given_a_scan_with_a_stamp_of_any_length_when_read_then_both_are_read(stamp):
    (page,) = read_pdf(page_with(((0, 0, 595, 842), print_of(LINES, 595, 842)), stamp=stamp), "s.pdf").pages

    assert page.source is PageSource.OCR
    assert all(line in page.text for line in LINES)
    assert stamp in page.text
    _assert_words_stand_in_their_text(page)


@pytest.mark.parametrize("edge", [0, 90, 150])
def test_given_a_scan_with_black_edges_and_a_stamp_when_it_is_not_read_then_the_page_says_so(edge):
    with pymupdf.open() as made:
        page = made.new_page(width=595, height=842)
        page.draw_rect(page.rect, fill=(0, 0, 0))
        page.draw_rect((edge, edge, 595 - edge, 842), fill=(0.8, 0.8, 0.8))
        page.draw_rect((0, 800, 595, 842), fill=(1, 1, 1))
        for at, line in enumerate(LINES):
            page.insert_text((edge + 20, edge + 40 + 30 * at), line, fontsize=11)
        scan = page.get_pixmap(dpi=100, colorspace=pymupdf.csGRAY).tobytes("png")

    found = read_pdf(page_with(((0, 0, 595, 842), scan), stamp=STAMPS[2]), "s.pdf", ocr=False)

    assert found.problems == ("Page 1: Part of this page is a picture and reading pictures is switched off.",)
    assert is_partly_read(found.problems)


@needs_engine
@pytest.mark.parametrize("count", [2, 5])
def test_given_a_scan_in_strips_when_read_then_it_is_read_as_one(count):
    (page,) = read_pdf(strips(count), "s.pdf").pages

    assert page.source is PageSource.OCR
    assert all(line in page.text for line in LINES)


@needs_engine
def test_given_print_in_a_picture_between_text_when_read_then_the_page_says_that_it_was_not():
    with pymupdf.open() as made:
        page = made.new_page(width=595, height=842)
        for at in range(24):
            page.insert_text((72, 400 + 16 * at), f"{at}. {LINES[at % 4]} It holds from the first of May.")
        page.insert_image(pymupdf.Rect(72, 140, 492, 340), stream=print_of(LINES))
        data = made.tobytes()

    (problem,) = read_pdf(data, "p.pdf").problems

    assert problem == "Page 1: Part of this page is a picture that was not read."
    assert is_partly_read((problem,))


@needs_engine
def test_given_print_in_a_picture_between_few_words_when_read_then_it_stands_there():
    with pymupdf.open() as made:
        page = made.new_page(width=595, height=842)
        page.insert_text((72, 100), "What the port asks of its guests is below.")
        page.insert_image(pymupdf.Rect(72, 140, 492, 340), stream=print_of(LINES))
        page.insert_text((72, 400), "It is paid at the kiosk before noon.")
        data = made.tobytes()

    (read,) = read_pdf(data, "p.pdf").pages

    first, *inside, last = read.text.split("\n")
    assert (first[:8], tuple(inside), last[:10]) == ("What the", LINES, "It is paid")
    _assert_words_stand_in_their_text(read)


def test_given_print_that_no_engine_may_read_when_read_then_the_page_says_so():
    content = read_pdf(page_with(((0, 0, 595, 842), print_of(LINES, 595, 842)), stamp=STAMPS[2]), "s.pdf", ocr=False)

    assert content.pages[0].source is PageSource.TEXT
    assert content.problems == ("Page 1: Part of this page is a picture and reading pictures is switched off.",)
    assert is_partly_read(content.problems)


def test_given_a_photo_or_a_struck_page_when_read_then_nothing_is_missed():
    text = "\n".join(f"{line} It is so since the spring of last year." for line in LINES)
    with pymupdf.open() as made:
        page = made.new_page(width=595, height=842)
        page.insert_textbox(pymupdf.Rect(50, 500, 550, 800), text)
        page.insert_image(pymupdf.Rect(50, 50, 550, 450), stream=photo())
        struck = made.new_page(width=595, height=842)
        struck.insert_text((72, 100), "A barge costs 19 crowns a night, with water from the tap on the quay.")
        struck.draw_line((72, 96), (420, 96), width=1)
        struck.insert_text((72, 130), "The price is set anew by the harbour office in each spring, for all.")
        data = made.tobytes()

    content = read_pdf(data, "p.pdf", ocr=False)

    assert [page.problem for page in content.pages] == ["", ""]
    assert all("crossed out" in problem for problem in content.problems)
    assert not is_partly_read(content.problems)


@pytest.mark.parametrize("names", [["a.pdf"], ["a.pdf", "b.xlsx"], [f"{n}.csv" for n in range(9)]])
@pytest.mark.parametrize("by_clip", [False, True])
def test_given_files_in_a_file_when_read_then_they_are_named_as_unread(names, by_clip):
    with pymupdf.open() as made:
        page = made.new_page()
        page.insert_text((72, 100), "The minutes are attached to this letter of the works council.")
        for name in names:
            if by_clip:
                page.add_file_annot((72, 200), b"text", name)
            else:
                made.embfile_add(name, b"text", name)
        data = made.tobytes()

    (problem,) = read_pdf(data, "f.pdf").problems

    assert problem.startswith(f"{len(names)} attached file")
    assert ", ".join(names[:5]) in problem
    assert is_partly_read((problem,))


NOTE = "The rent is 6 500 from May."
SPOT = (72, 90, 300, 104)
COMMENTS = {
    "note": lambda page, said: page.add_text_annot((300, 100), said),
    "box": lambda page, said: page.add_freetext_annot((72, 190, 300, 204), said or " "),
    "highlight": lambda page, said: page.add_highlight_annot(SPOT),
    "underline": lambda page, said: page.add_underline_annot(SPOT),
    "ink": lambda page, said: page.add_ink_annot([[(72, 300), (200, 310)]]),
}


@pytest.mark.parametrize("said", [NOTE, ""])
@pytest.mark.parametrize("kind", COMMENTS)
def test_given_comments_put_on_pages_when_read_then_those_that_say_something_are_named_as_unread(kind, said):
    with pymupdf.open() as made:
        for _ in range(3):
            made.new_page().insert_text((72, 100), "The rent of the store is 6 200 a month, due on the fifth day.")
        for number in (0, 2):
            page = made[number]
            note = COMMENTS[kind](page, said)
            note.set_info(content=said)
            note.update()
        content = read_pdf(made.tobytes(), "c.pdf")

    shown = NOTE in content.pages[0].text  # a text box is drawn on the page
    assert shown == (kind == "box" and said == NOTE)
    assert any(one.startswith("Pages 1, 3: notes") for one in content.problems) == (said == NOTE and not shown)
    assert is_partly_read(content.problems) == (said == NOTE and not shown)


@pytest.mark.parametrize("fields", [0, 1])
def test_given_a_form_of_xfa_only_when_read_then_its_page_that_asks_to_wait_is_no_content(fields):
    with pymupdf.open() as made:
        page = made.new_page()
        page.insert_text((72, 100), "Please wait... If this message is not replaced, your viewer cannot show it.")
        if fields:
            field = pymupdf.Widget()
            field.field_type, field.field_name, field.rect = (
                pymupdf.PDF_WIDGET_TYPE_TEXT,
                "a",
                pymupdf.Rect(72, 200, 200, 220),
            )
            page.add_widget(field)
        else:
            made.xref_set_key(made.pdf_catalog(), "AcroForm", "<</Fields []>>")
        stream = made.get_new_xref()
        made.update_object(stream, "<<>>")
        made.update_stream(stream, b"<xdp><template/></xdp>")
        made.xref_set_key(made.pdf_catalog(), "AcroForm/XFA", f"{stream} 0 R")
        data = made.tobytes()

    if fields:
        assert "Please wait" in read_pdf(data, "x.pdf").pages[0].text
    else:
        with pytest.raises(EmptyDocument, match="XFA form"):
            read_pdf(data, "x.pdf")


def _assert_words_stand_in_their_text(page):
    assert page.text.split() == [page.text[word.start : word.end] for word in page.words]
    assert [page.text[line.start : line.end] for line in page.lines] == page.text.split("\n")
