"""Answers that need no retrieval: a greeting, and a list of the library's documents, from its own records only."""

from __future__ import annotations

from rag_core.domain.measurements import LibraryFacts
from rag_core.language import FALLBACK, LANGUAGES

MAX_COUNT = 20  # documents named; the rest are counted


def reply(intent: str, language: str, facts: LibraryFacts) -> str:
    """The reply to a greeting or to a question about the library, in the question's language, English otherwise."""
    said = LANGUAGES.or_fallback(language).replies or LANGUAGES[FALLBACK].replies
    assert said is not None, "the English file has replies"
    if intent == "greeting":
        return said.greeting
    if not facts.documents:
        return said.nothing
    head = said.holds.format(documents=facts.documents, pages=facts.pages)
    titles = sorted(facts.titles.values(), key=str.casefold)
    listed = [f"- {title}" for title in titles[:MAX_COUNT]]
    if len(titles) > MAX_COUNT:
        listed.append(f"- … + {len(titles) - MAX_COUNT}")
    return "\n".join([head, *listed])
