"""Labelled questions from the bytes of files: CSV, JSON lines, JSON, also as RAGAS exports them.

A row that cannot be used is reported with its number and the others go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled.question import LabelledQuestion
from rag_core.evaluation.labelled.rows import has_question, is_ragas, labelled, lowered, quoted
from rag_core.evaluation.labelled.table import Table, read_table

MAX_BYTES = 20_000_000  # all files together; chosen
MAX_ROWS = 20_000  # questions of one set; chosen


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row that was left out, or something to know about the whole file (row 0); it may quote what the file holds:
    untrusted text.
    """

    row: int
    problem: str
    file: str = ""

    def __str__(self) -> str:
        where = f"row {self.row}" if self.row else "the file"
        return f"{self.file + ', ' if self.file else ''}{where}: {self.problem}"


Labelled = tuple[tuple[LabelledQuestion, ...], tuple[RowProblem, ...]]


def read_labelled(data: bytes, name: str) -> Labelled:
    """The questions of one file, and what could not be used.

    Rows are numbered as the file shows them: a CSV's header is row 1.

    Raises:
        InvalidInput: the file is too large, or no table of questions.
    """
    return read_labelled_files([(name, data)])


def read_labelled_files(files: Sequence[tuple[str, bytes]]) -> Labelled:
    """The questions of files given as (name, bytes), which may belong together: questions and gold labels.

    Raises:
        InvalidInput: they are too large, or hold no table of questions.
    """
    if sum(len(data) for _, data in files) > MAX_BYTES:
        raise _too_large(files[0][0])
    tables = [read_table(name, data) for name, data in files]
    asked = [table for table in tables if any(has_question(row) for row in table.rows[:1])]
    if not asked:
        raise _no_question(tables)
    if sum(len(table.rows) + len(table.problems) for table in asked) > MAX_ROWS:
        raise _too_many()
    return _kept(_with_labels(asked, [table for table in tables if table not in asked]), several=len(tables) > 1)


def read_rows(rows: Sequence[Mapping[str, Any]]) -> Labelled:
    """The questions of rows that were edited by hand, and what could not be used; the first row is row 1."""
    return _kept([Table("", tuple(rows), tuple(range(1, len(rows) + 1)))], several=False)


def _with_labels(asked: Sequence[Table], others: Sequence[Table]) -> list[Table]:
    """The tables of questions, each row with what the other tables say under its id."""
    said: dict[str, Mapping[str, Any]] = {}
    for table in others:
        said |= {str(row["id"]): row for row in map(lowered, table.rows) if "id" in row}
    if not said:
        return list(asked)
    return [table.with_rows({**said.get(str(row.get("id")), {}), **row} for row in table.rows) for table in asked]


def _kept(tables: Iterable[Table], several: bool) -> Labelled:
    questions: list[LabelledQuestion] = []
    problems: list[RowProblem] = []
    ids: dict[str, str] = {}
    asked: dict[tuple[str, tuple[str, ...]], str] = {}
    for table in tables:
        name = table.name if several else ""
        problems += [RowProblem(number, problem, name) for number, problem in table.problems]
        problems += [RowProblem(0, _SENTENCES, name)] if any(is_ragas(lowered(row)) for row in table.rows[:1]) else []
        for number, row in zip(table.numbers, table.rows, strict=True):
            here = str(RowProblem(number, "", name)).removesuffix(": ")
            try:
                one = labelled(lowered(row))
                _require_new(one, ids, asked)
            except ValueError as error:
                problems.append(RowProblem(number, str(error), name))
                continue
            ids[one.id] = asked[_same(one)] = here
            questions.append(one)
    if len(questions) > MAX_ROWS:
        raise _too_many()
    return tuple(questions), tuple(sorted(problems, key=lambda problem: (problem.file, problem.row)))


def _require_new(
    one: LabelledQuestion, ids: Mapping[str, str], asked: Mapping[tuple[str, tuple[str, ...]], str]
) -> None:
    if one.id in ids:
        raise ValueError(f"the id {quoted(one.id)} stands in {ids[one.id]} already")
    if _same(one) in asked:
        raise ValueError(f"the same question stands in {asked[_same(one)]} already")


def _same(one: LabelledQuestion) -> tuple[str, tuple[str, ...]]:
    return " ".join(one.question.casefold().split()), tuple(sorted(one.documents))


_SENTENCES = (
    "The answers of this file are references: an answer counts as right only where it holds one of them word for word."
)


def _too_large(name: str) -> InvalidInput:
    return InvalidInput(
        f"{quoted(name)} holds more than {MAX_BYTES // 1_000_000} MB.", remedy="Split it into several sets."
    )


def _too_many() -> InvalidInput:
    return InvalidInput(f"There are more than {MAX_ROWS:,} questions.", remedy="Split them into several sets.")


def _no_question(tables: Sequence[Table]) -> InvalidInput:
    columns = sorted({str(name) for table in tables for row in table.rows[:1] for name in row})[:12]
    if not columns:
        return InvalidInput(
            "The file holds no rows.", remedy="Give one question a row, under a header that names the columns."
        )
    problem = f"No column is named question; the columns are {', '.join(map(quoted, columns))}."
    return InvalidInput(problem, remedy="Name the columns question, answerable and answers, in the first row.")
