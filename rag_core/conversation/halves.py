"""The two questions in one: "How large is a plot, and how high may a hut be?"."""

from __future__ import annotations

from rag_core.language import (
    LANGUAGES,
    content_terms,
    ends_in_question,
    fold,
    is_time_sensitive,
    leans,
    sentences,
    words,
)
from rag_core.retrieval.query import core

LEAST_WORDS = 3  # in a half; "and when?" asks for one more thing of the same sentence; chosen
_MARKS = " ,;:?？؟"


def halves(question: str, language: str) -> tuple[str, str] | None:
    """Both questions, each as it is typed; None where it is one.

    They are two sentences that ask, or one with a question word behind an "and", that begins with one or with a verb.
    """
    asked = core(question, language)
    found = [asked[start:end] for start, end in sentences(asked, language) if ends_in_question(asked[start:end])]
    if len(found) > 2:
        return None
    pair = (found[0], found[1]) if len(found) == 2 else _at_and(asked, language)
    if pair is None or min(len(words(one)) for one in pair) < LEAST_WORDS or any(leans(one, language) for one in pair):
        return None
    first, second = pair
    # "how many are there now"
    says_what = any(not is_time_sensitive(term, language) for term in content_terms(second, language))
    return (first, second) if says_what else None


def _at_and(asked: str, language: str) -> tuple[str, str] | None:
    info = LANGUAGES.get(language)
    if info is None:
        return None
    tokens = words(asked)
    verbs = info.follow_ups.auxiliaries if info.follow_ups else frozenset[str]()
    # a question word may stand anywhere
    head = len(tokens) if info.follow_ups and info.follow_ups.behind else 2
    for at, word in enumerate(tokens):
        if word.text.lower() not in info.conjunctions or not at:
            continue
        left, right = ({one.text.lower() for one in part[:head]} for part in (tokens[:at], tokens[at + 1 :]))
        # "May I park here and what does it cost?", not "Are members who are ill and who do not pay expelled?"
        verb = asked.startswith("¿") or fold(tokens[0].text) in verbs
        yes_or_no = verb and not any(one.text.lower() in info.question_words for one in tokens[:at])
        if right & info.question_words and (left & info.question_words or yes_or_no):
            first, second = asked[: word.start].strip(_MARKS), asked[word.end :].strip(_MARKS)
            return f"{first}?", capital(f"{second}?")
    return None


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
