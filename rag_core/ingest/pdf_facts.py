"""Facts about a PDF without opening it: its kind by its first bytes, and whether its title and author can be believed. Pure."""

from __future__ import annotations

import re

HEADER_BYTES = 1024  # where a PDF's first line may stand, according to Adobe's own reader

_JUNK_TITLES = (
    r"untitled.*|unknown|title|document\d*|presentation\d*",
    r"[\d\s_.\-]*",  # an accession number, a date
    r"(microsoft )?(word|excel|powerpoint)( -.*)?",
    r".*\.(docx?|xlsx?|pptx?|pdf|indd|rtf|tex|html?|qxp)",
)
_JUNK_TITLE = re.compile("|".join(_JUNK_TITLES), re.IGNORECASE)
_PDF_DATE = re.compile(r"(?:D:)?((?:19|20)\d\d)(?:(0[1-9]|1[0-2])(?:(0[1-9]|[12]\d|3[01]))?)?")
_SIGNATURES = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"II*\0": "a TIFF picture",
    b"MM\0*": "a TIFF picture",
    b"\xd0\xcf\x11\xe0": "an old Office document (DOC, XLS or PPT)",
    b"{\\rtf": "an RTF document",
    b"%!PS": "a PostScript file",
    b"PK\x03\x04": "a ZIP archive",
}


def clean_title(title: str) -> str:
    """A metadata title in one line, or "" for what programs put there: numbers, file names, "Untitled", "Microsoft Word - …"."""
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
    if lower.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return "a web page (HTML)"
    if start.startswith(b"PK\x03\x04") and b"[Content_Types].xml" in data[:4096]:
        return "an Office document (DOCX, XLSX or PPTX)"
    return next((what for signature, what in _SIGNATURES.items() if start.startswith(signature)), "")
