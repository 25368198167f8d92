"""A follow-up as a question that stands alone: by rules, and by a language model only where the rules are not sure. And
the two questions in one: "How large is a plot, and how high may a hut be?", and a question without its slips of the
keyboard: "yeraly rnet" where the passages have "yearly rent".

What comes out is a question like any other, to be measured and judged as one. It is made of the words of earlier
questions, never of an answer or a document: nothing that was said before can get round a gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import regex

from rag_core.conversation.rules import Rewritten, capital, rewritten
from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.domain.measurements import REWRITTEN_BY, SUGGESTION, TYPED
from rag_core.language import (
    LANGUAGES,
    content_terms,
    ends_in_question,
    fold,
    is_known,
    is_time_sensitive,
    leans,
    question_language,
    sentences,
    term,
    words,
)
from rag_core.retrieval.query import core

MAX_EARLIER = 8  # questions that are read; what a follow-up leans on stands in the last ones

MOST_KEPT = 6  # first words of a question that one behind it may take over; each number is asked; chosen

_BEFORE_MARK = regex.compile(r"\s+(?=\?$)")

ByModel = Callable[[str, str, str], str]  # (question, earlier, language) -> the question, empty for none
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
    by: Literal["", "rules", "model"] = ""  # who rewrote it
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
    by_model: ByModel | None = None,
    talk: Callable[[str], str] = lambda _: "",
    answers: Answers | None = None,
    least: float = 0.0,
) -> StandAlone:
    """The question as it stands alone.

    Args:
        question: as typed.
        earlier: the questions before it as they were typed or asked, oldest first; no answers.
        languages: ISO 639-1 codes of the documents, for questions whose language is not certain.
        by_model: asked where the rules are not sure. Its words are checked before (`rag_core.conversation.by_model`).
        talk: as `rag_core.decision.tools.Tools` has it: small talk leans on nothing, and nothing leans on it.
        answers: asked where the rules are not sure: of what may be meant, the likeliest to be answered is.
        least: the least probability of an answer that is shown, in [0, 1].
    """
    alone = StandAlone(question, question)
    if talk(question):
        return alone
    before, language = _before(earlier, languages, talk)
    if not before:
        return alone
    own = question_language(question, languages)
    found = rewritten(question, before, language)
    if found is None and leans(question, own):
        found = Rewritten()  # in another language than the question before
    if found is not None and found.sure and len(found.text) <= MAX_QUESTION_CHARS:
        return replace(alone, question=found.text, by="rules")
    if answers is not None and (found is not None or _goes_on(question, (own, language))):
        placed = in_context(question, before, own, language)
        may_be = [placed, question] if placed else _in_place(question, before, (own, language))
        guess = [found.text] if found and found.text else []
        meant, chance = _likeliest([*guess, *may_be], before, answers)
        # a refusal shows the nearest place, and what only goes on with "and" has no better question
        if meant not in ("", question) and (chance >= least or found is None):
            return replace(alone, question=meant, by="rules")
    if found is None:
        return alone
    if by_model is not None and (said := by_model(question, before, language)):
        return replace(alone, question=said, by="model")
    return replace(alone, suggestion=(found.text or f"{before} {question}")[:MAX_QUESTION_CHARS])


def in_context(question: str, earlier: str, language: str, of_earlier: str) -> str:
    """A question behind an earlier one's telling words, "members quorum: Who sets it?"; "" where one has none."""
    if not _asks(question, language) or not _telling(question, language):
        return ""
    telling = " ".join(_telling(earlier, of_earlier))
    return f"{telling}: {question}" if telling else ""


def _asks(text: str, language: str) -> bool:
    return any(word.text.lower() in LANGUAGES.or_fallback(language).question_words for word in words(text))


def _telling(text: str, language: str) -> list[str]:
    known = LANGUAGES.or_fallback(language)
    small = known.function_words | known.question_words
    return [word.text for word in words(text) if word.text.lower() not in small]


def _in_place(fragment: str, earlier: str, languages: Collection[str]) -> list[str]:
    """A fragment in the place of a question's last words, by the words that it may take over."""
    if not _goes_on(fragment, languages) or any(_asks(fragment, language) for language in languages):
        return []
    own = fragment[words(fragment)[1].start :]
    return [f"{earlier[: word.end]} {own}" for word in words(earlier)[1:-1][: MOST_KEPT - 1]]


def _goes_on(question: str, languages: Collection[str]) -> bool:
    """Whether it begins with "and", and says more."""
    first, *more = [word.text.lower() for word in words(question)] or [""]
    return bool(more) and any(first in LANGUAGES[one].conjunctions for one in languages if one in LANGUAGES)


def _likeliest(candidates: Sequence[str], earlier: str, answers: Answers) -> tuple[str, float]:
    """The candidate likeliest to be answered by something new, with that probability; "" for none."""
    known = answers(earlier)[1] if len(earlier) <= MAX_QUESTION_CHARS else ()
    rated = {text: answers(text) for text in candidates if len(text) <= MAX_QUESTION_CHARS}
    fit = {text: chance for text, (chance, said) in rated.items() if said and said != known}
    return max(fit.items(), key=lambda one: one[1], default=("", 0.0))


def _before(earlier: Sequence[str], languages: Collection[str], talk: Callable[[str], str]) -> tuple[str, str]:
    """The last of the earlier questions as it stands alone, by rules, and its language; empty where there is none."""
    before = language = ""
    for turn in earlier[-MAX_EARLIER:]:
        own = question_language(turn, languages)
        if not turn.strip() or talk(turn):
            continue
        found = rewritten(turn, before, language) if before else None
        if found is not None and found.sure:
            before = found.text
        elif not leans(turn, own):  # one that nobody could place asks nothing
            before, language = core(turn, own), own
            if "(" in turn:  # and what stood between went
                before = _BEFORE_MARK.sub("", before)
    return before, language


LEAST_WORDS = 3  # in a half; "and when?" asks for one more thing of the same sentence; chosen
_MARKS = " ,;:?？؟"


def halves(question: str, language: str) -> tuple[str, str] | None:
    """Both questions, each as it stands alone, or the second as typed where nobody is sure; None where it is one.

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
    leaning = rewritten(second, first, language)
    if leaning is not None:
        return first, (leaning.text if leaning.sure else second)
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


LEAST = 4  # letters of a word that is looked at; a shorter one is like too many; chosen
LONG = 8  # letters from which two slips are taken for what they are; chosen
ENDING = 2  # letters at the end in which two forms of a word may differ; chosen


def respelt(question: str, language: str, texts: Iterable[str]) -> str:
    """The question with each misspelt word as the texts spell it; itself where none is misspelt.

    Only a word that neither the dictionary nor a text has is changed, into one that differs in diacritics or is few
    slips away: a letter wrong, missing, too many, or swapped with the next. A name is never changed.
    """
    odd = [word for word in words(question) if _is_odd(word.text, language)]
    if not odd:
        return question
    there = Counter(word.text.casefold() for text in texts for word in words(text) if word.text.isalpha())
    # where several words are as near, a question word is meant: "wich" is no "with"
    there.update(dict.fromkeys(LANGUAGES.or_fallback(language).question_words, there.total()))
    forms = {term(word, language) for word in there}
    # typed on a keyboard without the language's letters: "vyska" where the text has "výška"
    marked = {fold(word): word for word, _ in reversed(there.most_common())}
    found = question
    for word in reversed(odd):
        if word.text in there:
            continue
        meant = marked.get(fold(word.text)) or (term(word.text, language) not in forms and _nearest(word.text, there))
        if meant:
            found = f"{found[: word.start]}{meant}{found[word.end :]}"
    return found


def _is_odd(word: str, language: str) -> bool:
    return len(word) >= LEAST and word.isalpha() and word.islower() and not is_known(word, language)


def _nearest(word: str, there: Counter[str]) -> str:
    """The word of fewest slips, then the most frequent; "" where all are farther, or only forms."""
    most = 1 if len(word) < LONG else 2
    near = [
        (slips, -count, other)
        for other, count in there.items()
        if abs(len(other) - len(word)) <= most
        and len(other) >= LEAST
        and 0 < (slips := _slips(fold(word), fold(other))) <= most
    ]
    best = min(near, default=(0, 0, ""))[2]
    same = next(
        (at for at, (one, two) in enumerate(zip(word, best, strict=False)) if one != two), min(len(word), len(best))
    )
    return best if same < min(len(word), len(best)) - ENDING or len(word) == len(best) else ""


def _slips(one: str, two: str) -> int:
    """How many letters to change, add, leave out or swap with the next one (Damerau 1964, without a second change of
    one place).
    """
    rows = [list(range(len(two) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(two, 1):
            least = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                least = min(least, rows[-2][j - 2] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]
