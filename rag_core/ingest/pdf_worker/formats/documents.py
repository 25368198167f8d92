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
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from ..glyphs.superscript import UNKNOWN, Level, Part, written
from ..glyphs.symbols import PRIVATE, meant
from .equations import MATHS, in_a_line
from .numbering import WORD, Numbering, value
from .office import MAX_DEPTH, ON, BadForm, unpacked
from .tables import MAX_COLUMNS, Cell, in_place, spread
from .tables import written as table_rows

# points: A4, and a size that books are set in; a mark stands where the page was laid out with these
WIDTH, HEIGHT, FONT = (
    595,
    842,
    11,
)
MAX_TAGS = 400_000  # in a web page; a filing of 200 pages would have some 150,000; chosen
TRUNCATED = "depth limit exceeded"  # in MuPDF's complaint about more than some ninety nested elements
TOO_DEEP = (
    "LimitExceeded",
    "The page has too many tags, or tags nested too deep.",
    "Print it to PDF, and add that copy.",
)
# so that words of two cells are not taken for one, and no line of code runs off the page
CSS = (
    "td, th { padding: 1px 9px; text-align: left; } pre { white-space: pre-wrap; }"
    # MuPDF strikes out <s> and <del> by itself; nothing within them can take that back, as the style of a link would
    " strike, s *, del *, strike * { text-decoration: line-through !important; } a { text-decoration: inherit "
    "!important; }"
)
SPACES = {"word": WORD[1:-1]}
# a line through text, as MuPDF knows it: by the old name, alone, in small letters; a link within it takes nothing back
_STYLED = re.compile(rb"<style\b.*?</style|<[a-z][^<>]*\bstyle\s*=[^<>]*>", re.IGNORECASE | re.DOTALL)
_STRIKE = re.compile(
    rb"text-decoration(?:-line)?\s*:[^;:}\"'!<>]*\bline-through\b[^;:}\"'!<>]*(?:!\s*important\s*)?", re.IGNORECASE
)
_NO_LINE = re.compile(rb"text-decoration(?:-line)?\s*:\s*none\b", re.IGNORECASE)
STRIKES = ("strike", "dstrike")
PARTS = ("styles", "numbering", "footnotes", "endnotes")
_HEAD, _FOOT = re.compile(r"word/header\d{0,3}\.xml"), re.compile(r"word/footer\d{0,3}\.xml")
GONE = (f"{WORD}del", f"{WORD}moveFrom")  # tracked as deleted, or as moved to another place
_PICTURE = re.compile(rb"<img\b[^<>]*>", re.IGNORECASE)  # none is loaded, and MuPDF would write "[image]"
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
USUAL_SIZE = 22  # half-points, of text that states none
SHIFTED = 0.12  # part of the size by which text is moved up or down; less is for looks
_SYMBOLIC = ("Symbol", "Wingdings")  # fonts whose letters are signs
_EQUATION = re.compile(rb"<math\b", re.IGNORECASE)
_ENTITY = re.compile(r"&(?!(?:lt|gt|amp|quot|apos);)\w+;")
_RULES = re.compile(rb"<style\b[^<>]*>[^<]*|<[a-z][^<>]*\bstyle\s*=[^<>]*>", re.IGNORECASE)
_RULE = re.compile(rb"([^{}\"']*)([{\"'])([^{}\"']*)([}\"'])")
_BASELINE = re.compile(rb"vertical-align\s*:\s*baseline[^;}]*;?", re.IGNORECASE)
_MOVED = re.compile(rb"(?<![\w-])(top|bottom)\s*:\s*(-?)\s*(?=[\d.]*[1-9])[\d.]+", re.IGNORECASE)


def opened(pymupdf: Any, data: bytes, form: str) -> Any:
    """The document, laid out.

    Raises:
        BadForm: it is not what its name says, or costs too much.
    """
    if form != "docx":
        data = in_utf_8(data)
        _require_shallow(data)  # before anything walks its tables
    page = without_pictures(web_page(data) if form == "docx" else with_plain_strikes(with_signs(in_place(data))))
    _require_shallow(page)
    pymupdf.mupdf.fz_set_user_css(CSS)
    document = pymupdf.open(stream=page, filetype="html")
    document.layout(width=WIDTH, height=HEIGHT, fontsize=FONT)
    # it goes on without the rest, and says only this
    if document.page_count and TRUNCATED in pymupdf.TOOLS.mupdf_warnings():
        raise BadForm(*TOO_DEEP)
    return document


def without_pictures(page: bytes) -> bytes:
    """The page without its pictures; drawings in the page would be taken for scanned pages."""
    first, *drawings = re.split(rb"<svg\b", page, flags=re.IGNORECASE)
    kept = [first, *(re.split(rb"</svg\s*>", one, maxsplit=1, flags=re.IGNORECASE)[-1] for one in drawings)]
    return _PICTURE.sub(b"", b"".join(kept))


def with_plain_strikes(page: bytes) -> bytes:
    """The page with every line through its text stated as MuPDF knows it."""
    return _STYLED.sub(
        lambda styled: _NO_LINE.sub(
            b"text-decoration:inherit", _STRIKE.sub(b"text-decoration:line-through !important", styled[0])
        ),
        page,
    )


def in_utf_8(page: bytes) -> bytes:
    """A web page in the encoding that MuPDF takes every page to have.

    One that states none and is not UTF-8 is read as browsers read it.
    """
    stated = _CHARSET.search(page[:CHARSET_BYTES])
    name = stated[1].decode().lower() if stated else ""
    for encoding in (BROWSERS.get(name, name) if _ENCODING.fullmatch(name) else "utf-8", "utf-8"):
        try:
            return page.decode(encoding).encode()
        except (UnicodeDecodeError, LookupError):
            continue
    return page.decode("windows-1252", "replace").encode()


def with_signs(page: bytes) -> bytes:
    """The page with its equations written on one line, and with what its style sheets move up or down in a way that
    MuPDF knows.
    """
    first, *others = _EQUATION.split(page)
    for other in others:
        own, end, rest = other.partition(b"</math>")
        first += html.escape(_equation(b"<math" + own + end) if end else UNKNOWN).encode() + (
            rest if end else b">" + other.partition(b">")[2]
        )
    return _RULES.sub(lambda found: _RULE.sub(_shifted, found[0]), first)


def _equation(text: bytes) -> str:
    try:
        plain = _ENTITY.sub(lambda found: html.unescape(found[0]), text.decode())
        return written(in_a_line(ET.fromstring(plain)))
    except (ET.ParseError, ValueError):
        return UNKNOWN


def _shifted(rule: re.Match[bytes]) -> bytes:
    """A rule that moves text by its position as one that raises or lowers it; MuPDF leaves out the first."""
    whose, start, says, end = rule.groups()
    if re.search(rb"\bsu[bp]\b", whose):
        says = _BASELINE.sub(b"", says)
    moved = _MOVED.search(says) if b"relative" in says else None
    if moved:
        up = (moved[1].lower() == b"top") == (moved[2] == b"-")
        says += b"; vertical-align: " + (b"super" if up else b"sub")
    return whose + start + says + end


def _require_shallow(page: bytes) -> None:
    depth = deepest = tags = 0
    for end, name, alone in (match.groups() for match in _TAG.finditer(page)):
        tags += 1
        if name.lower() not in _FLAT and not alone:
            depth = max(0, depth - 1) if end else depth + 1
            deepest = max(deepest, depth)
    if tags > MAX_TAGS or deepest > MAX_DEPTH:
        raise BadForm(*TOO_DEEP)


def web_page(data: bytes) -> bytes:
    """The text of a Word document as a web page.

    Raises:
        BadForm: it is none, or costs too much.
    """
    with unpacked(data, "word/document.xml", "Word document", "DOCX") as office:
        body = office.part("word/document.xml")
        parts = {name: office.part(f"word/{name}.xml") for name in PARTS if f"word/{name}.xml" in office.names}
        heads, feet = (
            [office.part(name) for name in sorted(office.names) if edge.fullmatch(name)] for edge in (_HEAD, _FOOT)
        )
        styles = Styles(parts.get("styles"), Numbering(parts.get("numbering"), parts.get("styles")), _notes(parts))
        title = office.title()
    main = body.find(f"{WORD}body")
    text = "".join(
        (*_edges(heads, styles), *_blocks(main if main is not None else body, styles), *_edges(feet, styles))
    )
    return f"<html><head><title>{html.escape(title)}</title></head><body>{text}</body></html>".encode()


class Styles:
    """The styles of a Word document: the level of each that is a heading, how each sets its text, and which strike it
    out.

    With them the numbers of its paragraphs, and its notes by what refers to them.
    """

    def __init__(self, root: ET.Element | None, numbers: Numbering, notes: dict[str, ET.Element]) -> None:
        self.numbers, self.notes = numbers, notes
        self.noted: list[str] = []  # the notes that were referred to, in their order
        self.headings: dict[str, int] = {}
        self.levels: dict[str, Level] = {}
        self._rows: dict[str, ET.Element] = {}
        self._usual = (
            root is not None and _mark(root.find("word:docDefaults/word:rPrDefault/word:rPr", SPACES), *STRIKES) is True
        )
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

    def strike(self, run: ET.Element, paragraph: str) -> bool:
        """Whether a run in a paragraph of this style is struck out: by itself, or else by one of its two styles, as
        Word toggles them.
        """
        own = run.find("word:rPr", SPACES)
        said = _mark(own, *STRIKES)
        if said is not None:
            return said
        return self._usual or self._says(paragraph or self._default) != self._says(value(own, "rStyle"))

    def _says(self, style: str) -> bool:
        """Whether a style strikes its text out, by itself or by the one that it is based on."""
        for _ in range(MAX_DEPTH):
            row = self._rows.get(style)
            if row is None:
                break
            said = _mark(row.find("word:rPr", SPACES), *STRIKES)
            if said is not None:
                return said
            style = value(row, "basedOn")
        return False


def _mark(properties: ET.Element | None, *names: str) -> bool | None:
    """Whether any of these marks is switched on; None where none is there."""
    marks = [
        mark for name in names if properties is not None and (mark := properties.find(f"{WORD}{name}")) is not None
    ]
    return any(mark.get(f"{WORD}val", "true") in ON for mark in marks) if marks else None


def _blocks(parent: ET.Element, styles: Styles, *, gone: bool = False) -> Iterator[str]:
    """The paragraphs and tables; all of their text is struck out where they are `gone`."""
    for child in parent:
        if child.tag == f"{WORD}p":
            yield _paragraph(child, styles, gone)
        elif child.tag == f"{WORD}tbl":
            cells = list(_rows(child, styles, gone))
            yield f'<table border="1">{table_rows(spread(cells) or cells)}</table>'
        elif child.tag in (
            f"{WORD}sdt",
            f"{WORD}sdtContent",
            f"{WORD}ins",
            f"{WORD}moveTo",
            f"{WORD}customXml",
            f"{WORD}smartTag",
            *GONE,
        ):
            yield from _blocks(child, styles, gone=gone or child.tag in GONE)


def _rows(table: ET.Element, styles: Styles, gone: bool) -> Iterator[list[Cell]]:
    """The cells of each row; one that goes on from the row above is a part of that one where the columns stay as they
    are.
    """
    below = _Merged(table)
    for row in _inside(table, f"{WORD}tr"):
        lost = gone or row.find("word:trPr/word:del", SPACES) is not None
        before, after = (_count(row.find(f"{WORD}trPr"), name, 0) for name in ("gridBefore", "gridAfter"))
        cells = [Cell("")] * before
        for cell in _inside(row, f"{WORD}tc"):
            if cell in below.parts:
                continue
            own = cell.find(f"{WORD}tcPr")
            removed = lost or cell.find("word:tcPr/word:cellDel", SPACES) is not None
            content = "".join(_blocks(cell, styles, gone=removed))
            cells.append(Cell(content, _count(own, "gridSpan", 1), below.rows.get(cell, 1)))
        yield cells + [Cell("")] * after


class _Merged:
    """The cells of a Word table that go on from the row above (`parts`), and over how many rows those go that begin
    above them.
    """

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
    """A number of columns that a row or cell states."""
    said = value(properties, name)
    return int(said) if re.fullmatch(r"\d{1,2}", said) and int(said) <= MAX_COLUMNS else otherwise


def _inside(parent: ET.Element, tag: str) -> Iterator[ET.Element]:
    """The children of this kind, also within a content control or custom markup."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in (f"{WORD}sdt", f"{WORD}sdtContent", f"{WORD}customXml"):
            yield from _inside(child, tag)


def _paragraph(paragraph: ET.Element, styles: Styles, gone: bool) -> str:
    style, before = value(paragraph.find(f"{WORD}pPr"), "pStyle"), len(styles.noted)
    text = ""
    for lost, parts in groupby(_runs(paragraph, styles, style, gone), key=itemgetter(0)):
        said = html.escape(written(part for _, part in parts)).replace("\n", "<br/>")
        text += f"<s>{said}</s>" if lost else said
    level = styles.headings.get(style, 0)
    number = None if gone else styles.numbers.label(paragraph)  # Word numbers an empty one, too
    if not text.replace("<s>", "").replace("</s>", "").strip():
        return ""
    notes = "".join(_note(number, styles) for number in range(before, len(styles.noted)))
    if number:
        text = f"{html.escape(number)} {text}"
    if level:
        return f"<h{level}>{text}</h{level}>{notes}"
    return (f"<ul><li>{text}</li></ul>" if number == "" else f"<p>{text}</p>") + notes


def _note(number: int, styles: Styles) -> str:
    """A note below the paragraph that refers to it, with its number."""
    own, notes = written([(str(number + 1), Level.RAISED)]), styles.notes
    styles.notes = {}  # a note that refers to another one is no note
    said = " ".join(re.sub("</?p>", "", block) for block in _blocks(notes[styles.noted[number]], styles))
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


def _edges(parts: list[ET.Element], styles: Styles) -> list[str]:
    """The paragraphs above or below the pages, each once."""
    return list(dict.fromkeys(block for part in parts for block in _blocks(part, styles)))


def _runs(parent: ET.Element, styles: Styles, style: str, gone: bool) -> Iterator[tuple[bool, Part]]:
    """The text that shows, with whether it is struck out, as what was deleted or moved away is, and how it is set; not
    what is hidden.
    """
    for child in parent:
        if child.tag == f"{WORD}r":
            if not _mark(child.find(f"{WORD}rPr"), "vanish"):
                lost = gone or child.find("word:delText", SPACES) is not None or styles.strike(child, style)
                yield from ((lost, part) for part in _said(child, styles))
        elif child.tag in (f"{MATHS}oMath", f"{MATHS}oMathPara"):
            yield from ((gone, part) for part in in_a_line(child))
        elif child.tag != f"{WORD}pPr":
            yield from _runs(child, styles, style, gone or child.tag in GONE)


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
            yield " ", Level.PLAIN
        elif one.tag == f"{WORD}noBreakHyphen":
            yield "-", level
        elif (
            note := f"{one.tag.removeprefix(WORD)}{one.get(f'{WORD}id', '')}"
        ) in styles.notes and note not in styles.noted:
            styles.noted.append(note)
            yield str(len(styles.noted)), Level.RAISED


def _level(properties: ET.Element | None, otherwise: Level) -> Level:
    """How text of a run or style is set: by its alignment, or by how far it is moved from the line."""
    alignment, position, size = (value(properties, name) for name in ("vertAlign", "position", "sz"))
    if alignment:
        return _LEVELS.get(alignment, Level.PLAIN)
    if re.fullmatch(r"-?\d{1,4}", position) and abs(int(position)) > SHIFTED * (
        int(size) if size.isdecimal() else USUAL_SIZE
    ):
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
