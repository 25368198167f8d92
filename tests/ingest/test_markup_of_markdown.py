"""What Markdown is written with is no text: front matter, tags, entities and marks; what it shows stands there."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_shown_units import units_of

from rag_core.domain.documents import Metadata, Page
from rag_core.domain.rows import EMPTY
from rag_core.ingest.blocks.structure import BlockKind, blocks
from rag_core.ingest.reading.markdown import plain

WORDS = st.sampled_from("berth crane sluice ferry harbour mill".split())
CELLS = st.lists(st.lists(WORDS, min_size=2, max_size=2), min_size=1, max_size=5)


def shown(text: str) -> str:
    return plain(text)[0]


@given(WORDS, WORDS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["---", "..."]))
def test_given_front_matter_when_read_then_it_is_what_the_file_says_of_itself(
    title: str, author: str, line: str, end: str
) -> None:
    front = [f"Title: The {title}", "date: 2024-02-01T11:16:01+01:00", f"authors: [{author}, Bo]", "order: 3"]

    text, said = plain(line.join(("---", *front, end, "# Rules", "No swimming.")))

    assert text == line.join(("# Rules", "No swimming."))
    assert said == Metadata(f"The {title}", "2024-02-01", values={"author": f"{author}, Bo"})


@pytest.mark.parametrize(
    "text", ["---\n\nA rule above.\n\n---\nText.\n", "---\nNo end: of it\n", "---\n{a: [}\n---\nText."]
)
def test_given_rules_that_are_no_front_matter_when_read_then_the_text_stays(text: str) -> None:
    assert plain(text) == (text, Metadata())


@given(CELLS, st.sampled_from(["", "  \n"]), st.booleans())
def test_given_a_table_of_html_when_read_then_it_has_the_rows_of_one_between_bars(
    cells: list[list[str]], gap: str, named: bool
) -> None:
    heads = f"<tr>{gap}<th>Work</th><th scope='col'>Fee</th></tr>" if named else ""
    body = "".join(f"<TR>{gap}<td>{a} &amp; b</td>{gap}<td>5 <b>&micro;L</b> {b}</td></TR>{gap}" for a, b in cells)

    text = shown(f"Fees:\n<table class='x'>{heads}{body}</table>\nEnd.")

    rows = [f"| {a} & b | 5 µL {b} |" for a, b in cells]
    assert [line for line in text.split("\n") if line] == [
        "Fees:", *(["| Work | Fee |", "|---|---|"] if named else []), *rows, "End."
    ]  # fmt: skip
    tables = [block for block in blocks([Page(1, text)], "en") if block.kind is BlockKind.TABLE]
    assert [len(table.parts) for table in tables] == ([len(rows) + 2 * named] if len(rows) + named > 1 else [])


def test_given_merged_cells_in_a_table_of_html_when_read_then_each_row_has_all_columns() -> None:
    text = shown("<table><tr><td>Boat</td><td>5</td></tr><tr><td colspan=2>Members</td></tr></table>")

    assert text.split() == f"| Boat | 5 | | Members | {EMPTY} |".split()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("**1. General.** Please submit.", "1. General. Please submit."),
        ("**Bold\nover lines** and ***more***.", "Bold\nover lines and more."),
        ("Heat to 56&#176;C, 5 &micro;L, R&amp;D.", "Heat to 56°C, 5 \u00b5L, R&D."),
        ('### <a name="1"></a>Sec. 1 Fees', "### Sec. 1 Fees"),
        ("Ada Ray<br>\nOfficer<br>", "Ada Ray\nOfficer\n"),
        ("<h2>Fees</h2>Five.", "\n\n## Fees\n\nFive."),
        ("Before <!-- not\nshown --> after.", "Before  after."),
        ("# Sec.\tFees", "# Sec. Fees"),
    ],
)
def test_given_markup_when_read_then_its_words_stand_there(written: str, read: str) -> None:
    assert shown(written) == read


@pytest.mark.parametrize(
    "text",
    [
        "`<b>&amp;**x**</b>`",
        "```\n<td>\t**x**\n```",
        "2**10 and 3**4",
        "a < b, <https://a.example/b>, <name@a.example>, List<T>",
        "* one\n* two",
        "A&B; AT&T",
        "<!-- no end",
    ],
)
def test_given_what_is_no_markup_when_read_then_it_stays(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize("piece", ["<!--", "**a ", "<table>", "<td ", '<a "', "---\n", "<table><td>", "&amp", "a\t "])
def test_given_hostile_markup_when_read_then_it_takes_no_longer_than_it_is_long(piece: str) -> None:
    def seconds(chars: int) -> float:
        text, begun = piece * (chars // len(piece)), time.process_time()
        plain(text)
        return time.process_time() - begun

    assert seconds(200_000) < 8 * seconds(50_000) + 0.2


def test_given_front_matter_that_names_itself_over_and_over_when_read_then_nothing_is_made_of_it() -> None:
    """Nine levels of nine would fill the memory of the process that serves everybody; these four show that none is
    made.
    """
    levels = ["a: &a [x, x]", "b: &b [*a, *a]", "c: &c [*b, *b]", "title: *c", "author: [*c, Ada]", "<<: {date: 2024}"]
    front = "\n".join(levels)

    assert plain(f"---\n{front}\n---\nThe berth is free.\n") == (
        "The berth is free.\n",
        Metadata("", values={"author": "Ada"}),
    )
    nested = "---\ntitle: " + "[" * 9_000 + "\n---\nThe berth is free.\n"
    assert plain(nested) == (nested, Metadata())


def test_given_a_row_with_one_filled_cell_when_read_then_it_heads_the_rows_below_it() -> None:
    rows = ["| Work | Plan A | Plan B |", "|---|---|---|", "| Fillings | 80 % | 95 % |", "| **Paid by you** | | |"]
    rows += ["| Crowns | 310 euros | 240 euros |", "| Bridges | 455 euros | 9 euros |"]
    text = shown("\n".join(rows))

    found = units_of((Page(1, text),))

    heads = [(unit.text, "".join(text[span.start : span.end] for span in unit.group)) for unit in found]
    assert [head for row, head in heads if "euros" in row] == ["Paid by you"] * 2
    assert [head for row, head in heads if "%" in row] == [""]


def test_given_labels_without_a_value_in_two_columns_when_read_then_they_head_nothing() -> None:
    text = shown("| Work | Fee |\n|---|---|\n| Crane | 5 euros |\n| Mill | |\n| Quay | 7 euros |")

    assert {unit.group for unit in units_of((Page(1, text),))} == {()}
