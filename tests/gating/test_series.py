"""A sentence about another member of a series than the one asked for is surely of something else."""

from __future__ import annotations

from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.gating.asked import asked_for
from rag_core.gating.fit import Context, Fit, fits
from rag_core.gating.series import members
from rag_core.language import LANGUAGES, spaced


def fit(question: str, sentence: str, language: str, heading: str = "") -> Fit:
    return fits(asked_for(question, language), sentence, Context(section=heading), language)


@each(
    ("language", "question", "sentence"),
    [
        ("en", "Who is the chief financial officer?", "Jane Doe Chief Executive Officer"),
        ("en", "Who is the CFO?", "Jane Doe Chief Executive Officer"),
        ("en", "Who is the chief operating officer?", "Jane Doe, Chief Human Resources Officer"),
        ("en", "What is the deductible of class C?", "Members of class B pay 40."),
        ("en", "How long does phase 2 last?", "Phase 3 lasts a month."),
        ("de", "Was ist eine Meldung der Stufe 2?", "Stufe 3 meldet einen Ausfall."),
        ("cs", "Kdo smí do zóny 2?", "Do zóny 3 smí jen lékař."),
        ("de", "Who is in group 2?", "In Gruppe 3 sind zehn."),  # a question in English over a German text
    ],
)
def test_given_another_member_of_a_series_then_the_sentence_is_of_something_else(language: str, question: str, sentence: str) -> None:
    asked = asked_for(question, "en" if question.startswith("Who is in") else language)
    found = fits(asked, sentence, Context(), language)
    assert (found.contradicts, found.why) == (True, "series")


@each(
    ("language", "question", "sentence", "title", "why"),
    [
        ("hi", "कक्षा 12 की परीक्षा कितने मिनट की होती है?", "इस अध्याय की परीक्षा 90 मिनट की होती है।", "गणित, कक्षा 10", "series"),
        ("en", "How long is the test of class 12?", "The test takes 90 minutes.", "Progressions, class 10", "series"),
        ("en", "How long is the test of class 10?", "The test takes 90 minutes.", "Progressions, class 10", ""),
        ("en", "How long is the test of class 12?", "The test of class 12 takes 90 minutes.", "Progressions, class 10", ""),
        ("en", "How long is the test of class 10?", "The test takes 90 minutes.", "Progressions, class 9 and class 10", ""),
        ("en", "How long is the test of class 10?", "As long as that of class 9.", "Progressions, class 10", ""),
        ("en", "Who is the chief executive officer?", "Ada Marsh leads it.", "Letter of the Chief Financial Officer", ""),  # no number
    ],
)
def test_given_a_title_of_another_member_then_its_document_tells_nothing_of_the_one_asked_for(
    language: str, question: str, sentence: str, title: str, why: str
) -> None:
    assert fits(asked_for(question, language), sentence, Context(title=title), language).why == why


@each(
    ("language", "question", "sentence", "heading"),
    [
        ("en", "Who is the chief financial officer?", "Jane Doe Chief Financial Officer", ""),
        ("en", "Who is the chief financial officer?", "He was Chief Financial Officer, and is Chief Executive Officer.", ""),
        ("en", "Who was chief executive officer and is chief financial officer?", "Jane Doe is Chief Executive Officer.", ""),
        ("en", "How long does phase 2 last?", "It lasts as long as phase 1.", "Phase 2"),  # the heading says of which
        ("en", "How long does phase 2 last?", "Phase II lasts a month.", ""),  # 2 may be II
        ("en", "How long does phase 2 last?", "Phase b lasts a month.", ""),
        ("en", "Which level must the inspector of class 2 lifts have?", "An inspector of level 4 is required.", ""),  # another series
        ("en", "Who does the chief financial officer report to?", "The CFO reports to the Chief Executive Officer.", ""),
        ("en", "Who is the officer?", "Jane Doe Chief Executive Officer", ""),
        ("en", "How long does phase 2 last?", "It lasts a month.", ""),
        ("en", "Which type a device has matters?", "Type 2 devices are heavy.", ""),  # an article is no member
        ("und", "How long does phase 2 last?", "Phase 3 lasts a month.", ""),
    ],
)
def test_given_the_one_asked_for_or_nothing_to_compare_then_nothing_is_said_against_the_sentence(
    language: str, question: str, sentence: str, heading: str
) -> None:
    assert not fit(question, sentence, language, heading).contradicts


@given(st.text(max_size=120), st.sampled_from(sorted(LANGUAGES)))
def test_given_any_text_then_a_sentence_is_of_no_other_member_than_itself(text: str, language: str) -> None:
    assert fit(text, text, language).why != "series"
    assert all(name and member for name, member in members(spaced(text), language))
