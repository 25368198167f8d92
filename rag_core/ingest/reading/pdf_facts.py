"""Facts about a PDF without opening it: its kind by its first bytes, and whether its title can be believed."""

from __future__ import annotations

import re

HEADER_BYTES = 1024  # where a PDF's first line may stand, according to Adobe's own reader

_JUNK_TITLES = (
    r"untitled.*|unknown|title|document\d*|presentation\d*",
    r"[\d\s_.\-]*",  # an accession number, a date
    r"(microsoft )?(word|excel|powerpoint)( -.*)?",
    r".*\.(docx?|xlsx?|pptx?|pdf|indd|rtf|tex|html?|qxp)( [-–—] .*)?",
)
_JUNK_TITLE = re.compile("|".join(_JUNK_TITLES), re.IGNORECASE)
_PDF_DATE = re.compile(r"(?:D:)?((?:19|20)\d\d)(?:(0[1-9]|1[0-2])(?:(0[1-9]|[12]\d|3[01]))?)?")
_SIGNATURES = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"II*\0": "a TIFF picture",
    b"MM\0*": "a TIFF picture",
    b"\xd0\xcf\x11\xe0": "an old Office document (DOC, XLS or PPT), or one with a password",
    b"{\\rtf": "an RTF document",
    b"%!PS": "a PostScript file",
    b"PK\x03\x04": "a ZIP archive",
}


_WEB_FRAME = re.compile(rb"<(?:!doctype html|html|head|body)\b", re.IGNORECASE)
# a piece of a page, as programs that put pages together keep them
_WEB_BLOCK = re.compile(rb"<(?:html|p|div|h[1-6]|[uo]l|table|main|section|article|title)\b[^<>]*>", re.IGNORECASE)
_WEB_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body")
PDF = "pdf"
OFFICE = {".docx": "docx", ".xlsx": "xlsx", ".pptx": "pptx"}
# by the end of a file's name
FORMS = {".pdf": PDF, **OFFICE, ".html": "html", ".htm": "html", ".xhtml": "html"}
FORM_NAMES = {
    PDF: "a PDF",
    "docx": "a Word document (DOCX)",
    "xlsx": "an Excel workbook (XLSX)",
    "pptx": "a PowerPoint presentation (PPTX)",
    "html": "a web page (HTML)",
}


def form_of(name: str) -> str:
    """The form that a file's name says it has, of `FORMS`; pdf where it says none."""
    lower = name.lower()
    return next((form for end, form in FORMS.items() if lower.endswith(end)), PDF)


def has_form(form: str, data: bytes) -> bool:
    """Whether a file begins as this form does."""
    start = data[:HEADER_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n\0")
    if form in OFFICE.values():
        return start.startswith(b"PK\x03\x04")
    if form == "html":
        framed = start.lower().startswith((*_WEB_STARTS, b"<?xml")) and _WEB_FRAME.search(data[:4096])
        return bool(framed or (not foreign_format(data) and _WEB_BLOCK.search(data[:4096])))
    return not foreign_format(data) and b"%PDF-" in data[:HEADER_BYTES]


def clean_title(title: str) -> str:
    """A metadata title in one line, or "" for numbers, file names and what programs put there."""
    line = " ".join(title.split())
    return "" if _JUNK_TITLE.fullmatch(line) else line


def iso_date(date: str) -> str:
    """A PDF date ("D:20180202090319-05'00'") as ISO, as exact as it is; "" when it is none."""
    match = _PDF_DATE.match(date.strip())
    return "-".join(part for part in match.groups() if part) if match else ""


def foreign_format(data: bytes) -> str:
    """The name of the format that `data` begins like, when it is a common one and not PDF; "" otherwise."""
    start = data[:HEADER_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n\0")
    lower = start.lower()
    if lower.startswith((b"<?xml", b"<svg")):
        return "an SVG picture" if b"<svg" in lower else "an XML file"
    if lower.startswith(_WEB_STARTS):
        return "a web page (HTML)"
    if start.startswith(b"PK\x03\x04") and b"[Content_Types].xml" in data[:4096]:
        return "an Office document (DOCX, XLSX or PPTX)"
    return next((what for signature, what in _SIGNATURES.items() if start.startswith(signature)), "")
