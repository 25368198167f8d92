"""How well a sentence fits what a question asks for: whether it holds the type, and whether a row of a table is the
one.

| feature | range | what it is |
|---|---|---|
| holds | [0, 1] | the best thing of the type asked for that the question does not name itself; 0.5 where the type says
nothing |
| sure | [0, 1] | how sure the type is |
| row | [0, 1] | how surely a row of a table is the one asked for, as `gating/row.py` says; 0 for what is no row |
| result | {0, 1} | 0 where a change, ratio or average is asked for, and neither sentence nor heading has words for one
("rose by") |

`result` is also 0 where the sum over several names is asked for, and a sentence has one of them only. Whether a
sentence speaks of something else than what is asked for is for the answerability model to say: rules that said so spoke
up at none of 2,563 questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import regex

from rag_core.gating.asked import FIGURES, KEY_CHARS, AskedFor
from rag_core.gating.computed import states_result
from rag_core.gating.held import held
from rag_core.gating.periods import heads_other_period, kept_period
from rag_core.gating.row import CELL, WORD, are_shares, may_be_row, row_asked
from rag_core.gating.stated import Stated, read
from rag_core.language import LANGUAGES, AskedWords, any_language, fold

LABEL_WORDS = 6  # at most in a label; chosen


@dataclass(frozen=True, slots=True)
class Context:
    """Where a sentence stands: title of its document, heading above it, and the sentence before; each may be empty.

    `about`: the beginnings of the words of its document's first page, where a name there is looked for; none where it
        is not known.
    """

    title: str = ""
    section: str = ""
    previous: str = ""
    about: frozenset[str] = frozenset()


NOWHERE = Context()


@dataclass(frozen=True, slots=True)
class Fit:
    """The features of one sentence, as the module's table says."""

    holds: float
    sure: float
    row: float = 0.0
    result: float = 1.0


def fits(asked: AskedFor, text: str, context: Context, language: str) -> Fit:
    """How a sentence fits. `language` is the sentence's. Never raises, whatever the texts."""
    words = LANGUAGES[language].asked if language in LANGUAGES else None
    stated, heads = read(text, language), read(context.section, language)
    holds = held(asked, stated, words, _label(text))
    states = any(states_result(asked.computes, one.spaced, language) for one in (stated, heads))
    row = _row(asked, text, context, holds, stated, heads, words, language) if CELL in text else 0.0
    return Fit(holds, asked.sure, row, float(states and not _is_part_of_sum(asked, stated)))


def _row(
    asked: AskedFor,
    text: str,
    context: Context,
    holds: float,
    stated: Stated,
    heads: Stated,
    words: AskedWords | None,
    language: str,
) -> float:
    """How surely a row is the one asked for; 0 where it is of another period, of a part, or a share where an amount is
    asked for.
    """
    around = [heads, read(context.previous, language)]
    period, other = kept_period(asked, stated, around, read(context.title, language), words)
    other = other or heads_other_period(asked, stated, heads, words) or are_shares(asked, text, language)
    if other or _is_of_a_part(asked, heads, words) or not may_be_row(asked, text, holds, stated, heads, language):
        return 0.0
    of_period = period if asked.years or asked.parts else 1.0
    return row_asked(asked, text, f"{context.section}\n{context.title}", language, context.about) * of_period


def _is_part_of_sum(asked: AskedFor, stated: Stated) -> bool:
    """Whether the sum over several names is asked for, and a text has one of them and not another."""
    if asked.computes != "sum" or len(asked.names) < 2:
        return False
    named = frozenset[str]().union(*_parts(asked.names))
    return bool(named & _keys(stated)) and not named <= _keys(stated)


def _is_of_a_part(asked: AskedFor, heading: Stated, words: AskedWords | None) -> bool:
    """Whether a heading says that its figures are of a part ("Obligor Group") that the question, which asks for a
    figure, does not name.
    """
    if asked.type not in FIGURES and not asked.flow:
        return False
    found = words.scopes.search(heading.spaced) if words and words.scopes else None
    return found is not None and asked.words.isdisjoint(found[0].split())


def _label(text: str) -> tuple[str, ...]:
    """The folded words of the first cell of a row, or of what stands before a colon; none where there is neither, or
    where it is long.
    """
    match = _LABEL.match(text)
    words = tuple(fold(word) for word in WORD.findall(match[1])) if match else ()
    return words if len(words) <= LABEL_WORDS else ()


_LABEL = regex.compile(r"([^|:\n]{1,80}?)\s*(?:\||:\s)")


def _keys(stated: Stated) -> frozenset[str]:
    return frozenset(word[:KEY_CHARS] for word in stated.words)


def _parts(names: Iterable[tuple[str, ...]]) -> Iterator[frozenset[str]]:
    for name in names:
        yield frozenset(word[:KEY_CHARS] for word in name if word not in any_language().connectors)
