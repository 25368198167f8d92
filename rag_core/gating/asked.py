"""The words of a question, and whether it asks for more than finding: a ratio, a change, a judgement, a summary, what
stands on page 3. No sentence of a document answers these unless one states the result.

Read from the words that a language's file lists under `[asked]`. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

import regex

from rag_core.language import LANGUAGES, AskedWords, ends_in_question, fold, spaced
from rag_core.retrieval.query import MAX_CHARS, expand, prepared

#: Each kind and what a refusal says of it. Of several that a question has words for, the first counts.
COMPUTED = {
    "summary": "It asks for a summary of a whole document, and answers are single facts that a document states.",
    "picture": "It asks about a picture or chart, and only the text of the documents is read.",
    "layout": "It asks what stands at a place of a document, and the documents are searched by what they say.",
    "items": "It asks how many things of a kind a document has, and these would have to be counted.",
    "change": "It asks how something changed, and this must be computed from several figures.",
    "difference": "It asks for a difference, and this needs several statements side by side, or a calculation.",
    "ratio": "It asks for a ratio, and this must be computed from several figures.",
    "average": "It asks for an average, and this must be computed from several figures.",
    "sum": "It asks for a sum, and this must be computed from several figures.",
    "comparison": "It asks for a comparison, and this needs several statements side by side.",
    "extreme": "It asks for the highest or lowest of many, and these would have to be compared.",
    "judgement": "It asks for a judgement, and only what the documents state can be cited.",
    "other": "It asks for a calculation, and this must be computed from several figures.",
}
FIGURED = frozenset({"change", "ratio", "average"})  # a figure that a text either states in words for it or lacks
_EACH = "Ask for each of them by itself."
_STEPS = {
    "summary": "Ask for one of them.",
    "picture": "Ask for what the text says of it.",
    "layout": "Ask for what it says.",
    "items": "Ask what they are.",
    "judgement": "Ask for the facts that it would rest on.",
}


@lru_cache(maxsize=1 << 10)
def asks_to_compute(question: str, language: str) -> str:
    """The kind of `COMPUTED` that a question asks for, or empty; also in a language without a list. Never raises."""
    computes = asked_words(language).computes
    said = spaced(expand(question[:MAX_CHARS])) if computes else ""
    return next((kind for kind in COMPUTED if (pattern := computes.get(kind)) and pattern.search(said)), "")


def states_result(kind: str, said: str, language: str) -> bool:
    """Whether a `spaced` text has words for a result of a kind of `FIGURED`, also those that ask for it."""
    if kind not in FIGURED:
        return True
    words = asked_words(language)
    return any(pattern and pattern.search(said) for pattern in (words.results.get(kind), words.computes.get(kind)))


def computed_in_words(kind: str) -> str:
    """Why no sentence answers such a question, and what to ask instead; for the kinds of `COMPUTED`."""
    return f"{COMPUTED[kind]} {_STEPS.get(kind, _EACH)}"


KEY_CHARS = 5  # compared from the beginning of a word, so that inflected forms meet; chosen
WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++")


@dataclass(frozen=True, slots=True)
class AskedFor:
    """The words of a question, folded, and the kind of `COMPUTED` that it asks for, or empty."""

    words: frozenset[str]
    computes: str = ""


@lru_cache(maxsize=1 << 10)
def asked_for(question: str, language: str) -> AskedFor:
    """The words of a question's first 4,000 characters, and what it asks to compute; never raises."""
    words = frozenset(folded(prepared(question[:MAX_CHARS], language)))
    return AskedFor(words, asks_to_compute(question, language))


@cache
def asked_words(language: str) -> AskedWords:
    """The words of a language that tell what is asked for; none of one without a list."""
    info = LANGUAGES.get(language)
    return (info.asked if info else None) or AskedWords()


@cache
def small_words(language: str) -> frozenset[str]:
    """The folded question words and stop words of a language; none of an unknown one."""
    return frozenset(map(fold, LANGUAGES[language].function_words)) if language in LANGUAGES else frozenset()


def beginnings(words: Iterable[str]) -> frozenset[str]:
    """The beginnings of folded words, by which inflected forms meet."""
    return frozenset(word[:KEY_CHARS] for word in words)


def folded(text: str) -> list[str]:
    return [fold(word) for word in WORD.findall(text)]


@lru_cache(maxsize=1 << 13)
def asks(text: str, language: str) -> bool:
    """Whether a sentence of a document asks or sets a task: "Why two keys?", "Find the sum of all terms."."""
    if ends_in_question(text):
        return True
    tasks = asked_words(language).tasks
    return tasks is not None and tasks.search(spaced(text)) is not None
