"""Workbooks and presentations for the tests, as bytes, written part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
P = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)
KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
R = f'xmlns:r="{KINDS}"'


def packed(parts: Mapping[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        for name, text in parts.items():
            archive.writestr(name, text)
    return made.getvalue()


def relations(*rows: tuple[str, str]) -> str:
    """The parts that a part refers to, as (kind, name), by the ids rId1, rId2 and so on."""
    said = (f'<Relationship Id="rId{n}" Type="{KINDS}/{kind}" Target="{to}"/>' for n, (kind, to) in enumerate(rows, 1))
    return f"<Relationships>{''.join(said)}</Relationships>"


class Cell(NamedTuple):
    """A cell: its value, the format of its number, whether it is struck out, and its formula."""

    value: str | float | None
    code: str = "General"
    struck: bool = False
    formula: str = ""


@dataclass
class Sheet:
    """A sheet. `hidden` names rows by their numbers and columns by their letters; `more` follows its rows."""

    rows: Sequence[Sequence[Cell | str | float | None]] = ()
    name: str = "Prices"
    state: str = "visible"
    hidden: Sequence[int | str] = ()
    merged: Sequence[str] = ()
    more: str = ""
    parts: Sequence[tuple[str, str]] = field(default=())


def letters(column: int) -> str:
    """The letters of a column, from 1."""
    left, rest = divmod(column - 1, 26)
    return (letters(left) if left else "") + chr(65 + rest)


def number_of(column: str) -> int:
    """The number of a column, from 1."""
    return next(number for number in range(1, 20_000) if letters(number) == column)


def workbook(*sheets: Sheet, parts: Mapping[str, str] | None = None, apple: bool = False) -> bytes:
    """A workbook of these sheets, with other parts by their paths in the archive."""
    cells = [_cell(cell) for sheet in sheets for row in sheet.rows for cell in row]
    styles = list(dict.fromkeys((cell.code, cell.struck) for cell in (Cell(None), *cells)))
    texts = list(dict.fromkeys(cell.value for cell in cells if isinstance(cell.value, str)))
    formats = "".join(
        f"<numFmt numFmtId='{164 + n}' formatCode={quoteattr(code)}/>" for n, (code, _) in enumerate(styles)
    )
    set_by = "".join(f"<xf numFmtId='{164 + n}' fontId='{int(struck)}'/>" for n, (_, struck) in enumerate(styles))
    listed = "".join(
        f"<sheet name={quoteattr(one.name)} sheetId='{n}' state='{one.state}' r:id='rId{n}'/>"
        for n, one in enumerate(sheets, 1)
    )
    own = [("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)]
    made = {
        "xl/workbook.xml": f"<workbook {S} {R}><workbookPr date1904='{int(apple)}'/><sheets>{listed}</sheets>"
        "</workbook>",
        "xl/_rels/workbook.xml.rels": relations(*own, ("sharedStrings", "/xl/texts.xml"), ("styles", "styles.xml")),
        "xl/texts.xml": f"<sst {S}>{''.join(f'<si><t>{escape(str(text))}</t></si>' for text in texts)}</sst>",
        "xl/styles.xml": f"<styleSheet {S}><numFmts>{formats}</numFmts><fonts><font/><font><strike/></font></fonts>"
        f"<cellXfs>{set_by}</cellXfs></styleSheet>",
    }
    for n, sheet in enumerate(sheets, 1):
        made[f"xl/worksheets/sheet{n}.xml"] = _sheet(sheet, styles, texts)
        made[f"xl/worksheets/_rels/sheet{n}.xml.rels"] = relations(*sheet.parts)
    return packed({**made, **(parts or {})})


def _cell(cell: Cell | str | float | None) -> Cell:
    return cell if isinstance(cell, Cell) else Cell(cell)


def _sheet(sheet: Sheet, styles: Sequence[tuple[str, bool]], texts: Sequence[str | float | None]) -> str:
    rows = ""
    for number, row in enumerate(sheet.rows, 1):
        cells = ""
        for column, cell in enumerate(map(_cell, row), 1):
            formula = f"<f>{escape(cell.formula)}</f>" if cell.formula else ""
            said = texts.index(cell.value) if isinstance(cell.value, str) else cell.value
            value = formula if said is None else f"{formula}<v>{said}</v>"
            kind = " t='s'" if isinstance(cell.value, str) else ""
            place = f"r='{letters(column)}{number}' s='{styles.index((cell.code, cell.struck))}'"
            cells += f"<c {place}{kind}>{value}</c>" if value else ""
        rows += f"<row r='{number}'{' hidden=' + quoteattr('1') if number in sheet.hidden else ''}>{cells}</row>"
    columns = "".join(
        f"<col min='{number_of(one)}' max='{number_of(one)}' hidden='1'/>"
        for one in sheet.hidden
        if isinstance(one, str)
    )
    merged = "".join(f"<mergeCell ref='{one}'/>" for one in sheet.merged)
    return (
        f"<worksheet {S}><dimension ref='A1:XFD1048576'/><cols>{columns}</cols><sheetData>{rows}</sheetData>"
        f"<mergeCells>{merged}</mergeCells>{sheet.more}</worksheet>"
    )


@dataclass
class Slide:
    """A slide of these shapes, with the speaker's notes; "" for none."""

    shapes: str = ""
    notes: str = ""
    hidden: bool = False


def words(*paragraphs: str, kind: str | None = None, place: str = "", looks: str = "") -> str:
    """A shape of paragraphs: in a place for words of this kind, and where it stands as "x y width height"."""
    lines = "".join(f"<a:p><a:r><a:t>{escape(one)}</a:t></a:r></a:p>" for one in paragraphs)
    return shape(lines, kind=kind, place=place, looks=looks)


def shape(paragraphs: str, *, kind: str | None = None, place: str = "", looks: str = "") -> str:
    """A shape of paragraphs in markup; `looks` are attributes of its name."""
    own = "" if kind is None else f'<p:ph type="{kind}"/>' if kind else "<p:ph idx='1'/>"
    x, y, wide, high = place.split() if place else ("0", "0", "10", "10")
    where = f"<a:xfrm><a:off x='{x}' y='{y}'/><a:ext cx='{wide}' cy='{high}'/></a:xfrm>" if place else ""
    return (
        f"<p:sp><p:nvSpPr><p:cNvPr id='1' name='x' {looks}/><p:cNvSpPr/><p:nvPr>{own}</p:nvPr></p:nvSpPr>"
        f"<p:spPr>{where}</p:spPr><p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>"
    )


def group(*shapes: str, looks: str = "") -> str:
    """A group of shapes."""
    own = f"<p:nvGrpSpPr><p:cNvPr id='1' name='x' {looks}/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>"
    return f"<p:grpSp>{own}<p:grpSpPr/>{''.join(shapes)}</p:grpSp>"


def frame(inside: str) -> str:
    """A frame, as tables and charts stand in."""
    own = "<p:nvGraphicFramePr><p:cNvPr id='1' name='x'/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>"
    return f"<p:graphicFrame>{own}<a:graphic><a:graphicData>{inside}</a:graphicData></a:graphic></p:graphicFrame>"


def table(*rows: Sequence[str], merged: Mapping[tuple[int, int], str] | None = None) -> str:
    """A table with a row of heads; `merged` are attributes of cells, by row and column from 0."""
    text = ""
    for at, row in enumerate(rows):
        cells = (
            f"<a:tc {(merged or {}).get((at, column), '')}><a:txBody><a:p><a:r><a:t>{escape(one)}</a:t></a:r></a:p>"
            "</a:txBody></a:tc>"
            for column, one in enumerate(row)
        )
        text += f"<a:tr>{''.join(cells)}</a:tr>"
    return frame(f"<a:tbl><a:tblPr firstRow='1'/>{text}</a:tbl>")


def deck(*slides: Slide, parts: Mapping[str, str] | None = None) -> bytes:
    """A presentation of these slides, 1,000 wide and 700 high."""
    listed = "".join(f"<p:sldId id='{255 + n}' r:id='rId{n}'/>" for n in range(1, len(slides) + 1))
    made = {
        "ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst>{listed}</p:sldIdLst>"
        "<p:sldSz cx='1000' cy='700'/></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *(("slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1))
        ),
    }
    for n, slide in enumerate(slides, 1):
        shown = " show='0'" if slide.hidden else ""
        made[f"ppt/slides/slide{n}.xml"] = (
            f"<p:sld {P}{shown}><p:cSld><p:spTree>{slide.shapes}</p:spTree></p:cSld></p:sld>"
        )
        if slide.notes:
            made[f"ppt/slides/_rels/slide{n}.xml.rels"] = relations(("notesSlide", f"../notesSlides/notes{n}.xml"))
            body = words(slide.notes, kind="body") + words("7", kind="sldNum")
            made[f"ppt/notesSlides/notes{n}.xml"] = (
                f"<p:notes {P}><p:cSld><p:spTree>{body}</p:spTree></p:cSld></p:notes>"
            )
    return packed({**made, **(parts or {})})
