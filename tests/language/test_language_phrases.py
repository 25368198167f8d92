"""Refusals, indicator phrases, greetings, questions about the library, intents."""

from __future__ import annotations

import time

from folding import each

from rag_core.decision.measure import understand
from rag_core.language import (
    LANGUAGES,
    greeting_language,
    intent,
    is_refusal,
    is_time_sensitive,
    leans,
    refusal,
)


def test_given_the_four_first_languages_when_refusing_then_each_has_its_canonical_sentence() -> None:
    """S0-30, S1-1, S4-13: one canonical refusal per language."""
    assert refusal("cs") == "Požadovaná informace není v dokumentech."
    assert refusal("de") == "Diese Information ist nicht in der Wissensdatenbank verfügbar."
    assert refusal("en") == "I cannot answer this question based on the provided documents."
    assert refusal("hi") == "दिए गए दस्तावेज़ों में इस प्रश्न का उत्तर उपलब्ध नहीं है।"


@each("lang", ["und", "xx", "", "../en"])
def test_given_a_language_without_a_file_when_refusing_then_english_is_used(lang: str) -> None:
    """S1-3: the refusal follows the question's language, with a fallback."""
    assert refusal(lang) == refusal("en")


@each(
    "text",
    [
        "Požadovaná informace není v dokumentech explicitně uvedena.",
        "I don't know based on NCERT textbooks.",
        "Information not available in provided context",
        "I cannot answer this question based on the provided documents. Try another file.",
        '"I cannot answer this question based on the provided documents."',
        "Na tuto otázku nelze z dokumentů odpovědět, protože na tuto otázku nelze odpovědět.",
        "यह जानकारी दस्तावेज़ों में नहीं है।",
    ],
)
def test_given_a_refusal_in_any_known_wording_when_read_then_it_is_recognised(text: str) -> None:
    """S2-1, S3-14, S4-13: the sources' refusal phrases, whatever their case."""
    assert is_refusal(text)


@each(
    "text",
    [
        "",
        "The notice period is 30 days.",
        "The documents do not contain any personal data.",
        'The assistant says "I cannot answer this question" when it finds nothing.',
        "If the information is not available in the documents, the supplier asks the customer.",
        "The notice period is 30 days. I don't know more.",
        "I don't knowingly hide anything.",
    ],
)
def test_given_an_answer_that_quotes_or_only_touches_a_refusal_when_read_then_it_is_none(text: str) -> None:
    """S4-13: a refusal is what the whole text says, not words inside it."""
    assert not is_refusal(text)


def test_given_the_english_indicator_phrases_then_they_are_those_of_the_source() -> None:
    """S2-10: the list, verbatim."""
    assert LANGUAGES["en"].indicator_phrases == (
        "as we know",
        "in general",
        "typically",
        "usually",
        "it is well known",
        "common knowledge",
        "everyone knows",
    )


@each(
    ("lang", "phrase"),
    [("cs", "jak víme"), ("de", "bekanntlich"), ("hi", "आमतौर पर"), ("es", "como sabemos"), ("ru", "как известно")],
)
def test_given_another_language_then_it_has_indicator_phrases_of_its_own(lang: str, phrase: str) -> None:
    """S2-10: equivalents per language."""
    assert phrase in LANGUAGES[lang].indicator_phrases


@each(("text", "language"), [("hi", "en"), ("Hej!", "pl"), ("Ahoj", "cs"), ("Guten Tag zusammen", "de"), ("hire", "")])
def test_given_a_greeting_then_it_is_answered_in_the_language_of_whoever_greets(text: str, language: str) -> None:
    assert greeting_language(text) == language
    if language:
        assert understand(text, ["hi", "cs"], "greeting").language == language


@each(
    ("language", "text"),
    [
        ("en", "And how many?"),
        ("en", "What about 2021?"),
        ("en", "Tell me more"),
        ("de", "Und wie viele?"),
        ("de", "Und im Jahr 2021?"),
        ("es", "¿Y cuándo?"),
        ("cs", "A kolik?"),
        ("cs", "A co v Praze?"),
        ("ru", "А сколько?"),
        ("hi", "और कितने?"),
    ],
)
def test_given_a_text_that_leans_on_a_question_before_when_read_then_it_asks_nothing(language: str, text: str) -> None:
    """Nothing is answered by the nearest sentence that asks nothing of the documents."""
    assert intent(text, language) == "follow_up"


@each(
    ("language", "text"),
    [
        ("en", "And when does the contract with the tenant end?"),
        ("en", "Why was the line stopped?"),
        ("en", "What about the notice period of trainees in the second year?"),
        ("cs", "Kolik je tam zaměstnanců?"),
        ("hi", "वहाँ कितने कर्मचारी हैं?"),
        ("en", ""),
        ("en", "a" * 10_000),
        ("xx", "Why?"),
    ],
)
def test_given_a_question_that_only_looks_like_one_that_leans_when_read_then_it_stands_alone(
    language: str, text: str
) -> None:
    assert not leans(text, language)


@each(
    ("lang", "question", "expected"),
    [
        ("en", "How do I configure the API?", "procedural"),
        ("en", "How long is the notice period?", "factual"),
        ("en", "What is the difference between leave and absence?", "comparative"),
        ("cs", "Jak podat výpověď?", "procedural"),
        ("cs", "Jaký je rozdíl mezi A a B?", "comparative"),
        ("de", "Wie kann ich kündigen?", "procedural"),
        ("de", "Was ist der Unterschied?", "comparative"),
        ("hi", "मैं आवेदन कैसे करूँ?", "procedural"),
        ("hi", "दोनों में क्या अंतर है?", "comparative"),
        ("xx", "How do I start?", "procedural"),
        ("en", "", "factual"),
        ("en", "incomparably good", "factual"),
    ],
)
def test_given_a_question_when_its_intent_is_read_then_it_is_the_kind_it_asks_for(
    lang: str, question: str, expected: str
) -> None:
    """S3-27: intent factual, procedural or comparative."""
    assert intent(question, lang) == expected


@each(
    ("lang", "question", "sensitive"),
    [
        ("en", "What is the current rate?", True),
        ("en", "What is the rate?", False),
        ("cs", "Jaká je současná sazba?", True),
        ("hi", "वर्तमान दर क्या है?", True),
    ],
)
def test_given_a_question_for_the_present_state_when_read_then_recency_may_count(
    lang: str, question: str, sensitive: bool
) -> None:
    assert is_time_sensitive(question, lang) is sensitive


@each("read", [is_refusal])
@each(
    "text",
    ["hello " * 50_000, "hi " * 600 + "x", '"' * 100_000, "\ud800", "\x00", "what " * 400],
    ids=lambda text: repr(text[:7]),
)
def test_given_hostile_text_when_read_then_it_is_nothing_and_ends_soon(read: object, text: str) -> None:
    started = time.process_time()

    assert callable(read)
    assert read(text) is False
    assert time.process_time() - started < 2
