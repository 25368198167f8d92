"""How well a sentence fits what a question asks for: whether it holds the type, keeps the constraints, or contradicts one.

| feature | range | what it is |
|---|---|---|
| holds | [0, 1] | the best thing of the type asked for that the question does not name itself; 0.5 where the type says nothing |
| near | [0, 1] | share of the question's keywords within ten words of that thing; in the whole sentence where the type says nothing |
| period | [0, 1] | the year or quarter asked for: 1 the sentence names it, .8 what stands right above, .7 the title, .5 nobody, 0 another |
| named | [0, 1] | share of the names, codes and references asked for that the sentence (1) or its context (.5) holds; 1 without any |
| negation | {0, .5, 1} | 1 where both say not or neither, 0 where only the question does |
| degree | {0, 1} | 0 where the question asks for the highest or lowest and the sentence tells of none |
| sure | [0, 1] | how sure the type is |
| contradicts | {0, 1} | whether it is surely of something else: another year, quarter, paragraph, code, office, document, the reverse |
| label | [0, 1] | share of its label's words that the question has: of a row's first cell, of what stands before a colon; 0 without one |
| row | [0, 1] | how surely a row of a table is the one asked for, as `gating/row.py` says; 0 for what is no row |
| result | {0, 1} | 0 where a change, ratio or average is asked for, and neither sentence nor heading has words for one ("rose by") |

`result` is also 0 where the sum over several names is asked for, and a sentence has one of them only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

import regex

from rag_core.facts.sentence.laws import laws
from rag_core.gating.asked import FIGURES, KEY_CHARS, NAMES, AnswerType, AskedFor, codes_in, is_negated, is_superlative, parts_named
from rag_core.gating.computed import states_result
from rag_core.gating.opposite import is_reverse
from rag_core.gating.row import CELL, UNKNOWN, WORD, are_shares, may_be_row, row_asked, share_asked
from rag_core.gating.series import is_other_member
from rag_core.gating.stated import Stated, read
from rag_core.language import LANGUAGES, AskedWords, any_language, fold

NEAR_WORDS = 10  # to each side; chosen
LABEL_WORDS = 6  # at most in a label; chosen
JOINED_CHARS = 6  # at least of a name that a title writes as one word; chosen
_MENTIONED = 0.4  # where a sentence defines something, but not in the words asked for; chosen
_WITHIN = 0.8  # where what is asked for is part of what is defined: "the general form of a progression is ..."; chosen
# How much each kind of number is worth as an answer of a type: 1 for its own kind, less for what it may be written as; chosen.
_WORTH = {
    AnswerType.MONEY: {"money": 1.0, "count": 0.4, "percentage": 0.2},
    AnswerType.COUNT: {
        "count": 1.0,
        "percentage": 0.6,
        "duration": 0.6,
        "money": 0.6,
        "ordinal": 0.4,
        "date": 0.2,
        "time": 0.2,
        "code": 0.3,
    },
    AnswerType.PERCENTAGE: {"percentage": 1.0, "count": 0.4, "ordinal": 0.3},
    AnswerType.DATE: {"date": 1.0, "time": 0.9, "month": 0.7, "ordinal": 0.3, "count": 0.2},
    AnswerType.DEADLINE: {"date": 1.0, "time": 1.0, "duration": 0.9, "month": 0.7, "ordinal": 0.3, "count": 0.2},
    AnswerType.DURATION: {"duration": 1.0, "count": 0.4, "date": 0.5},
    AnswerType.CODE: {"code": 1.0, "count": 0.5},
}
_MARKED = frozenset({AnswerType.REASON, AnswerType.DEFINITION, AnswerType.PROCEDURE})
_UNCLEAR = 0.4  # for a name that may be an ordinary word; chosen


@dataclass(frozen=True, slots=True)
class Context:
    """Where a sentence stands: title of its document, heading above it, and the sentence before; each may be empty.

    `about`: the beginnings of the words of its document's first page, where a name there is looked for; none where it is not known.
    `elsewhere`: whether the question names a document, and this is another one that does not speak of it.
    """

    title: str = ""
    section: str = ""
    previous: str = ""
    elsewhere: bool = False
    about: frozenset[str] = frozenset()


NOWHERE = Context()


@dataclass(frozen=True, slots=True)
class Fit:
    """The features of one sentence, as the module's table says; `why` names the contradiction.

    It is one of part, year, period, share, law, code, document, series and opposite, or empty.
    """

    holds: float
    near: float
    period: float
    named: float
    negation: float
    degree: float
    sure: float
    contradicts: bool
    label: float = 0.0
    row: float = 0.0
    result: float = 1.0
    why: str = ""

    def features(self) -> dict[str, float]:
        """All but `why` as numbers in [0, 1], each called `fit_` and its name."""
        return {f"fit_{name}": float(value) for name, value in asdict(self).items() if name != "why"}


def fits(asked: AskedFor, text: str, context: Context, language: str) -> Fit:
    """How a sentence fits. `language` is the sentence's. Never raises, whatever the texts."""
    words = LANGUAGES[language].asked if language in LANGUAGES else None
    stated = read(text, language)
    around = [read(one, language) for one in (context.section, context.previous)]
    title = read(context.title, language)
    label = _label(text)
    holds, places = _held(asked, stated, words, label)
    period, other_period = _period(asked, stated, around, title, words)
    if CELL in text:
        other_period = other_period or _heads_other_period(asked, stated, around[0], words)
    named, other_named = _named(asked, text, stated, context, [*around, title])
    other_document = "document" if context.elsewhere else ""
    other_member = "series" if is_other_member(asked.series, stated, around, title, language) else ""
    other_part = "part" if _is_of_a_part(asked, around[0], words) else ""
    why = (
        other_part
        or other_period
        or ("share" if CELL in text and are_shares(asked, text, language) else "")
        or other_named
        or other_document
        or other_member
        or ("opposite" if is_reverse(asked.bearing, stated, language) else "")
    )
    is_row = not why and may_be_row(asked, text, holds, stated, around[0], language)
    of_period = period if asked.years or asked.parts else 1.0
    return Fit(
        holds=holds,
        near=_near(asked, stated, places),
        period=period,
        named=named,
        negation=_negation(asked.negated, is_negated(stated, language)),
        degree=float(not asked.superlative or is_superlative(stated, words)),
        sure=asked.sure,
        contradicts=bool(why),
        label=share_asked(asked, label, language),
        row=row_asked(asked, text, f"{context.section}\n{context.title}", language, context.about) * of_period if is_row else 0.0,
        result=float(
            any(states_result(asked.computes, one.spaced, language) for one in (stated, around[0])) and not _is_part_of_sum(asked, stated)
        ),
        why=why,
    )


def _heads_other_period(asked: AskedFor, row: Stated, heads: Stated, words: AskedWords | None) -> str:
    """Whether what stands above a row says that its figures are of other years than the one asked for, or of a part of that year."""
    if asked.type not in FIGURES or not asked.in_year or row.years:
        return ""
    if heads.years and asked.in_year not in heads.years:
        return "year"
    return "period" if asked.flow and not asked.parts and words and _is_part_of_year(heads.spaced, words) else ""


def _is_part_of_sum(asked: AskedFor, stated: Stated) -> bool:
    """Whether the sum over several names is asked for, and a text has one of them and not another."""
    if asked.computes != "sum" or len(asked.names) < 2:
        return False
    named = frozenset[str]().union(*_parts(asked.names))
    return bool(named & _keys(stated)) and not named <= _keys(stated)


def _is_of_a_part(asked: AskedFor, heading: Stated, words: AskedWords | None) -> bool:
    """Whether a heading says that its figures are of a part ("Obligor Group") that the question, which asks for a figure, does not name."""
    if asked.type not in FIGURES and not asked.flow:
        return False
    found = words.scopes.search(heading.spaced) if words and words.scopes else None
    return found is not None and asked.words.isdisjoint(found[0].split())


def _label(text: str) -> tuple[str, ...]:
    """The folded words of the first cell of a row, or of what stands before a colon; none where there is neither, or where it is long."""
    match = _LABEL.match(text)
    words = tuple(fold(word) for word in WORD.findall(match[1])) if match else ()
    return words if len(words) <= LABEL_WORDS else ()


_LABEL = regex.compile(r"([^|:\n]{1,80}?)\s*(?:\||:\s)")


def _held(asked: AskedFor, stated: Stated, words: AskedWords | None, label: tuple[str, ...]) -> tuple[float, list[int]]:
    """How well the type is held, and at which tokens; none where the type says nothing of a place."""
    if worth := _WORTH.get(asked.type):
        found = [(worth.get(number.kind, 0.0), number.at) for number in stated.numbers if number.word not in asked.words]
        best = max((value for value, _ in found), default=0.0)
        return best, [at for value, at in found if value == best > 0]
    if asked.type in NAMES:
        return _held_names(asked, stated, words)
    if asked.type is AnswerType.DEFINITION and words:
        return _defined(asked, stated, words, label), []
    if asked.type in _MARKED and words:
        return float(asked.type in words.markers and words.markers[asked.type].search(stated.spaced) is not None), []
    return UNKNOWN, []


def _defined(asked: AskedFor, stated: Stated, words: AskedWords, label: tuple[str, ...]) -> float:
    """How surely a sentence says what is meant by the words asked for: "X is a ...", "... is called X", "X: ..."."""
    if label and all(map(asked.has, label)):
        return 1.0
    pattern = words.markers.get(AnswerType.DEFINITION)
    if pattern is None or not asked.keys:
        return 0.0
    best, count = 0.0, len(asked.keys)
    for match in pattern.finditer(stated.spaced):
        before = [word[:KEY_CHARS] for word in stated.spaced[: match.start()].split()]
        after = [word[:KEY_CHARS] for word in stated.spaced[match.end() :].split()]
        subject = (len(asked.keys.intersection(before[-count - 1 :])) / count) ** 2  # half a name is mostly another thing's
        whole = len(before) <= count + 2
        named = (len(asked.keys.intersection(after[: count + 2])) / count) ** 2
        best = max(best, _MENTIONED + (1 - _MENTIONED) * max(subject * (1.0 if whole else _WITHIN), named))
    return best


def _held_names(asked: AskedFor, stated: Stated, words: AskedWords | None) -> tuple[float, list[int]]:
    if not stated.names and not stated.has_capitals:
        return UNKNOWN / 2, []
    found = []
    for run in stated.names:
        fresh = [at for at in range(run.at, run.end) if not asked.has(stated.words[at])]
        if fresh:
            value = (1.0 if len(fresh) > 1 else 0.8) if run.clear else _UNCLEAR
            found.append((value * _of_type(asked.type, stated, run.at, run.end, words), fresh[0]))
    best = max((value for value, _ in found), default=0.0)
    return best, [at for value, at in found if value == best > 0]


def _of_type(kind: AnswerType, stated: Stated, at: int, end: int, words: AskedWords | None) -> float:
    """How much a name looks like a place or an organisation; a person cannot be told from its form."""
    if kind is AnswerType.PLACE and words:
        return 1.0 if set(stated.words[max(0, at - 2) : at]) & words.places else 0.7
    if kind is AnswerType.ORGANISATION and words:
        mine = any(map(words.organisations.fullmatch, stated.words[at : end + 1]))
        return 1.0 if mine or any(len(word) > 1 and word.isupper() for word in stated.raw[at:end]) else 0.8
    return 1.0


def _near(asked: AskedFor, stated: Stated, places: list[int]) -> float:
    if not asked.keys:
        return 0.0
    keys = [word[:KEY_CHARS] for word in stated.words]
    windows = [keys[max(0, at - NEAR_WORDS) : at + NEAR_WORDS + 1] for at in places] or [keys]
    return max(len(asked.keys.intersection(window)) for window in windows) / len(asked.keys)


def _period(asked: AskedFor, stated: Stated, around: list[Stated], title: Stated, words: AskedWords | None) -> tuple[float, str]:
    """The feature `period`, and what contradicts it."""
    scores = [UNKNOWN]
    why = ""
    if asked.years:
        scores.append(_year(asked.years, stated, around, title))
        why = "year" if not scores[-1] and _other_year(asked, stated) else ""
    if asked.parts and words:
        mine = parts_named(stated.spaced, words)
        near = frozenset[str]().union(*(parts_named(one.spaced, words) for one in (*around, title)))
        scores.append(1.0 if asked.parts & mine else 0.0 if mine else 0.8 if asked.parts & near else 0.0 if near else UNKNOWN)
        same_kind = {part[0] for part in asked.parts} & {part[0] for part in mine}
        why = why or ("period" if mine and same_kind and not asked.parts & (mine | near) else "")
    elif asked.in_year and asked.flow and asked.type in FIGURES and words and _is_part_of_year(stated.spaced, words):
        scores, why = [0.0], why or "period"
    told = scores[1:] or scores
    return min(told), why


def _year(years: frozenset[int], stated: Stated, around: list[Stated], title: Stated) -> float:
    if years & stated.years:
        return 1.0
    if any(years & one.years for one in around):
        return 0.8 if not stated.years else 0.6
    if years & title.years:
        return 0.7 if not stated.years else UNKNOWN
    return 0.0 if stated.years else UNKNOWN


def _other_year(asked: AskedFor, stated: Stated) -> bool:
    """Whether a figure asked for one year is surely given for another."""
    return bool(asked.in_year and asked.flow and stated.own_years and asked.type in FIGURES)


def _is_part_of_year(said: str, words: AskedWords) -> bool:
    """Whether a text tells of a quarter or half, and of no whole year besides."""
    bare = said
    for name in ("quarter", "half"):
        if pattern := words.periods.get(name):
            bare = pattern.sub(" ", bare)
    whole = words.periods.get("year")
    return bare != said and whole is not None and not whole.search(_spaces.sub(" ", bare).strip())


_spaces = regex.compile(r" {2,}")


def _named(asked: AskedFor, text: str, stated: Stated, context: Context, around: Iterable[Stated]) -> tuple[float, str]:
    """The feature `named`, and what contradicts it."""
    if not (asked.names or asked.codes or asked.laws):
        return 1.0, ""
    beside = [*around]
    here, there = _keys(stated), frozenset[str]().union(*map(_keys, beside))
    title = _squeezed(context.title)
    shares = [
        1.0 if part <= here else 0.5 if part <= here | there or _is_within(name, title) else 0.0
        for name, part in zip(asked.names, _parts(asked.names), strict=True)
    ]
    whole = "\n".join((context.title, context.section, context.previous))
    contradiction = ""
    for name, wanted, find in (("code", asked.codes, codes_in), ("law", asked.laws, _laws)):
        if wanted:
            mine, near = find(text), find(whole)
            shares += [1.0 if one in mine else 0.5 if one in near else 0.0 for one in wanted]
            about = mine | (find(context.title) if name == "code" else frozenset())  # a manual of the MK-40 tells nothing of the MK-80
            if not wanted & (mine | near) and any(_rivals(one, other) for one in wanted for other in about):
                contradiction = contradiction or name
    return sum(shares) / len(shares), contradiction


def _keys(stated: Stated) -> frozenset[str]:
    return frozenset(word[:KEY_CHARS] for word in stated.words)


def _parts(names: Iterable[tuple[str, ...]]) -> Iterator[frozenset[str]]:
    for name in names:
        yield frozenset(word[:KEY_CHARS] for word in name if word not in any_language().connectors)


def _is_within(name: tuple[str, ...], title: str) -> bool:
    """Whether a name stands in a title as one word: "BESTBUY 2023 10K"."""
    joined = "".join(name)
    return len(joined) >= JOINED_CHARS and joined in title


def _squeezed(text: str) -> str:
    return "".join(map(fold, WORD.findall(text)))


def _laws(text: str) -> frozenset[str | tuple[str, str]]:
    return frozenset((law.family, law.parts[0]) for law in laws(text) if law.family)


_CODE_PARTS = regex.compile(r"\p{L}+|\p{N}+")


def _rivals(one: str | tuple[str, str], other: str | tuple[str, str]) -> bool:
    """Whether two codes or references are of one series, so that one stands for something else: E7 and E9, § 14 and § 15."""
    if isinstance(one, str) and isinstance(other, str):
        mine, theirs = _CODE_PARTS.findall(one), _CODE_PARTS.findall(other)
        shaped = [part.isdecimal() for part in mine] == [part.isdecimal() for part in theirs]
        return one != other and shaped and mine[0] == theirs[0] and not mine[0].isdecimal()
    return one[0] == other[0] and one != other


def _negation(asked: bool, said: bool) -> float:
    if asked == said:
        return 1.0
    return 0.0 if asked else UNKNOWN
