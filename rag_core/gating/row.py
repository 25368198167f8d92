"""How surely a row of a table is the one that a question asks for: by its label, and by what the table says above it."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from rag_core.gating.asked import KEY_CHARS, NAMES, AnswerType, AskedFor, codes_in
from rag_core.gating.stated import Stated, small_words
from rag_core.language import LANGUAGES, fold
from rag_core.retrieval.metrics import NamedMetric

ROW_WORDS = 14  # at most in a row's label; chosen
CODE_DEFINED = 0.9  # the row of a code, where the question asks what the code means; chosen
CODE_NAMED = 0.6  # the same where it asks something else that has to do with the code; chosen
BESIDE_CODE = 0.7  # least share of the subject for a label behind a code: "which register holds ..." has a verb too; chosen
CODE_DIGITS = 3  # at least of a number that names a row, such as an HTTP status or a register; chosen
UNKNOWN = 0.5  # `Fit.holds` where nothing tells whether a type is held
_BRACKETS = regex.compile(r"\([^()]*\)")
CELL = " | "  # between the cells of a row
_IN_DIGITS = frozenset({AnswerType.MONEY, AnswerType.COUNT, AnswerType.PERCENTAGE})
_TELLING = NAMES | {AnswerType.DATE, AnswerType.DEADLINE, AnswerType.DURATION}  # types that a text surely lacks where `holds` is low
_DIGIT = regex.compile(r"\p{Nd}")
WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++")


def row_asked(asked: AskedFor, text: str, above: str, language: str) -> float:
    """How much of a row's label the question has, times the square of how much of the question's subject the label and what is above have.

    So "Total current assets | 8,802" is the row for "How much were current assets?", and hardly the one for "total assets". What the row
    lacks of the question counts double: "Maximum flow rate" is not the row for the pressure loss at the maximum flow rate. Names that stand
    nowhere here are the business of `fit_named`, but a code has to be here. A label is the first cell. Where a name is asked for it may be
    another one too that has the whole subject itself: "Ada Marsh | 47 | Auditor". Where a code or number is asked for, the heads of the
    table may have the rest of it: "Travel | Payroll | 4330" under "Team | Extension".

    A row whose label is a code of the question is the row of that code in whatever language it stands: "E4 | Sensor failed" is what is
    asked for by "Was bedeutet E4?". So is a row with a cell that is nothing but that code: "1. | Northern market | NM01".

    Args:
        asked: what the question asks for.
        text: the row, its cells parted by bars; 0 for any other text.
        above: the headings that the table stands under, its heads, and the document's title.
        language: of the row.
    """
    cells = text.split(CELL)
    if len(cells) < 2 or (asked.codes and not asked.codes <= codes_in(f"{text}\n{above}")):
        return 0.0
    beside = {word[:KEY_CHARS] for word in map(fold, WORD.findall(above))}
    first = _share(asked, cells[0], beside, language)
    if _names_code(asked, cells[0]) or any(asked.codes & codes_in(cell) and _is_code_alone(cell) for cell in cells[1:]):
        first = max(first, CODE_DEFINED if asked.type is AnswerType.DEFINITION else CODE_NAMED)
    others: list[float] = []
    if asked.type in NAMES:
        others = [_share(asked, cell, set(), language, least=1.0) for cell in cells[1:]]
    elif asked.type is AnswerType.CODE:
        others = [_share(asked, cell, beside, language, least=BESIDE_CODE) for cell in cells[1:]]
    return max(first, *others, 0.0)


def _names_code(asked: AskedFor, cell: str) -> bool:
    """Whether a first cell is a code that the question names, or nothing but a number of it that is no year."""
    if asked.codes and asked.codes & codes_in(cell):  # most questions name no code, and a table has many rows
        return True
    number = cell.strip()
    return number.isdecimal() and len(number) >= CODE_DIGITS and number in asked.words and int(number) not in asked.years


def _is_code_alone(cell: str) -> bool:
    return len(cell.split()) == 1


def outdone(asked: AskedFor, labels: Sequence[str], language: str) -> list[bool]:
    """For each label of a table's rows, whether another one has all that it has of the question's subject, and more of it.

    "Total assets" is outdone by "Total current assets" where current assets are asked for, and "Model A" by "Model A, tuned" where the
    tuned one is. A label that has nothing of the subject is not, nor does one outdo that has more words besides: "Locker, replacement of a
    lost key" is not the row for the rent of a locker with a key. What stands in brackets does not count.
    """
    small = small_words(language)
    keys = [_keys(label, small) for label in labels]
    split = [(mine & asked.subject, len(mine - asked.subject)) for mine in keys]
    return [bool(mine) and any(mine < other and more <= besides for other, more in split) for mine, besides in split]


def nameless(asked: AskedFor, labels: Sequence[str], places: Sequence[str]) -> list[bool]:
    """For each row of a document, whether others are names of the question, and this one has none of these.

    "Canada | 286.9" says that the net sales of Canada are not those of "Total net sales | 2,418.6".

    Args:
        asked: what the question asks for.
        labels: of the rows.
        places: for each the title of its document, the headings that it stands under, and the heads of its table.
    """
    names = {frozenset(word[:KEY_CHARS] for word in name) for name in asked.names}
    keys = [_keys(label) for label in labels]
    rows = {frozenset(mine) for mine in keys} & names
    named = frozenset().union(*rows)
    return [bool(named) and named.isdisjoint(mine | _keys(place)) for mine, place in zip(keys, places, strict=True)]


def _keys(text: str, small: frozenset[str] = frozenset()) -> set[str]:
    """The beginnings of a text's words outside brackets, without small ones."""
    return {word[:KEY_CHARS] for word in map(fold, WORD.findall(_BRACKETS.sub(" ", text))) if word not in small}


def _share(asked: AskedFor, cell: str, beside: set[str], language: str, least: float = 0.0) -> float:
    """`row_asked` of one cell as the label, beside the beginnings of the words above; 0 where less than `least` of the subject is there."""
    small = small_words(language)
    label = [word for word in map(fold, WORD.findall(cell)) if not word.isdecimal() and word not in small]
    if not 0 < len(label) <= ROW_WORDS:
        return 0.0
    there = beside.union(word[:KEY_CHARS] for word in label)
    names = {word[:KEY_CHARS] for name in asked.names for word in name}
    wanted = asked.subject - (names - there)
    has = len(wanted & there) / max(1, len(wanted))
    said = share_asked(asked, label, language) * has**2 if has >= least else 0.0
    return max(said, *(_printed(metric, cell, wanted, there, language) for metric in asked.metrics), 0.0)


def _printed(metric: NamedMetric, cell: str, wanted: frozenset[str], there: set[str], language: str) -> float:
    """`_share` where the label is one that reports print the metric under: its words stand for those that the metric was named by.

    What stands in brackets does not count: "Net income (loss)", "Property, plant and equipment (PP&E)".
    """
    small = small_words(language)
    own = _counted([word for word in map(fold, WORD.findall(_BRACKETS.sub(" ", cell))) if word not in small], language)
    if not own:
        return 0.0
    shares = [len(words - small) / len(own) for words in metric.labels if own >= words - small]
    rest = wanted - {word[:KEY_CHARS] for word in metric.words}
    has = len(rest & there) / len(rest) if rest else 1.0
    return max(shares, default=0.0) * has**2


def _counted(label: Sequence[str], language: str) -> set[str]:
    """The words of a label but for those for a total, which mean the same; all where there is nothing else."""
    return set(label) - _totals(language) or set(label)


def _totals(language: str) -> frozenset[str]:
    words = LANGUAGES[language].asked if language in LANGUAGES else None
    return words.totals if words else frozenset[str]()


def share_asked(asked: AskedFor, label: Sequence[str], language: str) -> float:
    """Share of a label's folded words that the question has, in [0, 1]; a word for a total that it lacks does not count."""
    totals = _totals(language)
    counted = [word for word in label if word not in totals or asked.has(word)]
    return sum(map(asked.has, counted)) / len(counted) if counted else 0.0


def may_be_row(asked: AskedFor, text: str, holds: float, stated: Stated, heads: Stated) -> bool:
    """Whether a row can be the one asked for, whatever its label.

    A question that compares asks for two rows, a figure or a name has to be there, and where heads name years, the year asked for is one.
    """
    other_years = bool(asked.years and heads.years) and not asked.years & (stated.years | heads.years)
    lacks = holds < UNKNOWN if asked.type in _TELLING else asked.type in _IN_DIGITS and not _DIGIT.search(text.partition(CELL)[2])
    return not (asked.compared or asked.superlative or other_years or lacks)
