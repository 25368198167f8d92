"""Reads a workbook (XLSX): the text that its sheets print, a page for some rows of each.

Hidden sheets, rows and columns are not read. No formula is computed: what the workbook was saved with is read.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..failure import Failure, too_much
from ..glyphs.superscript import Level, Part, written
from .numbers import GENERAL, USUAL, is_date, printed, printed_text
from .office import ON, Office, id_of, unpacked
from .tables import MAX_REPEATED, TextPage, Texts, label_of, one_line, row_of, rule_of, said

BOOK = "xl/workbook.xml"
MAX_ROWS = 50  # on a page, so that a label says closely where a row stands; chosen
MAX_CHARS = 20_000  # on a page, but for its last row; chosen
MAX_HEADS = 6  # rows that name the columns; as in `rag_core.ingest.blocks.tables`
MAX_CELLS = 600_000  # in all tables together; a catalogue has 40,000 rows and 15 columns; chosen
MAX_COLUMNS = 16_384  # Excel's own limit
LAST_ROW = 1_048_576  # Excel's own limit
_LEVELS = {"superscript": Level.RAISED, "subscript": Level.LOWERED}
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_YEAR = re.compile(r"(?:19|20)\d\d")

Place = tuple[int, int]  # row and column, from 1


class Said(NamedTuple):
    """A text, and how many characters of it are struck out and left out."""

    text: str
    struck: int = 0


class Style(NamedTuple):
    """How a cell is set: the format of its number, and whether it is struck out."""

    code: str
    struck: bool


class Row(NamedTuple):
    """A row of a sheet as a line of text. `heads` are lines that stand above it where it begins a page, and `begins`
    says that they stand there anyway, below a blank line; `first` is the number of the first row of them.
    """

    number: int
    text: str
    heads: tuple[str, ...] = ()
    begins: bool = True
    first: int = 0


def read(data: bytes) -> Texts:
    """The pages of a workbook; raises Failure where it is none, shows nothing, or costs too much."""
    with unpacked(data, BOOK, "workbook", "XLSX") as office:
        reader = _Reader(office)
        found = Texts(office.about().get("title", ""))
        hidden, partly, unsaved, noted = list[str](), list[str](), list[str](), list[str]()
        for row in reader.book.iterfind("{*}sheets/{*}sheet"):
            kind, part = reader.parts.get(id_of(row), ("", ""))
            name = one_line(row.get("name", ""))
            if kind != "worksheet":
                continue
            if row.get("state", "visible") != "visible":
                hidden.append(name)
                continue
            sheet = Sheet(reader, part)
            found.pages += _pages(name, sheet)
            partly += [name] * sheet.partly
            unsaved += [name] * sheet.unsaved
            noted += [name] * any(kind == "comments" for kind, _ in office.related(part).values())
    found.note("Hidden sheets were not read", hidden)
    found.note("Hidden rows or columns were not read, on the sheets", partly)
    saved = " Open the workbook, calculate and save it, and add that copy."
    found.note("Formulas that were saved without a value were not read, on the sheets", unsaved, saved)
    found.note("Notes on cells were not read, on the sheets", noted)
    if not found.pages:
        problem = " ".join(("No sheet of the workbook shows any text.", *found.notes))
        raise Failure("EmptyDocument", problem, "Check that it is the right file.")
    return found


class _Reader:
    """The parts that all sheets of a workbook share: its texts and styles, and how many cells may still be read."""

    def __init__(self, office: Office) -> None:
        self.office, self.book, self.parts = office, office.part(BOOK), office.related(BOOK)
        self.left = MAX_CELLS
        own = self.book.find("{*}workbookPr")
        self.apple = own is not None and own.get("date1904") in ON
        named = dict(self.parts.values())
        self.strings = [_rich(one) for one in office.part(named["sharedStrings"])] if "sharedStrings" in named else []
        self.styles = _styles(office.part(named["styles"])) if "styles" in named else []

    def count(self, cells: int = 1) -> None:
        self.left -= cells
        if self.left < 0:
            raise too_much(f"The tables of the workbook have more than {MAX_CELLS:,} cells.")

    def style(self, cell: ET.Element) -> Style:
        number = int(cell.get("s", "0"))
        return self.styles[number] if number < len(self.styles) else Style(GENERAL, struck=False)


def _styles(root: ET.Element) -> list[Style]:
    codes = {int(one.get("numFmtId", "")): one.get("formatCode", "") for one in root.iterfind("{*}numFmts/{*}numFmt")}
    struck = [_is_on(font, "strike") for font in root.iterfind("{*}fonts/{*}font")]
    return [
        Style(
            codes.get(number := int(one.get("numFmtId", "0"))) or USUAL.get(number, GENERAL),
            struck=struck[int(one.get("fontId", "0"))] if struck else False,
        )
        for one in root.iterfind("{*}cellXfs/{*}xf")
    ]


def _is_on(properties: ET.Element | None, name: str) -> bool:
    mark = properties.find(f"{{*}}{name}") if properties is not None else None
    return mark is not None and mark.get("val", "1") in ON


def _rich(item: ET.Element | None) -> Said:
    """A text of runs, without its phonetic signs."""
    parts, struck = list[Part](), 0
    for run in item if item is not None else ():
        kind = run.tag.rpartition("}")[2]
        text = (run.text if kind == "t" else run.findtext("{*}t") if kind == "r" else "") or ""
        own = run.find("{*}rPr")
        if _is_on(own, "strike"):
            struck += said(text)
            continue
        level = own.find("{*}vertAlign") if own is not None else None
        parts.append((text, _LEVELS.get(level.get("val", ""), Level.PLAIN) if level is not None else Level.PLAIN))
    plain = all(level is Level.PLAIN for _, level in parts)
    return Said("".join(text for text, _ in parts) if plain else written(parts), struck)


class Sheet:
    """A sheet as it shows: the texts of its cells by their places.

    `figures` are places of numbers, `wide` rows with a cell over several columns, `partly` says that something in
    hidden rows or columns was left out, `unsaved` that a formula has no value, `struck` how much is struck out.
    """

    def __init__(self, reader: _Reader, part: str) -> None:
        self.reader = reader
        self.cells: dict[Place, str] = {}
        self.figures: set[Place] = set()
        self.wide: set[int] = set()
        self.hidden_rows: set[int] = set()
        self.unsaved, self.struck = False, 0
        root = reader.office.part(part)
        for number, row, hidden in _rows(root):
            self.hidden_rows |= {number} if hidden else set()
            for place, cell in _cells(number, row):
                self._take(place, cell)
        self._merge(root)
        columns = _hidden_columns(root)
        gone = [place for place in self.cells if place[0] in self.hidden_rows or place[1] in columns]
        self.partly = bool(gone)
        for place in gone:
            del self.cells[place]

    def _take(self, place: Place, cell: ET.Element) -> None:
        kind, raw = cell.get("t", "n"), cell.findtext("{*}v") or ""
        self.unsaved |= kind != "str" and not raw and cell.find("{*}f") is not None
        style = self.reader.style(cell)
        text, struck = raw, 0
        if kind == "inlineStr":
            text, struck = _rich(cell.find("{*}is"))
        elif kind == "s" and raw:
            text, struck = self.reader.strings[int(raw)]
        elif kind == "b" and raw:
            text = "TRUE" if raw == "1" else "FALSE"
        elif kind == "n" and raw:
            text = printed(raw, style.code, apple=self.reader.apple)
        if kind in ("s", "str", "inlineStr"):
            text = printed_text(text, style.code)
        text = one_line(text)
        self.struck += struck + said(text) * style.struck
        if text and not style.struck:
            self.cells[place] = text
            if kind == "n" and not is_date(style.code) and not _YEAR.fullmatch(text):
                self.figures.add(place)

    def _merge(self, root: ET.Element) -> None:
        """Write what is merged in each of its places, but for the label of a row, and a long text, over columns."""
        rows, columns = sorted({row for row, _ in self.cells}), sorted({column for _, column in self.cells})
        for merge in root.iterfind("{*}mergeCells/{*}mergeCell") if self.cells else ():
            (top, left), (bottom, right) = map(_place, merge.get("ref", "").split(":"))
            text = self.cells.get((top, left), "")
            once = left == columns[0] or len(text) > MAX_REPEATED
            for row in rows[bisect_left(rows, top) : bisect_right(rows, bottom)]:
                for column in columns[bisect_left(columns, left) : bisect_right(columns, right)]:
                    self.reader.count()
                    if text and (column == left or not once):
                        self.cells[row, column] = text
                        self.wide |= {row} if column > left else set()
                    elif (row, column) != (top, left):
                        self.cells.pop((row, column), None)


def _rows(root: ET.Element) -> Iterator[tuple[int, ET.Element, bool]]:
    number = 0
    for row in root.iterfind("{*}sheetData/{*}row"):
        number = int(row.get("r") or number + 1)
        if not 0 < number <= LAST_ROW:
            raise ValueError(number)
        yield number, row, row.get("hidden") in ON or (row.get("ht") == "0" and row.get("customHeight") in ON)


def _cells(number: int, row: ET.Element) -> Iterator[tuple[Place, ET.Element]]:
    column = 0
    for cell in row.iterfind("{*}c"):
        stated = cell.get("r")
        column = _place(stated)[1] if stated else column + 1
        yield (number, column), cell


def _place(reference: str) -> Place:
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise ValueError(reference)
    column = 0
    for letter in match[1]:
        column = 26 * column + ord(letter) - 64
    if not (column <= MAX_COLUMNS and 0 < int(match[2]) <= LAST_ROW):
        raise ValueError(reference)
    return int(match[2]), column


def _letters(column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _hidden_columns(root: ET.Element) -> set[int]:
    return {
        column
        for one in root.iterfind("{*}cols/{*}col")
        if one.get("hidden") in ON or one.get("width") == "0"
        for column in range(int(one.get("min", "1")), min(int(one.get("max", "1")), MAX_COLUMNS) + 1)
    }


def _pages(name: str, sheet: Sheet) -> list[TextPage]:
    """The pages of a sheet: its rows, below its name; the label of each says which cells stand on it."""
    found, taken, lines = list[TextPage](), list[int](), list[str]()
    columns = sorted({column for _, column in sheet.cells})

    def end() -> None:
        cells = f"{_letters(columns[0])}{taken[0]}:{_letters(columns[-1])}{taken[-1]}"
        found.append(TextPage("\n".join((f"# {name}", *lines)), f"{label_of(name) or 'Sheet'} {cells}"))
        taken.clear()
        lines.clear()

    for row in _lines(sheet):
        if len(taken) >= MAX_ROWS or sum(map(len, lines)) > MAX_CHARS:
            end()
        if row.begins or not lines:
            lines += ["", *row.heads]
        lines.append(row.text)
        taken += [row.first] * (row.begins and row.first > 0) + [row.number]
    if taken:
        end()
    if found and sheet.struck:
        found[0].kinds = Counter(struck=sheet.struck)
    return found


def _lines(sheet: Sheet) -> Iterator[Row]:
    """The rows of a sheet; empty rows part its tables, and a row of one cell above a table is text."""
    rows: dict[int, dict[int, str]] = {}
    for (row, column), text in sorted(sheet.cells.items()):
        rows.setdefault(row, {})[column] = text
    block, before = list[int](), 0
    for row in (*rows, LAST_ROW + 2):
        if block and not sheet.hidden_rows.issuperset(range(before + 1, row)):
            yield from _block(sheet, rows, block)
            block = []
        block.append(row)
        before = row


def _block(sheet: Sheet, rows: dict[int, dict[int, str]], block: Sequence[int]) -> Iterator[Row]:
    start = next((at for at, row in enumerate(block) if len(rows[row]) > 1), len(block))
    yield from (Row(row, next(iter(rows[row].values()))) for row in block[:start])
    table = block[start:]
    columns = sorted({column for row in table for column in rows[row]})
    sheet.reader.count(len(table) * len(columns))
    texts = {row: row_of(rows[row].get(column, "") for column in columns) for row in table}
    count = 0
    while count < min(len(table) - 1, MAX_HEADS) and not any(
        (table[count], column) in sheet.figures for column in columns
    ):
        count += 1
        if table[count - 1] not in sheet.wide:
            break
    heads = (*(texts[row] for row in table[:count]), rule_of(len(columns))) if count else ()
    for row in table[count:]:
        begins = row == table[count]
        yield Row(row, texts[row], heads, begins, table[0] if count and begins else 0)
