"""What a citation marks is what it quotes: read back from the PDF by letters, over the samples and over pages that are
hard to mark.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pymupdf
import pytest
from folding import each

from rag_core.library.stored.snapshot import Snapshot
from reports import marks as report
from reports.marks import Read

SAMPLES = Path(__file__).resolve().parent.parent / "data" / "samples"
ROW = 14.0  # points

Write = Callable[[pymupdf.Document], None]


def rows(page: pymupdf.Page, x: float, y: float, *texts: str, size: float = 10, font: str = "helv") -> None:
    """Texts below one another."""
    for number, text in enumerate(texts):
        page.insert_text((x, y + ROW * number), text, fontsize=size, fontname=font)


def columns(made: pymupdf.Document) -> None:
    page = made.new_page()
    rows(
        page,
        60,
        80,
        "The left column begins with a sentence that",
        "is set in narrow rows, and its words are parted",
        "by a hyphen where they do not fit, as in docu-",
        "ments that a printer has set. The second sen-",
    )
    rows(
        page,
        330,
        80,
        "tence of the left column ends at the head of the",
        "right one. A third sentence stands wholly in the",
        "right column, and nothing of the left one may be",
        "marked together with it.",
    )


def page_break(made: pymupdf.Document) -> None:
    rows(
        made.new_page(),
        60,
        700,
        "A first sentence ends on its own page. The second sentence",
        "begins at the foot of this page and, before it comes",
    )
    rows(made.new_page(), 60, 80, "to its end, goes on at the head of the next one. A last one", "stands by itself.")


def ruled_table(made: pymupdf.Document) -> None:
    page = made.new_page()
    rows(page, 60, 60, "Results of the year", font="hebo", size=14)
    table = [
        ("(in millions)", "2024", "2023"),
        ("Net sales", "1,250", "1,100"),
        ("Operating income", "320", "280"),
        ("Net income", "210", "190"),
    ]
    for number, cells in enumerate(table):
        for x, cell in zip((60, 300, 420), cells, strict=True):
            rows(page, x, 90 + ROW * number, cell)


def notes(made: pymupdf.Document) -> None:
    """Raised marks that stand in the file after the row they belong to."""
    page = made.new_page()
    page.insert_text((60, 80), "Operational sales", fontsize=10)
    page.insert_text((150, 80), "rose to 412 million in the second quarter.", fontsize=10)
    rows(page, 60, 80 + ROW, "They had been lower in the first quarter, as was said before.")
    page.insert_text((141, 76), "2,5", fontsize=6)


def initial(made: pymupdf.Document) -> None:
    page = made.new_page()
    page.insert_text((60, 108), "T", fontsize=40)
    rows(
        page,
        90,
        80,
        "he initial of this paragraph is three rows high. Beside",
        "it stand further sentences. They are no part of the",
        "first one, and none of them is marked with it.",
    )


def turned(made: pymupdf.Document) -> None:
    page = made.new_page()
    rows(
        page,
        60,
        80,
        "This page is shown turned by a quarter. Its marks",
        "are turned with it, and hold what they quote.",
    )
    page.set_rotation(90)


def soft_hyphens(made: pymupdf.Document) -> None:
    page = made.new_page()
    writer, font = pymupdf.TextWriter(page.rect), pymupdf.Font("helv")
    texts = (
        "The of\ufb01ce sets its re\u00ad",
        "ports with a soft hyphen at the end of a row. A second",
        "sentence has a \ufb01ne ligature.",
    )
    for number, text in enumerate(texts):
        writer.append((60, 80 + ROW * number), text, font=font, fontsize=10)
    writer.write_text(page)


HARD: tuple[Write, ...] = (columns, page_break, ruled_table, notes, initial, turned, soft_hyphens)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The samples and the hard pages."""
    folder = tmp_path_factory.mktemp("marks")
    found = sorted(SAMPLES.glob("*.pdf"))
    for write in HARD:
        made = pymupdf.open()
        write(made)
        found.append(folder / f"{write.__name__}.pdf")
        found[-1].write_bytes(made.tobytes())
    return found


@pytest.fixture(scope="module")
def corpus(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """They as a library holds them."""
    return report.indexed(files, tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def reads(files: list[Path], corpus: Snapshot) -> list[Read]:
    """Every sentence and row of them, cited, marked and read back."""
    data = {file.name: file.read_bytes() for file in files}
    return list(report.measure(corpus, {document.id: data[document.name] for document in corpus.documents}, 10_000))


def test_given_every_sentence_of_the_samples_when_cited_then_its_words_are_read_back_under_the_marks(
    reads: list[Read],
) -> None:
    """S2-26, S3-19, S4-17: accurate to the page and to the word, in every script of the samples."""
    samples = {file.name for file in SAMPLES.glob("*.pdf")}
    found = report.tallies(read for read in reads if read.document in samples)

    assert found["all"].citations > 400
    for kind, tally in found.items():
        assert tally.contained >= 0.99 * tally.citations, kind
        assert tally.others <= 0.001 * tally.marked, kind
    assert all(found[kind].citations for kind in ("one row", "several rows", "ligature", "table"))


@each(
    ("write", "kinds"),
    [
        (columns, {"columns", "hyphenated"}),
        (page_break, {"page break"}),
        (ruled_table, {"table"}),
        (notes, {"one row"}),
        (initial, {"several rows"}),
        (turned, {"several rows"}),
        (soft_hyphens, {"ligature", "hyphenated"}),
    ],
)
def test_given_a_page_that_is_hard_to_mark_when_cited_then_the_marks_hold_the_quote_and_nothing_else(
    write: Write, kinds: set[str], reads: list[Read]
) -> None:
    found = [read for read in reads if read.document == f"{write.__name__}.pdf"]

    assert kinds <= set().union(*(read.kinds for read in found))
    assert [(read.failure, read.marked - read.quoted) for read in found] == [("", 0)] * len(found)


def test_given_joined_letters_when_read_then_a_word_s_box_ends_with_its_last_sign(corpus: Snapshot) -> None:
    """MuPDF gives the words of a Devanagari cluster the width of its first glyph, and left the full stop of "हैं।"
    unmarked.
    """
    (document,) = [one for one in corpus.documents if one.name == "samantar-shreni.pdf"]
    page = corpus.page(document.id, 1)

    widths = [word.x1 - word.x0 for word in page.words if page.text[word.start : word.end] == "हैं।"]
    gaps = [after.x0 - word.x1 for word, after in pairwise(page.words) if after.y0 == word.y0 and after.x0 > word.x1]

    assert len(widths) > 2
    assert all(9 < width < 11 for width in widths)
    assert min(gaps) > 2  # no word reaches into the next one
