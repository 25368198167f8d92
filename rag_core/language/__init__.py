"""Language handling for retrieval, gates, extraction and refusals; pure, and safe to call from threads.

`lang` is an ISO 639-1 code, or "und". What a language has no list, stemmer or dictionary for falls back to folded words
and English phrases. This package alone imports simplemma, PyStemmer, sentencex and py3langid.
"""

from rag_core.language.dates import Date as Date
from rag_core.language.dates import Day as Day
from rag_core.language.dates import dates as dates
from rag_core.language.dates import months as months
from rag_core.language.detection import canonical as canonical
from rag_core.language.detection import certain_language as certain_language
from rag_core.language.detection import detect as detect
from rag_core.language.detection import question_language as question_language
from rag_core.language.fact_words import DatedWords as DatedWords
from rag_core.language.fact_words import FactWords as FactWords
from rag_core.language.fact_words import TimeWords as TimeWords
from rag_core.language.fact_words import ValueRows as ValueRows
from rag_core.language.inflection import forms as forms
from rag_core.language.inflection import is_known as is_known
from rag_core.language.inflection import lemma as lemma
from rag_core.language.inflection import stem as stem
from rag_core.language.inflection import term as term
from rag_core.language.inflection import terms as terms
from rag_core.language.keywords import content_terms as content_terms
from rag_core.language.keywords import keywords as keywords
from rag_core.language.keywords import synonyms as synonyms
from rag_core.language.loader import FALLBACK as FALLBACK
from rag_core.language.loader import LANGUAGES as LANGUAGES
from rag_core.language.loader import any_language as any_language
from rag_core.language.loader import grammar as grammar
from rag_core.language.loader import limit_words as limit_words
from rag_core.language.orders import holds_order as holds_order
from rag_core.language.orders import is_order as is_order
from rag_core.language.phrases import greeting_language as greeting_language
from rag_core.language.phrases import intent as intent
from rag_core.language.phrases import is_refusal as is_refusal
from rag_core.language.phrases import is_time_sensitive as is_time_sensitive
from rag_core.language.phrases import leans as leans
from rag_core.language.phrases import refusal as refusal
from rag_core.language.phrases import spoken_of_nowhere as spoken_of_nowhere
from rag_core.language.phrases import unsure as unsure
from rag_core.language.question_words import AskedWords as AskedWords
from rag_core.language.schema import LanguageInfo as LanguageInfo
from rag_core.language.sentences import ends_in_question as ends_in_question
from rag_core.language.sentences import sentences as sentences
from rag_core.language.statement_words import ComparedWords as ComparedWords
from rag_core.language.string_similarity import alike as alike
from rag_core.language.string_similarity import string_similarity as string_similarity
from rag_core.language.values import spaced as spaced
from rag_core.language.words import Word as Word
from rag_core.language.words import ascii_digits as ascii_digits
from rag_core.language.words import fold as fold
from rag_core.language.words import unspaced as unspaced
from rag_core.language.words import word_texts as word_texts
from rag_core.language.words import words as words
