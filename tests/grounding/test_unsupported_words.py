"""Words that a model added to its sources."""

from __future__ import annotations

from dataclasses import replace

from builders import claim, hit, measurements, passage
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.grounding.additions import added_to, added_words

SICK = "Sick leave is paid in full for 30 days in a calendar year."
CASES = {
    "a reason that nobody gave": (
        SICK[:-1] + " because health comes first.",
        SICK,
        "en",
        ("because", "health", "comes", "first"),
    ),
    "verbatim": (SICK, SICK, "en", ()),
    "two runs as long as each other": (
        "Happy staff sleeps, sick leave, kind bosses smile.",
        SICK,
        "en",
        ("Happy", "staff", "sleeps"),
    ),
    "another form": ("Paying sick leaves in full.", SICK, "en", ()),
    "one word of its own": ("Generally sick leave is paid in full.", SICK, "en", ("Generally",)),
    "words that say nothing end no run": (
        "Health of the staff comes first.",
        SICK,
        "en",
        ("Health", "staff", "comes", "first"),
    ),
    "a synonym": ("The cost is 30 pounds.", "The price is 30 pounds.", "en", ()),
    "czech": (
        "Doba činí 30 dní, neboť zákazník velmi spěchal.",
        "Doba činí 30 dní.",
        "cs",
        ("neboť", "zákazník", "velmi", "spěchal"),
    ),
    "czech inflected": ("Třicet dnů je dobou plnění.", "Doba plnění činí třicet dní.", "cs", ()),
    "citation marks are no words": ("Sick leave is paid in full [1].", SICK, "en", ()),
    "no source": ("Sick leave", "", "en", ("Sick", "leave")),
}


@each(("text", "source", "language", "added"), CASES.values(), ids=CASES.keys())
def test_given_a_sentence_when_compared_then_the_longest_run_of_words_of_its_own_is_found(
    text: str, source: str, language: str, added: tuple[str, ...]
) -> None:
    """S0-24: only what the text says, nothing new."""
    assert added_words(text, [source], language) == added


def test_given_what_a_claim_cites_when_compared_then_the_question_and_the_titles_count_too() -> None:
    source = passage(1, SICK)
    view = replace(measurements(0.9, hits=(hit(0.9, of=source),)), question="How is illness compensated abroad?")
    said = claim(source, "Illness abroad is compensated under the Contract.")

    assert added_to(said, view) == ("under",)
    assert len(added_to(claim(source, SICK[:-1] + " because health comes first."), view)) == 4


def test_given_passages_in_another_language_when_compared_then_nothing_is_called_added() -> None:
    source = passage(1, "Doba plnění činí třicet dní.", language="cs")
    view = measurements(0.9, hits=(hit(0.9, of=source),))

    assert added_to(claim(source, "The delivery period is thirty days."), view) == ()


@given(st.text(max_size=80), st.sampled_from(["en", "cs", "de", "hi", "und"]))
def test_given_any_text_as_its_own_source_then_nothing_was_added(text: str, language: str) -> None:
    assert added_words(text, [text], language) == ()
