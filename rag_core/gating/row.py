"""How surely a row of a table is the one that a question asks for: by its label, and by what the table says above it."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from rag_core.gating.asked import KEY_CHARS, NAMES, AnswerType, AskedFor, codes_in
from rag_core.gating.stated import Stated, small_words
from rag_core.language import LANGUAGES, fold

ROW_WORDS = 14  # at most in a row's label; chosen
UNKNOWN = 0.5  # `Fit.holds` where nothing tells whether a type is held
_CELL = " | "  # between the cells of a row
_IN_DIGITS = frozenset({AnswerType.MONEY, AnswerType.COUNT, AnswerType.PERCENTAGE})
_TELLING = NAMES | {AnswerType.DATE, AnswerType.DURATION}  # types that a text surely lacks where `holds` is low
_DIGIT = regex.compile(r"\p{Nd}")
WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++")


def row_asked(asked: AskedFor, text: str, above: str, language: str) -> float:
    """How much of a row's label the question has, times the square of how much of the question's subject the label and what is above have.

    So "Total current assets | 8,802" is the row for "How much were current assets?", and hardly the one for "total assets". What the row
    lacks of the question counts double: "Maximum flow rate" is not the row for the pressure loss at the maximum flow rate. Names that stand
    nowhere here are the business of `fit_named`, but a code has to be here. A label is the first cell. Where a name is asked for it may be
    another one too that has the whole subject itself: "Ada Marsh | 47 | Auditor".

    Args:
        asked: what the question asks for.
        text: the row, its cells parted by bars; 0 for any other text.
        above: the headings that the table stands under, its heads, and the document's title.
        language: of the row.
    """
    cells = text.split(_CELL)
    if len(cells) < 2 or (asked.codes and not asked.codes <= codes_in(f"{text}\n{above}")):
        return 0.0
    beside = {word[:KEY_CHARS] for word in map(fold, WORD.findall(above))}
    first = _share(asked, cells[0], beside, language)
    others = (_share(asked, cell, set(), language, whole=True) for cell in cells[1:] if asked.type in NAMES)
    return max(first, *others, 0.0)


def _share(asked: AskedFor, cell: str, beside: set[str], language: str, whole: bool = False) -> float:
    """`row_asked` of one cell as the label, beside the beginnings of the words above; 0 without the subject where the `whole` is needed."""
    small = small_words(language)
    label = [word for word in map(fold, WORD.findall(cell)) if not word.isdecimal() and word not in small]
    if not 0 < len(label) <= ROW_WORDS:
        return 0.0
    there = beside.union(word[:KEY_CHARS] for word in label)
    names = {word[:KEY_CHARS] for name in asked.names for word in name}
    wanted = asked.subject - (names - there)
    has = len(wanted & there) / max(1, len(wanted))
    return share_asked(asked, label, language) * has**2 if has == 1 or not whole else 0.0


def share_asked(asked: AskedFor, label: Sequence[str], language: str) -> float:
    """Share of a label's folded words that the question has, in [0, 1]; a word for a total that it lacks does not count."""
    words = LANGUAGES[language].asked if language in LANGUAGES else None
    totals = words.totals if words else frozenset[str]()
    counted = [word for word in label if word not in totals or asked.has(word)]
    return sum(map(asked.has, counted)) / len(counted) if counted else 0.0


def may_be_row(asked: AskedFor, text: str, holds: float, stated: Stated, heads: Stated) -> bool:
    """Whether a row can be the one asked for, whatever its label.

    A question that compares asks for two rows, a figure or a name has to be there, and where heads name years, the year asked for is one.
    """
    other_years = bool(asked.years and heads.years) and not asked.years & (stated.years | heads.years)
    lacks = holds < UNKNOWN if asked.type in _TELLING else asked.type in _IN_DIGITS and not _DIGIT.search(text.partition(_CELL)[2])
    return not (asked.compared or asked.superlative or other_years or lacks)
