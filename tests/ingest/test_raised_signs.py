"""What is printed raised, lowered or stacked is read as what it is, wherever and however a program sets it."""

from __future__ import annotations

import math
import random

import pymupdf
import pytest

from rag_core.domain.documents import Page
from rag_core.ingest.pdf_worker.glyphs.superscript import Level, written
from rag_core.ingest.reading.pdf import read_pdf

Sign = tuple[str, str]  # a text, and how it is set

# "plain", "raised", "lowered", "small", "bar" (a fraction over a bar, as "3/4"), "dash" and "raised dash" (a drawn
# minus)
SENTENCES: tuple[tuple[tuple[Sign, ...], str], ...] = (
    (
        (("The sample holds 3 × 10", "plain"), ("6", "raised"), (" cells in all.", "plain")),
        "The sample holds 3 × 10⁶ cells in all.",
    ),
    ((("The probe has 4 × 10", "plain"), ("-3", "raised"), (" grams.", "plain")), "The probe has 4 × 10⁻³ grams."),
    (
        (("The income was 1,200", "plain"), ("3", "raised"), (" euros in 2024.", "plain")),
        "The income was 1,200³ euros in 2024.",
    ),
    ((("The guests paid 940", "plain"), ("2", "raised"), (".", "plain")), "The guests paid 940²."),
    ((("The ticket costs 4", "plain"), ("99", "raised"), (" euros.", "plain")), "The ticket costs 4⁹⁹ euros."),
    ((("The water holds H", "plain"), ("2", "lowered"), ("O alone.", "plain")), "The water holds H₂O alone."),
    (
        (("The room is kept at 18", "plain"), ("o", "raised"), ("C by day.", "plain")),
        "The room is kept at 18°C by day.",
    ),
    ((("The belt has 2", "plain"), ("1/2", "bar"), (" inches of play.", "plain")), "The belt has 2½ inches of play."),
    ((("The bolt takes 1", "plain"), ("3/16", "bar"), (" inches.", "plain")), "The bolt takes 1 3/16 inches."),
    ((("The wheel makes ", "plain"), ("3/4", "bar"), (" of a turn.", "plain")), "The wheel makes ¾ of a turn."),
    (
        (("The jars boil 1", "plain"), ("1", "raised"), ("/", "plain"), ("2", "small"), (" hours.", "plain")),
        "The jars boil 1½ hours.",
    ),
    ((("The cook takes 5", "plain"), ("3/8", "small"), (" cups.", "plain")), "The cook takes 5⅜ cups."),
    (
        (("The mass is 10", "plain"), ("raised dash", "raised dash"), ("4", "raised"), (" grams.", "plain")),
        "The mass is 10⁻⁴ grams.",
    ),
    ((("The frost was at ", "plain"), ("dash", "dash"), ("12 degrees.", "plain")), "The frost was at −12 degrees."),
    ((("It came on the 20", "plain"), ("th", "raised"), (" of May.", "plain")), "It came on the 20th of May."),
    ((("So many stand at 7 × 10", "plain"), ("5", "raised")), "So many stand at 7 × 10⁵"),
    ((("The floor has 34 m", "plain"), ("2", "raised"), (" of room.", "plain")), "The floor has 34 m² of room."),
)
# size and rise, of the text's size
SETTINGS = {"plain": (1.0, 0.0), "raised": (0.6, 0.36), "lowered": (0.6, -0.18), "small": (0.6, 0.0)}
ORDERS = ("as read", "signs last", "signs first")


class Sheet:
    """A page on which text is set in any direction."""

    def __init__(self, turned: int = 0, pdf: pymupdf.Document | None = None) -> None:
        self.pdf = pymupdf.open() if pdf is None else pdf
        self.page = self.pdf.new_page(width=700, height=700)
        self.page.set_rotation(turned)

    def set_line(
        self,
        start: tuple[float, float],
        angle: float,
        size: float,
        signs: tuple[Sign, ...],
        order: str = ORDERS[0],
        settings: dict[str, tuple[float, float]] = SETTINGS,
    ) -> None:
        """Set signs from `start` on, on a line that climbs by `angle` degrees; each sign of its own operator of the
        page.
        """
        along = 0.0
        plain, others = [], []
        for text, setting in signs:
            steps = plain if setting == "plain" else others
            if "dash" in setting:
                share, rise = settings["raised" if "raised" in setting else "plain"]
                rise, length = rise + 0.27 * share, 0.5 * size * share
                steps.append(("line", (along + 0.05 * size, rise * size), (along + length, rise * size), size))
                along += length + 0.06 * size
            elif setting == "bar":
                over, under = text.split("/")
                small = 0.55 * size
                wide = max(pymupdf.get_text_length(one, fontsize=small) for one in (over, under)) + 0.1 * size
                for one, rise in ((over, 0.42), (under, -0.2)):
                    steps.append(
                        (
                            "text",
                            (along + (wide - pymupdf.get_text_length(one, fontsize=small)) / 2, rise * size),
                            one,
                            small,
                        )
                    )
                steps.append(("line", (along, 0.32 * size), (along + wide, 0.32 * size), size))
                along += wide + 0.02 * size
            else:
                share, rise = settings[setting]
                steps.append(("text", (along, rise * size), text, share * size))
                along += pymupdf.get_text_length(text, fontsize=share * size)
            if order == "as read":
                for step in steps:
                    self._paint(start, angle, *step)
                steps.clear()
        for step in others + plain if order == "signs first" else plain + others:
            self._paint(start, angle, *step)

    def _paint(
        self, start: tuple[float, float], angle: float, what: str, at: tuple[float, float], *rest: object
    ) -> None:
        turn = math.radians(angle)

        def place(along: float, rise: float) -> pymupdf.Point:
            return pymupdf.Point(
                start[0] + along * math.cos(turn) - rise * math.sin(turn),
                start[1] - along * math.sin(turn) - rise * math.cos(turn),
            )

        if what == "line":
            end, size = rest
            self.page.draw_line(place(*at), place(*end), width=0.05 * size)  # type: ignore[misc, operator]
        else:
            text, size = rest
            self.page.insert_text(place(*at), text, fontsize=size, morph=(place(*at), pymupdf.Matrix(angle)))  # type: ignore[arg-type]

    def read(self) -> Page:
        return pages_of(self.pdf)[0]


def pages_of(pdf: pymupdf.Document) -> tuple[Page, ...]:
    return read_pdf(pdf.tobytes(), "a.pdf", ocr=False).pages


def lines_of(page: Page) -> list[str]:
    return page.text.split("\n")


@pytest.mark.parametrize("order", ORDERS)
def test_given_raised_lowered_and_stacked_signs_in_any_direction_and_order_when_read_then_they_are_what_is_printed(
    order: str,
) -> None:
    drawn, pdf, wanted = random.Random(order), pymupdf.open(), []
    for turned, angle in ((0, 0), (90, 90), (180, 180), (270, 270), (0, 90), (0, 270), (90, 0)):
        for signs in (SENTENCES[:9], SENTENCES[9:]):
            sheet = Sheet(turned, pdf)
            size = drawn.uniform(8, 16)
            for row, (one, _) in enumerate(signs):
                away = 60 + row * 4 * size + drawn.uniform(0, size)
                start = {0: (50, away), 90: (away, 650), 180: (650, 700 - away), 270: (700 - away, 50)}[angle]
                sheet.set_line(start, angle, size, one, order)
            wanted.append([text for _, text in signs])

    assert [lines_of(page) for page in pages_of(pdf)] == wanted


@pytest.mark.parametrize("angle", [0, 90])
def test_given_raised_signs_as_large_as_their_text_when_read_then_they_are_raised(angle: float) -> None:
    sheet = Sheet()
    same_size = {"raised": (1.0, 0.35), "lowered": (1.0, -0.25)}
    for away, (signs, _) in zip((100, 140), (SENTENCES[2], SENTENCES[5]), strict=True):
        sheet.set_line((away, 650) if angle else (50, away), angle, 12, signs, settings={**SETTINGS, **same_size})
    sheet.set_line((180, 650) if angle else (50, 180), angle, 12, (("Nothing of 5 is raised here.", "plain"),))

    assert lines_of(sheet.read()) == [SENTENCES[2][1], SENTENCES[5][1], "Nothing of 5 is raised here."]


def test_given_raised_signs_aslant_when_read_then_they_are_raised() -> None:
    sheet = Sheet()
    sheet.set_line((60, 500), 30, 14, SENTENCES[0][0])

    assert "10⁶" in sheet.read().text


def test_given_signs_in_many_places_and_sizes_when_read_then_their_boxes_hold_them() -> None:
    sheet = Sheet()
    sheet.set_line((60, 100), 0, 20, SENTENCES[0][0], "signs last")
    page = sheet.read()

    (box,) = [word for word in page.words if page.text[word.start : word.end] == "10⁶"]
    drawn = [
        (span["text"], span["bbox"])
        for block in sheet.page.get_text("dict")["blocks"]
        for line in block["lines"]
        for span in line["spans"]
    ]
    ((left, _, right, _),) = [place for text, place in drawn if text == "6"]
    assert box.x0 < left < right <= box.x1 + 0.01


def test_given_a_figure_over_a_figure_without_a_bar_when_read_then_nobody_says_what_it_is() -> None:
    sheet = Sheet()
    sheet.set_line((60, 100), 0, 12, (("The lid is turned by 3", "plain"),))
    at = 60 + pymupdf.get_text_length("The lid is turned by 3", fontsize=12)
    sheet.page.insert_text((at, 95), "1", fontsize=6.5)
    sheet.page.insert_text((at, 102.5), "4", fontsize=6.5)
    sheet.page.insert_text((at + 4, 100), " turns.", fontsize=12)

    assert sheet.read().text == "The lid is turned by 3\ufffd turns."


def test_given_an_ion_when_read_then_its_charge_follows_its_index() -> None:
    sheet = Sheet()
    sheet.page.insert_text((60, 100), "Water with SO", fontsize=12)
    at = 60 + pymupdf.get_text_length("Water with SO", fontsize=12)
    sheet.page.insert_text((at, 95), "2-", fontsize=7)
    sheet.page.insert_text((at, 102.5), "4", fontsize=7)

    assert sheet.read().text == "Water with SO₄²⁻"


def test_given_a_table_with_rules_under_its_figures_when_read_then_they_are_no_fractions() -> None:
    sheet = Sheet()
    for row, (name, figure) in enumerate((("Wages", "596"), ("Rent", "2,371"), ("Total", "2,967"))):
        sheet.page.insert_text((60, 100 + 14 * row), name, fontsize=10)
        sheet.page.insert_text((300, 100 + 14 * row), figure, fontsize=10)
        sheet.page.draw_line((298, 102 + 14 * row), (330, 102 + 14 * row), width=0.5)

    assert lines_of(sheet.read()) == ["Wages\t596", "Rent\t2,371", "Total\t2,967"]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([("1,200", "plain"), ("1,2", "raised")], "1,200¹,²"),
        ([("10", "plain"), ("0.5", "raised")], "10^0.5"),
        ([("10", "plain"), ("n+1", "raised")], "10ⁿ⁺¹"),
        ([("2", "plain"), ("1/2", "raised")], "2\ufffd"),
        ([("x", "plain"), ("1/2", "raised")], "x^(1/2)"),
        ([("4", "plain"), (",99", "raised")], "4,99"),
        ([("art. 5", "plain"), ("o", "raised")], "art. 5º"),
        ([("1", "plain"), ("er", "raised"), (" mai", "plain")], "1er mai"),
        ([("log", "plain"), ("10", "lowered"), (" 5", "plain")], "log₁₀ 5"),
        ([("V", "plain"), ("max", "lowered")], "Vmax"),
        ([("100", "plain"), ("5/32", "stacked")], "100 5/32"),
        ([("1", "raised"), ("⁄", "plain"), ("3", "lowered")], "⅓"),
    ],
)
def test_given_signs_and_how_they_are_set_when_written_then_they_say_one_thing(
    parts: list[tuple[str, str]], text: str
) -> None:
    assert written((signs, Level(level)) for signs, level in parts) == text
