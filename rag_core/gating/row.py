"""How surely a row of a table is the one that a question asks for: by its label, and by what stands above it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import regex

from rag_core.domain.rows import EMPTY, columns
from rag_core.facts.sentence.lexicon import lexicon
from rag_core.gating.asked import (
    FIGURES,
    NAMES,
    WORD,
    AnswerType,
    AskedFor,
    beginnings,
    codes_in,
    folded,
    parts_named,
)
from rag_core.gating.stated import CASED, Stated, asked_words, names_only_periods, read, small_words
from rag_core.language import any_language, fold, grammar, spaced
from rag_core.retrieval.metrics import NamedMetric

ROW_WORDS = 14  # at most in a row's label; chosen
CODE_DEFINED = 0.9  # the row of a code, where the question asks what the code means; chosen
CODE_NAMED = 0.6  # the same where it asks something else that has to do with the code; chosen
# least share of the subject for a label behind a code: "which register holds ..." has a verb too; chosen
BESIDE_CODE = 0.7
CODE_DIGITS = 3  # at least of a number that names a row, such as an HTTP status or a register; chosen
STEP_WORDS = 3  # at least in a cell that says how something is done: "Press SET" beside figures is rare; chosen
_BRACKETS = regex.compile(r"\([^()]*\)")
CELL = " | "  # between the cells of a row
_IN_DIGITS = frozenset({AnswerType.MONEY, AnswerType.COUNT, AnswerType.PERCENTAGE})
# types that a row must have
_TELLING = NAMES | {AnswerType.DATE, AnswerType.DEADLINE, AnswerType.DURATION}
_FIGURE = regex.compile(r"\p{Nd}[\p{Nd}.,]*[)\s|]*(%?)")  # with the sign of a share, which may be a cell of its own
_DIGIT = regex.compile(r"\p{Nd}")


def row_asked(asked: AskedFor, text: str, above: str, language: str, about: frozenset[str] = frozenset()) -> float:
    """How much of a row's label the question has, times the square of how much of the question's subject the label and
    what is above have.

    So "Total current assets | 8,802" is the row for "How much were current assets?", and hardly the one for "total
    assets". What the row lacks of the question counts double: "Maximum flow rate" is not the row for the pressure loss
    at the maximum flow rate. Names that stand nowhere here take nothing away, but a code has to be here. A label is the
    first cell. Where a name is asked for it may be another one too that has the whole subject itself: "Ada Marsh | 47 |
    Auditor". Where a code or number is asked for, the heads of the table may have the rest of it: "Travel | Payroll |
    4330" under "Team | Extension".

    A row whose label is a code of the question is the row of that code in whatever language: "E4 | Sensor failed" for
    "Was bedeutet E4?". So is a row with a cell that is nothing but that code: "1. | Northern market | NM01".

    `text` are cells parted by bars; 0 for any other. `above` are headings, heads and title, `about` the beginnings of
    the words of the document's first page.
    """
    cells = text.split(CELL)
    if len(cells) < 2 or (asked.codes and not asked.codes <= codes_in(f"{text}\n{above}")):
        return 0.0
    if about and _names_another(asked, f"{text}\n{above}", about, language):
        return 0.0
    beside = beginnings(folded(above))
    first = _share(asked, cells[0], beside, language, about=about)
    if _names_code(asked, cells[0]) or any(asked.codes & codes_in(cell) and _is_code_alone(cell) for cell in cells[1:]):
        first = max(first, CODE_DEFINED if asked.type is AnswerType.DEFINITION else CODE_NAMED)
    others: list[float] = []
    if asked.type in NAMES:
        others = [_share(asked, cell, frozenset(), language, least=1.0) for cell in cells[1:]]
    elif asked.type is AnswerType.CODE:
        others = [_share(asked, cell, beside, language, least=BESIDE_CODE) for cell in cells[1:]]
    return max(first, *others, 0.0)


def _names_another(asked: AskedFor, text: str, about: frozenset[str], language: str) -> bool:
    """Whether the question names by a capital what is nowhere around the row: "in Germany"."""
    if not asked.names or grammar(language).nouns_capitalised or grammar(language).script not in CASED:
        return False
    here, connectors = beginnings(folded(text)) | about, any_language().connectors
    return any(beginnings(set(name) - connectors).isdisjoint(here) for name in asked.names)


def _names_code(asked: AskedFor, cell: str) -> bool:
    """Whether a first cell is a code that the question names, or nothing but a number of it that is no year."""
    if asked.codes and asked.codes & codes_in(cell):  # most questions name no code, and a table has many rows
        return True
    number = cell.strip()
    return (
        number.isdecimal() and len(number) >= CODE_DIGITS and number in asked.words and int(number) not in asked.years
    )


def _is_code_alone(cell: str) -> bool:
    return len(cell.split()) == 1


def cells_named(asked: AskedFor, row: str, header: str) -> list[str]:
    """The cells of a row in the columns that a question names, by all words of their heads."""
    words = beginnings(asked.words)
    return [cell for cell, head in columns(header, row) if (keys := _keys(head)) and keys <= words]


def asks_for_empty(asked: AskedFor, row: str, header: str) -> bool:
    """Whether a question names columns of a table, and a row has empty cells there."""
    named = cells_named(asked, row, header)
    return bool(named) and set(named) <= {"", EMPTY}


def lacking(asked: AskedFor, labels: Sequence[str], language: str) -> list[bool]:
    """For each label, whether another has the whole subject ("Net loss per share"), and this one a part."""
    small = small_words(language)
    subject = asked.subject - asked.name_keys
    mine = [subject & _keys(label, small) for label in labels]
    return [bool(one) and one != subject and subject in mine for one in mine]


def outdone(asked: AskedFor, labels: Sequence[str], language: str) -> list[bool]:
    """For each label of a table's rows, whether another one has all that it has of the question's subject, and more of
    it.

    "Total assets" is outdone by "Total current assets" where current assets are asked for. A label that has nothing of
    the subject is not, nor does one outdo that has more words besides: "Locker, replacement of a lost key" is not the
    row for the rent of a locker with a key. What stands in brackets does not count.
    """
    small = small_words(language)
    keys = [_keys(label, small) for label in labels]
    split = [(mine & asked.subject, len(mine - asked.subject)) for mine in keys]
    return [bool(mine) and any(mine < other and more <= besides for other, more in split) for mine, besides in split]


def nameless(asked: AskedFor, labels: Sequence[str], places: Sequence[str]) -> list[bool]:
    """For each row of a document, whether others are names of the question, and this one has none of these.

    "Canada | 286.9" says that the net sales of Canada are not those of "Total net sales | 2,418.6". `places` have for
    each label its title, headings and table's heads.
    """
    keys = [_keys(label) for label in labels]
    named = frozenset[str]().union(*(set(keys) & set(map(beginnings, asked.names))))
    return [bool(named) and named.isdisjoint(mine | _keys(place)) for mine, place in zip(keys, places, strict=True)]


def _keys(text: str, small: frozenset[str] = frozenset()) -> frozenset[str]:
    """The beginnings of a text's words outside brackets, without small ones."""
    return beginnings(word for word in folded(_BRACKETS.sub(" ", text)) if word not in small)


def _share(
    asked: AskedFor,
    cell: str,
    beside: frozenset[str],
    language: str,
    least: float = 0.0,
    about: frozenset[str] = frozenset(),
) -> float:
    """`row_asked` of one cell as the label, beside the beginnings of the words above; 0 where less than `least` of the
    subject is there.

    A label that is only the name of whom the document is about (`about`) is none for anything else that is asked.
    """
    label, bare = (_telling(text, language) for text in (cell, without_aside(cell, language)))
    if not 0 < len(label) <= ROW_WORDS or _is_other_period(asked, cell, language):
        return 0.0
    there, names = beside | beginnings(label), asked.name_keys
    wanted = asked.subject - (names - there)
    has = len(wanted & there) / max(1, len(wanted))
    shares = (share_asked(asked, words, language) for words in (label, bare) if words)
    # the firm's name says nothing of its tax rate
    own = about & names & there and wanted - names and not (wanted - names) & there
    said = max(shares) * has**2 if has >= least and not own else 0.0
    return max(said, *(_printed(metric, cell, wanted, there, language) for metric in asked.metrics), 0.0)


def _telling(label: str, language: str) -> list[str]:
    """The folded words of a label without numbers and small ones."""
    small = small_words(language)
    return [word for word in folded(label) if not word.isdecimal() and word not in small]


def _is_other_period(asked: AskedFor, cell: str, language: str) -> bool:
    """Whether a label is a period alone, and not one that is asked for: "Fiscal 2024", "First quarter", "Year"."""
    words, said = asked_words(language), spaced(cell)
    if not words.periods or not _is_period(said, words.periods.values(), language):
        return False
    return asked.years.isdisjoint(read(cell, language).years) and asked.parts.isdisjoint(parts_named(said, words))


def _is_period(said: str, periods: Iterable[regex.Pattern[str]], language: str) -> bool:
    """Whether a `spaced` text is nothing but a period."""
    for pattern in periods:
        said = pattern.sub(" ", said)
    months = lexicon(language).months
    return all(word in months or word.isdecimal() for word in map(fold, said.split()))


def without_aside(label: str, language: str) -> str:
    """A label without what is set aside behind a comma: "Net loss per share, basic"."""
    head, _, aside = label.partition(",")
    first = WORD.search(aside)
    return head if first and fold(first[0]) in asked_words(language).aside_words else label


def label_words(label: str, language: str) -> frozenset[str]:
    """The folded words that tell a label from others: no brackets, aside, small words or totals."""
    return _counted(without_aside(_BRACKETS.sub(" ", label), language), language)


def _printed(metric: NamedMetric, cell: str, wanted: frozenset[str], there: frozenset[str], language: str) -> float:
    """`_share` of a label that reports print the metric under, without what stands in brackets."""
    small, own = small_words(language), _counted(_BRACKETS.sub(" ", cell), language)
    if not own:
        return 0.0
    shares = [len(words - small) / len(own) for words in metric.labels if own >= words - small]
    rest = wanted - beginnings(metric.words)
    has = len(rest & there) / len(rest) if rest else 1.0
    return max(shares, default=0.0) * has**2


def _counted(label: str, language: str) -> frozenset[str]:
    """The folded words of a label but small ones and totals; all where there is nothing else."""
    said = frozenset(folded(label)) - small_words(language)
    return said - asked_words(language).totals or said


def share_asked(asked: AskedFor, label: Sequence[str], language: str) -> float:
    """Share of a label's folded words that the question has, in [0, 1]; totals do not count."""
    totals = asked_words(language).totals
    counted = [word for word in label if word not in totals or asked.has(word)]
    return sum(map(asked.has, counted)) / len(counted) if counted else 0.0


def may_be_row(asked: AskedFor, text: str, lacks: bool, stated: Stated, heads: Stated, language: str) -> bool:
    """Whether a row can be the one asked for, whatever its label.

    A question that compares asks for two rows, a figure or a name has to be there, and where heads name years, the one
    asked for. Dates alone are no answer, nor figures alone to how something is done; steps take a few words.
    """
    other_years = bool(asked.years and heads.years) and not asked.years & (stated.years | heads.years)
    cells = [cell for cell in text.split(CELL)[1:] if any(map(str.isalnum, cell))]
    dates = [names_only_periods(cell, language) for cell in cells]
    told = "".join(cell for cell, date in zip(cells, dates, strict=True) if not date)
    without = lacks if asked.type in _TELLING else asked.type in _IN_DIGITS and not _DIGIT.search(told)
    only_dates = asked.type in FIGURES and any(dates) and not _DIGIT.search(told)
    only_figures = asked.manner and not any(map(str.isalpha, told))
    longest = max((sum(map(str.isalpha, cell.split())) for cell in cells), default=0)
    no_steps = asked.type is AnswerType.PROCEDURE and longest < STEP_WORDS
    return not (asked.compared or asked.superlative or other_years or without or only_dates or only_figures or no_steps)


def asks_share(asked: AskedFor, language: str) -> bool:
    """Whether a question has a word for a share, such as a rate; also in a language without a list."""
    shares = asked_words(language).share_words
    return not shares or not asked.words.isdisjoint(shares)


def are_shares(asked: AskedFor, text: str, language: str) -> bool:
    """Whether a row has shares alone where an amount is asked for: "Loss from operations | (44)%"."""
    if not asked.flow or asked.type is AnswerType.PERCENTAGE or asks_share(asked, language):
        return False
    figures = _FIGURE.findall(text.partition(CELL)[2])
    return bool(figures) and all(share for share in figures)
