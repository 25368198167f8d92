"""Makes of blocks units, the pieces that belong together, and atoms, the pieces that are cut only when they must be.

A unit is a paragraph (also one that goes on over a page break), an item, a table or a piece of code; its atoms are
sentences, rows or lines. Nothing is lost on the way: every visible character of a block that is not boilerplate lies in
an atom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple, TypeVar

import regex

from rag_core.domain.documents import Span
from rag_core.domain.passages import PassageKind, Role
from rag_core.ingest.blocks.code import DECORATOR, DEFINITION
from rag_core.ingest.blocks.structure import NO_SETTING, Block, BlockKind, Setting
from rag_core.ingest.normalise import cut, join
from rag_core.language import sentences

MAX_WORD_CHARS = 100  # WordPiece reads no longer word: it would stand as one unknown token
COUNT_BATCH = 512  # texts whose tokens are counted between two looks at the cancel flag
COUNT_CHARS = 250_000  # such texts together: a page may be one sentence of 200,000
MAX_UNIT_CHARS = 50_000  # where a paragraph no longer goes on over a page break; dense pages have about 8,000

_KINDS = {
    BlockKind.LIST: (PassageKind.LIST, Role.ITEM),
    BlockKind.TABLE: (PassageKind.TABLE, Role.ROWS),
    BlockKind.CODE: (PassageKind.CODE, Role.CODE),
    BlockKind.CAPTION: (PassageKind.PARAGRAPH, Role.CAPTION),
    BlockKind.ASIDE: (PassageKind.PARAGRAPH, Role.ASIDE),
}
_GRAPHEME = regex.compile(r"\X")

T = TypeVar("T")
Texts = Mapping[int, str]
Counter = Callable[[Sequence[str]], list[int]]  # tokens of each text without the special ones


class Atom(NamedTuple):
    """A sentence, row or line; `whole` is False for a heading, or a part, as in no overlap.

    Those of one `piece` (its number in the document) stand together; `role` and `lead` are that piece's.
    """

    spans: tuple[Span, ...]
    tokens: int = 0
    whole: bool = True
    piece: int = 0
    role: Role = Role.TEXT
    lead: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit that a passage should not part. `headings` stand right above it and come first among its atoms."""

    kind: PassageKind
    spans: tuple[Span, ...]
    section: tuple[str, ...] = ()
    header: tuple[Span, ...] = ()
    headings: tuple[Span, ...] = ()
    atoms: tuple[Atom, ...] = field(default=())
    role: Role = Role.TEXT
    setting: Setting = NO_SETTING
    headless: bool = False  # its first sentence began on a page or in a column before it, and nobody knows where
    endless: bool = False  # its last sentence breaks off with its page or column


def units(blocks: Iterable[Block], texts: Texts, *, by_definition: bool) -> list[Unit]:
    """The units of a document in reading order; code is parted before each function or class if `by_definition`.

    Those of running text have no atoms yet: `counted` finds their sentences. `texts` are by 1-based page number.
    """
    found: list[Unit] = []
    headings: list[Span] = []
    section: tuple[str, ...] = ()
    for block in blocks:
        if block.kind is BlockKind.BOILERPLATE:
            continue
        section = block.section
        if block.kind is BlockKind.HEADING:
            headings.append(Span(block.page, block.start, block.end))
            continue
        for unit in _units_of(block, texts, by_definition):
            found.append(replace(unit, headings=tuple(headings), setting=block.setting))
            headings.clear()
    if headings:  # nothing stands below the last ones
        found.append(Unit(PassageKind.PARAGRAPH, tuple(headings), section, role=Role.HEADING))
    return found


def _units_of(block: Block, texts: Texts, by_definition: bool) -> Iterator[Unit]:
    kind, role = _KINDS.get(block.kind, (PassageKind.PARAGRAPH, Role.TEXT))
    rows = tuple(Atom((Span(block.page, start, end),)) for start, end in block.parts)
    whole = (Span(block.page, block.start, block.end),)
    match block.kind:
        case BlockKind.TABLE:
            yield Unit(kind, whole, block.section, header=block.header, atoms=rows, role=role)
        case BlockKind.CODE:
            for lines in _definitions(rows, texts[block.page]) if by_definition else [rows]:
                span = Span(block.page, lines[0].spans[0].start, lines[-1].spans[0].end)
                yield Unit(kind, (span,), block.section, atoms=lines, role=role)
        case _:
            for row in rows:
                yield Unit(kind, row.spans, block.section, role=role)


def _definitions(lines: Sequence[Atom], text: str) -> list[tuple[Atom, ...]]:
    def indent(line: Atom) -> int:
        start = line.spans[0].start
        return len(text[text.rfind("\n", 0, start) + 1 : start].expandtabs(4))

    def words(line: Atom) -> str:
        return text[line.spans[0].start : line.spans[0].end]

    defining = [index for index, line in enumerate(lines) if DEFINITION.match(words(line))]
    outermost = min((indent(lines[index]) for index in defining), default=0)
    starts = []
    for index in defining:
        if indent(lines[index]) > outermost:
            continue
        while index > 0 and DECORATOR.match(words(lines[index - 1])):
            index -= 1
        starts.append(index)
    bounds = sorted({0, *starts, len(lines)})
    return [tuple(lines[low:high]) for low, high in pairwise(bounds)]


def counted(
    found: Iterable[Unit], texts: Texts, language: str, count: Counter, room: Callable[[Unit], int]
) -> Iterator[Unit]:
    """The units with their atoms and tokens, those of more than `room(unit)` parted; few at a time for memory."""
    for batch in batches(_with_atoms(found, texts, language), lambda unit: len(unit.atoms), COUNT_BATCH):
        sizes = iter(sizes_of([join(texts, atom.spans) for unit in batch for atom in unit.atoms], count))
        for unit in batch:
            measured = [atom._replace(tokens=next(sizes)) for atom in unit.atoms]
            atoms = (part for atom in measured for part in parted(atom, texts, count, room(unit)))
            yield replace(unit, atoms=tuple(atoms))


def _with_atoms(found: Iterable[Unit], texts: Texts, language: str) -> Iterator[Unit]:
    """The units with their atoms and the pieces of these; an item also with the sentence that leads its list in."""
    piece = 0
    lead: tuple[Span, ...] = ()
    for unit in found:
        headings = [
            Atom((heading,), whole=False, piece=piece + n, role=Role.HEADING)
            for n, heading in enumerate(unit.headings, start=1)
        ]
        piece += len(headings) + 1
        whole = () if unit.atoms else sentences(join(texts, unit.spans), language)
        own = unit.atoms or tuple(Atom(cut(unit.spans, start, end)) for start, end in whole)
        if unit.role is not Role.ITEM or headings:
            lead = ()
        atoms = [atom._replace(piece=piece, role=unit.role, lead=lead) for atom in own]
        if unit.headless and atoms:
            atoms[0] = atoms[0]._replace(piece=piece, role=Role.ASIDE, lead=())
            piece += 1
            atoms[1:] = [atom._replace(piece=piece, role=unit.role, lead=lead) for atom in own[1:]]
        if unit.endless and atoms:
            piece += 1
            atoms[-1] = atoms[-1]._replace(piece=piece, role=Role.ASIDE, lead=())
        if unit.role is Role.TEXT:
            leads_in = own and join(texts, own[-1].spans).rstrip().endswith((":", "："))
            lead = own[-1].spans if leads_in else ()
        yield replace(unit, atoms=(*headings, *atoms))


def batches(values: Iterable[T], weight: Callable[[T], int], full: int) -> Iterator[list[T]]:
    """The values in lists, each closed once its weights come to `full` or more."""
    batch: list[T] = []
    total = 0
    for value in values:
        batch.append(value)
        total += weight(value)
        if total >= full:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def parted(atom: Atom, texts: Texts, count: Counter, room: int) -> list[Atom]:
    """An atom as pieces of at most `room` tokens; a word of more, or longer than the model reads, is parted too."""
    raw = join(texts, atom.spans)
    if atom.tokens <= room and (len(raw) <= MAX_WORD_CHARS or max(map(len, raw.split())) <= MAX_WORD_CHARS):
        return [atom]
    pieces = [piece for word in regex.finditer(r"\S+", raw) for piece in _of_readable_length(raw, *word.span())]
    pieces = _fitting(raw, pieces, count, room)
    sizes = sizes_of([raw[start:end] for start, end in pieces], count)
    out: list[Atom] = []
    start, total = pieces[0][0], 0
    for index, (piece, size) in enumerate(zip(pieces, sizes, strict=True)):
        if total and total + size > room:
            out.append(atom._replace(spans=cut(atom.spans, start, pieces[index - 1][1]), tokens=total, whole=False))
            start, total = piece[0], 0
        total += size
    out.append(atom._replace(spans=cut(atom.spans, start, pieces[-1][1]), tokens=total, whole=False))
    return out


def _of_readable_length(raw: str, start: int, end: int) -> list[tuple[int, int]]:
    """A word in pieces of at most `MAX_WORD_CHARS`, not within a letter and its marks if these are no longer."""
    out = []
    while end - start > MAX_WORD_CHARS:
        marks = _GRAPHEME.findall(raw, start, start + MAX_WORD_CHARS)
        stop = start + MAX_WORD_CHARS - (len(marks[-1]) if len(marks) > 1 else 0)
        out.append((start, stop))
        start = stop
    return [*out, (start, end)]


def _fitting(raw: str, pieces: list[tuple[int, int]], count: Counter, room: int) -> list[tuple[int, int]]:
    """The pieces, halved until each has at most `room` tokens or is a single character."""
    while True:
        sizes = sizes_of([raw[start:end] for start, end in pieces], count)
        if all(size <= room or end - start == 1 for size, (start, end) in zip(sizes, pieces, strict=True)):
            return pieces
        halved: list[tuple[int, int]] = []
        for (start, end), size in zip(pieces, sizes, strict=True):
            cut_at = {start, end} if size <= room else {start, (start + end) // 2, end}
            halved += pairwise(sorted(cut_at))
        pieces = halved


def sizes_of(texts: Sequence[str], count: Counter) -> list[int]:
    """The tokens of each text, counted `COUNT_BATCH` at a time, or fewer where they are long."""
    heavy = COUNT_CHARS // COUNT_BATCH
    return [
        size
        for batch in batches(texts, lambda text: max(heavy, len(text)), COUNT_BATCH * heavy)
        for size in count(batch)
    ]
