"""An answer under the place where it stands: each part with its headings, its marks as links, and its value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from builders import claim, draft, hit, measurements, passage, with_outcome
from page_kit import keys_of_containers, texts
from streamlit.testing.v1 import AppTest

from rag_core.decision.decide import decide
from rag_core.domain.claims import BREAK, Around
from rag_core.domain.decision import Decision
from rag_core.domain.documents import DateSource, Span
from ui.app.asked import Asked
from ui.app.scope import Scope
from ui.app.sheets import to_markdown
from ui.ask import export
from ui.ask.evidence import asked_column, row_of, with_sources

MEETING, COMMITTEE = "A quorum is one fifth of the members.", "Four members form a quorum."
HEADINGS = ("By-laws › Article IV. Meeting", "By-laws › Article V. Committee")
HOSTILE = '"><script>alert(1)</script>'


def script(decision) -> None:  # type: ignore[no-untyped-def]  # runs alone, without this file's imports
    from ui.ask.evidence import show_answer

    show_answer(decision)


def shown(decision: Decision) -> AppTest:
    return AppTest.from_function(script, kwargs={"decision": decision}, default_timeout=60).run()


def links(page: AppTest) -> list[str]:
    return [one.proto.body for one in page.get("html")]


def of_two(**fields: Any) -> Asked:
    """An answer with a sentence of one article and one of the next, with a value in the first."""
    of = passage(1, MEETING), passage(2, COMMITTEE)
    start = MEETING.index("one fifth")
    valued = replace(claim(of[0], MEETING), value=Span(1, start, start + len("one fifth")), value_probability=0.9)
    drafted = draft([valued, claim(of[1], COMMITTEE)])
    measured = measurements(hits=(hit(of=of[0]), hit(0.8, 2, of=of[1])), draft=drafted)
    decision = decide(measured)
    about = {"date": "2024-04-20", "date_source": DateSource.GIVEN}
    cited = [replace(one, heading=head, **about) for one, head in zip(decision.citations, HEADINGS, strict=True)]
    cited[0] = replace(cited[0], before=Around((), "Bonfires are allowed.\nArticle IV. Meeting\nIt is held in April."))
    cited[0] = replace(cited[0], after=Around((), f"Each member has one vote.{BREAK}{COMMITTEE} It is paid."))
    cited[1] = replace(cited[1], after=Around((), "Article VI. Finances\nThe year begins on 1 January."), **fields)
    decision = with_outcome(decision, citations=tuple(cited))
    return Asked(measured.question, Scope(), measured, decision, measured.settings)


def test_given_sentences_of_two_articles_when_shown_then_each_stands_under_its_own_heading() -> None:
    page = shown(of_two().decision)

    assert [text.value for text in page.text] == [
        "one fifth [1]",  # of two sentences it is said which has it
        f"Contract, page 1, 2024-04-20 · {HEADINGS[0]}",
        "Bonfires are allowed.\nIt is held in April.",  # its own heading is not said again
        MEETING,
        "Each member has one vote.",  # between both
        f"Contract, page 1, 2024-04-20 · {HEADINGS[1]}",
        COMMITTEE,
        "Article VI. Finances\nThe year begins on 1 January.",
    ]
    assert {"around_heading", "around_heading_1", "around_before", "around_after_1"} <= keys_of_containers(page)


def test_given_long_text_around_an_answer_then_all_of_it_is_shown() -> None:
    first, last = (" ".join(f"{side}{n}" for n in range(99)) for side in ("before", "after"))
    asked = of_two()
    one = replace(asked.decision.citations[0], before=Around((), first), after=Around((), last))
    alone = shown(with_outcome(asked.decision, citations=(one,), claims=asked.decision.claims[:1]))

    # its last words may take the answer back
    assert [text.value for text in alone.text if text.value in (first, last)] == [first, last]


def test_given_sentences_of_one_article_when_shown_then_its_heading_is_said_once() -> None:
    page = shown(of_two(heading=HEADINGS[0]).decision)

    assert texts(page).count(HEADINGS[0]) == 1


def test_given_a_source_then_its_mark_is_a_link_to_its_card_with_its_words_and_never_markup() -> None:
    first, second = links(shown(of_two(title=HOSTILE).decision))

    assert f'href="#source-1" title="[1]  Contract, page 1, 2024-04-20: {MEETING}">[1]</a>' in first
    assert 'href="#source-2"' in second
    assert "<script>" not in second
    assert "&quot;&gt;&lt;script&gt;" in second


def test_given_citations_in_the_list_only_when_shown_then_the_sentences_have_no_marks() -> None:
    decision = with_outcome(of_two().decision, style="none")

    assert links(shown(decision)) == []


def test_given_an_answer_with_a_value_when_it_leaves_the_page_then_value_and_date_go_along() -> None:
    asked = of_two()

    copied = with_sources(asked.decision)

    assert copied.startswith("one fifth\n\n" + asked.decision.answer)
    assert "[1] Contract (contract.pdf), page 1, 2024-04-20" in copied
    for blocks in (export.blocks_of_all([asked]), list(export.blocks(Nothing(), asked))):  # type: ignore[arg-type]
        written = to_markdown(blocks)
        assert "> one fifth" in written
        assert "page 1, 2024-04-20" in written


class Nothing:
    """A library whose pages have no picture."""

    @property
    def library(self) -> Any:
        return self

    view = library

    def page(self, *of: object) -> Any:
        return type("Page", (), {"width": 0})


def test_given_a_row_with_two_figures_when_the_answer_has_a_value_then_its_cell_is_marked() -> None:
    row = row_of("Položka | Měsíčně | Splatnost: Nájemné skladu | 6 200 | do 5. dne měsíce")

    assert asked_column(row, "6 200") == 1
    assert asked_column(row, "7 000") is asked_column((*row, row[1]), "6 200") is None  # in no cell, and in two


def test_given_rows_and_sentences_apart_when_shown_then_each_row_is_a_line_and_what_stands_between_is_said_once() -> (
    None
):
    rows, asked = ("Adults | 300 €", "Children | 96 €"), of_two(heading=HEADINGS[0])
    claims = [replace(one, text=text) for one, text in zip(asked.decision.claims, rows, strict=True)]

    page = shown(with_outcome(asked.decision, claims=tuple(claims)))

    assert {"told_0", "told_1"} <= keys_of_containers(page)
    assert [text.value for text in page.text if "€" in text.value] == ["Adults: 300 €", "Children: 96 €"]

    apart = shown(asked.decision)

    assert {"told_0", "told_1_0", "around_after_between"} <= keys_of_containers(apart)
    assert texts(apart).count("Each member has one vote.") == 1
