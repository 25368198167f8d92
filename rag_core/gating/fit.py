"""How well a sentence fits what a question asks for: whether it holds the type, keeps the constraints, or contradicts one.

| feature | range | what it is |
|---|---|---|
| holds | [0, 1] | the best thing of the type asked for that the question does not name itself; 0.5 where the type says nothing |
| period | [0, 1] | the year or quarter asked for: 1 the sentence has it, .8 what is right above, .7 the title; .5 none has any, 0 another |
| sure | [0, 1] | how sure the type is |
| contradicts | {0, 1} | whether it is surely of something else: another year, quarter, paragraph, code, office, document, the reverse |
| row | [0, 1] | how surely a row of a table is the one asked for, as `gating/row.py` says; 0 for what is no row |
| result | {0, 1} | 0 where a change, ratio or average is asked for, and neither sentence nor heading has words for one ("rose by") |

`result` is also 0 where the sum over several names is asked for, and a sentence has one of them only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import regex

from rag_core.facts.sentence.laws import laws
from rag_core.gating.asked import FIGURES, KEY_CHARS, AskedFor, codes_in
from rag_core.gating.computed import states_result
from rag_core.gating.held import held
from rag_core.gating.opposite import is_reverse
from rag_core.gating.periods import heads_other_period, kept_period
from rag_core.gating.row import CELL, WORD, are_shares, may_be_row, row_asked
from rag_core.gating.series import is_other_member
from rag_core.gating.stated import Stated, read
from rag_core.language import LANGUAGES, AskedWords, any_language, fold

LABEL_WORDS = 6  # at most in a label; chosen


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
    period: float
    sure: float
    contradicts: bool
    row: float = 0.0
    result: float = 1.0
    why: str = ""

    def features(self) -> dict[str, float]:
        """All but `why` as numbers in [0, 1], each called `fit_` and its name."""
        return {f"fit_{name}": float(getattr(self, name)) for name in _FEATURES}


_FEATURES = tuple(one.name for one in fields(Fit) if one.name != "why")


def fits(asked: AskedFor, text: str, context: Context, language: str) -> Fit:
    """How a sentence fits. `language` is the sentence's. Never raises, whatever the texts."""
    words = LANGUAGES[language].asked if language in LANGUAGES else None
    stated = read(text, language)
    around = [read(one, language) for one in (context.section, context.previous)]
    title = read(context.title, language)
    holds = held(asked, stated, words, _label(text))
    period, other_period = kept_period(asked, stated, around, title, words)
    if CELL in text:
        other_period = other_period or heads_other_period(asked, stated, around[0], words)
    other_document = "document" if context.elsewhere else ""
    other_member = "series" if is_other_member(asked.series, stated, around, title, language) else ""
    other_part = "part" if _is_of_a_part(asked, around[0], words) else ""
    why = (
        other_part
        or other_period
        or ("share" if CELL in text and are_shares(asked, text, language) else "")
        or _other_of_series(asked, text, context)
        or other_document
        or other_member
        or ("opposite" if is_reverse(asked.bearing, stated, language) else "")
    )
    is_row = not why and may_be_row(asked, text, holds, stated, around[0], language)
    of_period = period if asked.years or asked.parts else 1.0
    return Fit(
        holds=holds,
        period=period,
        sure=asked.sure,
        contradicts=bool(why),
        row=row_asked(asked, text, f"{context.section}\n{context.title}", language, context.about) * of_period if is_row else 0.0,
        result=float(
            any(states_result(asked.computes, one.spaced, language) for one in (stated, around[0])) and not _is_part_of_sum(asked, stated)
        ),
        why=why,
    )


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


def _other_of_series(asked: AskedFor, text: str, context: Context) -> str:
    """Whether a sentence names another code or law of a series than the one asked for, and which of both: "code", "law", or empty."""
    whole = "\n".join((context.title, context.section, context.previous))
    for name, wanted, find in (("code", asked.codes, codes_in), ("law", asked.laws, _laws)):
        if wanted:
            mine = find(text)
            about = mine | (find(context.title) if name == "code" else frozenset())  # a manual of the MK-40 tells nothing of the MK-80
            if not wanted & (mine | find(whole)) and any(_rivals(one, other) for one in wanted for other in about):
                return name
    return ""


def _keys(stated: Stated) -> frozenset[str]:
    return frozenset(word[:KEY_CHARS] for word in stated.words)


def _parts(names: Iterable[tuple[str, ...]]) -> Iterator[frozenset[str]]:
    for name in names:
        yield frozenset(word[:KEY_CHARS] for word in name if word not in any_language().connectors)


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
