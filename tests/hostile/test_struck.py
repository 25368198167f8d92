"""Text that is crossed out is void, in every form; text under, over or beside other lines is not.

The forms are drawn by this program.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import forms
import pymupdf
from folding import each
from test_forms import page_of

from rag_core.ingest.pdf_worker.hidden_text.void import is_void
from rag_core.ingest.reading.pdf import read_pdf

BEFORE, GONE, AFTER = "The rent is", "1,250 old", "1,400 euros a month."
KEPT = f"{BEFORE} {AFTER}"
SIZES = (7, 15, 11)
FONTS = ("helv", "tiro", "cour")


def sentence(page: Any, size: float, font: str) -> pymupdf.Rect:
    """The box from the baseline up of the words GONE in a sentence; rows of text stand above and below."""
    at = 72.0
    for text in (BEFORE, GONE, AFTER):
        page.insert_text((at, 200), text, fontsize=size, fontname=font)
        width = pymupdf.get_text_length(text, fontsize=size, fontname=font)
        if text == GONE:
            box = pymupdf.Rect(at, 200 - 0.7 * size, at + width, 200)
        at += width + pymupdf.get_text_length(" ", fontsize=size, fontname=font)
    for y in (200 - 1.25 * size, 200 + 1.25 * size):
        page.insert_text((72, y), "Another row.", fontsize=size, fontname=font)
    return box


def line(
    height: float, over: float = 0.0, width: float = 0.06, colour: tuple[float, ...] = (0, 0, 0)
) -> Callable[..., None]:
    """A line so high above the baseline, and so much longer at both ends, in font sizes."""

    def draw(page: Any, box: Any, size: float) -> None:
        y = box.y1 - height * size
        page.draw_line((box.x0 - over * size, y), (box.x1 + over * size, y), width=width * size, color=colour)

    return draw


def thin_box(page: Any, box: Any, size: float) -> None:
    y = box.y1 - 0.28 * size
    page.draw_rect((box.x0, y - 0.06 * size, box.x1, y + 0.06 * size), color=None, fill=(0.8, 0, 0))


def two_lines(page: Any, box: Any, size: float) -> None:
    for height in (0.2, 0.34):
        line(height)(page, box, size)


def one_path_of_parts(page: Any, box: Any, size: float) -> None:
    """A line for each half, in one path."""
    shape, y, middle = page.new_shape(), box.y1 - 0.28 * size, (box.x0 + box.x1) / 2
    shape.draw_line((box.x0, y), (middle, y))
    shape.draw_line((middle, y), (box.x1, y))
    shape.finish(width=0.05 * size)
    shape.commit()


def by_hand(page: Any, box: Any, size: float) -> None:
    y = box.y1 - 0.28 * size
    steps = 12
    points = [(box.x0 + n * (box.x1 - box.x0) / steps, y + 0.05 * size * (-1) ** n) for n in range(steps + 1)]
    page.draw_polyline(points, width=0.05 * size)


def crossed(page: Any, box: Any, size: float) -> None:
    page.draw_line(box.tl, box.br, width=0.05 * size)
    page.draw_line(box.bl, box.tr, width=0.05 * size)


def annotated(kind: str) -> Callable[..., None]:
    def draw(page: Any, box: Any, size: float) -> None:
        quad = pymupdf.Rect(box.x0, box.y0 - 0.3 * size, box.x1, box.y1 + 0.2 * size).quad
        getattr(page, kind)(quad)

    return draw


STRUCK: dict[str, Callable[..., None]] = {
    "low line": line(0.2),
    "line through the middle of capitals": line(0.36),
    "red line": line(0.28, colour=(1, 0, 0)),
    "line that runs on a little": line(0.28, over=0.2),
    "thin box": thin_box,
    "two lines": two_lines,
    "one path of parts": one_path_of_parts,
    "line drawn by hand": by_hand,
    "cross": crossed,
    "annotation that strikes out": annotated("add_strikeout_annot"),
    "redaction that was not applied": annotated("add_redact_annot"),
}


def grid(page: Any, box: Any, size: float) -> None:
    for y in (box.y1 - 0.85 * size, box.y1 + 0.3 * size):
        page.draw_line((60, y), (540, y))
    for x in (60, 300, 540):
        page.draw_line((x, box.y0 - size), (x, box.y1 + size))


def hidden_line(page: Any, box: Any, size: float) -> None:
    """A line that is painted over, and then the words again."""
    line(0.28)(page, box, size)
    page.draw_rect((box.x0 - 1, box.y0 - 1, box.x1 + 1, box.y1 + 2), color=None, fill=(1, 1, 1))
    page.insert_text((box.x0, box.y1), GONE, fontsize=size)


def frame(page: Any, box: Any, size: float) -> None:
    page.draw_rect((box.x0 - 2, box.y0 - 0.2 * size, box.x1 + 2, box.y1 + 0.3 * size))


def leader(page: Any, box: Any, size: float) -> None:
    """A line of dashes, and a minus, beside the words."""
    y = box.y1 - 0.28 * size
    page.draw_line((box.x0 - 0.22 * size, y), (box.x0 - 0.02 * size, y))
    page.draw_line((400, y), (540, y), dashes="[2 2]")


NOT_STRUCK: dict[str, Callable[..., None]] = {
    "underline": line(-0.12),
    "underline at the baseline": line(0.0),
    "overline": line(0.8),
    "line of a chart": line(0.28, over=60),
    "white line": line(0.28, colour=(1, 1, 1)),
    "rules of a table": grid,
    "frame": frame,
    "line that is painted over": hidden_line,
    "leader and minus": leader,
    "highlight": annotated("add_highlight_annot"),
    "annotation that underlines": annotated("add_underline_annot"),
    "squiggle": annotated("add_squiggly_annot"),
}


def drawn(draw: Callable[..., None], size: float, font: str, turn: int) -> bytes:
    document = pymupdf.open()
    page = document.new_page()
    draw(page, sentence(page, size, font), size)
    page.set_rotation(turn)
    return bytes(document.tobytes())


def settings() -> Iterator[tuple[float, str, int]]:
    yield from zip(SIZES, FONTS, (0, 90, 270), strict=True)


@each("name", list(STRUCK))
def test_given_words_that_are_struck_out_when_read_then_the_rest_of_the_sentence_is_one(name: str) -> None:
    for size, font, turn in settings():
        page = page_of(drawn(STRUCK[name], size, font, turn))

        assert KEPT in page["text"].splitlines(), (size, font, turn, page["text"])
        assert page["text"].count("Another row.") == 2
        assert page["kinds"] == {"struck": len(GONE.replace(" ", ""))}


@each("name", list(NOT_STRUCK))
def test_given_other_lines_at_words_when_read_then_nothing_is_void(name: str) -> None:
    for size, font, turn in settings():
        page = page_of(drawn(NOT_STRUCK[name], size, font, turn))

        assert "struck" not in page["kinds"], (size, font, turn, page["text"])
        assert GONE in page["text"].replace("\t", " ")


@each("over, void", [(1.6, True), (3.0, False)])
def test_given_a_line_through_all_of_a_row_when_read_then_it_is_void_where_it_runs_on_a_little(
    over: float, void: bool
) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for y, row in ((100, KEPT), (130, GONE)):
        page.insert_text((60, y), row, fontsize=12)
    right = 60 + pymupdf.get_text_length(GONE, fontsize=12)
    page.draw_line((60, 126.5), (right + 12 * over, 126.5), width=2)

    assert (GONE in page_of(document.tobytes())["text"]) is not void


def test_given_a_line_through_part_of_a_word_when_read_then_just_these_letters_are_void() -> None:
    rng = random.Random(3)
    for _ in range(20):
        word = "".join(rng.choice("abdehkmnopu0123456789") for _ in range(rng.randint(4, 12)))
        first = rng.choice((0, rng.randint(1, len(word) - 2)))
        last = len(word) if first else rng.randint(1, len(word) // 2)
        edges = [72 + pymupdf.get_text_length(word[:n], fontsize=12) for n in (first, last)]
        document = pymupdf.open()
        page = document.new_page()
        page.insert_text((72, 200), word, fontsize=12)
        page.insert_text((72, 230), "Another row.", fontsize=12)
        page.draw_line((edges[0], 196), (edges[1], 196))
        left = word[:first] + word[last:]

        text = page_of(document.tobytes())["text"]

        # drawn by hand, and a little short
        nearly = last - first >= 0.7 * len(word) and left.isalpha() and len(left) <= 2
        if any(map(str.isalnum, word[first:last])) and last - first > 1:
            assert text.splitlines()[0] == ("Another row." if nearly else left), (word, first, last)


def paragraph(draw: Callable[[Any, pymupdf.Rect], None]) -> str:
    document = pymupdf.open()
    page = document.new_page()
    for n in range(12):
        page.insert_text(
            (72, 100 + 16 * n), f"Row {n} of the rules holds for all who live in the house here.", fontsize=11
        )
    draw(page, pymupdf.Rect(72, 155, 350, 232))
    return str(page_of(document.tobytes())["text"])


def test_given_a_cross_over_a_paragraph_when_read_then_its_rows_are_void_and_no_others() -> None:
    def cross(page: Any, box: Any) -> None:
        page.draw_line(box.tl, box.br)
        page.draw_line(box.bl, box.tr)

    def slash(page: Any, box: Any) -> None:
        page.draw_line(box.bl, box.tr)

    for draw in (cross, slash):
        assert [row.split()[1] for row in paragraph(draw).splitlines()] == [
            str(n) for n in range(12) if not 4 <= n <= 8
        ]


def test_given_sloped_lines_that_cross_no_paragraph_when_read_then_all_rows_hold() -> None:
    def chart(page: Any, box: Any) -> None:
        page.draw_line((72, 700), (400, 300))
        page.draw_line((72, 100), (540, 700))
        page.draw_line((340, 300), (344, 90))

    assert paragraph(chart).count("Row") == 12


MARKS = (
    "SUPERSEDED",
    "VOID",
    "Cancelled",
    "V O I D",
    "NO LONGER VALID",
    "Superseded by version 3 of 1 May 2024",
    "UNGÜLTIG",
    "ANNULÉ",
)


def marked(mark: str, turn: float, *, first: bool = False, size: float = 60) -> bytes:
    document = pymupdf.open()
    page = document.new_page()

    def stamp() -> None:
        at = pymupdf.Point(90, 330)
        page.insert_text(at, mark, fontsize=size, color=(0.8, 0.8, 0.8), morph=(at, pymupdf.Matrix(turn)))

    if first:
        stamp()
    for n in range(9):
        page.insert_text((72, 100 + 30 * n), f"The yard is open for {n + 3} hours to those who live here.", fontsize=11)
    if not first:
        stamp()
    return bytes(document.tobytes())


@each("mark", MARKS)
def test_given_a_watermark_that_voids_a_page_when_read_then_no_text_of_it_is_left(mark: str) -> None:
    for turn, first in itertools.product((0, 30, 55), (True, False)):
        page = page_of(marked(mark, turn, first=first))

        assert (page["text"], page["source"], page["picture"]) == ("", "text", None), (mark, turn)
        assert page["kinds"]["struck"] > 300


@each("mark", ["DRAFT", "COPY", "VOID IF COPIED", "NOT VOID", "AVOID", "Cancelled flights", "CONFIDENTIAL"])
def test_given_another_watermark_when_read_then_the_sentences_under_it_are_whole(mark: str) -> None:
    for turn, first in itertools.product((30, 55), (True, False)):
        page = page_of(marked(mark, turn, first=first, size=40))
        rows = page["text"].splitlines()

        found = [f"The yard is open for {n + 3} hours to those who live here." in rows for n in range(9)]
        assert sum(found) >= 8, page["text"]  # a digit that it covers is not read
        assert "struck" not in page["kinds"]


@each(
    ("mark", "voids"),
    [("रद्द", True), ("作废", True), ("недействительно", True), ("무효", True), ("ملغى", True), ("टिप्पणी", False)],
)
def test_given_a_mark_in_another_script_when_judged_then_it_voids_where_it_says_so(mark: str, voids: bool) -> None:
    def row(text: str, size: float, way: tuple[float, float]) -> dict[str, Any]:
        return {"spans": [{"text": text, "size": size}], "dir": way, "bbox": (72, 100, 300, 300)}

    assert is_void([row("Text of the page", 11, (1, 0)), row(mark, 60, (0.8, -0.6))]) is voids


def test_given_a_heading_that_says_void_when_read_then_the_page_holds() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 80), "Cancelled", fontsize=30)
    page.insert_text((72, 120), "These flights do not leave.", fontsize=11)

    assert "These flights do not leave." in page_of(document.tobytes())["text"]


def test_given_struck_text_when_read_in_the_child_then_its_count_and_pages_are_told_and_it_is_never_kept() -> None:
    made = pymupdf.open(stream=drawn(line(0.28), 11, "helv", 0), filetype="pdf")
    made.insert_pdf(pymupdf.open(stream=forms.visible("underlined").data))
    made.insert_pdf(pymupdf.open(stream=marked("VOID", 45), filetype="pdf"))

    content = read_pdf(made.tobytes(), "a.pdf", ocr=False)

    assert len(content.problems) == 1
    assert content.problems[0].startswith("Pages 1, 3: ")
    assert content.problems[0].endswith(" characters of text that is crossed out or marked as void were left out.")
    assert GONE not in content.pages[0].text
    assert content.pages[2].text == ""
