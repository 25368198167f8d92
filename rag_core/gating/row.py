"""How surely a row of a table is the one that a question asks for: by its label, and by what the table says above it."""

from __future__ import annotations

import regex

from rag_core.gating.asked import KEY_CHARS, NAMES, AnswerType, AskedFor, codes_in
from rag_core.gating.stated import Stated, small_words
from rag_core.language import fold

ROW_WORDS = 14  # at most in a row's label; chosen
UNKNOWN = 0.5  # `Fit.holds` where nothing tells whether a type is held
_CELL = " | "  # between the cells of a row
_IN_DIGITS = frozenset({AnswerType.MONEY, AnswerType.COUNT, AnswerType.PERCENTAGE})
_TELLING = NAMES | {AnswerType.DATE, AnswerType.DURATION}  # types that a text surely lacks where `holds` is low
_DIGIT = regex.compile(r"\p{Nd}")
WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++")


def row_asked(asked: AskedFor, text: str, above: str, language: str) -> float:
    """How much of a row's label the question has, times the square of how much of the question's subject the label and what is above have.

    So "Total current assets | 8,802" is the row for "How much were total current assets?", and hardly the one for "total assets". What
    the row lacks of the question counts double: "Maximum flow rate" is not the row for the pressure loss at the maximum flow rate. Names
    that stand nowhere here are the business of `fit_named`, but a code has to be here.

    Args:
        asked: what the question asks for.
        text: the row, its cells parted by bars; 0 for any other text.
        above: the headings that the table stands under, its heads, and the document's title.
        language: of the row.
    """
    first, bar, _ = text.partition(_CELL)
    if not bar or (asked.codes and not asked.codes <= codes_in(f"{text}\n{above}")):
        return 0.0
    small = small_words(language)
    label = [word for word in map(fold, WORD.findall(first)) if not word.isdecimal() and word not in small]
    if not 0 < len(label) <= ROW_WORDS:
        return 0.0
    there = {word[:KEY_CHARS] for word in (*label, *map(fold, WORD.findall(above)))}
    names = {word[:KEY_CHARS] for name in asked.names for word in name}
    wanted = asked.subject - (names - there)
    said = sum(asked.has(word) for word in label) / len(label)
    return said * (len(wanted & there) / max(1, len(wanted))) ** 2


def may_be_row(asked: AskedFor, text: str, holds: float, stated: Stated, heads: Stated) -> bool:
    """Whether a row can be the one asked for, whatever its label.

    A question that compares asks for two rows, a figure or a name has to be there, and where heads name years, the year asked for is one.
    """
    other_years = bool(asked.years and heads.years) and not asked.years & (stated.years | heads.years)
    lacks = holds < UNKNOWN if asked.type in _TELLING else asked.type in _IN_DIGITS and not _DIGIT.search(text.partition(_CELL)[2])
    return not (asked.compared or asked.superlative or other_years or lacks)
