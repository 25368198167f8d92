"""The characters of the page that answer, by what the reader says of the sentence: marked where their place is certain,
and not else.
"""

from __future__ import annotations

from folding import each

from rag_core.compression.extract import VALUE_SURE, VALUE_WORDS, claim_of
from rag_core.compression.scoring import Scored
from rag_core.domain.claims import Claim
from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind
from rag_core.gating.asked import asked_for
from rag_core.grounding.units import units
from rag_core.ingest.normalise import read_passage_text


def claimed(
    pages: dict[int, str], value: str, *, of: int = 0, sure: float = 0.9, at: int = 0, table: bool = False
) -> Claim:
    """The claim of one unit of a passage that fills these pages, of which the reader marks a text: the `at`-th of those
    alike.
    """
    spans = tuple(Span(number, 0, len(text)) for number, text in pages.items())
    text = read_passage_text(pages, spans).text
    kind, header = (PassageKind.TABLE, (Span(1, 0, pages[1].index("\n")),)) if table else (PassageKind.PARAGRAPH, ())
    passage = Passage("d#1", "d", text, spans, "en", kind=kind, header=header)
    unit = units(passage, lambda _, page: pages[page])[of]
    start = -1
    for _ in range(at + 1):
        start = unit.text.index(value, start + 1)
    scored = Scored(unit, {}, 0.5, value=(start, start + len(value)), sure=sure)
    return claim_of(scored, lambda _, page: pages[page])


def marked(pages: dict[int, str], claim: Claim) -> str:
    return pages[claim.value.page][claim.value.start : claim.value.end] if claim.value else ""


def test_given_a_sentence_then_the_characters_that_answer_are_marked_on_its_page() -> None:
    pages = {1: "Goods are checked. The notice period is 30 days. The price is due monthly."}

    claim = claimed(pages, "30 days", of=1)

    assert (marked(pages, claim), claim.value_text) == ("30 days", "30 days")
    assert (claim.text, claim.value_probability) == ("The notice period is 30 days.", 0.9)


def test_given_a_text_that_stands_in_the_sentence_twice_then_the_one_that_was_meant_is_marked() -> None:
    pages = {1: "Of 30 days of leave, 30 days are paid."}

    first, second = (claimed(pages, "30 days", at=n).value for n in (0, 1))

    assert (first, second) == (Span(1, 3, 10), Span(1, 21, 28))


def test_given_a_sentence_over_two_pages_then_a_value_is_marked_on_its_page_and_one_that_is_on_both_is_not() -> None:
    pages = {1: "The notice period of the", 2: "lease is 30 days."}

    assert marked(pages, claimed(pages, "30 days")) == "30 days"
    assert claimed(pages, "30 days").value == Span(2, 9, 16)
    assert marked(pages, claimed(pages, "notice period")) == "notice period"
    assert claimed(pages, "the lease").value is None


@each(
    ("sure", "words", "marks"),
    [(VALUE_SURE, 1, True), (VALUE_SURE - 1e-6, 1, False), (0.9, VALUE_WORDS, True), (0.9, VALUE_WORDS + 1, False)],
)
def test_given_a_reader_not_sure_or_a_long_value_then_no_mark(sure: float, words: int, marks: bool) -> None:
    """A procedure has no value."""
    value = " ".join(f"w{n}" for n in range(words))

    claim = claimed({1: f"It is {value} in all."}, value, sure=sure)

    assert (claim.value is not None, claim.value_probability) == (marks, sure if marks else 0.0)


ROWS = {1: "Item\tSize\tPrice in EUR\nM15 bolt 5\t15\t5\nNut,\nlarge\t7\t7"}


@each(("row", "value", "at"), [(0, "15", 1), (0, "5", 3), (0, "M15 bolt 5", 0), (2, "7", 1)])
def test_given_a_row_of_a_table_then_the_cell_that_was_meant_is_marked(row: int, value: str, at: int) -> None:
    """Another cell, or a part of one, may hold the same characters."""
    line = ROWS[1].split("\n")[row + 1]
    start = -1
    for _ in range(at + 1):
        start = line.index(value, start + 1)
    start += ROWS[1].index(line)

    claim = claimed(ROWS, value, of=row, at=at, table=True)

    assert claim.value in (Span(1, start, start + len(value)), None), (
        f"marked: {ROWS[1][claim.value.start - 4 : claim.value.end]!r}"
    )


def test_given_a_row_in_which_the_value_stands_once_then_its_cell_is_marked_and_more_than_one_cell_is_not() -> None:
    pages = {1: "Item\tPrice in EUR\nBolt\t1,200.50\nLarge  nut\t7"}

    assert marked(pages, claimed(pages, "1,200.50", table=True)) == "1,200.50"
    assert marked(pages, claimed(pages, "Large nut", of=1, table=True)) == "Large  nut"
    assert claimed(pages, "Bolt | 1,200.50", table=True).value is None


PROFIT = "In thousands of euros\nItem\t2024\t2023\nProfit\t10,118\t9,640"
TARIFF = "Tariff\tQuarter 1\tQuarter 2\tQuarter 3\tQuarter 4\nBasic\tnot offered\t12 euros\t14 euros"


@each(
    ("page", "question", "pointed", "cell"),
    [
        (PROFIT, "What was the profit in 2023?", "10,118", "9,640"),
        (PROFIT, "What was the profit in 2024?", "10,118", "10,118"),
        (PROFIT, "What was the profit?", "10,118", "10,118"),  # no column is named: what the reader says
        (PROFIT, "What was the profit in 2024 and 2023?", "10,118", "10,118"),
        (TARIFF, "What does the Basic tariff cost in quarter 3?", "14 euros", ""),  # a cell over two columns moves it
    ],
)
def test_given_a_named_column_then_its_cell_is_the_value(page: str, question: str, pointed: str, cell: str) -> None:
    header = (Span(1, 0, page.rindex("\n")),)
    passage = Passage("d#1", "d", page, (Span(1, 0, len(page)),), "en", kind=PassageKind.TABLE, header=header)
    unit = units(passage, lambda *_: page)[0]
    at = unit.text.index(pointed)
    scored = Scored(unit, {}, 0.5, value=(at, at + len(pointed)), sure=0.9)

    assert marked({1: page}, claim_of(scored, lambda *_: page, asked_for(question, "en"))) == cell


@each(
    ("sentence", "pointed", "value"),
    [
        ("Sick leave is paid for 30 days in a year.", "30", "30 days"),
        ("The rent is EUR 1,250 a month.", "1,250", "EUR 1,250"),
        ("The rent is EUR 1,250 a month.", "1,250 a month", "EUR 1,250 a month"),
        ("It is 30 days, or 3 weeks.", "weeks", "3 weeks"),
        ("The house has 4 floors.", "4", "4"),
        ("Ada Marsh has held it for 30 days.", "Ada Marsh", "Ada Marsh"),
    ],
)
def test_given_a_figure_of_the_reader_then_its_unit_is_part_of_it(sentence: str, pointed: str, value: str) -> None:
    assert marked({1: sentence}, claimed({1: sentence}, pointed)) == value


def test_given_a_sign_without_a_letter_or_digit_then_nothing_is_marked() -> None:
    assert claimed({1: "Nuts: ☑ as ticked."}, "☑").value is None
    assert claimed({1: "Line: ☐ North ☑ Harbour."}, "☐ North").value is None
