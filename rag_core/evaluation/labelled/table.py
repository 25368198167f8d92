"""Reads a file's bytes as rows with named columns: JSON lines, JSON, or text with commas, semicolons or tabs, in any
usual encoding.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled.rows import COLUMNS, has_question, lowered, quoted
from rag_core.ingest.reading.text import HEAD, decoded

MAX_LINES = 1_000_000  # 20 MB, the largest file, in lines of 20 characters
_DELIMITERS = (",", ";", "\t")
_QUOTED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")  # what `csv_cell` made harmless


@dataclass(frozen=True, slots=True)
class Table:
    """Rows by column name with their numbers in the file, from 1; `problems` are (number, what), with 0 for the whole
    file.
    """

    name: str
    rows: tuple[Mapping[str, Any], ...]
    numbers: tuple[int, ...]
    problems: tuple[tuple[int, str], ...] = ()

    def with_rows(self, rows: Iterable[Mapping[str, Any]]) -> Table:
        """The same table with other values in its rows."""
        return replace(self, rows=tuple(rows))


def read_table(name: str, data: bytes) -> Table:
    """The rows of one file.

    Raises:
        InvalidInput: it is empty, no text, or broken as a whole.
    """
    text, note = _decoded(name, data)
    notes = ((0, note),) if note else ()
    head = text.lstrip()[:1]
    if not head:
        raise InvalidInput(
            f"{quoted(name)} is empty.", remedy="Give one question a row, under a header that names the columns."
        )
    if text.count("\n") > MAX_LINES:
        raise InvalidInput(f"{quoted(name)} has more than {MAX_LINES:,} lines.", remedy="Split it into several sets.")
    if head in "[{":
        read = _whole(text)
        return _lines(name, text, notes) if read is None else _listed(name, read, notes)
    return _parted(name, text, notes)


def _decoded(name: str, data: bytes) -> tuple[str, str]:
    """The text, and what to know about how it was read."""
    try:
        text, encoding = decoded(data)
    except ValueError:
        raise _no_text(name) from None
    if "\0" in text[:HEAD]:
        raise _no_text(name)
    return text.removeprefix(
        "\ufeff"
    ), f"it is not UTF-8 and was read as {encoding}; check letters with accents" if encoding else ""


def _no_text(name: str) -> InvalidInput:
    return InvalidInput(f"{quoted(name)} is not a text file.", remedy="Give a CSV, JSON or JSON lines file.")


def _whole(text: str) -> Any:
    """The text as one JSON value that holds rows; None when it is JSON lines, or broken."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return read


def _listed(name: str, read: Any, notes: tuple[tuple[int, str], ...]) -> Table:
    """A list of objects, alone or in an object; an object of columns; or one row."""
    if isinstance(read, Mapping):
        columns = {key: value for key, value in read.items() if isinstance(value, list)}
        if has_question(columns):
            read = [dict(zip(columns, row, strict=False)) for row in zip(*columns.values(), strict=False)]
        else:
            inner = (value for value in columns.values() if value and isinstance(value[0], Mapping))
            read = [read] if has_question(read) else next(inner, [read])
    return _objects(name, ((number, row) for number, row in enumerate(read, 1)), notes)


def _lines(name: str, text: str, notes: tuple[tuple[int, str], ...]) -> Table:
    def rows() -> Iterator[tuple[int, Any]]:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    yield number, json.loads(line)
                except (ValueError, RecursionError) as error:
                    yield number, error

    return _objects(name, rows(), notes)


def _objects(name: str, rows: Iterable[tuple[int, Any]], notes: tuple[tuple[int, str], ...]) -> Table:
    good, numbers, problems = [], [], [*notes]
    for number, row in rows:
        if isinstance(row, Mapping):
            good.append(row)
            numbers.append(number)
        else:
            problems.append((number, "it is not JSON" if isinstance(row, Exception) else "it is not an object"))
    return Table(name, tuple(good), tuple(numbers), tuple(problems))


def _parted(name: str, text: str, notes: tuple[tuple[int, str], ...]) -> Table:
    """Text under a header, parted by the sign that finds the most known columns in it, then the most columns."""
    delimiter = max(_DELIMITERS, key=lambda sign: _known(_header(text, sign)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header, good, numbers, problems = [""], [], [], [*notes]
    for number, cells in enumerate(_read(reader), 1):
        if isinstance(cells, str):
            problems.append((number, cells))
        elif not any(cell.strip() for cell in cells):
            continue
        elif header == [""]:
            header = cells
        elif len(cells) > len(header):
            problems.append((number, f"it has {len(cells)} columns, the header {len(header)}"))
        else:
            good.append(dict(zip(header, (cell[1:] if _QUOTED.match(cell) else cell for cell in cells), strict=False)))
            numbers.append(number)
    return Table(name, tuple(good), tuple(numbers), tuple(problems))


def _read(reader: Iterator[list[str]]) -> Iterator[list[str] | str]:
    """The cells of each row, or what is wrong with it."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            unclosed = "unexpected end" in str(error)
            yield (
                "a quotation mark is never closed; what follows it was not read"
                if unclosed
                else f"it cannot be read ({error})"
            )


def _known(header: list[str]) -> tuple[int, int]:
    return len(COLUMNS & set(lowered(dict.fromkeys(header, 1)))), len(header)


def _header(text: str, delimiter: str) -> list[str]:
    """The first row that holds something; a long text is read from its beginning only."""
    rows = csv.reader(io.StringIO(text[:100_000], newline=""), delimiter=delimiter)
    try:
        return next((cells for cells in rows if any(cell.strip() for cell in cells)), [])
    except csv.Error:
        return []
