"""Language handling for retrieval, gates, extraction and refusals.

Every function is pure and safe to call from threads.

`lang` is an ISO 639-1 code, or "und". Any language in principle: what a language has no list, stemmer or dictionary for
falls back to folded words and English phrases. This package alone imports simplemma, PyStemmer, sentencex and
py3langid.
"""

from rag_core.language.dates import Date, Day, dates, months
from rag_core.language.detection import canonical, certain_language, detect, question_language
from rag_core.language.fact_words import DatedWords, FactWords, TimeWords, ValueRows
from rag_core.language.inflection import forms, is_known, lemma, stem, term, terms
from rag_core.language.keywords import content_terms, keywords, synonyms
from rag_core.language.loader import FALLBACK, LANGUAGES, any_language, grammar, limit_words
from rag_core.language.orders import holds_order, is_order
from rag_core.language.phrases import (
    greeting_language,
    intent,
    is_refusal,
    is_time_sensitive,
    leans,
    refusal,
    spoken_of_nowhere,
    unsure,
)
from rag_core.language.question_words import AskedWords, FollowUpWords
from rag_core.language.schema import LanguageInfo
from rag_core.language.sentences import ends_in_question, sentences
from rag_core.language.statement_words import ComparedWords
from rag_core.language.string_similarity import alike, string_similarity
from rag_core.language.values import spaced
from rag_core.language.words import Word, ascii_digits, fold, unspaced, word_texts, words

__all__ = [
    "FALLBACK",
    "LANGUAGES",
    "AskedWords",
    "ComparedWords",
    "Date",
    "DatedWords",
    "Day",
    "FactWords",
    "FollowUpWords",
    "LanguageInfo",
    "TimeWords",
    "ValueRows",
    "Word",
    "alike",
    "any_language",
    "ascii_digits",
    "canonical",
    "certain_language",
    "content_terms",
    "dates",
    "detect",
    "ends_in_question",
    "fold",
    "forms",
    "grammar",
    "greeting_language",
    "holds_order",
    "intent",
    "is_known",
    "is_order",
    "is_refusal",
    "is_time_sensitive",
    "keywords",
    "leans",
    "lemma",
    "limit_words",
    "months",
    "question_language",
    "refusal",
    "sentences",
    "spaced",
    "spoken_of_nowhere",
    "stem",
    "string_similarity",
    "synonyms",
    "term",
    "terms",
    "unspaced",
    "unsure",
    "word_texts",
    "words",
]
