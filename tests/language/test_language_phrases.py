"""Refusals, indicator phrases, greetings, questions about the library, intents."""

from __future__ import annotations

import time

from folding import each

from rag_core.decision.measure import understand
from rag_core.language import (
    LANGUAGES,
    asks_about_library,
    asks_number,
    greeting_language,
    indicator_phrases,
    intent,
    is_greeting,
    is_refusal,
    is_time_sensitive,
    refusal,
    small_talk,
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


@each("lang", sorted(LANGUAGES))
def test_given_every_language_when_its_refusal_is_read_back_then_it_is_recognised(lang: str) -> None:
    """S0-30: what we say ourselves is recognised as a refusal."""
    assert is_refusal(refusal(lang))
    assert is_refusal(refusal(lang).upper())


@each(
    "text",
    [
        "Požadovaná informace není v dokumentech explicitně uvedena.",
        "I don't know based on NCERT textbooks.",
        "I DON’T KNOW based on NCERT textbooks",
        "Information not available in provided context",
        "i cannot answer this based on the provided documents",
        "I CANNOT ANSWER THIS QUESTION based on the provided documents",
        "Unfortunately, the provided documents do not contain enough information to say.",
        "I cannot answer this question based on the provided documents. Try another file.",
        '"I cannot answer this question based on the provided documents."',
        "Na tuto otázku nelze z dokumentů odpovědět, protože na tuto otázku nelze odpovědět.",
        "Leider kann ich diese Frage nicht beantworten.",
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
        "...",
        "The notice period is 30 days.",
        "The documents do not contain any personal data.",
        'The assistant says "I cannot answer this question" when it finds nothing.',
        "Nástroj hlásí „Požadovaná informace není v dokumentech.“ a skončí.",
        "If the information is not available in the documents, the supplier asks the customer.",
        "Pokud požadovaná informace není v dokumentech, dodavatel ji doplní.",
        "The notice period is 30 days. I don't know more.",
        "I cannot answer this question in one line. The rent is 5. The deposit is 6. The fee is 7.",
        "I don't knowingly hide anything.",
    ],
)
def test_given_an_answer_that_quotes_or_only_touches_a_refusal_when_read_then_it_is_none(text: str) -> None:
    """S4-13: a refusal is what the whole text says, not words inside it."""
    assert not is_refusal(text)


def test_given_the_english_indicator_phrases_then_they_are_those_of_the_source() -> None:
    """S2-10: the list, verbatim."""
    assert indicator_phrases("en") == (
        "as we know",
        "in general",
        "typically",
        "usually",
        "it is well known",
        "common knowledge",
        "everyone knows",
    )
    assert indicator_phrases("xx") == indicator_phrases("en")


@each(
    ("lang", "phrase"),
    [("cs", "jak víme"), ("de", "bekanntlich"), ("hi", "आमतौर पर"), ("es", "como sabemos"), ("ru", "как известно")],
)
def test_given_another_language_then_it_has_indicator_phrases_of_its_own(lang: str, phrase: str) -> None:
    """S2-10: equivalents per language."""
    assert phrase in indicator_phrases(lang)


@each(
    "text",
    [
        "Hello",
        "hello!",
        "Ahoj",
        "Guten Tag.",
        "नमस्ते",
        "Dobrý den",
        "dobry den",
        "Hi there 👋",
        "Good morning, everyone!",
        "Здравствуйте!",
        "Hola",
    ],
)
def test_given_only_a_greeting_when_read_then_it_is_one(text: str) -> None:
    """S4-19: a greeting is recognised in each language."""
    assert is_greeting(text)


@each(
    "text",
    [
        "",
        "?",
        "there",
        "Hello, what is the notice period?",
        "Hi-fi",
        "What is a greeting?",
        "Guten Tag, wie hoch ist der Preis?",
        "hello world",
    ],
)
def test_given_anything_more_than_a_greeting_when_read_then_it_is_none(text: str) -> None:
    """S4-19: a greeting before a question does not hide the question."""
    assert not is_greeting(text)


@each(("text", "language"), [("hi", "en"), ("Hej!", "pl"), ("Ahoj", "cs"), ("Guten Tag zusammen", "de"), ("hire", "")])
def test_given_a_greeting_then_it_is_answered_in_the_language_of_whoever_greets(text: str, language: str) -> None:
    assert greeting_language(text) == language
    if language:
        assert understand(text, ["hi", "cs"]).language == language


SMALL_TALK = {
    "thanks": [
        ("en", "Thanks!"),
        ("en", "Thank you very much for your help"),
        ("en", "That was helpful, thanks"),
        ("de", "Vielen Dank!"),
        ("de", "Danke für die Auskunft"),
        ("es", "Muchas gracias"),
        ("fr", "Merci beaucoup"),
        ("it", "Grazie mille"),
        ("cs", "Děkuji moc"),
        ("sk", "Ďakujem pekne"),
        ("pl", "Dziękuję bardzo"),
        ("ru", "Большое спасибо!"),
        ("hi", "बहुत धन्यवाद"),
    ],
    "goodbye": [
        ("en", "Bye"),
        ("en", "See you later!"),
        ("de", "Auf Wiedersehen"),
        ("es", "Hasta luego"),
        ("fr", "Au revoir"),
        ("it", "Arrivederci"),
        ("cs", "Na shledanou"),
        ("sk", "Dovidenia"),
        ("pl", "Do widzenia"),
        ("ru", "До свидания"),
        ("hi", "अलविदा"),
    ],
    "summary": [
        ("en", "summarize"),
        ("en", "Please summarize this document in a few sentences"),
        ("en", "Give me a summary of the report"),
        ("en", "What is this document about?"),
        ("de", "Fasse das Dokument zusammen"),
        ("de", "Worum geht es in diesem Dokument?"),
        ("es", "Resume el documento"),
        ("fr", "Résumez ce document"),
        ("it", "Riassumi il documento"),
        ("cs", "Shrň dokument"),
        ("sk", "Zhrň dokument"),
        ("pl", "Streść dokument"),
        ("ru", "О чём этот документ?"),
        ("hi", "इस दस्तावेज़ का सारांश दें"),
    ],
    "follow_up": [
        ("en", "And how many did it open?"),
        ("en", "And how many?"),
        ("en", "Why?"),
        ("en", "What about 2021?"),
        ("en", "And in Italy?"),
        ("en", "Tell me more"),
        ("de", "Und wie viele?"),
        ("de", "Warum?"),
        ("de", "Und im Jahr 2021?"),
        ("es", "¿Y cuándo?"),
        ("fr", "Et pourquoi ?"),
        ("it", "E quanti?"),
        ("cs", "A kolik?"),
        ("cs", "A co v Praze?"),
        ("sk", "A kedy?"),
        ("pl", "A ile?"),
        ("ru", "А сколько?"),
        ("hi", "और कितने?"),
    ],
}
NO_SMALL_TALK = [
    ("en", "Thanks to whom was the bridge built?"),
    ("en", "Who wrote the thank you letter?"),
    ("en", "What does the summary say?"),
    ("en", "And when does the contract with the tenant end?"),
    ("en", "Why was the line stopped?"),
    ("en", "How many plants are there?"),
    ("en", "What is the notice period?"),
    ("en", "Summarize the duties of the tenant"),
    ("en", "When is the bye week?"),
    ("en", "What about the notice period of trainees in the second year?"),
    ("de", "Wie viele Werke gibt es?"),
    ("de", "Warum wurde die Linie gestoppt?"),
    ("de", "Zusammenfassung der Pflichten des Mieters im Brandfall"),
    ("cs", "Kolik je tam zaměstnanců?"),
    ("ru", "Сколько сотрудников?"),
    ("hi", "वहाँ कितने कर्मचारी हैं?"),
    ("en", ""),
    ("en", "thanks " * 40),
    ("en", "a" * 10_000),
    ("xx", "Why?"),
]


@each("kind", SMALL_TALK)
def test_given_small_talk_when_read_then_its_kind_is_told_and_nothing_need_be_searched(kind: str) -> None:
    """Nothing is answered by the nearest sentence that asks nothing of the documents."""
    told = {text: intent(text, language) for language, text in SMALL_TALK[kind]}
    assert told == dict.fromkeys(told, kind)


def test_given_a_question_that_only_looks_like_small_talk_when_read_then_it_is_none() -> None:
    assert {text: kind for language, text in NO_SMALL_TALK if (kind := small_talk(text, language))} == {}


ABOUT_LIBRARY = [
    "What documents do you have?",
    "which files are available",
    "Jaké dokumenty máš?",
    "Jake mas dokumenty",
    "Welche Dokumente hast du?",
    "आपके पास कौन से दस्तावेज़ हैं?",
    "आपके पास कौन-से दस्तावेज हैं",
    "¿Qué documentos tienes?",
    "Какие документы у вас есть?",
    "List all documents, please",
    "What can I ask you about?",
]


@each("text", ABOUT_LIBRARY)
def test_given_a_question_about_the_library_when_read_then_it_is_recognised(text: str) -> None:
    """S4-20: the library describes itself."""
    assert asks_about_library(text)


@each(
    "text",
    [
        "",
        "What documents must the supplier provide?",
        "What documents are available to the auditor?",
        "Jaké dokumenty musí dodavatel předložit?",
        "Welche Dokumente sind vorzulegen?",
        "आपूर्तिकर्ता को कौन से दस्तावेज़ देने हैं?",
        "List the documents named in clause 5",
        "Who are you required to inform?",
    ],
)
def test_given_a_question_about_documents_in_the_contents_when_read_then_it_is_not_about_the_library(text: str) -> None:
    """S4-20: nothing that must be looked up is answered without looking."""
    assert not asks_about_library(text)


@each(
    ("lang", "question", "expected"),
    [
        ("en", "Hello", "greeting"),
        ("cs", "Jaké dokumenty máte?", "about_library"),
        ("en", "How do I configure the API?", "procedural"),
        ("en", "What are the steps to terminate?", "procedural"),
        ("en", "How long is the notice period?", "factual"),
        ("en", "Compare plan A and plan B", "comparative"),
        ("en", "What is the difference between leave and absence?", "comparative"),
        ("en", "A versus B", "comparative"),
        ("cs", "Jak podat výpověď?", "procedural"),
        ("cs", "Jak dlouho trvá zkušební doba?", "factual"),
        ("cs", "Jaký je rozdíl mezi A a B?", "comparative"),
        ("de", "Wie kann ich kündigen?", "procedural"),
        ("de", "Wie lange muss ich warten?", "factual"),
        ("de", "Was ist der Unterschied?", "comparative"),
        ("hi", "मैं आवेदन कैसे करूँ?", "procedural"),
        ("hi", "दोनों में क्या अंतर है?", "comparative"),
        ("hi", "अवधि क्या है?", "factual"),
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
    ("lang", "question", "number"),
    [
        ("en", "How many days?", True),
        ("en", "What is the notice period?", True),
        ("en", "Who signed?", False),
        ("en", "Whenever", False),
        ("cs", "Kolik dní?", True),
        ("cs", "Jaká je výpovědní doba?", True),
        ("cs", "Kdo podepsal?", False),
        ("de", "Wie hoch ist der Preis?", True),
        ("de", "Wer zahlt?", False),
        ("hi", "कितने दिन?", True),
        ("hi", "कौन आया?", False),
        ("ru", "Сколько дней?", True),
        ("es", "¿Cuántos días?", True),
    ],
)
def test_given_a_question_for_an_amount_or_date_when_read_then_a_number_is_expected(
    lang: str, question: str, number: bool
) -> None:
    assert asks_number(question, lang) is number


@each(
    ("lang", "question", "sensitive"),
    [
        ("en", "What is the current rate?", True),
        ("en", "What is the rate?", False),
        ("cs", "Jaká je současná sazba?", True),
        ("de", "Was ist der aktuelle Satz?", True),
        ("hi", "वर्तमान दर क्या है?", True),
        ("hi", "दर क्या है?", False),
    ],
)
def test_given_a_question_for_the_present_state_when_read_then_recency_may_count(
    lang: str, question: str, sensitive: bool
) -> None:
    assert is_time_sensitive(question, lang) is sensitive


@each("read", [is_refusal, is_greeting, asks_about_library])
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
