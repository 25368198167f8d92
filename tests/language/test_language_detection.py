"""The language of documents and questions."""

from __future__ import annotations

from folding import each
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.language import canonical, certain_language, detect, question_language

QUESTIONS = {
    "hi": ["अनुबंध की अवधि क्या है?", "वारंटी", "Knowledge Graph क्या है?", "API की सीमा कितनी है?"],
    "ru": ["Какой срок договора?", "Кто платит?", "Что такое RAG?"],
}
CASES = [(lang, question) for lang, questions in QUESTIONS.items() for question in questions]


@each("documents", [[], ["en"], ["cs"], ["de"], ["hi"], ["cs", "de"], ["uk"]], ids="+".join)
@each(("lang", "question"), CASES)
def test_given_a_typical_question_when_asked_of_documents_in_any_language_then_its_own_is_found(
    lang: str, question: str, documents: list[str]
) -> None:
    assert question_language(question, documents) == lang


@each(
    ("question", "documents", "expected"),
    [
        ("záruka?", ["cs"], "cs"),
        ("garantía", ["es"], "es"),
        ("гарантія", ["uk"], "uk"),
        ("гарантия?", ["ru", "uk"], "ru"),
        ("शुल्क", ["mr"], "mr"),
        ("smlouva", ["cs", "hi"], "cs"),
    ],
)
def test_given_a_question_of_one_word_when_asked_then_the_documents_of_its_script_decide(
    question: str, documents: list[str], expected: str
) -> None:
    assert question_language(question, documents) == expected


@each("text", ["", " ", "123 456", "§ 5 %", "?!", "\x00", "\u0301", "😀"])
def test_given_no_letters_when_detecting_then_the_language_is_undetermined(text: str) -> None:
    assert detect(text) == "und"
    assert question_language(text, ["cs"]) == "und"


@each(
    ("text", "expected"),
    [
        ("The supplier shall deliver the goods within thirty days of the order.", "en"),
        ("Dodavatel je povinen dodat zboží do třiceti dnů od objednávky.", "cs"),
        ("Договір діє два роки і може бути розірваний (see the terms of the site).", "uk"),
        ("Zmluva je platná.", "sk"),
        ("Der Lieferant liefert die Ware innerhalb von dreißig Tagen.", "de"),
        ("आपूर्तिकर्ता तीस दिनों के भीतर माल की आपूर्ति करेगा।", "hi"),
        ("हा करार दोन वर्षांसाठी आहे आणि तो रद्द केला जाऊ शकतो.", "mr"),
        ("Поставщик обязан поставить товар в течение тридцати дней.", "ru"),
        ("De overeenkomst is gesloten voor een periode van twee jaar en kan worden opgezegd.", "nl"),
    ],
)
def test_given_a_sentence_of_a_document_when_detecting_then_its_language_is_found(text: str, expected: str) -> None:
    assert detect(text) == expected


@each(
    ("text", "expected"),
    [
        ("Η σύμβαση ισχύει για δύο έτη και μπορεί να καταγγελθεί. See the terms of the site.", "el"),
        ("Όροι χρήσης και προστασία: the terms", "el"),
        ("本规定适用于所有学生，自发布之日起施行。参见 the rules of the school。", "zh"),
    ],
)
def test_given_a_text_with_words_of_another_script_when_detecting_then_its_own_script_decides(
    text: str, expected: str
) -> None:
    """Issue 47, 8: Greek was Quechua and Latin, by a few English words in it."""
    assert detect(text) == question_language(text, ["en"]) == expected


@settings(deadline=None, derandomize=True)
@given(st.text(max_size=60), st.lists(st.sampled_from(["en", "cs", "hi", "xx", ""]), max_size=3))
def test_given_any_text_when_detecting_then_a_two_letter_code_or_und_comes(text: str, documents: list[str]) -> None:
    for found in (detect(text), question_language(text, documents)):
        assert found in (*documents, "und") or (len(found) == 2 and found.isalpha())


@each("text", ["a" * 1_000_000, "\u202eאבג", "Jaká " * 100_000, "\ud800 abc"])
def test_given_hostile_text_when_detecting_then_a_language_comes(text: str) -> None:
    assert len(detect(text)) == 2


@each(
    ("text", "language"),
    [
        ("The notice period is two months.", "en"),
        ("Výpovědní doba činí dva měsíce.", "cs"),
        ("Die Kündigungsfrist beträgt zwei Monate.", "de"),
        ("सूचना अवधि दो महीने है।", "hi"),
        ("Výpovedná lehota je dva mesiace.", ""),  # Slovak, and nearly Czech
        ("Срок уведомления составляет два месяца.", ""),  # Russian, and nearly Bulgarian
        ("Österreichische Nationalbank, Großglockner Hochalpenstraße", ""),
        ("Příbram, Žďár, Kroměříž: 320, 2024", ""),
        ("", ""),
    ],
)
def test_given_a_sentence_then_its_language_is_said_only_where_it_is_certain(text: str, language: str) -> None:
    """S2-23: names and numbers are of no language."""
    assert certain_language(text) == language


@each(
    ("declared", "known"),
    [
        ("nb", "no"),
        ("ces", "cs"),
        ("de-AT", "de"),
        ("zh_Hant", "zh"),
        ("Czech", ""),
        ("", ""),
    ],
)
def test_given_a_declared_code_then_it_is_the_one_that_detection_would_give_or_none(declared: str, known: str) -> None:
    assert canonical(declared) == known


def test_given_either_written_norwegian_when_detecting_then_it_is_one_language() -> None:
    """A question in one form is no question across languages for a document in the other."""
    bokmål, nynorsk = "Hvor mange feriedager har jeg krav på hvert år?", "Kor mange feriedagar har eg krav på kvart år?"

    assert {question_language(text, ["no"]) for text in (bokmål, nynorsk)} == {"no"}
    assert detect(nynorsk) == "no"
