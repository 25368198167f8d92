"""A follow-up as a question that stands alone: the documents are asked which of the things it may mean they answer.

What comes out is a question like any other, to be measured and judged as one. It is made of the words of earlier
questions, never of an answer or a document: nothing that was said before can get round a gate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import regex

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.domain.measurements import REWRITTEN_BY, SUGGESTION, TYPED
from rag_core.language import LANGUAGES, Word, fold, leans, question_language, words
from rag_core.retrieval.query import core

MAX_EARLIER = 8  # questions that are read; what a follow-up leans on stands in the last ones
MAX_WORDS = 40  # a longer question leans on nothing; chosen: a question has about twelve
MOST_KEPT = 6  # first words of a question that one behind it may take over; each number is asked; chosen

Stated = tuple[tuple[str, str], ...]  # the sentences that answer a question, each with its value, empty for none
# a question -> the probability that it is answered rightly, in [0, 1], and what answers it
Answers = Callable[[str], tuple[float, Stated]]


@dataclass(frozen=True, slots=True)
class StandAlone:
    """A question of a conversation as it can be asked by itself.

    `suggestion` is a whole question to begin from, where it leans on an earlier one and nobody is sure how; empty
    otherwise. At the least it is both, one behind the other.
    """

    question: str  # to be asked: as `typed` where that stands alone, and where nobody is sure what it leans on
    typed: str  # as somebody typed it
    by: Literal["", "rules"] = ""  # who rewrote it
    suggestion: str = ""

    @property
    def about(self) -> dict[str, str]:
        """Its part of a decision's metadata; empty where it is asked as it was typed, and nothing is suggested."""
        rewritten = {TYPED: self.typed, REWRITTEN_BY: self.by} if self.by else {}
        return {**rewritten, **({SUGGESTION: self.suggestion} if self.suggestion else {})}


def stand_alone(
    question: str,
    earlier: Sequence[str],
    languages: Collection[str] = (),
    talk: Callable[[str], str] = lambda _: "",
    answers: Answers = lambda _: (0.0, ()),
    least: float = 0.0,
) -> StandAlone:
    """The question as it stands alone.

    Args:
        question: as typed.
        earlier: the questions before it as they were typed or asked, oldest first; no answers.
        languages: ISO 639-1 codes of the documents, for questions whose language is not certain.
        talk: as `rag_core.decision.tools.Tools` has it: small talk leans on nothing, and nothing leans on it.
        answers: of what may be meant, the likeliest to be answered is asked.
        least: the least probability of an answer that is shown, in [0, 1].
    """
    alone = StandAlone(question, question)
    before, language = ("", "") if talk(question) else _before(earlier, languages, talk)
    own = question_language(question, languages)
    if not before or not _leans(question, (own, language)):
        return alone
    both = (own, language)
    swapped, placed = _in_its_place(question, before, both), in_context(question, before, own, language)
    known = {fold(word.text) for word in (*words(before), *_marked(question))}
    if len(swapped) == 1 and known.issuperset(fold(word) for word in _telling(question, own)):
        return replace(alone, question=swapped[0], by="rules")
    others = [placed, question] if placed else _behind_first_words(question, before, both)
    short = leans(question, own)  # else a refusal of it shows the nearest place, and there is no better question
    for group, enough in ((swapped, least), (others, least if short else 0.0)):
        meant, chance = _likeliest(group, before, answers)
        if meant not in ("", question) and chance >= enough:
            return replace(alone, question=meant, by="rules")
    if meant == question and chance >= least:
        return alone
    return replace(alone, suggestion=(swapped[0] if swapped else f"{before} {question}")[:MAX_QUESTION_CHARS])


def in_context(question: str, earlier: str, language: str, of_earlier: str) -> str:
    """A question behind an earlier one's telling words, "members quorum: Who sets it?"; "" where one has none."""
    if not _asks(question, (language,)) or not _telling(question, language):
        return ""
    telling = " ".join(_telling(earlier, of_earlier))
    return f"{telling}: {question}" if telling else ""


def _leans(question: str, languages: Sequence[str]) -> bool:
    """Whether it may lean on a question before it: it opens with "and" or "what about", or says "it"."""
    said = words(question)
    if not 0 < len(said) <= MAX_WORDS:
        return False
    known = [info.follow_ups for code in languages if (info := LANGUAGES.get(code)) and info.follow_ups]
    stands_for = any(fold(word.text) in one.pronouns for one in known for word in said)
    return stands_for or 0 < _opening(said, languages) < len(said) or leans(question, languages[0])


def _said(question: str, languages: Collection[str]) -> Sequence[Word]:
    """The words of a question behind those that open it and ask nothing."""
    said = words(question)
    return said[_opening(said, languages) :]


def _opening(said: Sequence[Word], languages: Collection[str]) -> int:
    """How many words open a question and ask nothing: "and", "and what about"."""
    phrases = {tuple(one.split()) for code in languages for one in _openings(code)}
    folded, at = [fold(word.text) for word in said], 0
    while found := max((len(one) for one in phrases if tuple(folded[at : at + len(one)]) == one), default=0):
        at += found
    return at


def _openings(language: str) -> Sequence[str]:
    info = LANGUAGES.get(language)
    if info is None:
        return ()
    return (*info.conjunctions, *(info.follow_ups.leads if info.follow_ups else ()))


def _asks(text: str, languages: Collection[str]) -> bool:
    said = {word.text.lower() for word in _said(text, languages)}
    return any(said & LANGUAGES.or_fallback(code).question_words for code in languages)


def _telling(text: str, language: str) -> list[str]:
    known = LANGUAGES.or_fallback(language)
    small = known.function_words | known.question_words
    return [word.text for word in words(text) if word.text.lower() not in small]


def _in_its_place(fragment: str, earlier: str, languages: Collection[str]) -> list[str]:
    """The question before with a fragment's name, number or code in the place of one that is written alike, "and in
    Q3?" after "... in Q2 FY24?"; or with its number at the end, where it has none of its own: "… have in 2024?".
    """
    mine = _marked(fragment)
    if not mine or _asks(fragment, languages):
        return []
    if mine[-1].text.isdecimal() and not any(word.text.isdecimal() for word in _marked(earlier)):
        return [f"{earlier.rstrip('?？؟ ')} {fragment[_said(fragment, languages)[0].start :]}"]
    said, shape = fragment[mine[0].start : mine[-1].end], _shape(mine[-1].text)
    places: list[list[Word]] = []
    for word in (word for word in _marked(earlier) if _shape(word.text) == shape):
        if places and shape == "Aa" and earlier[places[-1][-1].end : word.start].isspace():
            places[-1].append(word)  # "Best Buy"
        else:
            places.append([word])
    return [f"{earlier[: one[0].start]}{said}{earlier[one[-1].end :]}" for one in places][:MOST_KEPT]


def _marked(text: str) -> list[Word]:
    """The names, numbers and codes of a text; a capital of its first word says nothing."""
    first = [word for word in words(text)[:1] if "9" in _shape(word.text)]
    return [*first, *(word for word in words(text)[1:] if _shape(word.text))]


def _shape(word: str) -> str:
    """How a name, number or code is written: "A9" for "Q3", "9999" for "2021", "Aa" for "Italy"; "" for any other."""
    runs = (("A", r"\p{Lu}+"), ("a", r"[\p{Ll}\p{M}\p{Lo}]+"), ("9", r"\p{N}"))
    for letter, pattern in runs:
        word = regex.sub(pattern, letter, word)
    return "" if word.startswith("a") else word


def _behind_first_words(fragment: str, earlier: str, languages: Collection[str]) -> list[str]:
    """A fragment in the place of a question's last words, by the words that it may take over."""
    said = _said(fragment, languages)
    if not said or _asks(fragment, languages):
        return []
    return [f"{earlier[: word.end]} {fragment[said[0].start :]}" for word in words(earlier)[1:-1][: MOST_KEPT - 1]]


def _likeliest(candidates: Sequence[str], earlier: str, answers: Answers) -> tuple[str, float]:
    """The candidate likeliest to be answered by something new, with that probability; "" for none."""
    known = answers(earlier)[1] if candidates and len(earlier) <= MAX_QUESTION_CHARS else ()
    rated = {text: answers(text) for text in candidates if len(text) <= MAX_QUESTION_CHARS}
    fit = {text: chance for text, (chance, said) in rated.items() if said and said != known}
    return max(fit.items(), key=lambda one: one[1], default=("", 0.0))


def _before(earlier: Sequence[str], languages: Collection[str], talk: Callable[[str], str]) -> tuple[str, str]:
    """The last of the earlier questions as it stands alone, and its language; empty where there is none."""
    before = language = ""
    for turn in earlier[-MAX_EARLIER:]:
        if not turn.strip() or talk(turn):
            continue
        own = question_language(turn, languages)
        if not _leans(turn, (own, language or own)):
            before, language = core(turn, own), own
        elif before and (meant := _in_its_place(turn, before, (own, language))):
            before = meant[0]
    return before, language
