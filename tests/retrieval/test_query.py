"""What a question asks for, apart from its abbreviations and instructions."""

from builders import HashEmbedder
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.decision.find import read_query
from rag_core.domain.measurements import LibraryFacts, Measurements, Understanding
from rag_core.retrieval.query import core, expand, without_instructions
from rag_core.settings import Settings


@each(
    ("asked", "spelled"),
    [
        ("revenue in FY2022", "revenue in fiscal year 2022"),
        ("revenue in FY 22", "revenue in fiscal year 2022"),
        ("revenue in FY'98", "revenue in fiscal year 1998"),
        ("stores in Q2 of FY2024", "stores in second quarter of fiscal year 2024"),
        ("net income 3Q23", "net income third quarter 2023"),
        ("net income Q4 2021", "net income fourth quarter 2021"),
    ],
)
def test_given_fiscal_periods_when_expanded_then_they_read_as_reports_write_them(asked: str, spelled: str) -> None:
    """S3-27: abbreviations are spelled out before the search."""
    assert expand(asked) == spelled


def test_given_a_fiscal_period_then_its_words_are_among_those_of_the_search() -> None:
    """S3-27: what is spelled out is what is searched by, and not the abbreviation alone."""
    embedder = HashEmbedder()
    short, long = (
        read_query(Measurements(asked, Settings(), Understanding("en"), LibraryFacts(languages=("en",))), embedder)
        for asked in ("stores in Q2 of FY2024", "stores in second quarter of fiscal year 2024")
    )

    assert short.terms == long.terms
    assert (short.vector == long.vector).all()


@each("asked", ["What is the FYI channel?", "Jaká je doba plnění?", "Is BQ1 a code?", "वारंटी अवधि क्या है?", ""])
def test_given_nothing_to_expand_when_expanded_then_the_question_stays(asked: str) -> None:
    assert expand(asked) == asked


def test_given_a_question_all_in_capitals_then_it_is_read_in_small_letters() -> None:
    assert expand("HOW OFTEN IS IT CALIBRATED?") == "How often is it calibrated?"
    assert expand("SLA?") == "SLA?"


def test_given_instructions_behind_a_question_when_cored_then_only_the_question_is_left() -> None:
    asked = "What is the net income (in USD millions)? If it is not stated, say so. Round to one decimal place."

    assert core(asked, "en") == "What is the net income?"


@each(
    "instruction",
    ["Use the cash flow statement.", "round your answer to three decimal places", "Round it to an integer."],
)
def test_given_an_instruction_in_a_sentence_of_its_own_then_it_is_set_aside(instruction: str) -> None:
    assert (
        without_instructions(f"What was the net income in 2023? {instruction}", "en")
        == "What was the net income in 2023?"
    )


def test_given_a_question_that_goes_on_in_small_letters_then_nothing_of_it_is_lost() -> None:
    asked = "What was the net income? and the tax? use the lift if there is one"
    assert without_instructions(asked, "en") == asked


def test_given_a_request_without_a_question_mark_when_cored_then_it_stays_whole() -> None:
    assert core("Explain the notice period.", "en") == "Explain the notice period."


def test_given_a_question_that_is_only_a_bracket_when_cored_then_it_stays_whole() -> None:
    assert core("(What is it?)", "en") == "(What is it?)"


@each(
    ("asked", "language", "left"),
    [
        ("What was the margin in 2023?Answer in percent, round to one decimal.", "en", "What was the margin in 2023?"),
        (
            "Using the cash flow statement, how much did it borrow? Answer in USD millions.",
            "en",
            "how much did it borrow?",
        ),
        (
            "By drawing conclusions from the income statement only, what was net income (in USD thousands)?",
            "en",
            "what was net income?",
        ),
        (
            "Is it liquid? If liquidity is no useful metric here, then please state that and explain why.",
            "en",
            "Is it liquid?",
        ),
        (
            "Wie hoch war der Umsatz (in Mio. Euro)? Bitte geben Sie das Ergebnis mit einer Stelle an.",
            "de",
            "Wie hoch war der Umsatz?",
        ),
        ("Podle dokumentu, jaká je výpovědní lhůta? Uveďte výsledek v procentech.", "cs", "jaká je výpovědní lhůta?"),
    ],
)
def test_given_instructions_in_any_form_then_what_is_asked_is_left(asked: str, language: str, left: str) -> None:
    assert without_instructions(asked, language) == left


@each(
    "asked",
    [
        "Based on the lease, what must the tenant pay?",
        "Using a ladder, what must be worn?",
        "According to § 5, who pays?",
        "Give the address of the seller.",
        "If it rains, who pays?",
        "He came in 1884. Where did he live?",
        "Answer in one word.",
        "Who pays (the tenant or the landlord)?",
        "Round your answer to two decimal places.",
        "",
    ],
)
def test_given_a_condition_or_nothing_else_when_instructions_are_set_aside_then_the_question_stays(asked: str) -> None:
    """What the answer depends on is no instruction, and a question is never emptied."""
    assert without_instructions(asked, "en") == asked


@given(st.text(max_size=200), st.sampled_from(["en", "de", "cs", "hi", "und"]))
def test_setting_instructions_aside_never_empties_a_question_and_adds_no_word(asked: str, language: str) -> None:
    left = without_instructions(asked, language)
    assert left == asked or (left.strip() and set(left.split()) <= set(asked.split()) | {left.split()[-1]})


@given(st.text(max_size=200))
def test_a_core_is_never_empty_unless_the_question_is(asked: str) -> None:
    assert bool(core(asked, "en").strip()) == bool(asked.strip()) or core(asked, "en") == asked
    assert expand(expand(asked)) == expand(asked)
