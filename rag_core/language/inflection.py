"""Stems, lemmas and index terms, by which the inflected forms of a word meet.

Measured on the training questions of XQuAD (277 in each of en, de, es, hi, ru; BM25 alone): the stem of the lemma is
best or level in recall@5 (.986 to 1.000) but for Hindi, where the lemma alone has .003 more.

The dictionaries load on first use. In their low-memory form, which is used here: en 0.1 s 2 MB, cs 0.2 s 5 MB,
de 0.6 s 15 MB, ru 0.6 s 20 MB (the fast form takes 20 to 133 MB each); a word not yet cached costs about 25 µs.
"""

import threading
from functools import lru_cache

import Stemmer
from simplemma import Lemmatizer
from simplemma.strategies import DefaultStrategy, DictionaryLookupStrategy
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES
from simplemma.strategies.dictionaries.stream_dictionary_factory import StreamDictionaryFactory
from simplemma.utils import normalize_token

from rag_core.language.loader import grammar
from rag_core.language.words import MAX_WORD_CHARS, fold, word_texts

_CACHED_WORDS = 1 << 16  # results of each function that are remembered; chosen
# words whose forms are remembered, about 0.5 kB each; the passages of a question have some 600; chosen
_CACHED_FORMS = 1 << 13
# texts, and characters of one: a sentence, a passage; 3 MB as they come, 40 MB at most
_CACHED_TEXTS, _CACHED_CHARS = (
    1 << 12,
    2000,
)
_local = threading.local()
# As many as there are: simplemma's own keeps eight, and the ninth language of a library would have each of them read
# again and again.
dictionaries = StreamDictionaryFactory(cache_max_size=len(SUPPORTED_LANGUAGES))
_lookup = DictionaryLookupStrategy(dictionaries)
_lemmatizer = Lemmatizer(lemmatization_strategy=DefaultStrategy(dictionary_factory=dictionaries))


def _analysable(word: str) -> bool:
    # a letter is no digit: most words are told without a look at each character
    return len(word) <= MAX_WORD_CHARS and (word.isalpha() or not any(character.isdigit() for character in word))


def _stemmer(algorithm: str) -> Stemmer.Stemmer:
    """This thread's stemmer: a Snowball stemmer keeps state while it works and must not be shared."""
    stemmers = _local.__dict__.setdefault("stemmers", {})
    if algorithm not in stemmers:
        stemmers[algorithm] = Stemmer.Stemmer(algorithm, 0)
    return stemmers[algorithm]


def _raw_stem(word: str, language: str) -> str:
    algorithm = grammar(language).stemmer
    return str(_stemmer(algorithm).stemWord(word)) if algorithm else word


def _raw_lemma(word: str, language: str) -> str:
    if language not in SUPPORTED_LANGUAGES:
        return word
    return str(_lemmatizer.lemmatize(word, language)).lower()


@lru_cache(maxsize=_CACHED_WORDS)
def _stem(word: str, language: str) -> str:
    return fold(_raw_stem(word, language))


@lru_cache(maxsize=_CACHED_WORDS)
def _lemma(word: str, language: str) -> str:
    return fold(_raw_lemma(word, language))


@lru_cache(maxsize=_CACHED_WORDS)
def _stem_of_lemma(word: str, language: str) -> str:
    return fold(_raw_stem(_raw_lemma(word, language), language))


def stem(word: str, lang: str) -> str:
    """The word's Snowball stem, folded; with digits, or without a stemmer, only folded."""
    return _stem(word.lower(), lang) if _analysable(word) else fold(word)


def lemma(word: str, lang: str) -> str:
    """The word's dictionary form, folded; with digits, or without a dictionary, only folded."""
    return _lemma(word.lower(), lang) if _analysable(word) else fold(word)


@lru_cache(maxsize=_CACHED_WORDS)
def is_known(word: str, lang: str) -> bool:
    """Whether a language's dictionary has the word; with digits, or without a dictionary, it does."""
    return (
        not _analysable(word)
        or lang not in SUPPORTED_LANGUAGES
        or _lookup.get_lemma(normalize_token(word), lang) is not None
    )


def term(word: str, lang: str) -> str:
    """The index term of one word: the stem of its lemma, folded. Words with digits are only folded."""
    return _stem_of_lemma(word.lower(), lang) if _analysable(word) else fold(word)


def terms(text: str, lang: str) -> list[str]:
    """The index terms of a text, one per word, also negations, in order; "½" gives those of "1/2"."""
    return list(_terms_of_short(text, lang)) if len(text) <= _CACHED_CHARS else _terms(text, lang)


def _terms(text: str, lang: str) -> list[str]:
    found: list[str] = []
    for word in word_texts(text):
        # a document has most of its words many times
        found += _parts_of_short(word, lang) if len(word) <= MAX_WORD_CHARS and word.isalpha() else _parts(word, lang)
    return found


@lru_cache(maxsize=_CACHED_TEXTS)
def _terms_of_short(text: str, lang: str) -> tuple[str, ...]:
    """A question reads the same sentences, passages and titles several times, and the next one many of them again."""
    return tuple(_terms(text, lang))


def _parts(word: str, lang: str) -> list[str]:
    return [part for part in term(word, lang).split("\u2044") if part]


_parts_of_short = lru_cache(maxsize=_CACHED_WORDS)(_parts)


def forms(word: str, lang: str) -> frozenset[str]:
    """The folded word, its stem, its lemma and its lemma's stem. Two words match when their forms intersect."""
    return _forms_of_short(word, lang) if len(word) <= MAX_WORD_CHARS else _forms(word, lang)


def _forms(word: str, lang: str) -> frozenset[str]:
    return frozenset((fold(word), stem(word, lang), lemma(word, lang), term(word, lang)))


_forms_of_short = lru_cache(maxsize=_CACHED_FORMS)(_forms)
