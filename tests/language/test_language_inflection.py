"""Stems, lemmas, terms and forms; keywords and synonyms."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from folding import each
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.language import LANGUAGES, content_terms, fold, forms, keywords, lemma, stem, synonyms, term, terms, words
from rag_core.language.inflection import _stem, _stem_of_lemma, dictionaries

LANGS = ["en", "cs", "de", "hi", "es", "ru", "und", "zh", "../en"]
# Letters whose upper and lower case forms are one to one, so that "other case" is well defined.
CASED = st.text(
    alphabet="abcdefghijklmnopqrstuvwxyzáčďéěíňóřšťúůýžäöüñабвгдежзийклмнопрстуфхцчшщыьэюя कखगिा0123456789.,-",
    max_size=40,
)


def meet(one: str, other: str, lang: str) -> bool:
    return bool(forms(one, lang) & forms(other, lang))


@settings(deadline=None, derandomize=True, max_examples=40)
@given(CASED, st.sampled_from(LANGS))
def test_given_any_text_when_its_case_changes_then_its_terms_do_not(text: str, lang: str) -> None:
    assert terms(text.upper(), lang) == terms(text, lang) == terms(text.title(), lang)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.text(max_size=60) | CASED, st.sampled_from(LANGS))
def test_given_any_text_when_indexed_then_its_terms_are_those_of_its_words_in_order(text: str, lang: str) -> None:
    text = f"{text} Straße 5 km² ½ 中文字 {'x' * 70} {text}"
    parts = [part for word in words(text) for part in term(word.text, lang).split("\u2044") if part]

    assert terms(text, lang) == parts
    assert terms(text, lang) == parts  # from what is remembered, too


def test_given_words_of_every_language_then_no_dictionary_is_read_twice() -> None:
    """One takes up to two seconds; simplemma by itself keeps eight, and there are ten languages."""
    read = {lang: dictionaries.get_dictionary(lang) for lang in LANGUAGES}

    assert [lang for lang in LANGUAGES if dictionaries.get_dictionary(lang) is not read[lang]] == []


@each(
    ("printed", "typed"),
    [
        ("n² + n", "n2 + n"),
        ("Sₙ = n²", "Sn = n^2"),
        ("10²", "10^2"),
        ("2½ l", "2 1/2 l"),
        ("⅟ of 5", "1 of 5"),
        ("the warranty²", "the warranty 2"),
    ],
)
def test_given_a_formula_as_printed_and_as_typed_when_indexed_then_their_terms_are_equal(
    printed: str, typed: str
) -> None:
    assert terms(printed, "en") == terms(typed, "en")
    assert content_terms(printed, "en") == content_terms(typed, "en")


@each(
    ("lang", "one", "other"),
    [
        ("cs", "smlouvu", "Smlouva"),
        ("cs", "vypovědět", "vypovězena"),
        ("cs", "plnění", "PLNENI"),
        ("de", "Verträge", "Vertrag"),
        ("de", "gekündigt", "kündigen"),
        ("en", "went", "go"),
        ("en", "terminations", "termination"),
        ("hi", "महीने", "महीना"),
        ("ru", "договора", "договоре"),
    ],
)
def test_given_inflected_forms_when_compared_then_they_meet(lang: str, one: str, other: str) -> None:
    """S0-16: inflected forms match by lemma or stem."""
    assert meet(one, other, lang)


@each(
    ("lang", "one", "other"),
    [
        ("cs", "riziko", "smlouva"),
        ("en", "1,250", "1,251"),
        ("hi", "अवधि", "माह"),
    ],
)
def test_given_different_words_when_compared_then_they_do_not_meet(lang: str, one: str, other: str) -> None:
    """S0-16: matching inflected forms does not make unrelated words match."""
    assert not meet(one, other, lang)


@each("word", ["2024", "1,250.5", "24b", "A4", "24měsíčního", "a" * 60 + "ations", "९९"])
def test_given_numbers_codes_and_endless_words_when_analysed_then_they_are_only_folded(word: str) -> None:
    for lang in LANGS:
        assert stem(word, lang) == lemma(word, lang) == term(word, lang) == fold(word)


@each("lang", ["und", "zh", "", "../en", "xx"])
def test_given_a_language_nobody_knows_when_analysed_then_words_are_only_folded(lang: str) -> None:
    assert terms("Záruční DOBA", lang) == ["zarucni", "doba"]
    assert keywords("Jaká je záruční doba?", lang) == ["Jaká", "záruční", "doba"]
    assert synonyms(lang) == {}


def test_given_many_threads_when_stemming_then_every_thread_gets_what_one_thread_gets() -> None:
    vocabulary = [
        f"{beginning}{ending}"
        for beginning in ("smlouv", "lhůt", "měsíc", "vertrag", "kündig")
        for ending in ("a", "u", "ou", "ách", "en", "ungen")
    ]
    expected = [(_stem.__wrapped__(word, "cs"), _stem_of_lemma.__wrapped__(word, "de")) for word in vocabulary]

    with ThreadPoolExecutor(8) as pool:
        rounds = pool.map(
            lambda _: [(_stem.__wrapped__(w, "cs"), _stem_of_lemma.__wrapped__(w, "de")) for w in vocabulary], range(40)
        )

        assert all(found == expected for found in rounds)


@each(
    ("question", "expected"),
    [
        ("Jaké riziko smlouva představuje?", ["riziko", "smlouva", "představuje"]),
        ("Jaká je doba plnění?", ["doba", "plnění"]),
        ("Za jakých podmínek lze smlouvu vypovědět?", ["podmínek", "smlouvu", "vypovědět"]),
        ("Kdo je to?", []),
    ],
)
def test_given_a_czech_question_when_reduced_to_keywords_then_question_words_and_short_words_are_gone(
    question: str, expected: list[str]
) -> None:
    """S0-9, S0-15: content words longer than 3 characters, without jaké, jaká, jakých."""
    assert keywords(question, "cs") == expected


@each(
    ("lang", "question", "expected"),
    [
        ("en", "Explain photosynthesis in plants", ["photosynthesis", "plants"]),
        ("en", "List the suppliers", ["suppliers"]),
        ("en", "Explain", ["Explain"]),
        ("cs", "Vysvětlete pojem nájem", ["pojem", "nájem"]),
        ("hi", "प्रकाश संश्लेषण समझाइए", ["प्रकाश", "संश्लेषण"]),
        ("en", "How long does the warranty run?", ["warranty"]),
        ("en", "How long is a long weekend?", ["long", "weekend"]),
        ("en", "How long?", ["long"]),
        ("cs", "Jak dlouho trvá záruka?", ["trvá", "záruka"]),
        ("en", "", []),
    ],
)
def test_given_a_verb_by_which_a_question_asks_then_the_guard_does_not_look_for_it(
    lang: str, question: str, expected: list[str]
) -> None:
    """S0-9, S0-15: "explain", "how long" are no content of the question, unless nothing else is; calibrated scores have
    them as before.
    """
    assert keywords(question, lang, asking=False) == expected
    assert set(expected) <= set(keywords(question, lang))


@each(
    ("lang", "question", "expected"),
    [
        ("en", "What is the notice period?", ["notice", "period"]),
        ("de", "Welche Kündigungsfrist gilt für den Mietvertrag?", ["Kündigungsfrist", "gilt", "Mietvertrag"]),
        ("hi", "अनुबंध की अवधि क्या है?", ["अनुबंध", "अवधि"]),
        ("zh", "合同期限 24", ["合同", "期限"]),
    ],
)
def test_given_questions_in_other_languages_when_reduced_then_their_own_stop_words_go(
    lang: str, question: str, expected: list[str]
) -> None:
    """S0-9, S0-15: per language; in Devanagari 3 characters suffice."""
    assert keywords(question, lang) == expected


def test_given_a_word_that_differs_from_a_stop_word_by_a_diacritic_when_reduced_then_it_stays() -> None:
    assert content_terms("Čí má být ten byt?", "cs") == ["byt"]


def test_given_negations_numbers_and_acronyms_when_reduced_to_content_terms_then_they_stay() -> None:
    assert content_terms("What must not be paid to WHO in 2023 without notice?", "en") == [
        "must",
        "not",
        "pay",
        "who",
        "2023",
        "without",
        "notic",
    ]
    assert content_terms("WHAT IS THE PRICE?", "en") == ["price"]
    assert content_terms("May I pay A fee?", "en") == ["may", "pay", "fee"]


def test_given_a_synonym_list_when_a_word_is_looked_up_by_lemma_then_the_others_of_its_group_come() -> None:
    """S0-35: a synonym list for keywords."""
    assert {"úplata", "částka"} <= set(synonyms("cs")[lemma("cenu", "cs")])
    assert {"pay", "wage"} <= set(synonyms("en")[lemma("salaries", "en")])
    assert {"Preis", "Kosten"} <= set(synonyms("de")[term("Gebühren", "de")]) & set(
        synonyms("de")[lemma("Gebühr", "de")]
    )
    for lang in ("cs", "en", "de", "hi"):
        for word, others in synonyms(lang).items():
            assert word
            assert others
            assert word not in others
