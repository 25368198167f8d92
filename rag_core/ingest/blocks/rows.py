"""The rows of a document (lines of a PDF, or of a text), how they are set, and which of them repeat on many pages.

Rows are what `structure` reads: where a piece of text starts and ends, how large and heavy it is set, how many cells it
has. Rows of running headers, footers and page numbers stay in `Page.text` and are only told apart here. Typesetting
stretches letters (LaTeX gives 8.9, 9.0 and 9.1 points in one paragraph): sizes that look alike are made one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from statistics import median

import regex

from rag_core.domain.documents import Page
from rag_core.language.scales import names_scale

MAX_ROW_CHARS = 200_000  # as much as of a page of a PDF; whoever cuts a row into words holds about 300 bytes for each
# rows from the upper and the lower edge that can be running headers or footers; filings have up to three
MARGIN_ROWS = 4
MIN_PAGES = 3  # a text on two pages is a coincidence, unless it is set alike at the edge of both
# rows from the edge that can be headers or footers of two pages only, and their cells; chosen
TWIN_ROWS, TWIN_CELLS = 2, 2
MAX_HANG = 4  # times the font size; the words of an item stand at most so far behind its mark; chosen
MIN_SHARE = 0.3  # share of all pages; left and right pages often carry different headers
# a running header of one chapter: on at least six pages and half of the pages from its first to its last
RUN_PAGES, RUN_SHARE = 6, 0.5

# a watermark as `rag_core.ingest.pdf_worker.hidden_text.void` knows one; a drop cap lies over no row
LARGE_PT, LARGER, OVERLAPPED, MAX_LARGE = 18.0, 1.7, 2, 50

MAX_ALONG, MIN_BESIDE = 2, 3  # rows in the margins, more are the heads of narrow columns; rows beside one; chosen
# "Insured: Ada Ray", "Policy HX-40917-B"
_STATES = regex.compile(r"\p{L}[^:\n]{0,30}:\s+\S|\p{L}.*\s(?=(?:\D*\d){4})(?=\S*\p{L})[\p{L}\d/.-]{6,}")
_DIGITS = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")
_WORD_AND_NUMBER = re.compile(r"([^\W\d]+\.?(?:\s[^\W\d][.ᵒºª°]?)?\s)(\d{1,4})\W*[ºª°]?\W*")
_PAGE_NUMBER = re.compile(r"(?:[^\W\d]+\s)?\W*(\d{1,4})\W*(?:(?:[^\W\d]{1,3}\s)?\s*\d{1,4}\W*)?")
# A danda ends a sentence in Hindi; brackets, quotation marks (in German “ closes) and the marks of footnotes may stand
# behind.
_ENDS_SENTENCE = regex.compile(r"[.!?:;।॥…。．！？：；؟۔][\p{Pe}\p{Pf}“‘\"'⁰¹²³⁴-⁹]*$")
_CELL_BREAK = re.compile(r"\t+|(?<=\S)\s*\|\s*(?=\S)")
ALIKE = 0.03  # share of a size; stretched letters differ by 2 %, a heading from its text by 8 % and more
APART = 1.3  # times the distance of rows in a paragraph; a footnote's raised mark moves a row by up to a quarter of it
MIN_PITCH = 0.8  # font sizes; rows set without any white between them are 1 apart
MAX_PITCH = 2.6  # font sizes; rows of double-spaced text are 2.3 apart
ALIKE_PITCH, MIN_GAPS = 1.1, 5  # rows of a paragraph are set evenly; so many gaps within sentences tell how far; chosen
USUAL_PITCH = 1.2  # font sizes from row to row where a page does not say; the usual setting of type


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a page: `page.text[start:end]` is `text`, without outer white space.

    `left`, `top` and `right` are PDF points, or columns and 0 for a text document. `cells` counts the parts that tabs,
    wide gaps or pipes set apart, at least 1. Rows with equal `block` stand together.
    """

    page: int
    number: int  # 1-based line of the page
    start: int
    end: int
    text: str
    cells: int = 1
    block: int = 0
    size: float = 0.0
    bold: bool = False
    mono: bool = False
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    low: float = 0.0
    apart: bool = False  # more white stands above it than between the rows of a paragraph


def rows(page: Page) -> list[Row]:
    """The rows of a page in reading order, without those that show nothing."""
    return list(_rows_of_lines(page) if page.lines else _rows_of_text(page))


def ends_sentence(text: str) -> bool:
    """Whether a row's text ends as a sentence, or a part of one that stands for itself, ends, in any script."""
    return bool(_ENDS_SENTENCE.search(text))


def is_indented(item: Row, row: Row) -> bool:
    """Whether a row stands close below another and a little further in, as the words of an item do behind its mark."""
    return not row.apart and 0 < row.left - item.left < MAX_HANG * row.size


def _rows_of_lines(page: Page) -> Iterator[Row]:
    number, counted = 1, 0
    for line in page.lines:
        start, end = _bare(page.text, line.start, line.end)
        if start == end:
            continue
        number += page.text.count("\n", counted, start)
        counted = start
        cells, text = max(1, len(line.cells)), page.text[start:end]
        style = line.block, line.size, line.bold, line.mono
        yield Row(page.number, number, start, end, text, cells, *style, *line.box)


def _rows_of_text(page: Page) -> Iterator[Row]:
    offset = block = 0
    for number, line in _lines_of_text(page.text):
        start, end = _bare(page.text, offset, offset + len(line))
        indent = len(page.text[offset:start].expandtabs(4))
        offset += len(line) + 1
        if start == end:
            block += 1
            continue
        text = page.text[start:end]
        yield Row(
            page.number, number, start, end, text, len(_CELL_BREAK.split(text.strip("|"))), block, left=float(indent)
        )


def _lines_of_text(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines; one of more than `MAX_ROW_CHARS` in parts, each up to where its next blank stood."""
    for number, line in enumerate(text.split("\n"), start=1):
        while len(line) > MAX_ROW_CHARS:
            cut = line.rfind(" ", 0, MAX_ROW_CHARS)
            if cut <= 0:
                break  # one word: no text
            yield number, line[:cut]
            line = line[cut + 1 :]
        yield number, line


def _bare(text: str, start: int, end: int) -> tuple[int, int]:
    inside = text[start:end].lstrip()
    return end - len(inside), end - len(inside) + len(inside.rstrip())


def boilerplate(pages: Collection[Sequence[Row]]) -> set[Row]:
    """Running headers, footers and page numbers.

    A row is one when it stands at the upper or lower edge of its page, with nothing but such rows further out, and its
    text (digits masked) stands at that edge of enough other pages; or when it is the number of its page. Rows that name
    a unit or hold nothing but several numbers are a table's and never boilerplate. A watermark is one, too, and so is
    what runs up or down the margin.
    """
    seen: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    edges = [edge for page in pages for edge in _edges(page)]
    for edge, candidates in edges:
        for row in candidates:
            for key in _keys(row):
                seen[edge, key].add(row.page)
    repeated = {key for key, numbers in seen.items() if _enough(numbers, len(pages))}
    twins = _twins(pages)
    found: set[Row] = set()
    for edge, candidates in edges:
        for row in candidates:
            shared = any((edge, key) in repeated for key in _keys(row))
            if not (shared or row in twins or _is_page_number(row)):
                break
            found.add(row)
    found.update(row for page in pages for row in (*_watermarks(page), *_up_the_margin(page)))
    # where nothing else is left, it is the content: a one-page text that reads "Text 1." is no empty document
    return found if any(row not in found for page in pages for row in page) else set()


def stated(page: Sequence[Row], running: Collection[Row], told: set[str]) -> list[Row]:
    """The running rows that give a value, as the number of a policy, and were not read before (`told`)."""
    found = []
    for row in page:
        if row not in running:
            told.add(row.text)
        elif row.text not in told and _STATES.search(row.text) and not _is_page_number(row):
            told.add(row.text)
            found.append(row)
    return found


def _watermarks(page: Sequence[Row]) -> Iterator[Row]:
    for row in islice((row for row in page if row.size >= LARGE_PT), MAX_LARGE):
        smaller = [other for other in page if other.size * LARGER < row.size]
        beside = [other for other in smaller if other.left < row.right and row.left < other.right]
        over = [other for other in beside if row.top < (other.top + other.low) / 2 < row.low]
        if len(over) >= OVERLAPPED and sum(map(str.isalpha, row.text)) > 1:
            yield row


def _up_the_margin(page: Sequence[Row]) -> Iterator[Row]:
    along = [row for row in page if len(row.text) > 3 and row.low - row.top > row.right - row.left]
    for row in along if len(along) <= MAX_ALONG else ():
        beside = [other for other in page if other not in along and other.top < row.low and row.top < other.low]
        if len(beside) >= MIN_BESIDE and any(
            all((row.right <= other.left, other.right <= row.left)[side] for other in beside) for side in (0, 1)
        ):
            yield row


def _edges(page: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    ordered = sorted(page, key=lambda row: row.top) if any(row.top for row in page) else list(page)
    yield "upper", _candidates(ordered[:MARGIN_ROWS])
    yield "lower", _candidates(reversed(ordered[-MARGIN_ROWS:]))


def _candidates(outermost_first: Iterable[Row]) -> list[Row]:
    found = []
    for row in outermost_first:
        if names_scale(row.text) or (row.cells > 1 and not _LETTER.search(row.text)) or len(row.text) > 200:
            break
        found.append(row)
    return found


def _keys(row: Row) -> list[str]:
    """The texts that repeated rows share: the row without its numbers.

    A row of cells may be a table's, and loses only the numbers at its ends. A word with its number may head a clause,
    and counts where it stands again, or counts the pages.
    """
    text = row.text.casefold()
    if alone := _WORD_AND_NUMBER.fullmatch(text):
        return [text, f"{alone[1]}{int(alone[2]) - row.page}"]
    first, *rest = _CELL_BREAK.split(text) if row.cells > 1 else [text]
    cells = [_DIGITS.sub("#", first), *rest[:-1], *(_DIGITS.sub("#", cell) for cell in rest[-1:])]
    return ["".join("\t".join(cells).split(" "))]


def _enough(pages: set[int], page_count: int) -> bool:
    if len(pages) < MIN_PAGES:
        return False
    reach = max(pages) - min(pages) + 1
    return len(pages) >= MIN_SHARE * page_count or (len(pages) >= RUN_PAGES and len(pages) >= RUN_SHARE * reach)


def _twins(pages: Collection[Sequence[Row]]) -> set[Row]:
    """Rows at the edge of two neighbouring pages, set alike at one place but for the page's number."""
    found: set[Row] = set()
    for page, following in pairwise(pages):
        for (edge, candidates), (_, others) in zip(_edges(page), _edges(following), strict=True):
            for row, other in zip(candidates[:TWIN_ROWS], others[:TWIN_ROWS], strict=False):
                alike = row.size > 0 and _setting(row) == _setting(other) and _are_numbered(row, other)
                if alike and row.cells <= TWIN_CELLS and not ends_sentence(row.text):
                    found |= {other} if edge == "upper" else {row, other}
    return found


def _setting(row: Row) -> tuple[object, ...]:
    return round(row.top), round(row.left), row.size, row.bold, _DIGITS.sub("#", row.text)


def _are_numbered(row: Row, other: Row) -> bool:
    pairs = zip(_DIGITS.findall(row.text), _DIGITS.findall(other.text), strict=True)
    return all(one == two or int(two) - int(one) == other.page - row.page for one, two in pairs)


def _is_page_number(row: Row) -> bool:
    match = _PAGE_NUMBER.fullmatch(row.text)
    return match is not None and int(match[1]) == row.page


def alike_sizes(pages: Iterable[Iterable[Row]]) -> dict[float, float]:
    """For each font size, in points, the commonest that looks like it; the first value is that of most characters."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for row in page:
            sizes[row.size] += len(row.text)
    together = {size: sum(count for other, count in sizes.items() if _alike(size, other)) for size in sizes}
    found: dict[float, float] = {}
    for size in sorted(sizes, key=lambda size: (-together[size], -sizes[size])):
        found[size] = next((other for other in found.values() if _alike(size, other)), size)
    return found


def in_blocks(pages: Sequence[Sequence[Row]], sizes: Mapping[float, float]) -> list[list[Row]]:
    """The rows, where those of a paragraph have one block.

    MuPDF gives each row of widely set text a block of its own. Of a size of which no two rows share one, those are put
    together that stand as far apart as rows of one sentence do.
    """
    shared = {sizes[row.size] for page in pages for row, following in pairwise(page) if row.block == following.block}
    found: defaultdict[float, list[float]] = defaultdict(list)
    for page in pages:
        for row, following in pairwise(page):
            size, gap = sizes[row.size], _gap(row, following)
            runs_on = following.text[0].islower() and not ends_sentence(row.text)
            if size == sizes[following.size] and size not in shared and runs_on and MIN_PITCH < gap < MAX_PITCH:
                found[size].append(gap)
    wide = {size: ALIKE_PITCH * median(gaps) for size, gaps in found.items() if len(gaps) >= MIN_GAPS}
    return [_put_together(page, sizes, wide) if wide else list(page) for page in pages]


def _put_together(page: Sequence[Row], sizes: Mapping[float, float], wide: Mapping[float, float]) -> list[Row]:
    found = list(page)
    for index, (row, following) in enumerate(pairwise(page), start=1):
        size = sizes[row.size]
        if size == sizes[following.size] and 0 < _gap(row, following) <= wide.get(size, 0.0):
            found[index] = replace(following, block=found[index - 1].block)
    return found


def is_heavy(pages: Iterable[Iterable[Row]], sizes: Mapping[float, float]) -> bool:
    """Whether most text of the commonest size is bold, so that bold sets nothing off."""
    body = next(iter(sizes.values()), 0.0)
    return (
        sum(len(row.text) if row.bold else -len(row.text) for page in pages for row in page if sizes[row.size] == body)
        > 0
    )


def settled(
    page: Sequence[Row], sizes: Mapping[float, float], pitches: Mapping[float, float], *, heavy: bool = False
) -> list[Row]:
    """The rows with `size` equal where it looks equal, and `apart` set; where text is `heavy`, none is bold."""
    found = list(page)
    for index, row in enumerate(found):
        size = sizes[row.size]
        apart = index > 0 and _gap(found[index - 1], row) > APART * pitches.get(size, USUAL_PITCH)
        bold = row.bold and not heavy
        if (size, bold) != (row.size, row.bold) or apart:
            found[index] = replace(row, size=size, bold=bold, apart=apart)
    return found


def row_pitches(pages: Iterable[Sequence[Row]], sizes: Mapping[float, float]) -> dict[float, float]:
    """The usual distance of two rows of a paragraph, in font sizes, for each of the `sizes` that rows were set in."""
    gaps: defaultdict[float, list[float]] = defaultdict(list)
    for page in pages:
        for row, following in pairwise(page):
            together = (
                row.block == following.block
                and sizes[row.size] == sizes[following.size]
                and abs(row.left - following.left) < 1
            )
            if together and MIN_PITCH < (gap := _gap(row, following)) < MAX_PITCH:
                gaps[sizes[row.size]].append(gap)
    return {size: median(found) for size, found in gaps.items()}


def _gap(row: Row, following: Row) -> float:
    """How far below `row` the following one starts, in font sizes; 0 beside it, in another column or in no PDF."""
    size = max(row.size, following.size)
    return max(0.0, (following.top - row.top) / size) if size > 0 else 0.0


def _alike(size: float, other: float) -> bool:
    return abs(size - other) <= ALIKE * other
