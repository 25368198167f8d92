"""The things that a question asks for: the type of its answer, the constraints that an answer has to keep, and whether
it asks for more than finding: a ratio, a change, a judgement, a summary, what stands on page 3. No sentence of a
document answers these unless one states the result.

Read from the words that a language's file lists under `[asked]`; a language without them asks for `other`. A kind is
told where the words leave little doubt. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import regex

from rag_core.facts.sentence.lexicon import lexicon
from rag_core.facts.sentence.names import canonical_code, codes
from rag_core.gating.stated import MAX_CHARS, NameRun, Stated, asked_words, read, small_words
from rag_core.language import LANGUAGES, AskedWords, LanguageInfo, ends_in_question, fold, keywords, spaced
from rag_core.retrieval.metrics import NamedMetric, named_metrics
from rag_core.retrieval.query import core, expand, prepared

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
    """Whether a `spaced` text has words for a result of a kind of `FIGURED`, also those that ask for it."""
    if kind not in FIGURED:
        return True
    words = asked_words(language)
    return any(pattern and pattern.search(said) for pattern in (words.results.get(kind), words.computes.get(kind)))


def computed_in_words(kind: str) -> str:
    """Why no sentence answers such a question, and what to ask instead; for the kinds of `COMPUTED`."""
    return f"{COMPUTED[kind]} {_STEPS.get(kind, _EACH)}"


_MAX_NOUN_WORDS = 6  # behind "which", in which the noun is looked for: "is the name of the city"; chosen
KEY_CHARS = 5  # compared from the beginning of a keyword, so that inflected forms meet; chosen
_CLAUSE = regex.compile(r"[,;:—]\s")
WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++")


class AnswerType(StrEnum):
    """The type of the answer that a question asks for."""

    MONEY = "money"
    COUNT = "count"
    PERCENTAGE = "percentage"
    DATE = "date"  # or the time of a day
    DEADLINE = "deadline"  # a date or time until which, or how long from something else
    DURATION = "duration"
    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    CODE = "code"
    DEFINITION = "definition"
    REASON = "reason"
    PROCEDURE = "procedure"
    LIST = "list"
    YES_NO = "yes_no"
    OTHER = "other"


NAMES = frozenset({AnswerType.PERSON, AnswerType.PLACE, AnswerType.ORGANISATION})
# what may be of a period
FIGURES = frozenset({AnswerType.MONEY, AnswerType.COUNT, AnswerType.PERCENTAGE, AnswerType.OTHER})


@dataclass(frozen=True, slots=True)
class AskedFor:
    """The type and constraints that a question states."""

    type: AnswerType
    years: frozenset[int]  # named ones
    in_year: int  # the one year that the answer must be of ("in 2022"), 0 where there is none or several
    parts: frozenset[str]  # the quarters and halves named ("q3", "h1")
    flow: bool  # whether it asks for a figure that adds up over a period, like revenue
    codes: frozenset[str]  # canonical
    names: tuple[tuple[str, ...], ...]  # each as its folded words
    keys: frozenset[str]  # the beginnings of its keywords
    # the beginnings of its words but periods, numbers and small words: what the label of a row would say
    subject: frozenset[str]
    # those of `data/metrics.yaml` that it names, with the labels that reports print them under
    metrics: tuple[NamedMetric, ...]
    words: frozenset[str]  # all its words, folded
    superlative: bool  # whether it asks for the highest or lowest
    compared: bool  # whether it compares
    computes: str = ""  # the kind of `COMPUTED` that it asks for, or empty
    manner: bool = False  # whether it asks how something is done, and so for no figure

    @property
    def name_keys(self) -> frozenset[str]:
        """The beginnings of the words of all names."""
        return beginnings(word for name in self.names for word in name)

    def has(self, word: str) -> bool:
        """Whether the question has this folded word, or a form of it."""
        return word in self.words or word[:KEY_CHARS] in self.keys


@lru_cache(maxsize=1 << 10)
def asked_for(question: str, language: str) -> AskedFor:
    """The type and constraints of a question's first 4,000 characters; never raises."""
    whole = prepared(question[:MAX_CHARS], language)
    info = LANGUAGES.get(language)
    words = asked_words(language)
    stated, said = read(whole, language), spaced(whole)
    kind = _type(core(whole, language), info) if info else AnswerType.OTHER
    metrics = named_metrics(whole, language)
    if metrics and kind in NAMES:
        kind = AnswerType.OTHER  # "capital expenditures" are no place
    own = stated.own_years if len(stated.years) == 1 else frozenset[int]()
    return AskedFor(
        type=kind,
        years=stated.years,
        in_year=next(iter(own), 0),
        parts=parts_named(said, words),
        flow=any(map(words.flows.fullmatch, stated.words)),
        codes=codes_in(whole),
        names=tuple(stated.words[run.at : run.end] for run in stated.names if _names(run, stated, info)),
        keys=beginnings(map(fold, keywords(whole, language))),
        subject=_subject(said, language),
        metrics=metrics,
        words=frozenset(stated.words),
        superlative=is_superlative(stated, words),
        compared=info is not None and info.comparative is not None and info.comparative.search(said) is not None,
        computes=asks_to_compute(question, language),
        manner=words.manner is not None and words.manner.search(said) is not None,
    )


def _names(run: NameRun, stated: Stated, info: LanguageInfo | None) -> bool:
    """Whether capitals surely name what a sentence has to name: no month, and no "I" of "How do I"."""
    *before, last = stated.words[run.at : run.end]
    me = info is not None and len(last) == 1 and last in info.function_words
    return run.clear and not _is_month(stated, run) and not (me and (not before or run.at == 0))


def _is_month(stated: Stated, run: NameRun) -> bool:
    """Whether a name is a month alone: a period, and nobody's name."""
    return run.end - run.at == 1 and any(number.at == run.at and number.kind == "month" for number in stated.numbers)


def codes_in(text: str) -> frozenset[str]:
    """The codes of a text, canonical, without references to laws."""
    return frozenset(canonical_code(code.text) for code in codes(text) if code.kind == "code" and "§" not in code.text)


def beginnings(words: Iterable[str]) -> frozenset[str]:
    """The beginnings of folded words, by which inflected forms meet."""
    return frozenset(word[:KEY_CHARS] for word in words)


def folded(text: str) -> list[str]:
    return [fold(word) for word in WORD.findall(text)]


def _subject(said: str, language: str) -> frozenset[str]:
    """The index words that say what a `spaced` question is about, without "how high" and periods."""
    words = asked_words(language)
    aside = small_words(language) | set(_measures(said, language))
    for pattern in words.periods.values():
        said = pattern.sub(" ", said)
    left = [word for word in _undated(said.split(), language) if word not in aside and not word.isdecimal()]
    return beginnings([word for word in left if word not in words.figure_words] or left)


def _undated(said: Sequence[str], language: str) -> Iterator[str]:
    """The words, folded, without the months that stand beside a number: "january 28"."""
    found = [fold(word) for word in said]
    months = lexicon(language).months if language in LANGUAGES else {}
    for at, word in enumerate(found):
        if word not in months or not any(map(str.isdecimal, found[max(0, at - 1) : at + 2])):
            yield word


def _measures(said: str, language: str) -> Iterator[str]:
    """The folded word behind the question word of a phrase: "how long", and not "what share"."""
    words = asked_words(language)
    for _, match in _matches(words, said):
        first, *rest = match[0].split()
        if rest and first in LANGUAGES[language].question_words - words.takes_noun:
            yield fold(rest[0])


def parts_named(said: str, words: AskedWords) -> frozenset[str]:
    """The quarters and halves of a year that a `spaced` text names: "q3", "h1"."""
    return frozenset(name for name, pattern in words.periods.items() if name[-1].isdigit() and pattern.search(said))


@lru_cache(maxsize=1 << 13)
def asks(text: str, language: str) -> bool:
    """Whether a sentence of a document asks or sets a task: "Why two keys?", "Find the sum of all terms."."""
    if ends_in_question(text):
        return True
    tasks = asked_words(language).tasks
    return tasks is not None and tasks.search(spaced(text)) is not None


def is_superlative(stated: Stated, words: AskedWords) -> bool:
    """Whether a text has a word of a highest or lowest degree, outside names such as "Best Buy"."""
    named = {at for run in stated.names if run.end - run.at > 1 for at in range(run.at, run.end)}
    said = {word for at, word in enumerate(stated.words) if at not in named}
    return any(map(words.superlatives.fullmatch, said - words.not_superlative))


def _type(question: str, info: LanguageInfo) -> AnswerType:
    if not (words := info.asked):
        return AnswerType.OTHER
    said = spaced(_asking(question, info))
    found = [(match.start() + (match[0][0] == " "), -match.end(), name) for name, match in _matches(words, said)]
    start, _, name = min([*found, *_nouns(words, said, small_words(info.code))], default=(len(said), 0, ""))
    if name:
        return AnswerType(name)
    for kind, pattern in ((AnswerType.PROCEDURE, info.procedural), (AnswerType.COUNT, info.asks_number)):
        if pattern and (match := pattern.search(said)) and match.start() <= start:
            return kind
    return AnswerType.OTHER


def _asking(question: str, info: LanguageInfo) -> str:
    """The part of a question that asks: "When it rains, who pays?" asks who."""
    clauses = _CLAUSE.split(question)
    asking = [
        one for one in clauses[1:] if info.question_words.intersection(word.casefold() for word in one.split()[:2])
    ]
    return asking[-1] if asking else question


def _matches(words: AskedWords, said: str) -> list[tuple[str, regex.Match[str]]]:
    return [(name, match) for name, pattern in words.phrases.items() if (match := pattern.search(said))]


def _nouns(words: AskedWords, said: str, small: frozenset[str]) -> list[tuple[int, int, str]]:
    """The noun behind the first "which", as a candidate of `_type`; else that word, with an empty name."""
    tokens, place = said.split(" "), 0
    for at, token in enumerate(tokens):
        if token in words.takes_noun:
            name, count = _noun(words, tokens[at + 1 : at + 1 + _MAX_NOUN_WORDS], small)
            end = place + len(" ".join(tokens[at : at + 1 + count]))
            return [(place, -end, name)]
        place += len(token) + 1
    return []


def _noun(words: AskedWords, tokens: list[str], small: frozenset[str]) -> tuple[str, int]:
    """The type of the first known noun, or the last of several in a row, and how many words that takes."""
    found, count, unknown = "", 0, False
    for at, token in enumerate(tokens, 1):
        name = next((name for name, nouns in words.nouns.items() if nouns.fullmatch(token)), "")
        if (found and not name) or token in words.stops or (unknown and token in small):
            break
        found, count = (name, at) if name else (found, count)
        unknown = not name and token not in small and token not in words.neutral
    return found, count
