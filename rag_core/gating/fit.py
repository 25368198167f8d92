"""How well a sentence fits what a question asks for: whether it lacks the type, and whether a row of a table is the
one.

| feature | range | what it is |
|---|---|---|
| lacks | bool | whether it surely lacks the type asked for, or has only what the question names itself |
| row | [0, 1] | how surely a row of a table is the one asked for, as `gating/row.py` says; 0 for what is no row |
| result | {0, 1} | 0 where a change, ratio or average is asked for, and neither sentence nor heading has words for one
("rose by") |

`result` is also 0 where the sum over several names is asked for, and a sentence has one of them only. Whether a
sentence speaks of something else than what is asked for is for the answerability model to say: rules that said so spoke
up at none of 2,563 questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import regex

from rag_core.gating.asked import FIGURES, NAMES, AnswerType, AskedFor, beginnings, folded, parts_named, states_result
from rag_core.gating.row import CELL, are_shares, may_be_row, row_asked
from rag_core.gating.stated import Stated, asked_words, read
from rag_core.language import AskedWords, any_language

LABEL_WORDS = 6  # at most in a label; chosen
DEFINED = 0.408  # least share of the words asked for in what a sentence defines: half a name is mostly another thing's
WITHIN = 0.456  # the same where they are a part of it: "the general form of a progression is ..."; both chosen
# the kinds of number that an answer of a type may be written as
_WRITTEN = {
    AnswerType.MONEY: {"money"},
    AnswerType.COUNT: {"count", "percentage", "duration", "money"},
    AnswerType.PERCENTAGE: {"percentage"},
    AnswerType.DATE: {"date", "time", "month"},
    AnswerType.DEADLINE: {"date", "time", "duration", "month"},
    AnswerType.DURATION: {"duration", "date"},
    AnswerType.CODE: {"code", "count"},
}
_LABEL = regex.compile(r"([^|:\n]{1,80}?)\s*(?:\||:\s)")
_MARKED = frozenset({AnswerType.REASON, AnswerType.PROCEDURE})


@dataclass(frozen=True, slots=True)
class Context:
    """A sentence's title, heading and the one before; `about` are its first page's words' beginnings."""

    title: str = ""
    section: str = ""
    previous: str = ""
    about: frozenset[str] = frozenset()


NOWHERE = Context()


@dataclass(frozen=True, slots=True)
class Fit:
    """The features of one sentence, as the module's table says."""

    lacks: bool
    row: float = 0.0
    result: float = 1.0


def fits(asked: AskedFor, text: str, context: Context, language: str) -> Fit:
    """How a sentence fits. `language` is the sentence's. Never raises, whatever the texts."""
    words = asked_words(language)
    stated, heads = read(text, language), read(context.section, language)
    lacks = _lacks(asked, stated, words, _label(text))
    states = any(states_result(asked.computes, one.spaced, language) for one in (stated, heads))
    row = _row(asked, text, context, lacks, stated, heads, words, language) if CELL in text else 0.0
    return Fit(lacks, row, float(states and not _is_part_of_sum(asked, stated)))


def _row(
    asked: AskedFor,
    text: str,
    context: Context,
    lacks: bool,
    stated: Stated,
    heads: Stated,
    words: AskedWords,
    language: str,
) -> float:
    """How surely a row is the one asked for; 0 of another period, of a part, or a share for an amount."""
    around = [heads, read(context.previous, language)]
    period, other = kept_period(asked, stated, around, read(context.title, language), words)
    other = other or heads_other_period(asked, stated, heads, words) or are_shares(asked, text, language)
    if other or _is_of_a_part(asked, heads, words) or not may_be_row(asked, text, lacks, stated, heads, language):
        return 0.0
    of_period = period if asked.years or asked.parts else 1.0
    return row_asked(asked, text, f"{context.section}\n{context.title}", language, context.about) * of_period


def _lacks(asked: AskedFor, stated: Stated, words: AskedWords, label: tuple[str, ...]) -> bool:
    """Whether a sentence lacks the type of thing that is asked for: a date, a name, a definition."""
    if kinds := _WRITTEN.get(asked.type):
        return not any(one.kind in kinds and one.word not in asked.words for one in stated.numbers)
    if asked.type in NAMES:
        fresh = (at for run in stated.names if run.clear for at in range(run.at, run.end))
        return all(asked.has(stated.words[at]) for at in fresh)
    if asked.type is AnswerType.DEFINITION and words.phrases:
        return not _defines(asked, stated, words, label)
    if asked.type in _MARKED and words.phrases:
        return asked.type not in words.markers or words.markers[asked.type].search(stated.spaced) is None
    return False


def _defines(asked: AskedFor, stated: Stated, words: AskedWords, label: tuple[str, ...]) -> bool:
    """Whether a sentence says what is meant by the words asked for: "X is a ...", "... is called X", "X: ..."."""
    if label and all(map(asked.has, label)):
        return True
    pattern, count = words.markers.get(AnswerType.DEFINITION), len(asked.keys)
    for match in pattern.finditer(stated.spaced) if pattern and count else ():
        before, after = stated.spaced[: match.start()].split(), stated.spaced[match.end() :].split()
        subject = len(asked.keys & beginnings(before[-count - 1 :])) / count
        named = len(asked.keys & beginnings(after[: count + 2])) / count
        if named >= DEFINED or subject >= (DEFINED if len(before) <= count + 2 else WITHIN):
            return True
    return False


def _is_part_of_sum(asked: AskedFor, stated: Stated) -> bool:
    """Whether the sum over several names is asked for, and a text has one of them and not another."""
    if asked.computes != "sum" or len(asked.names) < 2:
        return False
    connectors, there = any_language().connectors, beginnings(stated.words)
    named = beginnings(word for name in asked.names for word in name if word not in connectors)
    return bool(named & there) and not named <= there


def _is_of_a_part(asked: AskedFor, heading: Stated, words: AskedWords) -> bool:
    """Whether a heading's figures are of a part ("Obligor Group") that the question does not name."""
    if asked.type not in FIGURES and not asked.flow:
        return False
    found = words.scopes.search(heading.spaced) if words.scopes else None
    return found is not None and asked.words.isdisjoint(found[0].split())


def _label(text: str) -> tuple[str, ...]:
    """The folded words of a row's first cell, or before a colon; none where there is neither, or it is long."""
    match = _LABEL.match(text)
    words = tuple(folded(match[1])) if match else ()
    return words if len(words) <= LABEL_WORDS else ()


UNKNOWN = 0.5  # where nothing tells of what time it is
_SPACES = regex.compile(r" {2,}")


def kept_period(
    asked: AskedFor, stated: Stated, around: list[Stated], title: Stated, words: AskedWords
) -> tuple[float, bool]:
    """How surely it is of the period asked for, .5 where none is told, and whether it surely is of another."""
    scores = [UNKNOWN]
    other = False
    if asked.years:
        scores.append(_year(asked.years, stated, around, title))
        other = not scores[-1] and _other_year(asked, stated)
    if asked.parts and words.periods:
        mine = parts_named(stated.spaced, words)
        near = frozenset[str]().union(*(parts_named(one.spaced, words) for one in (*around, title)))
        scores.append(
            1.0 if asked.parts & mine else 0.0 if mine else 0.8 if asked.parts & near else 0.0 if near else UNKNOWN
        )
        same_kind = {part[0] for part in asked.parts} & {part[0] for part in mine}
        other = other or bool(mine and same_kind and not asked.parts & (mine | near))
    elif asked.in_year and asked.flow and asked.type in FIGURES and _is_part_of_year(stated.spaced, words):
        scores, other = [0.0], True
    told = scores[1:] or scores
    return min(told), other


def _year(years: frozenset[int], stated: Stated, around: list[Stated], title: Stated) -> float:
    if years & stated.years:
        return 1.0
    if any(years & one.years for one in around):
        return 0.8 if not stated.years else 0.6
    if years & title.years:
        return 0.7 if not stated.years else UNKNOWN
    # the report of 2021 tells nothing of 2022
    of_another = stated.years or (title.years and not any(one.years for one in around))
    return 0.0 if of_another else UNKNOWN


def _other_year(asked: AskedFor, stated: Stated) -> bool:
    """Whether a figure is surely of another year: it says so, or only the document's title names one."""
    return bool(asked.in_year and asked.flow and (stated.own_years or not stated.years) and asked.type in FIGURES)


def _is_part_of_year(said: str, words: AskedWords) -> bool:
    """Whether a text tells of a quarter or half, and of no whole year besides."""
    bare = said
    for name in ("quarter", "half"):
        if pattern := words.periods.get(name):
            bare = pattern.sub(" ", bare)
    whole = words.periods.get("year")
    return bare != said and whole is not None and not whole.search(_SPACES.sub(" ", bare).strip())


def heads_other_period(asked: AskedFor, row: Stated, heads: Stated, words: AskedWords) -> bool:
    """Whether what stands above a row says that its figures are of other years, or a part of one."""
    if asked.type not in FIGURES or not asked.in_year or row.years:
        return False
    if heads.years and asked.in_year not in heads.years:
        return True
    return bool(asked.flow and not asked.parts and _is_part_of_year(heads.spaced, words))
