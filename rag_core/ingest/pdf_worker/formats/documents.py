"""Opens what is no PDF, a saved web page or a Word document, as pages: MuPDF lays its text out on A4.

No script runs, nothing is fetched.

MuPDF sets the cells of a Word table below one another, so a Word document is written as a plain web page first, with
its headings, tables and the text that shows; it has no pictures.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from ..failure import Failure
from ..glyphs.superscript import UNKNOWN, Level, Part, written
from ..glyphs.symbols import PRIVATE, meant
from ..words import Kind
from .equations import MATHS, in_a_line
from .left_out import WHITE, LeftOut, shade_of
from .numbering import WORD, Numbering, is_on, value
from .office import MAX_DEPTH, ON, TOO_DEEP, unpacked
from .place import SPACES, Place, boxes, of_box, of_cell, of_paragraph, of_row, of_table, shown, unseen
from .seen import seen
from .tables import MAX_COLUMNS, Cell, in_place, spread
from .tables import said as chars
from .tables import written as table_rows

# points: A4, and a size that books are set in; a mark stands where the page was laid out with these
WIDTH, HEIGHT, FONT = 595, 842, 11
MAX_TAGS = 400_000  # in a web page; a filing of 200 pages would have some 150,000; chosen
TRUNCATED = "depth limit exceeded"  # in MuPDF's complaint about more than some ninety nested elements
# so that words of two cells are not taken for one, and no line of code runs off the page
CSS = (
    "td, th { padding: 1px 9px; text-align: left; } pre { white-space: pre-wrap; }"
    # it strikes out <s>; a link within a text is underlined by nobody
    " a { text-decoration: none; }"
)
STRIKES = ("strike", "dstrike")
PARTS = ("styles", "numbering", "footnotes", "endnotes")
_HEAD, _FOOT = re.compile(r"word/header\d{0,3}\.xml"), re.compile(r"word/footer\d{0,3}\.xml")
# elements around paragraphs and tables
_AROUND = tuple(f"{WORD}{name}" for name in "sdt sdtContent ins moveTo customXml smartTag del moveFrom".split())
GONE = (f"{WORD}del", f"{WORD}moveFrom")  # tracked as deleted, or as moved to another place
CHARSET_BYTES = 4096  # browsers look through the first 1,024 bytes; a saved page's comment stands before
BROWSERS = {"iso-8859-1": "windows-1252", "us-ascii": "utf-8"}  # what browsers take these for
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_ENCODING = re.compile(
    r"utf-?8|windows-\d{3,4}|iso-8859-\d\d?|koi8-[ru]|us-ascii|shift_jis|euc-(?:jp|kr)|gb(?:k|2312|18030)|big5"
)
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*?(/?)>")
# elements that need no end, or that the next of their kind ends
_FLAT = frozenset(
    b"area base br col embed hr img input link meta param source track wbr p li td th tr dt dd option tbody thead".split()  # noqa: E501
)
_HEADING = re.compile(r"heading ?([1-6])", re.IGNORECASE)
_LEVELS = {"superscript": Level.RAISED, "subscript": Level.LOWERED}
WIDE = 3 * "\u2003"  # for a tab that sets what follows at the right edge, as page numbers are in a table of contents
USUAL_SIZE = 22  # half-points, of text that states none
SHIFTED = 0.12  # part of the size by which text is moved up or down; less is for looks
_SYMBOLIC = ("Symbol", "Wingdings")  # fonts whose letters are signs


def opened(pymupdf: Any, data: bytes, form: str) -> tuple[Any, dict[int, Counter[str]]]:
    """The document, laid out, and what was left out of each page, counted from 0, by kind; raises Failure."""
    left, about = LeftOut(), dict[str, str]()
    if form == "docx":
        page, about = web_page(data, left)
    else:
        data = in_utf_8(data)
        _require_shallow(data)  # before anything walks it
        page = in_place(seen(data.decode(), left)).encode()
    _require_shallow(page)
    pymupdf.mupdf.fz_set_user_css(CSS)
    document = pymupdf.open(stream=page, filetype="html")
    document.layout(width=WIDTH, height=HEIGHT, fontsize=FONT)
    # it goes on without the rest, and says only this
    if document.page_count and TRUNCATED in pymupdf.TOOLS.mupdf_warnings():
        raise Failure(*TOO_DEEP)
    document.metadata |= about
    return document, left.by_page(document)


def in_utf_8(page: bytes) -> bytes:
    """A web page in MuPDF's encoding; one that states none and is not UTF-8 is read as browsers read it."""
    stated = _CHARSET.search(page[:CHARSET_BYTES])
    name = stated[1].decode().lower() if stated else ""
    for encoding in (BROWSERS.get(name, name) if _ENCODING.fullmatch(name) else "utf-8", "utf-8"):
        try:
            return page.decode(encoding).encode()
        except (UnicodeDecodeError, LookupError):
            continue
    return page.decode("windows-1252", "replace").encode()


def _require_shallow(page: bytes) -> None:
    depth = deepest = tags = 0
    for end, name, alone in (match.groups() for match in _TAG.finditer(page)):
        tags += 1
        if name.lower() not in _FLAT and not alone:
            depth = max(0, depth - 1) if end else depth + 1
            deepest = max(deepest, depth)
    if tags > MAX_TAGS or deepest > MAX_DEPTH:
        raise Failure(*TOO_DEEP)


def web_page(data: bytes, left: LeftOut) -> tuple[bytes, dict[str, str]]:
    """The text of a Word document as a web page, and what it says about itself; raises Failure."""
    with unpacked(data, "word/document.xml", "Word document", "DOCX") as office:
        body = office.part("word/document.xml")
        parts = {name: office.part(f"word/{name}.xml") for name in PARTS if f"word/{name}.xml" in office.names}
        heads, feet = (
            [office.part(name) for name in sorted(office.names) if edge.fullmatch(name)] for edge in (_HEAD, _FOOT)
        )
        styles = Styles(parts.get("styles"), parts.get("numbering"), _notes(parts), left)
        about = office.about()
    main, under = body.find(f"{WORD}body"), body.find(f"{WORD}background")
    ground = shade_of(under.get(f"{WORD}color", "")) if under is not None else None
    whole = Place(grounds=(WHITE, ground) if ground else (WHITE,))  # Word prints it, or leaves it white
    blocks = _blocks(main if main is not None else body, styles, whole)
    text = "".join((*_edges(heads, styles, whole), *blocks, *_edges(feet, styles, whole)))
    title = html.escape(about.get("title", ""))
    return f"<html><head><title>{title}</title></head><body>{text}</body></html>".encode(), about


class Styles:
    """The styles of a Word document: the level of each that is a heading, and how each sets and shows its text.

    With them the numbers of its paragraphs, its notes by what refers to them, and what is left out.
    """

    def __init__(
        self, root: ET.Element | None, numbering: ET.Element | None, notes: dict[str, ET.Element], left: LeftOut
    ) -> None:
        self.numbers, self.notes, self.left = Numbering(numbering, self.based), notes, left
        self.noted: list[str] = []  # the notes that were referred to, in their order
        self.headings: dict[str, int] = {}
        self.levels: dict[str, Level] = {}
        self._rows: dict[str, ET.Element] = {}
        self._root = root
        self._default = ""
        for style in root.iter(f"{WORD}style") if root is not None else ():
            own = style.get(f"{WORD}styleId", "")
            self._rows[own] = style
            self.levels[own] = _level(style.find(f"{WORD}rPr"), Level.PLAIN)
            if style.get(f"{WORD}type") == "paragraph" and style.get(f"{WORD}default") in ON:
                self._default = own
            name = style.find(f"{WORD}name")
            called = name.get(f"{WORD}val", "") if name is not None else ""  # the same in every language of Word
            match = _HEADING.fullmatch(called)
            if match or called.lower() == "title":
                self.headings[own] = int(match[1]) if match else 1

    def based(self, style: str) -> Iterator[ET.Element]:
        for _ in range(MAX_DEPTH):
            row = self._rows.get(style)
            if row is None:
                return
            yield row
            style = value(row, "basedOn")

    def says(self, style: str, path: str) -> ET.Element | None:
        return next((found for row in self.based(style) if (found := row.find(path, SPACES)) is not None), None)

    def paragraph_says(self, own: ET.Element | None, path: str) -> ET.Element | None:
        """The element that a paragraph has at this path, by itself, its style or the document's defaults."""
        found = own.find(path, SPACES) if own is not None else None
        if found is None:
            found = self.says(value(own, "pStyle") or self._default, f"word:pPr/{path}")
        return self._by_default("pPr", path) if found is None else found

    def run_says(self, own: ET.Element | None, place: Place, name: str) -> ET.Element | None:
        """The element that a run has by this name: its own, or its style's, paragraph's, table's or the defaults'."""
        path = f"w14:{name}" if name == "textFill" else f"word:{name}"
        found = own.find(path, SPACES) if own is not None else None
        for style in (value(own, "rStyle"), place.paragraph or self._default, place.table):
            if found is None and style:
                found = self.says(style, f"word:rPr/{path}")
        return self._by_default("rPr", path) if found is None else found

    def is_on(self, own: ET.Element | None, place: Place, *names: str) -> bool:
        """Whether a run has any of these marks: by itself, or else by one of its two styles, as Word toggles them."""
        said = is_on(own, *names)
        if said is not None:
            return said
        usual = self._root.find("word:docDefaults/word:rPrDefault/word:rPr", SPACES) if self._root is not None else None
        styles = (place.paragraph or self._default, value(own, "rStyle"), place.table)
        switched = ((is_on(row.find(f"{WORD}rPr"), *names) for row in self.based(style)) for style in styles)
        paragraph, run, table = (next((on for on in marks if on is not None), False) for marks in switched)
        return is_on(usual, *names) or table or paragraph != run

    def _by_default(self, properties: str, path: str) -> ET.Element | None:
        path = f"word:docDefaults/word:{properties}Default/word:{properties}/{path}"
        return self._root.find(path, SPACES) if self._root is not None else None


def _blocks(parent: ET.Element, styles: Styles, place: Place) -> Iterator[str]:
    for child in shown(parent):
        if child.tag == f"{WORD}p":
            yield _paragraph(child, styles, place)
        elif child.tag == f"{WORD}tbl":
            cells = list(_rows(child, styles, place))
            yield f'<table border="1">{table_rows(spread(cells) or cells)}</table>'
        elif child.tag in _AROUND:
            yield from _blocks(child, styles, place.lost(child.tag in GONE))


def _rows(table: ET.Element, styles: Styles, place: Place) -> Iterator[list[Cell]]:
    below = _Merged(table)
    own = table.find(f"{WORD}tblPr")
    place = of_table(own, place, styles)
    for row in _inside(table, f"{WORD}tr"):
        lost = of_row(row.find(f"{WORD}trPr"), place)
        before, after = (_count(row.find(f"{WORD}trPr"), name, 0) for name in ("gridBefore", "gridAfter"))
        cells = [Cell("")] * before
        for cell in _inside(row, f"{WORD}tc"):
            if cell in below.parts:
                continue
            own = cell.find(f"{WORD}tcPr")
            content = "".join(_blocks(cell, styles, of_cell(own, lost)))
            cells.append(Cell(content, _count(own, "gridSpan", 1), below.rows.get(cell, 1)))
        yield cells + [Cell("")] * after


class _Merged:
    """The cells that go on from the row above (`parts`), and over how many rows those go that begin above."""

    def __init__(self, table: ET.Element) -> None:
        self.parts: set[ET.Element] = set()
        self.rows: dict[ET.Element, int] = {}
        above: dict[tuple[int, int], ET.Element] = {}
        for row in _inside(table, f"{WORD}tr"):
            at, here = _count(row.find(f"{WORD}trPr"), "gridBefore", 0), {}
            for cell in _inside(row, f"{WORD}tc"):
                own = cell.find(f"{WORD}tcPr")
                merge = own.find(f"{WORD}vMerge") if own is not None else None
                place = at, _count(own, "gridSpan", 1)
                at += place[1]
                if merge is None:
                    continue
                if merge.get(f"{WORD}val", "continue") == "continue" and place in above:
                    self.parts.add(cell)
                    here[place] = above[place]
                    self.rows[here[place]] = self.rows.get(here[place], 1) + 1
                else:
                    here[place] = cell
            above = here


def _count(properties: ET.Element | None, name: str, otherwise: int) -> int:
    said = value(properties, name)
    return int(said) if re.fullmatch(r"\d{1,2}", said) and int(said) <= MAX_COLUMNS else otherwise


def _inside(parent: ET.Element, tag: str) -> Iterator[ET.Element]:
    """The children of this kind, also within a content control or custom markup."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in (f"{WORD}sdt", f"{WORD}sdtContent", f"{WORD}customXml"):
            yield from _inside(child, tag)


def _paragraph(paragraph: ET.Element, styles: Styles, place: Place) -> str:
    own, before, text, rest = paragraph.find(f"{WORD}pPr"), len(styles.noted), "", ""
    place, style = of_paragraph(own, place, styles), value(own, "pStyle")
    stops = own.iterfind("word:tabs/word:tab", SPACES) if own is not None else ()
    gap = WIDE if any(stop.get(f"{WORD}val") in ("right", "end") for stop in stops) else " "
    for (lost, kind), parts in groupby(_runs(paragraph, styles, place), key=itemgetter(0)):
        said = written(part for _, part in parts)
        if kind:
            rest += styles.left.mark(kind, chars(said))
            continue
        said = html.escape(said).replace("\n", "<br/>").replace("\t", gap)
        text += f"<s>{said}</s>" if lost else said
    level = styles.headings.get(style, 0)
    number = None if place.gone or place.kind else styles.numbers.label(paragraph)  # Word numbers an empty one, too
    rest += "".join(block for box in boxes(paragraph) for block in _blocks(box.content, styles, of_box(box, place)))
    if not text.replace("<s>", "").replace("</s>", "").strip():
        return rest
    notes = "".join(_note(number, styles, place) for number in range(before, len(styles.noted))) + rest
    if number:
        text = f"{html.escape(number)} {text}"
    if level:
        return f"<h{level}>{text}</h{level}>{notes}"
    return (f"<ul><li>{text}</li></ul>" if number == "" else f"<p>{text}</p>") + notes


def _note(number: int, styles: Styles, place: Place) -> str:
    own, notes = written([(str(number + 1), Level.RAISED)]), styles.notes
    styles.notes = {}  # a note that refers to another one is no note
    blocks = _blocks(notes[styles.noted[number]], styles, place._replace(grounds=(WHITE,), table=""))
    said = " ".join(re.sub("</?p>", "", block) for block in blocks)
    styles.notes = notes
    return f"<p>{html.escape(own)} {said}</p>"


def _notes(parts: dict[str, ET.Element]) -> dict[str, ET.Element]:
    """The footnotes and endnotes, by what refers to them; those without words of their own are lines between them."""
    return {
        f"{kind}Reference{note.get(f'{WORD}id', '')}": note
        for kind in ("footnote", "endnote")
        for note in (parts.get(f"{kind}s") or ())
        if not note.get(f"{WORD}type")
    }


def _edges(parts: list[ET.Element], styles: Styles, place: Place) -> list[str]:
    """The paragraphs above or below the pages, each once."""
    return list(dict.fromkeys(block for part in parts for block in _blocks(part, styles, place)))


def _runs(parent: ET.Element, styles: Styles, place: Place) -> Iterator[tuple[tuple[bool, Kind | None], Part]]:
    """The text, with whether it is struck out, deleted or moved away, why it is not seen, and how it is set."""
    for child in shown(parent):
        if child.tag == f"{WORD}r":
            own = child.find(f"{WORD}rPr")
            kind = place.kind or unseen(own, place, styles)
            lost = place.gone or child.find("word:delText", SPACES) is not None or styles.is_on(own, place, *STRIKES)
            yield from (((lost, kind), part) for part in _said(child, styles))
        elif child.tag in (f"{MATHS}oMath", f"{MATHS}oMathPara"):
            yield from (((place.gone, place.kind), part) for part in in_a_line(child))
        elif child.tag != f"{WORD}pPr":
            linked = place._replace(linked=place.linked or child.tag == f"{WORD}hyperlink")
            yield from _runs(child, styles, linked.lost(child.tag in GONE))


def _said(run: ET.Element, styles: Styles) -> Iterator[Part]:
    own = run.find(f"{WORD}rPr")
    level = _level(own, styles.levels.get(value(own, "rStyle"), Level.PLAIN))
    fonts = own.find(f"{WORD}rFonts") if own is not None else None
    font = fonts.get(f"{WORD}ascii", "") if fonts is not None else ""
    for one in run:
        if one.tag in (f"{WORD}t", f"{WORD}delText"):
            text = one.text or ""
            text = "".join(map(_drawn(font), text)) if font in _SYMBOLIC else text
            bare = text.strip()
            before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :] if bare else ""
            yield from ((before, Level.PLAIN), (bare, level), (after, Level.PLAIN))
        elif one.tag == f"{WORD}sym":
            code = one.get(f"{WORD}char", "")
            sign = chr(int(code, 16)) if re.fullmatch("[0-9A-Fa-f]{1,4}", code) else UNKNOWN
            yield _drawn(one.get(f"{WORD}font", ""))(sign), level
        elif one.tag in (f"{WORD}br", f"{WORD}cr"):
            yield "\n", Level.PLAIN
        elif one.tag == f"{WORD}tab":
            yield "\t", Level.PLAIN
        elif one.tag == f"{WORD}noBreakHyphen":
            yield "-", level
        elif (note := one.tag.removeprefix(WORD) + one.get(f"{WORD}id", "")) in styles.notes.keys() - set(styles.noted):
            styles.noted.append(note)
            yield str(len(styles.noted)), Level.RAISED


def _level(properties: ET.Element | None, otherwise: Level) -> Level:
    """How text of a run or style is set: by its alignment, or by how far it is moved from the line."""
    alignment, position, size = (value(properties, name) for name in ("vertAlign", "position", "sz"))
    if alignment:
        return _LEVELS.get(alignment, Level.PLAIN)
    least = SHIFTED * (int(size) if size.isdecimal() else USUAL_SIZE)
    if re.fullmatch(r"-?\d{1,4}", position) and abs(int(position)) > least:
        return Level.RAISED if int(position) > 0 else Level.LOWERED
    return otherwise


def _drawn(font: str) -> Callable[[str], str]:
    """The sign that a font shows; a font of signs has them at the places of letters, or so many places further on."""

    def shown(sign: str) -> str:
        if sign.isspace() or not (font in _SYMBOLIC or PRIVATE <= ord(sign) <= PRIVATE + 0xFF):
            return sign
        private = sign if ord(sign) >= PRIVATE else chr(PRIVATE + ord(sign))
        plain = chr(ord(private) - PRIVATE) if PRIVATE <= ord(private) <= PRIVATE + 0xFF else ""
        if font == "Symbol" and plain.isdecimal():
            return plain
        known = meant(font, private)
        return UNKNOWN if known == private else known

    return shown
