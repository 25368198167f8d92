"""Questions that ask for more than finding: a ratio, a change, a judgement, a summary, what stands on page 3.

No sentence of a document answers these unless one states the result. The kinds and their words stand in the language
files; a kind is told where the words leave little doubt, and a question without such words has none.
"""

from __future__ import annotations

from functools import lru_cache

from rag_core.gating.stated import MAX_CHARS, asked_words
from rag_core.language import spaced
from rag_core.retrieval.query import expand

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
    """Whether a `spaced` text has words for a result of a kind of `FIGURED`: "rose by", "on average", "ratio"; true of
    any other kind.

    The words that ask for it count too: the row "ROE" states what "What was the ROE?" asks for.
    """
    if kind not in FIGURED:
        return True
    words = asked_words(language)
    return any(pattern and pattern.search(said) for pattern in (words.results.get(kind), words.computes.get(kind)))


def computed_in_words(kind: str) -> str:
    """Why no sentence answers such a question, and what to ask instead; for the kinds of `COMPUTED`."""
    return f"{COMPUTED[kind]} {_STEPS.get(kind, _EACH)}"
