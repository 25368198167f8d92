"""The two questions in one: "How large is a plot, and how high may a hut be?"."""

from __future__ import annotations

from rag_core.conversation.rules import capital, rewritten
from rag_core.language import (
    LANGUAGES,
    content_terms,
    ends_in_question,
    is_time_sensitive,
    leans,
    sentences,
    words,
)
from rag_core.retrieval.query import core

LEAST_WORDS = 3  # in a half; "and when?" asks for one more thing of the same sentence; chosen
MARKS = " ,;:?？؟"


def halves(question: str, language: str) -> tuple[str, str] | None:
    """Both questions, each as it stands alone; None where it is one question, or nobody is sure what the second one
    leans on.

    They are two sentences that ask, or one that has a question word at the head of either side of an "and".
    """
    asked = core(question, language)
    found = [asked[start:end] for start, end in sentences(asked, language) if ends_in_question(asked[start:end])]
    if len(found) > 2:
        return None
    pair = (found[0], found[1]) if len(found) == 2 else _at_and(asked, language)
    if pair is None or min(len(words(one)) for one in pair) < LEAST_WORDS or any(leans(one, language) for one in pair):
        return None
    first, second = pair
    leaning = rewritten(second, first, language)
    if leaning is not None:
        return (first, leaning.text) if leaning.sure else None
    # "how many are there now"
    says_what = any(not is_time_sensitive(term, language) for term in content_terms(second, language))
    return (first, second) if says_what else None


def _at_and(asked: str, language: str) -> tuple[str, str] | None:
    info = LANGUAGES.get(language)
    known, joints = (info.question_words, info.conjunctions) if info else (frozenset[str](), ())
    tokens = words(asked)
    # a question word may stand anywhere
    behind = info is not None and info.follow_ups is not None and info.follow_ups.behind
    for at, word in enumerate(tokens):
        left, right = tokens[:at], tokens[at + 1 :]
        heads = (left, right) if behind else (left[:2], right[:2])
        if word.text.lower() in joints and all(any(one.text.lower() in known for one in head) for head in heads):
            first, second = asked[: word.start].strip(MARKS), asked[word.end :].strip(MARKS)
            return f"{first}?", capital(f"{second}?")
    return None
