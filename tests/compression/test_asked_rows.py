"""Finds the tables that have the row asked for, and orders rows of one label."""

from __future__ import annotations

from collections.abc import Sequence

from builders import HashEmbedder, MemoryCorpus, Text, settings
from folding import each

from rag_core.compression.scoring import ROW_ALONE, rank_of_row, tables_asked
from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind
from rag_core.gating.asked import asked_for
from rag_core.language import terms
from rag_core.retrieval.hybrid import retrieve

HEAD = "In millions\t2023\t2022\n"


def table(page: str, number: int, section: str = "", document: str = "d") -> Passage:
    head = page.index("\n") + 1 if page.startswith("In millions") else 0
    header = (Span(number, 0, head - 1),) if head else ()
    text = page.replace("\t", " ")
    return Passage(
        f"{document}#{number}",
        document,
        text,
        (Span(number, head, len(page)),),
        "en",
        section=section,
        kind=PassageKind.TABLE,
        header=header,
        header_text=page[: max(0, head - 1)].replace("\t", " "),
    )


def found(
    question: str, pages: Sequence[str], sections: Sequence[str] = (), first: str = "Northfield Ltd."
) -> list[int]:
    """The numbers of the pages, from 1, whose table has the row that a question asks for; the title page is page 1 as
    well.
    """
    passages = [table(page, at + 2, (*sections, *[""] * len(pages))[at]) for at, page in enumerate(pages)]
    return [
        at + 1
        for at in tables_asked(asked_for(question, "en"), passages, lambda _, page: (first, *pages)[page - 1], {})
    ]


def test_given_tables_then_those_with_the_row_asked_for_are_found_and_no_other() -> None:
    pages = [f"{HEAD}Inventories\t5\t4\nTotal assets\t90\t80", f"{HEAD}Goodwill\t13\t12\nInventories\t5\t4"]
    assert found("What is the goodwill in 2023?", pages) == [2]
    assert found("What is the deferred revenue in 2023?", pages) == []
    assert found("What is the goodwill in 2017?", pages) == [], "the heads name other years"


@each("question", ["Where is the goodwill?", "Is there goodwill?", "Which goodwill is the highest?", "What?"])
def test_given_a_question_for_no_figure_then_no_table_is_looked_for(question: str) -> None:
    assert found(question, [f"{HEAD}Goodwill\t13\t12"]) == []


def test_given_text_then_it_is_no_table() -> None:
    page = f"{HEAD}Goodwill\t13\t12"
    text = Passage("d#1", "d", page, (Span(1, 0, len(page)),), "en", kind=PassageKind.PARAGRAPH)
    assert tables_asked(asked_for("What is the goodwill?", "en"), [text], lambda _, number: page, {}) == []


def test_given_rows_of_one_label_then_the_whole_comes_before_its_parts_and_an_amount_before_its_change() -> None:
    pages = [f"{HEAD}Accounts payable\t47\t40", f"{HEAD}Accounts payable\t12\t11", f"{HEAD}Accounts payable\t29\t28"]
    asked = "What were accounts payable in 2023?"
    assert found(asked, pages, ["Statements of Cash Flows"]) == [3, 2, 1]
    assert found(asked, pages) == [1, 3, 2]
    assert found("What was the average of accounts payable in 2023?", pages) in ([], [1, 2, 3]), (
        "an average does not add up"
    )


def test_given_an_average_or_a_rate_then_the_largest_is_not_the_whole() -> None:
    def order(question: str) -> list[float]:
        asked = asked_for(question, "en")
        return [rank_of_row(asked, f"Price | {figure}", ROW_ALONE, "", "en")[2] for figure in (11, 16)]

    assert order("What was the price in 2023?") == [-11.0, -16.0]
    assert order("What was the average price in 2023?") == order("What was the growth of the price?") == [0.0, 0.0]


@each("figure", ["1.2.3", "1" * 30, "no", "…", "1,2,3,"])
def test_given_what_is_no_figure_then_a_row_is_ordered_all_the_same(figure: str) -> None:
    assert rank_of_row(asked_for("What was the price?", "en"), f"Price | {figure}", 1.0, "", "en")[0] == -1.0


def test_given_a_name_that_neither_the_table_nor_the_first_page_has_then_its_rows_are_of_something_else() -> None:
    pages = [f"{HEAD}Subscription fees\t13\t12"]
    assert found("What were the subscription fees of Northfield in 2023?", pages) == [1]
    assert found("What were the subscription fees in Germany in 2023?", pages) == []
    assert found("What were the subscription fees in Germany in 2023?", pages, ["Germany"]) == [1]
    assert found("What were the subscription fees in Germany in 2023?", pages, first="") == [1], (
        "nothing is known of the document"
    )


def test_given_the_row_asked_for_when_retrieved_then_its_passage_comes_first() -> None:
    embedder = HashEmbedder()
    corpus = MemoryCorpus([Text("a", "\n\n".join(f"Line {i} of goodwill and goodwill." for i in range(40)))], embedder)
    vector, wanted = embedder.embed(["goodwill"])[0], terms("goodwill", "en")
    last = retrieve("goodwill", vector, wanted, corpus, settings()).candidates[-1]
    ranking = retrieve("goodwill", vector, wanted, corpus, settings(), stated=[last])
    assert last in ranking.rows[:3]
