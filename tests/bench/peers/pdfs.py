"""PDFs to measure with that this repository may hold: pages set from the text of the samples, each with names and
numbers of its own.

A page has a heading, paragraphs and a table of figures, as pages of reports have. Names and numbers differ, so that
hardly a sentence stands there twice: what is remembered of one would make Plumbline, which remembers, look faster than
it is.
"""

from __future__ import annotations

import html
import io
import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pymupdf

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
# The samples that it is set from: those in English, as the embedded model and what the peers cut texts for are English.
SET = ("arithmetic-progressions", "company-policies", "flow-meter-manual")
PAGES, FILE_PAGES = 300, 100  # in all, and of a file; about a filing's length
PARAGRAPHS, ROWS, YEARS = 15, 6, 3  # on a page, and of its table: about 450 words, as a dense page of a report has
MIN_CHARS = 60  # of a paragraph; what is shorter may be a heading
MARGINS = (54, 54, -54, -54)  # points: three quarters of an inch
SYLLABLES = "ba ke lo mi nu ra ve ti so du fa gre pla ster con tor mel vin hol der".split()
STYLE = "body {font-family: sans-serif; font-size: 9px} h2 {font-size: 12px} td {padding: 1px 6px}"


def make(folder: Path, pages: int = PAGES) -> list[Path]:
    """PDFs of so many pages in all, each of at most `FILE_PAGES`, always the same."""
    made = []
    for number, first in enumerate(range(0, pages, FILE_PAGES)):
        drawn = random.Random(number)
        target = folder / f"report-{number + 1}.pdf"
        target.write_bytes(_pdf(drawn, min(FILE_PAGES, pages - first)))
        made.append(target)
    return made


def _pdf(drawn: random.Random, pages: int) -> bytes:
    data = io.BytesIO()
    sheet = pymupdf.paper_rect("a4")
    with pymupdf.DocumentWriter(data) as writer:
        for _ in range(pages):
            device = writer.begin_page(sheet)
            story = pymupdf.Story(_page(drawn), user_css=STYLE)
            story.place(sheet + MARGINS)  # what does not fit on the page is left out
            story.draw(device)
            writer.end_page()
    return data.getvalue()


def _page(drawn: random.Random) -> str:
    """A page in HTML."""
    headings, paragraphs = _texts()
    parts = [_changed(one, drawn) for one in drawn.choices(paragraphs, k=PARAGRAPHS)]
    table = "".join(_row(drawn, drawn.choice(paragraphs)) for _ in range(ROWS))
    middle = [f"<p>{one}</p>" for one in parts]
    middle.insert(PARAGRAPHS // 3, f"<table>{table}</table>")
    return (
        f"<h2>{drawn.randrange(1, 30)}.{drawn.randrange(1, 9)} {_changed(drawn.choice(headings), drawn)}</h2>"
        + "".join(middle)
    )


def _row(drawn: random.Random, text: str) -> str:
    """A row of figures, called by words of the text."""
    figures = (f"{drawn.randrange(1_000, 99_999):,}" for _ in range(YEARS))
    return (
        f"<tr><td>{html.escape(' '.join(text.split()[1:4]))}</td>"
        + "".join(f"<td>{one}</td>" for one in figures)
        + "</tr>"
    )


def _changed(text: str, drawn: random.Random) -> str:
    """The text with other digits, and with a name behind every fortieth word."""
    words = re.sub(r"\d", lambda _: str(drawn.randrange(10)), text).split()
    named = (f"{word} {_name(drawn)}" if at % 40 == 7 else word for at, word in enumerate(words))
    return html.escape(" ".join(named))


def _name(drawn: random.Random) -> str:
    return "".join(drawn.choices(SYLLABLES, k=3)).capitalize()


@cache
def _texts() -> tuple[Sequence[str], Sequence[str]]:
    """The headings and the paragraphs of the samples."""
    blocks = []
    for name in SET:
        with pymupdf.open(SAMPLES / f"{name}.pdf") as opened:
            blocks += [" ".join(block[4].split()) for page in opened for block in page.get_text("blocks")]
    headings = [one for one in blocks if one[:1].isalpha() and len(one) < MIN_CHARS and len(one.split()) > 1]
    return headings, [one for one in blocks if len(one) >= MIN_CHARS]
