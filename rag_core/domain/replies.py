"""Answers that need no retrieval: to small talk, and a list of the library's documents, from its own records only."""

from __future__ import annotations

from rag_core.domain.measurements import LibraryFacts
from rag_core.domain.status import Reason
from rag_core.language import FALLBACK, LANGUAGES

_SMALL_TALK = ("thanks", "goodbye", "summary", "follow_up")
MAX_COUNT = 20  # documents named; the rest are counted

#: Each intent that nothing is searched for, and the reason of its outcome; one whose status is no success is refused.
SETTLED = {
    "greeting": Reason.GREETING,
    "thanks": Reason.GREETING,
    "goodbye": Reason.GREETING,
    "about_library": Reason.ABOUT_LIBRARY,
    "summary": Reason.SUMMARY,
    "follow_up": Reason.FOLLOW_UP,
}


def reply(intent: str, language: str, facts: LibraryFacts) -> str:
    """The reply to one of the intents of `SETTLED`, in the question's language, English otherwise."""
    if intent in _SMALL_TALK:
        talk = LANGUAGES.or_fallback(language).small_talk or LANGUAGES[FALLBACK].small_talk
        assert talk is not None, "the English file has small talk"
        return str(getattr(talk.replies, intent))
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
