"""A question that names a clause by its number is asked of that clause, and of no other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pymupdf
import pytest
from folding import each
from library_kit import library, text

from rag_core.compression.clauses import MAX_UNITS, Clause, clause_asked, clause_of, page_asked
from rag_core.decision.decide import decide
from rag_core.decision.notes import CLAUSES
from rag_core.domain.decision import Decision
from rag_core.domain.documents import Metadata
from rag_core.engine import Engine
from rag_core.library.stored.snapshot import Snapshot
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.wiring import open_engine

LEASE = """Lease agreement

1. Premises
1.1 The landlord lets the flat at Lime Street 4 to the tenant.

2. Rent
2.1 The rent is 900 euros a month.
2.2 It is due on the third working day of each month. 30 days later a reminder is sent.
2.3 The landlord may raise the rent once a year.

3. Deposit
3.1 The tenant pays a deposit of 2,700 euros.
"""
MIETE = """Mietvertrag

§ 1 Mietsache
(1) Der Vermieter vermietet die Wohnung an den Mieter.
(2) Die Wohnung hat drei Zimmer.

§ 2 Miete
(1) Die Miete beträgt 900 Euro im Monat.
(2) Sie ist am dritten Werktag eines jeden Monats fällig.
"""


Find = Callable[..., Clause | None]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Find:
    """The clause that a question names in documents of these texts; a library of each set of documents is made once."""

    @cache
    def view(language: str, documents: tuple[tuple[str, str], ...]) -> Snapshot:
        opened = library(tmp_path_factory.mktemp("clauses"))
        opened.add([text(id, body, language=language) for id, body in documents], Settings.load())
        return opened.view

    def find(question: str, language: str, **documents: str) -> Clause | None:
        return clause_of(question, language, view(language, tuple(documents.items())), None)

    return find


def said(clause: Clause | None) -> list[str]:
    return [unit.text for unit in clause.units] if clause else []


@each(
    ("question", "language", "asked"),
    [
        ("What does clause 2.2 say?", "en", (("2", "2"), "clause", "")),
        ("Please show me section 3", "en", (("3",), "section", "")),
        ("Quote Article 5(3).", "en", (("5", "3"), "article", "")),
        ("When is the rent due under clause 2.2?", "en", (("2", "2"), "clause", "When is the rent due?")),
        ("Under clause 2.2, when is the rent due?", "en", (("2", "2"), "clause", "when is the rent due?")),
        ("Was steht in § 7 Abs. 2?", "de", (("7", "2"), "article", "")),
        ("Wie hoch ist die Kaution nach § 3?", "de", (("3",), "article", "Wie hoch ist die Kaution?")),
        ("Co stanoví čl. 5 odst. 1?", "cs", (("5", "1"), "article", "")),
        ("What is a section 8 voucher?", "en", None),
        ("What does page 3 say?", "en", None),
        ("How many points 5% above the line are there?", "en", None),
    ],
)
def test_given_a_question_then_the_clause_that_it_names_and_what_else_it_asks_are_read(
    question: str, language: str, asked: tuple[tuple[str, ...], str, str] | None
) -> None:
    named = clause_asked(question, language)

    assert (None if named is None else (named.numbers, named.kind, named.question)) == asked


@each(
    ("question", "quoted"),
    [
        (
            "What does clause 2.2 say?",
            ["2.2 It is due on the third working day of each month.", "30 days later a reminder is sent."],
        ),
        ("What does clause 3 say?", ["3. Deposit", "3.1 The tenant pays a deposit of 2,700 euros."]),
        ("What does clause 2.4 say?", []),
        ("What does clause 5 say?", []),
        ("What does article 3 say?", []),  # no heading has such a word
    ],
)
def test_given_clauses_with_numbers_then_the_asked_one_is_found(found: Find, question: str, quoted: list[str]) -> None:
    assert said(found(question, "en", lease=LEASE)) == quoted


@each(
    ("question", "quoted"),
    [
        ("Was steht in § 2 Absatz 2?", ["(2) Sie ist am dritten Werktag eines jeden Monats fällig."]),
        ("Was steht in § 1 (2)?", ["(2) Die Wohnung hat drei Zimmer."]),
        (
            "Was steht in Absatz 2?",
            ["(1) Die Miete beträgt 900 Euro im Monat.", "(2) Sie ist am dritten Werktag eines jeden Monats fällig."],
        ),
        ("Was steht in Abschnitt 1 Absatz 2?", ["(2) Die Wohnung hat drei Zimmer."]),
        ("Was steht in § 3?", []),
    ],
)
def test_given_numbers_below_headings_then_both_find_a_part(found: Find, question: str, quoted: list[str]) -> None:
    assert said(found(question, "de", miete=MIETE)) == quoted


MANUAL = """User manual

Calendar
Follow these steps:
1. Create a project in the console.
2. Copy its key.
"""


@each(
    ("question", "quoted"),
    [
        ("What does section 1 say?", []),
        ("What does point 2 say?", ["2. Copy its key."]),
        ("What does section 2.1 say?", []),
        ("What does article 1 say?", []),
    ],
)
def test_given_items_of_a_list_then_they_are_no_sections(found: Find, question: str, quoted: list[str]) -> None:
    assert said(found(question, "en", manual=MANUAL)) == quoted


def test_given_a_number_in_one_then_no_item_below_a_heading_of_its_first_part_is_meant(found: Find) -> None:
    """ "2.1" is no "(1)" of section 2, which "section 2 paragraph 1" is."""
    assert said(found("Was steht in Abschnitt 2.1?", "de", miete=MIETE)) == []
    assert said(found("Was steht in Abschnitt 2 Absatz 1?", "de", miete=MIETE)) == [
        "(1) Die Miete beträgt 900 Euro im Monat."
    ]


def test_given_two_documents_with_a_clause_of_that_number_then_neither_is_sure(found: Find) -> None:
    clause = found("What does clause 2.1 say?", "en", lease=LEASE, other=LEASE.replace("900", "800"))

    assert clause.probability < 0.5
    assert said(clause) == ["2.1 The rent is 900 euros a month."]


def test_given_a_question_that_names_the_document_then_its_clause_is_meant(tmp_path: Path) -> None:
    opened = library(tmp_path)
    opened.add(
        [
            text(id, LEASE.replace("900", rent), language="en", metadata=Metadata(title=title))
            for id, title, rent in (("a", "Lease of the mill", "700"), ("b", "Lease of the barn", "800"))
        ],
        Settings.load(),
    )

    def asked(question: str) -> tuple[list[str], str, bool]:
        clause = clause_of(question, "en", opened.view, None)
        return said(clause), clause.question, clause.probability >= 0.5

    assert asked("What does clause 2.1 of the barn lease say?") == (["2.1 The rent is 800 euros a month."], "", True)
    assert asked("What does clause 2.1 of the contract say?")[1:] == ("", False)
    assert asked("What does clause 2.1 say about barns?")[1] == "What does say about barns?"
    # before the number it is asked about
    assert asked("What is the lease under clause 2.1?")[1] == "What is the lease?"


def test_given_a_clause_too_long_to_quote_then_none_is_quoted_and_it_can_be_asked_about(found: Find) -> None:
    long = LEASE.replace(
        "once a year.", "once a year. " + " ".join(f"Rule {n} holds for the hall." for n in range(MAX_UNITS))
    )

    whole = found("What does clause 2 say?", "en", lease=long)
    assert whole.too_long
    about = found("What is the rent in clause 2?", "en", lease=long)
    assert (about.question, about.too_long) == ("What is the rent?", False)


Decided = Callable[..., Decision]


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Decided:
    """The decision on a question of a lease; the library of each lease is made once."""

    @cache
    def engine(lease: str) -> Engine:
        made = open_engine(tmp_path_factory.mktemp("lease"), "default", Settings.load())
        made.library.add([text("lease", lease, language="en")], Settings.load())
        return made

    def ask(question: str, lease: str = LEASE) -> Decision:
        measured = engine(lease).measure(question, Settings.load())
        assert measured.question == question
        return decide(measured)

    return ask


@each(
    ("question", "answer"),
    [
        ("What does clause 2.1 say?", "2.1 The rent is 900 euros a month. [1]"),
        ("How high is the rent under clause 2.1?", "2.1 The rent is 900 euros a month. [1]"),
        ("How high is the rent under clause 3.1?", ""),
        ("How high is the deposit under clause 2.1?", ""),
    ],
)
def test_given_a_question_about_a_clause_then_that_alone_answers(decided: Decided, question: str, answer: str) -> None:
    decision = decided(question)

    assert (decision.answer if decision.answered else "") == answer


def test_given_a_clause_that_is_not_there_or_too_long_to_quote_then_the_refusal_says_so(decided: Decided) -> None:
    missing = decided("What does clause 7.1 say?")
    long = LEASE + " ".join(f"Rule {n} holds for the hall." for n in range(MAX_UNITS))
    whole = decided("What does clause 3 say?", long)

    assert (missing.answered, CLAUSES["missing"] in missing.notes) == (False, True)
    assert (whole.answered, CLAUSES["long"] in whole.notes) == (False, True)


@each(
    ("question", "language", "asked"),
    [
        ("What does page iii say?", "en", "iii"),
        ("What is on page 12?", "en", "12"),
        ("Was steht auf Seite A-3?", "de", "a-3"),
        ("Co stojí na straně 4?", "cs", "4"),
        ("What is the fee on page 3?", "en", ""),
        ("What does the page say?", "en", ""),
    ],
)
def test_given_a_question_for_what_a_page_says_then_its_number_is_told(question, language, asked):
    assert page_asked(question, language) == asked


def test_given_a_page_that_is_asked_for_then_the_one_that_prints_the_number_is_quoted(tmp_path):
    with pymupdf.open() as made:
        for line in ("A foreword by the miller.", "The wheel turns eleven times.", "The shaft is greased with tallow."):
            made.new_page().insert_text((72, 100), line)
        made.set_page_labels([{"startpage": 0, "style": "r"}, {"startpage": 1, "style": "D"}])
        (tmp_path / "mill.pdf").write_bytes(made.tobytes())
    opened = library(tmp_path / "library")
    opened.add([Source.from_path(tmp_path / "mill.pdf")], Settings.load())

    def asked(number):
        return said(clause_of(f"What does page {number} say?", "en", opened.view, None))

    assert asked("i") == ["A foreword by the miller."]
    assert asked("1") == ["The wheel turns eleven times."]
    assert asked("2") == asked("3") == ["The shaft is greased with tallow."]  # none prints 3
    assert asked("9") == []


def test_given_a_paragraph_whose_parts_have_dotted_numbers_when_asked_for_then_they_are_of_it(found: Find):
    rules = "§ 2 Boote\n\n2.1 Boote werden eingetragen.\n\n§ 3 Schäden\n\n3.1 Schäden sind zu melden.\n"

    assert said(found("Was sagt § 3?", "de", rules=rules)) == ["3.1 Schäden sind zu melden."]
