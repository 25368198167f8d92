"""Fixed phrases: refusals, phrases that betray outside knowledge, greetings, questions about the library, intents."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import regex

from rag_core.language.loader import FALLBACK, LANGUAGES
from rag_core.language.schema import LanguageInfo
from rag_core.language.sentences import sentences
from rag_core.language.values import spaced

Intent = Literal[
    "greeting",
    "about_library",
    "thanks",
    "goodbye",
    "summary",
    "follow_up",
    "comparative",
    "procedural",
    "factual",
]

#: A refusal is short. A longer text that begins like one says more than that, and is an answer to be checked.
_MAX_REFUSAL_SENTENCES = 3
_SHORT_TEXT_CHARS = 2000
_MAX_SMALL_TALK_WORDS = 16  # a longer text says more than thanks; chosen
_QUOTED = regex.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|»[^«]*«|‘[^’]*’|‚[^‘’]*[‘’]")


def _info(lang: str) -> LanguageInfo:
    return LANGUAGES.or_fallback(lang)


def refusal(lang: str) -> str:
    """The canonical refusal sentence of a language; English for a language without one."""
    return _info(lang).refusal


def unsure(lang: str) -> str:
    """The sentence that refuses without saying that nothing is there; English for a language without one."""
    return _info(lang).unsure


def spoken_of_nowhere(names: Sequence[str], chosen: bool, lang: str) -> str:
    """The sentence that no document speaks of one of these names, or none of the chosen ones; English for a language
    without a file.
    """
    info = _info(lang)
    listed = f" {info.nowhere_joint} ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return (info.nowhere_chosen if chosen else info.nowhere).format(names=listed)


def indicator_phrases(lang: str) -> tuple[str, ...]:
    """Phrases by which an answer claims knowledge from elsewhere, as written; English for a language without a list.

    Compare without regard to case, on whole words.
    """
    return _info(lang).indicator_phrases


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
    ("If the information is not available in the documents, ..." is a rule, not a refusal).
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


@lru_cache(maxsize=1)
def _greeting_pattern() -> regex.Pattern[str]:
    greetings = {phrase for info in LANGUAGES.values() for phrase in info.greetings}
    fillers = {phrase for info in LANGUAGES.values() for phrase in info.greeting_fillers}
    greeting, either = (
        "|".join(sorted(map(regex.escape, phrases), key=len, reverse=True))
        for phrases in (greetings, greetings | fillers)
    )
    return regex.compile(rf"(?:{greeting})(?: (?:{either}))*+")


def is_greeting(text: str) -> bool:
    """Whether a text is only a greeting, in any of the languages. A greeting before a question is not."""
    return len(text) <= _SHORT_TEXT_CHARS and _greeting_pattern().fullmatch(spaced(text)) is not None


def greeting_language(text: str) -> str:
    """The ISO 639-1 code of a language that greets so, English where it does; empty for what is no greeting."""
    if not is_greeting(text):
        return ""
    said = f"{spaced(text)} "
    by_code = sorted(LANGUAGES.items(), key=lambda row: row[0] != FALLBACK)
    return next((code for code, info in by_code if any(said.startswith(f"{one} ") for one in info.greetings)), "")


def asks_about_library(text: str) -> bool:
    """Whether a question is about the library itself and not its contents, in any of the languages.

    Only whole questions of known wording count: "What documents must the supplier provide?" is about the contents.
    """
    if len(text) > _SHORT_TEXT_CHARS:
        return False
    question = spaced(text)
    return any(info.about_library and info.about_library.fullmatch(question) for info in LANGUAGES.values())


def small_talk(text: str, lang: str) -> Literal["", "thanks", "goodbye", "summary", "follow_up"]:
    """The kind of small talk that a text is as a whole, or empty.

    Thanks, goodbye and a wish for a summary count in any of the languages, a follow-up in the question's own: in
    another one its few words may ask something.
    """
    said = spaced(text[:_SHORT_TEXT_CHARS])
    if not said or said.count(" ") >= _MAX_SMALL_TALK_WORDS or len(text) > _SHORT_TEXT_CHARS:
        return ""
    known = [info.small_talk for info in LANGUAGES.values() if info.small_talk]
    own = LANGUAGES[lang].small_talk if lang in LANGUAGES else None
    if any(one.thanks and one.thanks.fullmatch(said) for one in known):
        return "thanks"
    if any(one.goodbye and one.goodbye.fullmatch(said) for one in known):
        return "goodbye"
    if any(one.summary and one.summary.fullmatch(said) for one in known):
        return "summary"
    return "follow_up" if own and own.follow_up and own.follow_up.fullmatch(said) else ""


def intent(question: str, lang: str) -> Intent:
    """The kind of answer that a question asks for: the first that fits, in the order of `Intent`, else factual."""
    if is_greeting(question):
        return "greeting"
    if asks_about_library(question):
        return "about_library"
    if talk := small_talk(question, lang):
        return talk
    if _holds(_info(lang).comparative, question):
        return "comparative"
    return "procedural" if _holds(_info(lang).procedural, question) else "factual"


def asks_number(question: str, lang: str) -> bool:
    """Whether a question asks for a number, an amount, a date or a duration."""
    return _holds(_info(lang).asks_number, question)


def is_time_sensitive(question: str, lang: str) -> bool:
    """Whether a question asks for the present or latest state ("current", "this year"), so that recency may count."""
    return _holds(_info(lang).time_sensitive, question)


def _holds(pattern: regex.Pattern[str] | None, question: str) -> bool:
    return pattern is not None and pattern.search(spaced(question[:_SHORT_TEXT_CHARS])) is not None
