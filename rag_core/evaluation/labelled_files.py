"""Labelled questions from the bytes of files: CSV, JSON lines, JSON, also as RAGAS exports them.

Names of columns and words are matched without case. A row that cannot be used is reported with its number, and the
others go on.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled import PAGED, LabelledQuestion, Place, given_id
from rag_core.ingest.reading.text import HEAD, decoded
from rag_core.language import LANGUAGES

QUESTION = ("question", "user_input", "query")
_ANSWERABLE = ("answerable", "is_answerable")
_REFERENCE = ("ground_truth", "ground_truths", "reference")  # where one of these stands, "answer" is what a system said
_ANSWERS = ("answers", "answer", "gold", "gold_answer")
_EVIDENCE = ("reference_contexts",)
_DOCUMENTS, _PAGE, _PAGES, _PLACES = ("documents", "document"), ("page",), ("pages",), ("places",)
_LANGUAGE, _KIND, _ID = ("language", "lang"), ("kind", "type"), ("id", "_id", "qid", "question_id")
COLUMNS = frozenset(
    (*QUESTION, *_ANSWERABLE, *_REFERENCE, *_ANSWERS, *_DOCUMENTS, *_PAGE, *_PAGES, *_PLACES, *_LANGUAGE, *_KIND, *_ID)
)
_YES = frozenset(("true", "t", "1", "1.0", "answerable"))  # beside the words of each language
_NO = frozenset(("false", "f", "0", "0.0", "unanswerable"))
_MAX_PAGES = 1_000_000  # far more than any document has; a larger number is a slip
_SHOWN = 40  # characters of a value that an error quotes


def lowered(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The row with its column names trimmed and without case, and without empty values but that of `pages`."""
    named = {
        str(name).strip().casefold().replace(" ", "_").replace("-", "_"): value
        for name, value in row.items()
        if name is not None
    }
    return {name: value for name, value in named.items() if not _is_empty(value) or name in _PAGES}


def has_question(names: Iterable[str]) -> bool:
    return bool(set(lowered(dict.fromkeys(names, 1))) & set(QUESTION))


def is_ragas(row: Mapping[str, Any]) -> bool:
    """Whether the right answer stands where RAGAS has it."""
    return any(name in row for name in _REFERENCE)


def labelled(row: Mapping[str, Any]) -> LabelledQuestion:
    """The question of a row that `lowered` gave; raises ValueError with what is wrong, without a full stop."""
    question = _text(_first(row, QUESTION))
    if not question:
        raise ValueError("the question is empty")
    answers = _strings("answers", _first(row, _REFERENCE if is_ragas(row) else _ANSWERS))
    if is_ragas(row) and _is_no(row):
        answers = ()  # a reference that says that there is no answer
    documents = _strings("documents", _first(row, _DOCUMENTS))
    places = _read_places(_first(row, _PLACES))
    if "pages" in row:  # the shape of data/questions.jsonl: documents and pages side by side, not where to search
        places, documents = _side_by_side(documents, _strings("pages", row["pages"])), ()
    elif (page := _first(row, _PAGE)) is not None and not places:
        number = _page(page)
        if len(documents) > 1:
            raise ValueError("page needs exactly one document beside it, and there are several")
        # a page alone says nothing: it may be of any document
        places = tuple(Place(document, number) for document in documents)
    return LabelledQuestion(
        id=_text(_first(row, _ID)) or given_id(question, documents),
        question=question,
        answerable=_answerable(row, bool(answers or places)),
        answers=tuple(dict.fromkeys(answers)),
        documents=tuple(dict.fromkeys(documents)),
        places=places,
        language=_text(_first(row, _LANGUAGE)),
        kind=_text(_first(row, _KIND)),
    )


def _answerable(row: Mapping[str, Any], shown: bool) -> bool:
    """As stated; where nothing is stated, a question with an answer, or with a place where it stands, is answerable."""
    stated = _first(row, _ANSWERABLE)
    if stated is None:
        if not shown and not any(name in row for name in _EVIDENCE):
            raise ValueError("it says neither whether the question is answerable nor what the answer is")
        return True
    said = _text(stated).casefold()
    if said not in _yes() | _no():
        raise ValueError(f"answerable is {quoted(_text(stated))}, which is neither yes nor no")
    if _is_no(row) and shown:
        raise ValueError("it is labelled unanswerable, but has an answer or a place where it stands")
    return said in _yes()


def _is_no(row: Mapping[str, Any]) -> bool:
    return _text(_first(row, _ANSWERABLE)).casefold() in _no()


@cache
def _yes() -> frozenset[str]:
    return _YES.union(*(info.yes for info in LANGUAGES.values()))


@cache
def _no() -> frozenset[str]:
    return _NO.union(*(info.no for info in LANGUAGES.values()))


def _side_by_side(documents: tuple[str, ...], pages: tuple[str, ...]) -> tuple[Place, ...]:
    if not pages:
        return ()  # an unanswerable question with the document that it is nearest to
    if len(pages) != len(documents):
        raise ValueError(f"there are {len(pages)} pages for {len(documents)} documents")
    return tuple(dict.fromkeys(Place(name, _page(page)) for name, page in zip(documents, pages, strict=True)))


def _read_places(value: Any) -> tuple[Place, ...]:
    if value is None:
        return ()
    try:
        return tuple(_place(one) for one in (_parts(value) if isinstance(value, str) else value))
    except (TypeError, KeyError, AttributeError):
        raise ValueError("places is not a list of places, such as contract.pdf#3") from None


def _place(value: Any) -> Place:
    """Of an object, or of document#page."""
    if not isinstance(value, str):
        return Place(_text(value["document"]), _page(value.get("page", 0)))
    said = _text(value)
    found = PAGED.search(said)
    return Place(said[: found.start()].rstrip(), int(found.group()[1:])) if found else Place(said)


def _page(value: Any) -> int:
    said = _text(value)
    number = said.removesuffix(".0")
    if not (number.isascii() and number.isdigit()) or len(number) > 7 or int(number) > _MAX_PAGES:
        raise ValueError(f"page is {quoted(said)}, which is no page number")
    return int(number)


def _strings(name: str, value: Any) -> tuple[str, ...]:
    """A list; of a text, a JSON list or parts between |; of SQuAD's object, its texts. None is empty."""
    if isinstance(value, Mapping):
        value = value.get("text")
    value = _parts(value) if isinstance(value, str) else value
    items = value if isinstance(value, list) else [] if value is None else [value]
    if any(isinstance(item, (list, Mapping)) for item in items):
        raise ValueError(f"{name} is not a text or a list of texts")
    return tuple(text for item in items if (text := _text(item)))


def _parts(value: str) -> list[Any]:
    """A JSON list, or what stands between |."""
    if value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            read: list[Any] = json.loads(value)
            return read
    return value.split("|")


def _first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _is_empty(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())  # not equal to itself: NaN


def _text(value: Any) -> str:
    """A value as text that can be stored anywhere: trimmed, without NUL, unpaired surrogates replaced."""
    if value is None:
        return ""
    if isinstance(value, (list, Mapping)):
        raise ValueError(f"{quoted(str(value))} is not a text")
    return str(value).replace("\0", "").encode("utf-8", "replace").decode("utf-8").strip()


def quoted(text: str) -> str:
    """A value as an error shows it: in quotes, and not longer than 40 characters."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


MAX_LINES = 1_000_000  # 20 MB, the largest file, in lines of 20 characters
_DELIMITERS = (",", ";", "\t")
_QUOTED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")  # what `csv_cell` made harmless


Row = tuple[int, Mapping[str, Any] | str]  # a row by column name, or what is wrong with it


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with their numbers, from 1; 0 for the whole file."""

    name: str
    rows: tuple[Row, ...]

    @property
    def first(self) -> Mapping[str, Any]:
        """The first row that could be read; empty where none could."""
        return next((row for _, row in self.rows if not isinstance(row, str)), {})


def read_table(name: str, data: bytes) -> Table:
    text, note = _decoded(name, data)
    head = text.lstrip()[:1]
    if not head:
        raise InvalidInput(
            f"{quoted(name)} is empty.", remedy="Give one question a row, under a header that names the columns."
        )
    if text.count("\n") > MAX_LINES:
        raise InvalidInput(f"{quoted(name)} has more than {MAX_LINES:,} lines.", remedy="Split it into several sets.")
    rows: Iterable[Row]
    if head in "[{":
        try:
            rows = ((number, _object(row)) for number, row in enumerate(_listed(json.loads(text)), 1))
        except (ValueError, RecursionError):  # JSON lines, or broken
            rows = _lines(text)
    else:
        rows = _parted(text)
    return Table(name, (*([(0, note)] if note else []), *rows))


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


def _listed(read: Any) -> Iterable[Any]:
    """A list of objects, alone or in an object; an object of columns; or one row."""
    if not isinstance(read, Mapping):
        rows: list[Any] = read
        return rows
    columns = {key: value for key, value in read.items() if isinstance(value, list)}
    if has_question(columns):
        return [dict(zip(columns, row, strict=False)) for row in zip(*columns.values(), strict=False)]
    inner = (value for value in columns.values() if value and isinstance(value[0], Mapping))
    return [read] if has_question(read) else next(inner, [read])


def _lines(text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, _object(json.loads(line))
            except (ValueError, RecursionError):
                yield number, "it is not JSON"


def _object(row: Any) -> Mapping[str, Any] | str:
    return row if isinstance(row, Mapping) else "it is not an object"


def _parted(text: str) -> Iterator[Row]:
    """Text under a header, parted by the sign that finds the most known columns in it, then the most columns."""
    delimiter = max(_DELIMITERS, key=lambda sign: _known(_header(text, sign)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header = [""]
    for number, cells in enumerate(_read(reader), 1):
        if isinstance(cells, str):
            yield number, cells
        elif not any(cell.strip() for cell in cells):
            continue
        elif header == [""]:
            header = cells
        elif len(cells) > len(header):
            yield number, f"it has {len(cells)} columns, the header {len(header)}"
        else:
            plain = (cell[1:] if _QUOTED.match(cell) else cell for cell in cells)
            yield number, dict(zip(header, plain, strict=False))


def _read(reader: Iterator[list[str]]) -> Iterator[list[str] | str]:
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


MAX_BYTES = 20_000_000  # all files together; chosen
MAX_ROWS = 20_000  # questions of one set; chosen


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row that was left out, or a problem of the whole file (row 0); it may quote untrusted text."""

    row: int
    problem: str
    file: str = ""

    def __str__(self) -> str:
        where = f"row {self.row}" if self.row else "the file"
        return f"{self.file + ', ' if self.file else ''}{where}: {self.problem}"


Labelled = tuple[tuple[LabelledQuestion, ...], tuple[RowProblem, ...]]


def read_labelled(data: bytes, name: str) -> Labelled:
    """The questions of one file, and what could not be used; a CSV's header is row 1."""
    return read_labelled_files([(name, data)])


def read_labelled_files(files: Sequence[tuple[str, bytes]]) -> Labelled:
    """The questions of files, (name, bytes), that may belong together; InvalidInput for none, or too many."""
    if sum(len(data) for _, data in files) > MAX_BYTES:
        raise InvalidInput(
            f"{quoted(files[0][0])} holds more than {MAX_BYTES // 1_000_000} MB.", remedy="Split it into several sets."
        )
    tables = [read_table(name, data) for name, data in files]
    asked = [table for table in tables if has_question(table.first)]
    if not asked:
        raise _no_question(tables)
    if sum(len(table.rows) for table in asked) > MAX_ROWS:
        raise _too_many()
    return _kept(_with_labels(asked, [table for table in tables if table not in asked]), several=len(tables) > 1)


def read_rows(rows: Sequence[Mapping[str, Any]]) -> Labelled:
    """The questions of rows that were edited by hand, and what could not be used; the first row is row 1."""
    return _kept([Table("", tuple(enumerate(rows, 1)))], several=False)


def _with_labels(asked: Sequence[Table], others: Sequence[Table]) -> list[Table]:
    """The tables of questions, each row with what the other tables say under its id."""
    rows = [lowered(row) for table in others for _, row in table.rows if not isinstance(row, str)]
    said = {str(row["id"]): row for row in rows if "id" in row}

    def completed(row: Mapping[str, Any] | str) -> Mapping[str, Any] | str:
        return row if isinstance(row, str) else {**said.get(str(row.get("id")), {}), **row}

    return [replace(table, rows=tuple((number, completed(row)) for number, row in table.rows)) for table in asked]


def _kept(tables: Iterable[Table], several: bool) -> Labelled:
    questions: list[LabelledQuestion] = []
    problems: list[RowProblem] = []
    ids: dict[str, str] = {}
    asked: dict[tuple[str, tuple[str, ...]], str] = {}
    for table in tables:
        name = table.name if several else ""
        problems += [RowProblem(0, _SENTENCES, name)] if is_ragas(lowered(table.first)) else []
        for number, row in table.rows:
            if isinstance(row, str):
                problems.append(RowProblem(number, row, name))
                continue
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


def _too_many() -> InvalidInput:
    return InvalidInput(f"There are more than {MAX_ROWS:,} questions.", remedy="Split them into several sets.")


def _no_question(tables: Sequence[Table]) -> InvalidInput:
    columns = sorted({str(name) for table in tables for name in table.first})[:12]
    if not columns:
        return InvalidInput(
            "The file holds no rows.", remedy="Give one question a row, under a header that names the columns."
        )
    problem = f"No column is named question; the columns are {', '.join(map(quoted, columns))}."
    return InvalidInput(problem, remedy="Name the columns question, answerable and answers, in the first row.")
