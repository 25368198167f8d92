"""Answers that need no retrieval: to small talk, and a list of the library's documents, from its own records only."""

from __future__ import annotations

import re

from rag_core.domain.measurements import LibraryFacts
from rag_core.domain.status import Reason
from rag_core.language import FALLBACK, LANGUAGES
from rag_core.language.question_words import Replies

_SMALL_TALK = ("thanks", "goodbye", "summary", "follow_up")
_ITEM = "- "
FROM_FILE = " (metadata)"  # behind a date that nothing but the file states
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
#: What a text that asks nothing of the contents may be (`Tools.talk`), and the intent that settles it.
TALK = {
    **{name: name for name in ("greeting", "thanks", "goodbye", "summary")},
    **dict.fromkeys(("library", "author", "date", "pages", "title"), "about_library"),
}


def settled(talk: str, facts: LibraryFacts) -> str:
    """The intent that a kind of `TALK` has; "" for none, and where records lack what pages may say."""
    lacking = (talk == "author" and not facts.authors) or (talk == "date" and not facts.dates)
    return "" if lacking else TALK.get(talk, "")


def reply(intent: str, language: str, facts: LibraryFacts) -> str:
    """The reply to one of the intents of `SETTLED`, in the question's language, English otherwise."""
    if intent in _SMALL_TALK:
        talk = LANGUAGES.or_fallback(language).small_talk or LANGUAGES[FALLBACK].small_talk
        assert talk is not None, "the English file has small talk"
        return str(getattr(talk.replies, intent))
    said = _words(language)
    if intent == "greeting":
        return said.greeting
    if not facts.documents:
        return said.nothing
    head = said.holds.format(documents=facts.documents, pages=facts.pages)
    ordered = sorted(facts.titles, key=lambda id: facts.titles[id].casefold())
    titles = [_described(facts, document, language) for document in ordered]
    listed = [f"{_ITEM}{title}" for title in titles[:MAX_COUNT]]
    if len(titles) > MAX_COUNT:
        listed.append(f"{_ITEM}… + {len(titles) - MAX_COUNT}")
    return "\n".join([head, *listed])


def _described(facts: LibraryFacts, document: str, asked_in: str) -> str:
    """A document's title, else heading, author, date, language and pages as far as they are known, in one line."""
    title, heading = facts.titles[document], facts.headings.get(document, "")
    title = f"{heading} ({title})" if heading and title == facts.names.get(document) else title
    language = facts.written_in.get(document, "")
    date = f"{facts.dates.get(document, '')}{FROM_FILE * facts.by_file(document)}"
    language = LANGUAGES.name(language, asked_in) if language else ""
    pages = _words(asked_in).pages.format(pages=facts.page_counts[document]) if document in facts.page_counts else ""
    known = (title, facts.authors.get(document, ""), date, language, pages)
    return " · ".join(" ".join(one.split()) for one in known if one)


def is_reply(text: str, reason: Reason, language: str) -> bool:
    """Whether `reply` can have said this for this reason, and not a word besides.

    What describes the documents of a list is taken as it is: it is their own words, each on a line that says so.
    """
    if reason is Reason.GREETING:
        return text in {reply(intent, language, LibraryFacts()) for intent, known in SETTLED.items() if known is reason}
    if reason is not Reason.ABOUT_LIBRARY:
        return False
    said = _words(language)
    head, *listed = text.split("\n")
    counted = re.escape(said.holds).replace(r"\{documents\}", r"(?P<documents>[0-9]+)").replace(r"\{pages\}", "[0-9]+")
    found = re.fullmatch(counted, head)
    if found is None:
        return text == said.nothing
    return len(listed) <= min(int(found["documents"]), MAX_COUNT + 1) and all(line.startswith(_ITEM) for line in listed)


def _words(language: str) -> Replies:
    said = LANGUAGES.or_fallback(language).replies or LANGUAGES[FALLBACK].replies
    assert said is not None, "the English file has replies"
    return said
