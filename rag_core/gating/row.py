"""How surely a row of a table is the one that a question asks for: by its label, and by what stands above it."""

from __future__ import annotations

from collections.abc import Iterable

import regex

from rag_core.domain.rows import CELL, EMPTY, columns
from rag_core.gating.asked import KEY_CHARS, AskedFor, beginnings, folded, small_words

ROW_WORDS = 14  # at most in a row's label; chosen
_YEAR = regex.compile(r"(?<!\p{Nd})(?:19|20)\p{Nd}{2}(?!\p{Nd})")
_BRACKETS = regex.compile(r"\([^()]*\)")


def row_asked(asked: AskedFor, text: str, above: str, language: str) -> float:
    """How much of a row's label the question has, times the square of how much of the question the label and what is
    above have, in [0, 1]; of all its cells the best as the label.

    So "Total current assets | 8,802" is the row for "How much were total current assets?", and hardly the one for
    "total assets". What the row lacks of the question counts double: "Maximum flow rate" is not the row for the
    pressure loss at the maximum flow rate. Small words, numbers and what stands in brackets do not count.

    `text` are cells parted by bars; 0 for any other. `above` are headings, heads and title.
    """
    wanted, around = beginnings(_telling(asked.words, language)), beginnings(folded(above))
    labels = [_telling(folded(_BRACKETS.sub(" ", cell)), language) for cell in text.split(CELL)]
    if len(labels) < 2 or not wanted:
        return 0.0
    return max((_share(label, wanted, around) for label in labels if 0 < len(label) <= ROW_WORDS), default=0.0)


def _share(label: list[str], wanted: frozenset[str], around: frozenset[str]) -> float:
    """`row_asked` of the words of one label; the beginnings of those asked for and of those above it."""
    asked = sum(word[:KEY_CHARS] in wanted for word in label) / len(label)
    has = len(wanted & (beginnings(label) | around)) / len(wanted)
    return asked * has**2


def _telling(words: Iterable[str], language: str) -> list[str]:
    """Folded words without numbers and small ones."""
    small = small_words(language)
    return [word for word in words if not word.isdecimal() and word not in small]


def cells_named(asked: AskedFor, row: str, header: str) -> list[str]:
    """The cells of a row in the columns that a question names, by all words of their heads."""
    words = beginnings(asked.words)
    return [cell for cell, head in columns(header, row) if (keys := _keys(head)) and keys <= words]


def asks_for_empty(asked: AskedFor, row: str, header: str) -> bool:
    """Whether a question names columns of a table, and a row has empty cells there: no other cell of it answers."""
    named = cells_named(asked, row, header)
    return bool(named) and set(named) <= {"", EMPTY}


def asks_for_other_year(asked: AskedFor, row: str, header: str, above: str) -> bool:
    """Whether a table's columns are years, and neither they nor the row nor what is above have a year asked for."""
    years, heads = {word for word in asked.words if _YEAR.fullmatch(word)}, set(_YEAR.findall(header))
    return bool(years and heads) and years.isdisjoint(heads.union(_YEAR.findall(f"{row} {above}")))


def _keys(text: str) -> frozenset[str]:
    """The beginnings of a text's words outside brackets."""
    return beginnings(folded(_BRACKETS.sub(" ", text)))
