"""The words of a question that carry its content, and the default synonyms."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

import regex

from rag_core.language.inflection import forms, term
from rag_core.language.loader import LANGUAGES
from rag_core.language.words import Word, fold, words

#: Shortest keyword in characters ("longer than 3" in the specification). Scripts that write vowels as marks or
#: syllables say more in fewer.
MIN_KEYWORD_CHARS = 4
MIN_KEYWORD_CHARS_ABUGIDA = 3

_ALPHABETIC = regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Greek}\p{Nd}]")
_SYLLABIC = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")


@lru_cache(maxsize=64)
def _folded_function_words(lang: str) -> frozenset[str]:
    return frozenset(fold(word) for word in LANGUAGES[lang].function_words)


def _content_words(question: str, lang: str) -> list[Word]:
    """The words that are neither question words nor stop words; an acronym is never one of them ("WHO", "IT").

    A question without any diacritics is compared without them; otherwise they count ("být" is "to be", "byt" a flat).
    """
    found = words(question)
    if lang not in LANGUAGES:
        return found
    function_words = _folded_function_words(lang) if question.isascii() else LANGUAGES[lang].function_words
    shouted = question.isupper()
    return [
        word
        for word in found
        if word.text.lower() not in function_words or (len(word.text) > 1 and word.text.isupper() and not shouted)
    ]


def _long_enough(word: str) -> bool:
    if _ALPHABETIC.search(word):
        return len(word) >= MIN_KEYWORD_CHARS
    return bool(_SYLLABIC.search(word)) or len(word) >= MIN_KEYWORD_CHARS_ABUGIDA


def keywords(question: str, lang: str, *, asking: bool = True) -> list[str]:
    """The question's keywords as written, in order, each once: content words longer than 3 characters; perhaps none.

    Combining marks count as characters; 3 suffice in Devanagari and other scripts that write vowels as marks, 1 in Han
    or kana. `asking` counts the words by which it asks ("Explain photosynthesis in plants"), as where nothing else is a
    keyword.
    """
    kept: dict[str, str] = {}
    found = _content_words(question, lang)
    for word in found if asking else _without_asking(_without_measures(found, question, lang), lang):
        if _long_enough(word.text):
            kept.setdefault(fold(word.text), word.text)
    return list(kept.values()) if kept or asking else keywords(question, lang)


def _without_measures(found: list[Word], question: str, lang: str) -> list[Word]:
    asked = LANGUAGES[lang].measures if lang in LANGUAGES else ()
    behind = {
        second for first, second in pairwise(words(question)) if f"{fold(first.text)} {fold(second.text)}" in asked
    }
    return [word for word in found if word not in behind]


def _without_asking(found: list[Word], lang: str) -> list[Word]:
    if lang not in LANGUAGES or not found:
        return found
    info = LANGUAGES[lang]
    at, rest = (-1, found[:-1]) if info.asking_last else (0, found[1:])
    return rest if fold(found[at].text) in info.asking else found


def content_terms(question: str, lang: str) -> list[str]:
    """Like `terms`, without question words and stop words. Short words, numbers, codes and negations stay."""
    return [part for word in _content_words(question, lang) for part in term(word.text, lang).split("\u2044") if part]


@lru_cache(maxsize=64)
def synonyms(lang: str) -> Mapping[str, tuple[str, ...]]:
    """The default synonyms of a language: each of a word's `forms` -> the other words of its groups."""
    groups = LANGUAGES[lang].synonym_groups if lang in LANGUAGES else ()
    table: dict[str, tuple[str, ...]] = {}
    for group in groups:
        for word in group:
            others = tuple(other for other in group if other != word)
            for key in forms(word, lang):
                table[key] = table.get(key, ()) + others
    return MappingProxyType(table)
