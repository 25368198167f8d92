"""The blocks of a document: headings, paragraphs, tables, code, lists, in reading order, each with its section.

Works from the rows of a PDF (size, weight, cells) and from the marks of a text document (`#`, fences, bullets, blank
lines) alike. Offsets are into `Page.text`. It only tells parts apart; how they are cut into passages is `chunk`'s
business.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import pairwise, takewhile, zip_longest
from typing import NamedTuple

import regex

from rag_core.domain.documents import Page, Span
from rag_core.ingest.blocks.asides import caption_end, contents_end, is_contents
from rag_core.ingest.blocks.code import code_end, code_rows
from rag_core.ingest.blocks.headings import (
    NO_PATTERN,
    Style,
    heading_end,
    is_contents_title,
    is_value,
    marked_rows,
    runs_in,
    style,
    title,
)
from rag_core.ingest.blocks.rows import (
    MAX_ROW_CHARS,
    Row,
    alike_sizes,
    boilerplate,
    ends_sentence,
    in_blocks,
    is_heavy,
    is_indented,
    row_pitches,
    rows,
    settled,
    stated,
)
from rag_core.ingest.blocks.tables import header_rows, table_end
from rag_core.language import sentences
from rag_core.language.bullets import BULLETS, counts_on
from rag_core.language.scales import names_scale

_ITEM = re.compile(
    rf"[·*–—{BULLETS}-]\s+\S|o\t\s*\S|"
    r"\(?(?:[a-z]|[ivx]{1,4}|\d{1,3})\)\s+\S|(?:\d{1,3}(?:\.\d{1,3})*\.|\d{1,3}(?:\.\d{1,3})+|[a-z]\.)\s+\S|§+\s*\d+\s+\S",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"\d{1,3}(?:\.\d{1,3})+\s+(?=[\da-z(%])")  # "11.43 and 11.45" is no clause 11.43
_NOTE = re.compile(r"[¹²³⁴-⁹*†‡]")  # the mark of another footnote
_COUNTED = regex.compile(r"\p{Sc}?\d[\d.,]*\s+\p{Ll}{2}")  # no mark of an item: "16 hours and"
_WORD = regex.compile(r"\p{L}+")
_MARK_ALONE = re.compile(f"[{BULLETS}]")
_LONG_ROW = 120  # characters; in a text document with rows this long each is a paragraph of its own
OPEN_WORDS = 5  # in a line that may go on with a figure, not in an entry of a list; chosen
WIDE = 80  # characters of a row that can only be a full line of text; chosen
FULL = 0.9  # part of the width of the row above, with which a row that ends no sentence goes on in the next column
COUNTED_ROWS = 6  # above a row, in which the mark before its own is looked for; chosen
HeadEnd = Callable[[Sequence[Row], int], int]  # the index after the heading, or other block, that starts at a row
MAX_ROWS_BETWEEN = 4  # between two parts of a table on one page: a group label in bold or of several rows


class BlockKind(StrEnum):
    """The kind of a block."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    TABLE = "table"
    CODE = "code"
    LIST = "list"
    CAPTION = "caption"
    ASIDE = "aside"  # states nothing by itself: see `rag_core.ingest.blocks.asides`
    BOILERPLATE = "boilerplate"


_NO_TEXT = (BlockKind.TABLE, BlockKind.CODE, BlockKind.BOILERPLATE)


Ends = Sequence[tuple[BlockKind, HeadEnd]]


class Setting(NamedTuple):
    """How a block of a PDF is set: its font size, where its first and last rows stand, and whether it is monospaced."""

    size: float = 0.0
    top: float = 0.0
    low: float = 0.0
    mono: bool = False


NO_SETTING = Setting()


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of one page: `page.text[start:end]`.

    `parts` are offset pairs where it may be cut: the rows of a table or of code, the items of a list, else the whole.
    `header` are the rows that name a table's columns, on this page or, where a table goes on over a page break, on an
    earlier one. `section` is the path of headings above it, outermost first; of a heading, with itself. `lines` is its
    1-based range of lines on the page.
    """

    kind: BlockKind
    page: int
    start: int
    end: int
    lines: tuple[int, int]
    parts: tuple[tuple[int, int], ...]
    header: tuple[Span, ...] = ()
    section: tuple[str, ...] = ()
    columns: int = 0  # tables only: the cells of the widest row
    setting: Setting = NO_SETTING


def blocks(pages: Sequence[Page], language: str) -> list[Block]:
    """The blocks of a document, page by page in reading order, the boilerplate of a page last.

    Every visible character lies in exactly one. `language` is ISO 639-1 or "und".
    """
    read = [rows(page) for page in pages]
    sizes = alike_sizes(read)
    read = in_blocks(read, sizes)
    pitches = row_pitches(read, sizes)
    body = next(iter(sizes.values()), 0.0)
    heavy = is_heavy(read, sizes)
    by_page = deque(settled(page, sizes, pitches, heavy=heavy) for page in read)
    del read
    running = boilerplate(by_page) if any(page.lines for page in pages) else set()  # a text has no edges
    code = code_rows([row for page in by_page for row in page])
    marked = any(marked_rows(*two) for page in by_page for two in zip_longest(page, page[1:]) if two[0] not in code)
    head_end = partial(heading_end, body=body, marked=marked)
    found: list[Block] = []
    styles: dict[int, Style] = {}
    told: set[str] = set()
    constant = {text for text, times in Counter(row.text for row in running).items() if times > 1}
    while by_page:
        page = by_page.popleft()  # its rows are not held beside its blocks
        heads = [row for row in stated(page, running, told) if row.text in constant]
        found += [_block(BlockKind.PARAGRAPH, [row]) for row in heads]
        content = [row for row in page if row not in running]
        for kind, start, end in _runs(content, code, head_end, len(pages)):
            if kind is BlockKind.HEADING:
                styles[len(found)] = style(content[start], content[start + 1] if end > start + 1 else None, body)
            found.append(_block(kind, content[start:end]))
        found += [_block(BlockKind.BOILERPLATE, [row]) for row in page if row in running and row not in heads]
    texts = {page.number: page.text for page in pages}
    _keep_titles(found, styles)
    _carry_headers(found, texts, language)
    _set_sections(found, styles, texts)
    return found


def _runs(
    content: Sequence[Row], code: Collection[Row], head_end: HeadEnd, pages: int
) -> Iterator[tuple[BlockKind, int, int]]:
    """Part the rows of a page into runs of one kind.

    The order of the questions matters: a bold row of a table is no heading.
    """
    ends: Ends = (
        (BlockKind.CODE, partial(code_end, code=code)),
        (BlockKind.ASIDE, contents_end),
        (BlockKind.CAPTION, caption_end),
        (BlockKind.TABLE, _table_end),
        (BlockKind.HEADING, head_end),
    )
    start = 0
    while start < len(content):
        found = ((kind, end) for kind, end_of in ends if (end := end_of(content, start)) > start)
        kind, end = next(found, None) or _text_run(content, start, ends)
        run = content[start:end]
        yield BlockKind.ASIDE if kind is BlockKind.TABLE and is_contents(run, pages) else kind, start, end
        start = end


def _table_end(content: Sequence[Row], start: int) -> int:
    """The index after the table that starts here, without a caption or table of contents; `start` for none."""
    end = table_end(content, start)
    inside = range(start + 1, end)
    floats = (at for at in inside if caption_end(content, at) > at or contents_end(content, at) > at)
    cut = next(floats, end)
    return cut if cut == end or table_end(content[:cut], start) == cut else start


def _text_run(content: Sequence[Row], start: int, ends: Ends) -> tuple[BlockKind, int]:
    kind = BlockKind.LIST if starts_item(content[start]) else BlockKind.PARAGRAPH
    end = item = start + 1
    last = content[start].start + MAX_ROW_CHARS
    while end < len(content) and content[end].end <= last and _same_text(content, item - 1, end, kind):
        if any(end_of(content, end) > end for _, end_of in ends):
            break
        end += 1
        if starts_item(content[end - 1]) and not _counts_on(content, item - 1, end - 1):
            item = end
    return kind, end


def _counts_on(content: Sequence[Row], first: int, index: int) -> bool:
    """Whether the mark at `index` counts on within the paragraph, or the item, that starts at `first`."""
    before = " ".join(row.text for row in content[max(first, index - COUNTED_ROWS) : index])
    return counts_on(content[index].text, before)


def _same_text(content: Sequence[Row], first: int, index: int, kind: BlockKind) -> bool:
    """Whether the row at `index` goes on with the paragraph, or the item, that starts at `first`."""
    start, row, following = content[first], content[index - 1], content[index]
    if starts_item(following) and not _counts_on(content, first, index):
        return kind is BlockKind.LIST
    if following.size == 0:
        return following.block == row.block and (len(row.text) < _LONG_ROW or following.left > row.left)
    if runs_in(row, following) or (kind is BlockKind.LIST and is_value(row, following)):
        return True
    if following.size != row.size:
        alike = following.block == row.block and following.bold == row.bold and not following.apart
        return alike and not ends_sentence(row.text)
    if not ends_sentence(row.text) and (following.text[0].islower() or _goes_on_with_figure(row, following)):
        return True  # the sentence goes on in another block of the file, or in the next column
    if following.block == row.block:
        indented = kind is BlockKind.LIST and index - 1 > first and row.left > start.left
        return not following.apart and not (indented and following.left <= start.left)
    return not ends_sentence(row.text) and following.bold == row.bold and _flows(content, first, index)


def _goes_on_with_figure(row: Row, following: Row) -> bool:
    """Whether an open line of words goes on with a figure and what it counts: "examined it for", "16 hours"."""
    return bool(_COUNTED.match(following.text)) and len(_WORD.findall(row.text)) >= OPEN_WORDS


def _is_full(content: Sequence[Row], first: int, index: int) -> bool:
    """Whether the row before `index` is about as wide as those above it in its paragraph."""
    *above, row = content[first:index]
    return 0 < FULL * max((one.right - one.left for one in above), default=0.0) <= row.right - row.left


def _flows(content: Sequence[Row], first: int, index: int) -> bool:
    """Whether an open row fills its column, so that the row in another block right below, or beside, goes on with it.

    The first row of a paragraph has none above it to be compared with, and counts as full where it is long.
    """
    row, following = content[index - 1], content[index]
    below = following.top > row.top and not following.apart and abs(following.left - row.left) < following.size
    hangs = starts_item(row) and following.top > row.top and is_indented(row, following)
    cells = row.cells - (row.cells > 1 and starts_item(row))  # a mark may be a cell of its own
    edge = max(other.right for other in content) - row.size
    wide = len(row.text) >= WIDE or (hangs and len(row.text) >= WIDE / 2 and row.right > edge)
    full = cells == 1 and wide and not _NOTE.match(following.text)
    if index - 1 == first and (below or hangs) and full:
        return True
    return _is_full(content, first, index) and (below or following.top < row.top)


def starts_item(row: Row) -> bool:
    """Whether a row starts an item of a list or a numbered clause."""
    return bool((_ITEM.match(row.text) and not _DECIMAL.match(row.text)) or _MARK_ALONE.fullmatch(row.text))


def _block(kind: BlockKind, run: Sequence[Row]) -> Block:
    first, last = run[0], run[-1]
    items = [0]
    if kind is BlockKind.LIST:
        for at, row in enumerate(run[1:], 1):
            if starts_item(row) and not _counts_on(run, items[-1], at):
                items.append(at)
    elif kind in (BlockKind.TABLE, BlockKind.CODE):
        items = list(range(len(run)))
    parts, lines = _until([run[at].start for at in items], run), (first.number, last.number)
    count, columns = (header_rows(run), max(row.cells for row in run)) if kind is BlockKind.TABLE else (0, 0)
    header = (Span(first.page, first.start, run[count - 1].end),) if count else ()
    setting = Setting(first.size, first.top, last.top, all(row.mono for row in run))
    return Block(kind, first.page, first.start, last.end, lines, parts, header, (), columns, setting)


def _until(starts: Sequence[int], run: Sequence[Row]) -> tuple[tuple[int, int], ...]:
    """Parts that start at these offsets, each up to the end of its last row."""
    following = set(starts[1:])
    ends = [row.end for row, after in pairwise(run) if after.start in following]
    return tuple(zip(starts, [*ends, run[-1].end], strict=True))


def _keep_titles(found: list[Block], styles: dict[int, Style]) -> None:
    """Make a paragraph of each row that is set as a heading and heads nothing: the lines of a title page, names."""
    shown = [index for index, block in enumerate(found) if block.kind is not BlockKind.BOILERPLATE]
    heads = [index for index, after in pairwise(shown) if after not in styles or styles[after] > styles.get(index, ())]
    for index in set(styles).difference(heads):
        if styles[index].pattern == NO_PATTERN:
            found[index] = replace(found[index], kind=BlockKind.PARAGRAPH)
            del styles[index]


def _carry_headers(found: list[Block], texts: Mapping[int, str], language: str) -> None:
    """Give a table that goes on over a page break, or after a few other rows, the header it started with."""
    before: Block | None = None
    interrupted = False
    for index, block in enumerate(found):
        if block.kind is BlockKind.TABLE:
            heads = (row for span in block.header for row in texts[span.page][span.start : span.end].split("\n"))
            if before and not block.header and _near(before, block, interrupted):
                found[index] = block = replace(block, header=before.header)
            elif not any(map(names_scale, heads)):
                found[index] = block = replace(block, header=block.header + _scale(found, index, texts, language))
            before, interrupted = block, False
        elif block.kind is not BlockKind.BOILERPLATE:
            interrupted = True


def _scale(found: Sequence[Block], index: int, texts: Mapping[int, str], language: str) -> tuple[Span, ...]:
    """Where it is said, close above a table or else below it, what its figures are counted in."""
    table = found[index]
    for step in (-1, 1):
        beside = [found[at] for at in (index + step, index + 2 * step) if 0 <= at < len(found)]
        near = list(takewhile(lambda block: block.page == table.page and block.kind not in _NO_TEXT, beside))
        if step > 0:  # what stands over another table, or is a title, belongs to what follows
            following = found[index + 1 + len(near) : index + 2 + len(near)]
            if any(block.kind is BlockKind.TABLE and block.page == table.page for block in following):
                near = []
            near = list(takewhile(lambda block: block.kind is not BlockKind.HEADING, near))
        for block in near:
            text = texts[block.page][block.start : block.end]
            titled = block.kind in (BlockKind.HEADING, BlockKind.CAPTION)
            for start, end in ((0, len(text)), *sentences(text, language)):
                if names_scale(text[start:end], title=titled):
                    return (Span(block.page, block.start + start, block.start + end),)
    return ()


def _near(before: Block, block: Block, interrupted: bool) -> bool:
    if abs(block.columns - before.columns) > 2:
        return False
    if block.page == before.page:
        return block.lines[0] - before.lines[1] - 1 <= MAX_ROWS_BETWEEN
    return block.page == before.page + 1 and not interrupted


def _set_sections(found: list[Block], styles: Mapping[int, Style], texts: Mapping[int, str]) -> None:
    levels = {each: level for level, each in enumerate(sorted(set(styles.values())), start=1)}
    path: list[tuple[int, str]] = []
    section: tuple[str, ...] = ()  # one for all blocks below a heading
    for index, block in enumerate(found):
        if index in styles:
            level = levels[styles[index]]
            words = title(texts[block.page][block.start : block.end])
            while path and path[-1][0] >= level:
                path.pop()
            if not is_contents_title(words):
                path.append((level, words))
            section = tuple(words for _, words in path)
        found[index] = replace(block, section=section)
