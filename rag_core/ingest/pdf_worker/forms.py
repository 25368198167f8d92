"""Opens what is no PDF, a saved web page or a Word document, as pages: MuPDF lays its text out on A4. No script runs, nothing is fetched.

MuPDF sets the cells of a Word table below one another, so a Word document is written as a plain web page first, with its headings, tables
and the text that shows; it has no pictures.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import html
import io
import re
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from .letters.equations import MATHS, in_a_line
from .letters.raised import UNKNOWN, Level, Part, written
from .letters.symbols import PRIVATE, meant

WIDTH, HEIGHT, FONT = 595, 842, 11  # points: A4, and a size that books are set in; a mark stands where the page was laid out with these
MAX_PART_BYTES = 60 << 20  # the text of a document, unpacked; 16 million characters with their tags would be more than anybody wrote
MAX_DEPTH = 200  # nested elements; Word's own have about 20, and MuPDF lays out nested blocks by recursion
MAX_TAGS = 400_000  # in a web page; a filing of 200 pages would have some 150,000; chosen
TRUNCATED = "depth limit exceeded"  # in MuPDF's complaint about more than some ninety nested elements
TOO_DEEP = ("LimitExceeded", "The page has too many tags, or tags nested too deep.", "Print it to PDF, and add that copy.")
# so that words of two cells are not taken for one, and no line of code runs off the page
CSS = "td, th { padding: 1px 9px; text-align: left; } pre { white-space: pre-wrap; }"
SPACES = {"word": "http://schemas.openxmlformats.org/wordprocessingml/2006/main"}
WORD = f"{{{SPACES['word']}}}"
_PICTURE = re.compile(rb"<img\b[^<>]*>", re.IGNORECASE)  # none is loaded, and MuPDF would write "[image]"
CHARSET_BYTES = 4096  # browsers look through the first 1,024 bytes; a saved page's comment stands before
BROWSERS = {"iso-8859-1": "windows-1252", "us-ascii": "utf-8"}  # what browsers take these for
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_ENCODING = re.compile(r"utf-?8|windows-\d{3,4}|iso-8859-\d\d?|koi8-[ru]|us-ascii|shift_jis|euc-(?:jp|kr)|gb(?:k|2312|18030)|big5")
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*?(/?)>")
# elements that need no end, or that the next of their kind ends
_FLAT = frozenset(b"area base br col embed hr img input link meta param source track wbr p li td th tr dt dd option tbody thead".split())
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


class BadForm(Exception):
    """A file that cannot be opened, as (kind of error, problem, remedy)."""


def opened(pymupdf: Any, data: bytes, form: str) -> Any:
    """The document, laid out.

    Raises:
        BadForm: it is not what its name says, or costs too much.
    """
    page = without_pictures(web_page(data) if form == "docx" else with_signs(in_utf_8(data)))
    _require_shallow(page)
    pymupdf.mupdf.fz_set_user_css(CSS)
    document = pymupdf.open(stream=page, filetype="html")
    document.layout(width=WIDTH, height=HEIGHT, fontsize=FONT)
    if document.page_count and TRUNCATED in pymupdf.TOOLS.mupdf_warnings():  # it goes on without the rest, and says only this
        raise BadForm(*TOO_DEEP)
    return document


def without_pictures(page: bytes) -> bytes:
    """The page without its pictures; drawings in the page would be taken for scanned pages."""
    first, *drawings = re.split(rb"<svg\b", page, flags=re.IGNORECASE)
    kept = [first, *(re.split(rb"</svg\s*>", one, maxsplit=1, flags=re.IGNORECASE)[-1] for one in drawings)]
    return _PICTURE.sub(b"", b"".join(kept))


def in_utf_8(page: bytes) -> bytes:
    """A web page in the encoding that MuPDF takes every page to have. One that states none and is not UTF-8 is read as browsers read it."""
    stated = _CHARSET.search(page[:CHARSET_BYTES])
    name = stated[1].decode().lower() if stated else ""
    for encoding in (BROWSERS.get(name, name) if _ENCODING.fullmatch(name) else "utf-8", "utf-8"):
        try:
            return page.decode(encoding).encode()
        except (UnicodeDecodeError, LookupError):
            continue
    return page.decode("windows-1252", "replace").encode()


def with_signs(page: bytes) -> bytes:
    """The page with its equations written on one line, and with what its style sheets move up or down in a way that MuPDF knows."""
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
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            if "word/document.xml" not in names:
                raise BadForm("NotAPdf", "The file is not a Word document (DOCX).", "Save it as DOCX or PDF, and add that copy.")
            body = _part(archive, "word/document.xml")
            styles = Styles(_part(archive, "word/styles.xml")) if "word/styles.xml" in names else Styles()
            title = _title(_part(archive, "docProps/core.xml")) if "docProps/core.xml" in names else ""
    except (zipfile.BadZipFile, ET.ParseError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadForm(
            "DamagedPdf", "The Word document is damaged, or encrypted.", "Save it again without a password, and add that copy."
        ) from error
    main = body.find(f"{WORD}body")
    text = "".join(_blocks(main if main is not None else body, styles))
    return f"<html><head><title>{html.escape(title)}</title></head><body>{text}</body></html>".encode()


def _part(archive: zipfile.ZipFile, name: str) -> ET.Element:
    too_long = archive.getinfo(name).file_size > MAX_PART_BYTES
    with archive.open(name) as file:
        data = b"" if too_long else file.read(MAX_PART_BYTES + 1)
    if too_long or len(data) > MAX_PART_BYTES:  # it may have said less than it has
        raise BadForm(
            "LimitExceeded", f"The Word document unpacks to more than {MAX_PART_BYTES >> 20} MiB of text.", "Split it into parts."
        )
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"\x00" in data[:200]:  # Word writes neither, and UTF-8
        raise BadForm(
            "DamagedPdf",
            "The Word document declares entities of its own, which no program writes.",
            "Save it again with Word, and add that copy.",
        )
    depth = 0
    root: ET.Element | None = None
    for event, element in ET.iterparse(io.BytesIO(data), ("start", "end")):
        root = element if root is None else root
        depth += 1 if event == "start" else -1
        if depth > MAX_DEPTH:
            raise BadForm("LimitExceeded", "The Word document is nested too deep.", "Save it as PDF, and add that copy.")
    if root is None:
        raise ValueError(name)
    return root


class Styles:
    """The level of each style that is a heading, and how each sets its text, by its id; names are the same in every language of Word."""

    def __init__(self, styles: ET.Element | None = None) -> None:
        self.headings: dict[str, int] = {}
        self.levels: dict[str, Level] = {}
        for style in styles.iter(f"{WORD}style") if styles is not None else ():
            own, name = style.get(f"{WORD}styleId", ""), style.find(f"{WORD}name")
            match = _HEADING.fullmatch(name.get(f"{WORD}val", "")) if name is not None else None
            if match:
                self.headings[own] = int(match[1])
            elif name is not None and name.get(f"{WORD}val", "").lower() == "title":
                self.headings[own] = 1
            self.levels[own] = _level(style.find(f"{WORD}rPr"), Level.PLAIN)


def _title(core: ET.Element) -> str:
    return next((one.text or "" for one in core.iter("{http://purl.org/dc/elements/1.1/}title")), "")


def _blocks(parent: ET.Element, styles: Styles) -> Iterator[str]:
    for child in parent:
        if child.tag == f"{WORD}p":
            yield _paragraph(child, styles)
        elif child.tag == f"{WORD}tbl":
            yield '<table border="1">'
            for row in child.findall("word:tr", SPACES):
                cells = ("".join(_blocks(cell, styles)) for cell in row.findall(f"{WORD}tc"))
                yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
            yield "</table>"
        elif child.tag in (f"{WORD}sdt", f"{WORD}sdtContent", f"{WORD}ins", f"{WORD}customXml", f"{WORD}smartTag"):
            yield from _blocks(child, styles)


def _paragraph(paragraph: ET.Element, styles: Styles) -> str:
    text = html.escape(written(_runs(paragraph, styles))).replace("\n", "<br/>")
    own = paragraph.find(f"{WORD}pPr/{WORD}pStyle")
    level = styles.headings.get(own.get(f"{WORD}val", ""), 0) if own is not None else 0
    listed = paragraph.find(f"{WORD}pPr/{WORD}numPr") is not None and not level
    if not text.strip():
        return ""
    return f"<h{level}>{text}</h{level}>" if level else f"<ul><li>{text}</li></ul>" if listed else f"<p>{text}</p>"


def _runs(parent: ET.Element, styles: Styles) -> Iterator[Part]:
    """The text that shows, with how it is set: not what was deleted, nor what is hidden."""
    for child in parent:
        if child.tag == f"{WORD}r":
            if not _hidden(child):
                yield from _said(child, styles)
        elif child.tag in (f"{MATHS}oMath", f"{MATHS}oMathPara"):
            yield from in_a_line(child)
        elif child.tag not in (f"{WORD}del", f"{WORD}moveFrom", f"{WORD}pPr"):
            yield from _runs(child, styles)


def _hidden(run: ET.Element) -> bool:
    mark = run.find(f"{WORD}rPr/{WORD}vanish")
    return mark is not None and mark.get(f"{WORD}val", "true") not in ("false", "0", "off")


def _said(run: ET.Element, styles: Styles) -> Iterator[Part]:
    own = run.find(f"{WORD}rPr")
    level = _level(own, styles.levels.get(_value(own, "rStyle"), Level.PLAIN))
    fonts = own.find(f"{WORD}rFonts") if own is not None else None
    font = fonts.get(f"{WORD}ascii", "") if fonts is not None else ""
    for one in run:
        if one.tag == f"{WORD}t":
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


def _value(properties: ET.Element | None, name: str) -> str:
    found = properties.find(f"{WORD}{name}") if properties is not None else None
    return "" if found is None else found.get(f"{WORD}val", "")


def _level(properties: ET.Element | None, otherwise: Level) -> Level:
    """How text of a run or style is set: by its alignment, or by how far it is moved from the line."""
    alignment, position, size = (_value(properties, name) for name in ("vertAlign", "position", "sz"))
    if alignment:
        return _LEVELS.get(alignment, Level.PLAIN)
    if re.fullmatch(r"-?\d{1,4}", position) and abs(int(position)) > SHIFTED * (int(size) if size.isdecimal() else USUAL_SIZE):
        return Level.RAISED if int(position) > 0 else Level.LOWERED
    return otherwise


def _drawn(font: str) -> Callable[[str], str]:
    """What a font shows for a sign; a font of signs has them at the places of letters, or so many places further on."""

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
