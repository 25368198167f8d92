"""Reads a presentation (PPTX): a page for each slide that is shown, with its tables and the speaker's notes.

Shapes are read in the order of the file, which is the one that screen readers go by, those of a group together; the
title comes first. Footers stand on the first slide that has them, and a slide's number is its label.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator

from ..glyphs.superscript import Level, Part, written
from .equations import MATHS, in_a_line, name_of
from .office import ON, Office, id_of, unpacked
from .tables import MAX_COLUMNS, TextPage, Texts, one_line, row_of, rule_of, said

DECK = "ppt/presentation.xml"
TITLES, EDGES, LISTS = ("title", "ctrTitle"), ("ftr", "dt", "hdr"), ("body", "obj")  # kinds of places for words
NO_WORDS = "This slide has no words, and its pictures and diagrams are not read. Save it as PDF, and add that copy."
_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"


def read(data: bytes) -> Texts:
    """The pages of a presentation; raises Failure where it is none, or costs too much."""
    with unpacked(data, DECK, "presentation", "PPTX") as office:
        deck, parts = office.part(DECK), office.related(DECK)
        found, hidden, drawn, edges = Texts(office.about().get("title", "")), list[str](), list[str](), set[str]()
        size = deck.find("{*}sldSz")
        room = (int(size.get("cx", "0")), int(size.get("cy", "0"))) if size is not None else None
        for number, row in enumerate(deck.iterfind("{*}sldIdLst/{*}sldId"), int(deck.get("firstSlideNum", "1"))):
            part = parts[id_of(row)][1]
            root = office.part(part)
            if root.get("show", "1") not in ON:
                hidden.append(str(number))
                continue
            slide = Slide(root, room, edges)
            found.pages.append(slide.page(str(number), _notes(office, part)))
            drawn += [str(number)] * (slide.drawn and not found.pages[-1].problem)
    found.note("Hidden slides were not read", hidden)
    found.note("Charts and diagrams were not read, on the slides", drawn)
    return found


class Slide:
    """The words of a slide. `drawn` says that it has a chart or a diagram; `edges` are the footers of slides before."""

    def __init__(self, root: ET.Element, room: tuple[int, int] | None, edges: set[str]) -> None:
        self._room, self._edges = room, edges
        self._title, self._blocks, self._feet = list[str](), list[str](), list[str]()
        self._kinds: Counter[str] = Counter()
        self._pictures = self.drawn = False
        for tree in root.iterfind("{*}cSld/{*}spTree"):
            self._read(tree, outer=True)

    def page(self, label: str, notes: list[str]) -> TextPage:
        title = [f"# {one_line(' '.join(self._title))}"] * bool(self._title)
        text = "\n\n".join((*title, *self._blocks, *self._feet, *(("## Notes", *notes) if notes else ())))
        problem = NO_WORDS if not text and (self._pictures or self.drawn) else ""
        return TextPage(text, label, self._kinds, problem)

    def _read(self, tree: ET.Element, *, outer: bool = False) -> None:
        for shape in tree:
            kind = name_of(shape)
            if reason := self._unseen(shape, outer=outer):
                self._kinds[reason] += sum(said(one.text or "") for one in shape.iter(_TEXT))
            elif kind == "grpSp":
                self._read(shape)
            elif kind == "AlternateContent":
                self._read(next(iter(shape), shape), outer=outer)
            elif kind == "sp":
                self._say(shape)
            elif kind == "graphicFrame":
                table = shape.find("{*}graphic/{*}graphicData/{*}tbl")
                self.drawn |= table is None
                self._blocks += _table(table, self._kinds) if table is not None else []
            self._pictures |= kind == "pic"

    def _unseen(self, shape: ET.Element, *, outer: bool) -> str:
        own = shape.find("./*/{*}cNvPr")
        if own is not None and own.get("hidden") in ON:
            return "none"
        place = next((found for path in ("./*/{*}xfrm", "./{*}xfrm") if (found := shape.find(path)) is not None), None)
        if not outer or place is None or self._room is None:
            return ""
        edges = [(place.find("{*}off"), "x", "cx"), (place.find("{*}off"), "y", "cy")]
        size = place.find("{*}ext")
        for (start, at, long), room in zip(edges, self._room, strict=True):
            if start is None or size is None:
                return ""
            first = int(start.get(at, "0"))
            if first >= room or first + int(size.get(long, "0")) < 0:
                return "beside"
        return ""

    def _say(self, shape: ET.Element) -> None:
        place = shape.find("./*/{*}nvPr/{*}ph")
        kind = place.get("type", "obj") if place is not None else ""
        body = shape.find("{*}txBody")
        if body is None or kind == "sldNum":
            return
        lines = list(_lines(body, self._kinds, listed=kind in LISTS))
        if kind in TITLES:
            self._title += lines
        elif kind in EDGES:
            self._feet += [line for line in lines if line not in self._edges]
            self._edges.update(lines)
        elif lines:
            self._blocks.append(("\n" if all(line.lstrip().startswith("- ") for line in lines) else "\n\n").join(lines))


def _notes(office: Office, part: str) -> list[str]:
    page = next((name for kind, name in office.related(part).values() if kind == "notesSlide"), "")
    shapes = office.part(page).iterfind("{*}cSld/{*}spTree/{*}sp") if page else ()
    bodies = (shape.find("{*}txBody") for shape in shapes if shape.find("./*/{*}nvPr/{*}ph[@type='body']") is not None)
    return [line for body in bodies if body is not None for line in _lines(body, Counter(), listed=False)]


def _lines(body: ET.Element, kinds: Counter[str], *, listed: bool) -> Iterator[str]:
    """The paragraphs that have words, those with a bullet as items of a list."""
    for paragraph in body.iterfind("{*}p"):
        text = one_line(written(_parts(paragraph, kinds)))
        own = paragraph.find("{*}pPr")
        marks = {name_of(mark) for mark in own} if own is not None else set()
        if text and (marks & {"buChar", "buAutoNum", "buBlip"} or (listed and "buNone" not in marks)):
            level = own.get("lvl", "0") if own is not None else "0"
            text = f"{'  ' * min(int(level), 8)}- {text}"
        if text:
            yield text


def _parts(paragraph: ET.Element, kinds: Counter[str]) -> Iterator[Part]:
    for run in paragraph:
        if run.tag.endswith("}br"):
            yield "\n", Level.PLAIN
            continue
        own, text = run.find("{*}rPr"), run.findtext("{*}t") or ""
        if own is not None and own.get("strike", "noStrike") != "noStrike":
            kinds["struck"] += said(text)
            continue
        raised = int(own.get("baseline", "0").rstrip("%")) if own is not None else 0
        yield text, Level.RAISED if raised > 0 else Level.LOWERED if raised < 0 else Level.PLAIN
        for maths in run.iter(f"{MATHS}oMath"):
            yield from in_a_line(maths)


def _table(table: ET.Element, kinds: Counter[str]) -> list[str]:
    """The rows of a table; a merged cell stands in each of its places, but for the label of a row over columns."""
    rows = list[list[str]]()
    for row in table.iterfind("{*}tr"):
        cells = list[str]()
        for at, cell in enumerate(list(row.iterfind("{*}tc"))[: MAX_COLUMNS + 1]):
            body = cell.find("{*}txBody")
            text = " ".join(_lines(body, kinds, listed=False)) if body is not None else ""
            if cell.get("vMerge") in ON:
                text = rows[-1][at] if rows and at < len(rows[-1]) else ""
            elif cell.get("hMerge") in ON:
                text = cells[-1] if at > 1 else ""
            cells.append(text)
        rows.append(cells)
    own = table.find("{*}tblPr")
    lines = [row_of(row) for row in rows]
    if own is not None and own.get("firstRow") in ON and len(rows) > 1:
        lines.insert(1, rule_of(len(rows[0])))
    return ["\n".join(lines)] if any(map(any, rows)) else []
