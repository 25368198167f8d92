"""Fixed phrases: refusals, phrases that betray outside knowledge, greetings, intents."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import regex

from rag_core.language.loader import FALLBACK, LANGUAGES
from rag_core.language.sentences import sentences
from rag_core.language.values import spaced

Intent = Literal["follow_up", "comparative", "procedural", "factual"]

#: A refusal is short. A longer text that begins like one says more than that, and is an answer to be checked.
_MAX_REFUSAL_SENTENCES = 3
_SHORT_TEXT_CHARS = 2000
_MAX_LEANING_WORDS = 16  # a longer text asks something by itself; chosen
_QUOTED = regex.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|»[^«]*«|‘[^’]*’|‚[^‘’]*[‘’]")


def refusal(lang: str) -> str:
    """The canonical refusal sentence of a language; English for a language without one."""
    return LANGUAGES.or_fallback(lang).refusal


def unsure(lang: str) -> str:
    """The sentence that refuses without saying that nothing is there; English for a language without one."""
    return LANGUAGES.or_fallback(lang).unsure


def spoken_of_nowhere(names: Sequence[str], chosen: bool, lang: str) -> str:
    """The sentence that no document speaks of one of these names, or none of the chosen ones; English for a language
    without a file.
    """
    info = LANGUAGES.or_fallback(lang)
    listed = f" {info.nowhere_joint} ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return (info.nowhere_chosen if chosen else info.nowhere).format(names=listed)


@lru_cache(maxsize=1)
def _refusal_phrases() -> regex.Pattern[str]:
    phrases = {
        phrase
        for info in LANGUAGES.values()
        for phrase in (*info.refusal_phrases, spaced(info.refusal), spaced(info.unsure))
    }
    return regex.compile(rf"(?:^| )(?:{'|'.join(sorted(map(regex.escape, phrases)))})(?: |$)")


@lru_cache(maxsize=1)
def _conditionals() -> frozenset[str]:
    return frozenset(word for info in LANGUAGES.values() for word in info.conditionals)


def is_refusal(text: str) -> bool:
    """Whether a text as a whole declines to answer, in any of the languages, whatever its case and punctuation.

    True for at most three sentences whose first holds a refusal phrase outside quotation marks and sets no condition
    ("If the information is not available in the documents, ..." is a rule).
    """
    if len(text) > _SHORT_TEXT_CHARS:
        return False
    own_words = text if _QUOTED.fullmatch(text.strip()) else _QUOTED.sub(" ", text)
    found = sentences(own_words, FALLBACK)
    if not 0 < len(found) <= _MAX_REFUSAL_SENTENCES:
        return False
    start, end = found[0]
    first = spaced(own_words[start:end])
    return not _conditionals() & set(first.split()[:2]) and _refusal_phrases().search(first) is not None


def greeting_language(text: str) -> str:
    """The ISO 639-1 code of a language with whose greetings a text begins, English where it may be; empty for none."""
    said = f"{spaced(text[:_SHORT_TEXT_CHARS])} "
    by_code = sorted(LANGUAGES.items(), key=lambda row: row[0] != FALLBACK)
    return next((code for code, info in by_code if any(said.startswith(f"{one} ") for one in info.greetings)), "")


def leans(text: str, lang: str) -> bool:
    """Whether a text as a whole leans on a question before it, so that it asks nothing by itself: "And how many?"."""
    pattern = LANGUAGES[lang].small_talk if lang in LANGUAGES else None
    said = spaced(text[:_SHORT_TEXT_CHARS])
    short = len(text) <= _SHORT_TEXT_CHARS and said.count(" ") < _MAX_LEANING_WORDS
    return bool(short and pattern and pattern.follow_up and pattern.follow_up.fullmatch(said))


def intent(question: str, lang: str) -> Intent:
    """The kind of answer that a question asks for: the first that fits, in the order of `Intent`, else factual."""
    if leans(question, lang):
        return "follow_up"
    if _holds(LANGUAGES.or_fallback(lang).comparative, question):
        return "comparative"
    return "procedural" if _holds(LANGUAGES.or_fallback(lang).procedural, question) else "factual"


def is_time_sensitive(question: str, lang: str) -> bool:
    """Whether a question asks for the present or latest state ("current", "this year"), so that recency may count."""
    return _holds(LANGUAGES.or_fallback(lang).time_sensitive, question)


def _holds(pattern: regex.Pattern[str] | None, question: str) -> bool:
    return pattern is not None and pattern.search(spaced(question[:_SHORT_TEXT_CHARS])) is not None
