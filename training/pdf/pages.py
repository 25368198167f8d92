"""HTML set as the pages of a PDF: title page, contents, columns, running heads and feet, footnotes.

Not part of the product.
"""

# mypy: disable-error-code="no-untyped-call, name-defined, arg-type"
# PyMuPDF gives its functions no types

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import pymupdf

A4, LETTER, SLIDE = (595, 842), (612, 792), (720, 540)  # width and height in points
ENTRIES = 38  # on a page of the contents
MAX_PAGES = 200  # more than any of these documents needs; a story that never ends is given up
LINE = 92  # letters in a line of the contents
CSS = """
p { margin: 0 0 5pt 0; } p.justified { text-align: justify; }
p.warning { border: 1px solid #aa2222; padding: 4pt; font-weight: bold; }
p.caption { font-size: 80%; font-style: italic; margin: 2pt 0 8pt 0; } p.dateline { font-size: 85%; color: #555555; }
p.abstract { margin: 0 14pt 8pt 14pt; font-size: 92%; } p.note { font-size: 75%; margin: 0; } p.head { font-size: 75%; color: #444444; }
p.lead { font-size: 130%; color: #224466; }
p.reference { font-size: 82%; margin: 0 0 2pt 0; } p.toc { margin: 0 0 3pt 0; }
h1 { font-size: 150%; margin: 12pt 0 5pt 0; } h2 { font-size: 120%; margin: 9pt 0 4pt 0; } h3 { font-size: 105%; margin: 6pt 0 3pt 0; }
.big h1 { font-size: 240%; color: #114477; } .big h2 { font-size: 170%; color: #114477; }
table { border-collapse: collapse; margin: 3pt 0 8pt 0; font-size: 88%; } td, th { padding: 1.5pt 5pt; text-align: left; }
th, td.n { text-align: right; } .ruled td, .ruled th { border: 1px solid #888888; } .shaded th { background-color: #dde6ee; }
"""


@dataclass(frozen=True)
class Look:
    """How a document looks.

    `size` is the page in points, `type` the size of its letters; `front` asks for a title page and contents.
    """

    size: tuple[int, int] = A4
    columns: int = 1
    font: str = "serif"
    type: float = 10
    margin: int = 62
    front: bool = True
    css_class: str = ""


@dataclass(frozen=True)
class Words:
    """The words of a document besides its text: on the title page, over the contents, and at the head and foot of each
    page.
    """

    title: str
    subtitle: str
    contents: str
    page: str


def set_pages(html: str, notes: Mapping[str, str], words: Words, look: Look, figures: Mapping[str, bytes]) -> bytes:
    """The PDF.

    A note is put at the foot of the page that holds the element with its id; `figures` are PNG files by name.
    """
    body, headings, placed = _flow(html, look, figures)
    document = pymupdf.open(stream=body)
    front = 0
    if look.front:
        entries = [
            f"{'&nbsp;' * 6 * (level - 1)}{_leader(text, page + 2 + len(headings) // ENTRIES, level)}"
            for level, text, page in headings
        ]
        sheets = [entries[i : i + ENTRIES] for i in range(0, len(entries), ENTRIES)] or [[]]
        front = 1 + len(sheets)
        for place in range(front):
            document.new_page(pno=place, width=look.size[0], height=look.size[1])
        _put(
            document[0],
            (90, 200, look.size[0] - 60, 480),
            f"<h1>{escape(words.title)}</h1><p class='lead'>{escape(words.subtitle)}</p>",
            look,
        )
        for place, sheet in enumerate(sheets, 1):
            lines = "".join(f"<p class='toc'>{line}</p>" for line in sheet)
            _put(document[place], _frame(look), f"<h2>{escape(words.contents)}</h2>{lines}", look)
    bottom = look.size[1] - look.margin
    for id, page in placed.items():
        if id in notes:
            _put(
                document[page + front],
                (look.margin, bottom + 2, look.size[0] - look.margin, bottom + 26),
                f"<p class='note'>{notes[id]}</p>",
                look,
            )
    for number, page in enumerate(document, 1):
        if number > 1 or not look.front:
            head = f"<p class='head'>{escape(words.title)}</p>"
            foot = f"<p class='head' style='text-align: right'>{escape(words.page)} {number}</p>"
            _put(page, (look.margin, 26, look.size[0] - look.margin, 46), head, look)
            _put(page, (look.margin, look.size[1] - 34, look.size[0] - look.margin, look.size[1] - 14), foot, look)
    document.set_metadata(
        {"title": words.title, "producer": "", "creationDate": "D:20240101000000Z", "modDate": "D:20240101000000Z"}
    )
    return bytes(document.tobytes(garbage=4, deflate=True, use_objstms=1, no_new_id=True))


def _flow(
    html: str, look: Look, figures: Mapping[str, bytes]
) -> tuple[bytes, list[tuple[int, str, int]], dict[str, int]]:
    """The pages of the text alone, its headings (level, text, page from 0), and the page of each element that has an
    id.
    """
    archive = pymupdf.Archive()
    for name, png in figures.items():
        archive.add((png, name))
    story = pymupdf.Story(f"<div class='{look.css_class}'>{html}</div>", user_css=_css(look), archive=archive)
    out = io.BytesIO()
    writer = pymupdf.DocumentWriter(out)
    headings: list[tuple[int, str, int]] = []
    placed: dict[str, int] = {}
    x0, y0, x1, y1 = _frame(look)
    width = (x1 - x0 - 18 * (look.columns - 1)) / look.columns
    page, more = 0, True

    def seen(position: pymupdf.StoryElementPosition) -> None:
        if position.open_close & 1 and 0 < position.heading < 3 and position.text:
            headings.append((position.heading, position.text, page))
        if position.open_close & 1 and position.id:
            placed[position.id] = page

    while more:
        device = writer.begin_page(pymupdf.Rect(0, 0, *look.size))
        for column in range(look.columns):
            left = x0 + column * (width + 18)
            more, _ = story.place(pymupdf.Rect(left, y0, left + width, y1))
            story.element_positions(seen)
            story.draw(device)
            if not more:
                break
        writer.end_page()
        page += 1
        if page == MAX_PAGES:
            raise ValueError("the text has an element that no page can hold")
    writer.close()
    return out.getvalue(), headings, placed


def _frame(look: Look) -> tuple[float, float, float, float]:
    return look.margin, look.margin, look.size[0] - look.margin, look.size[1] - look.margin


def _leader(text: str, page: int, level: int) -> str:
    shown = text if len(text) < LINE - 24 else text[: LINE - 28] + "…"
    return f"{escape(shown)} {'.' * max(4, LINE - len(shown) - 5 * level)} {page + 1}"


def _put(page: pymupdf.Page, area: tuple[float, float, float, float], html: str, look: Look) -> None:
    page.insert_htmlbox(pymupdf.Rect(area), f"<div class='{look.css_class}'>{html}</div>", css=_css(look), scale_low=0)


def _css(look: Look) -> str:
    return f"body {{ font-family: {look.font}; font-size: {look.type}pt; line-height: 1.3; }}{CSS}"


def chart(values: list[int]) -> bytes:
    """A bar chart as a PNG: its numbers are drawn, no text of the PDF holds them."""
    page = pymupdf.open().new_page(width=240, height=130)
    for place, value in enumerate(values):
        left = 12 + place * 220 / len(values)
        page.draw_rect((left, 118 - value, left + 140 / len(values), 118), fill=(0.2, 0.35, 0.6))
        page.insert_text((left, 115 - value), str(value), fontsize=7)
    return bytes(page.get_pixmap(dpi=110).tobytes("png"))
