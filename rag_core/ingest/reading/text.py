"""The text of a file that is no PDF: its encoding, what is struck out in it, separated values as a table, the head and
words of a mail.

Struck out is `~~…~~` and <del>, <s>, <strike> in Markdown, and letters with a stroke through each. What stands in code
is code, and stays.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from email.utils import parsedate_to_datetime

import regex

from rag_core.domain.documents import Metadata
from rag_core.domain.rows import EMPTY
from rag_core.ingest.reading.markdown import without_code
from rag_core.ingest.reading.pdf_findings import attached_files
from rag_core.language import detect, is_known, word_texts

_OTHER_LETTER = regex.compile(r"[^\P{L}\p{Latin}]")
HEAD = 4000  # bytes by which UTF-16 without a mark, and what is no text, is known; chosen
_EXAMINED = 20_000  # bytes that tell an encoding; chosen
VALUES, MAIL = (".csv", ".tsv"), ".eml"  # ends of file names
TEXT_SUFFIXES = (".txt", ".md", *VALUES, MAIL)
_SNIFFED = 20_000  # characters that tell what parts the values; chosen
_HEAD = ("From", "To", "Cc", "Date", "Subject")
_TILDES = re.compile(r"(?<!~)~~(?![~\s])(?:(?!\n[ \t]*\n|~~).)+(?<!\s)~~(?!~)", re.DOTALL)
_TAG = re.compile(r"<(/?)(del|s|strike)\b[^<>]{0,500}>", re.IGNORECASE)
_STROKES = re.compile("(?:[^\n]\u0336[ \t]?)*[^\n]\u0336")  # U+0336 draws a line through the letter before it
_MARKS = re.compile(r"~~|\s|\u0336|</?(?:del|s|strike)\b[^<>]*>", re.IGNORECASE)
_SAYS = re.compile(r"[^\W_]|\|")


def decoded(data: bytes) -> tuple[str, str]:
    """The text, and the encoding that was guessed, "" where it is certain; raises ValueError where it is no text."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16"), ""
    start = data[:HEAD]
    if start[1::2].count(0) > len(start) // 4 or start[::2].count(0) > len(start) // 4:
        return data.decode("utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"), ""
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        if b"\0" in start or sum(byte < 32 and byte not in b"\t\n\r\f" for byte in start) > len(start) // 100:
            raise ValueError("it holds control characters") from None
    for encoding in _guesses(data):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"


def _guesses(data: bytes) -> list[str]:
    from charset_normalizer import from_bytes  # rarely needed, and no start has to load it

    examined = data[: data.rfind(b"\n", 0, _EXAMINED) + 1 if len(data) > _EXAMINED else _EXAMINED]
    found = from_bytes(examined).best()
    other = [found.encoding] if found is not None and _OTHER_LETTER.search(str(found)) else []
    return [
        *other,
        *sorted(("cp1252", "cp1250"), key=lambda encoding: -_known_words(examined.decode(encoding, "replace"))),
    ]


def _known_words(text: str) -> int:
    """How many of the words with other letters than a to z are words of the text's language."""
    language = detect(text)
    return sum(is_known(word, language) for word in set(word_texts(text)) if word.isalpha() and not word.isascii())


def rows_of(text: str) -> str:
    """The rows of separated values, the first one as head; a bar within a cell becomes a broken one."""
    try:
        dialect = csv.Sniffer().sniff(text[:_SNIFFED], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        rows = [
            [" ".join(cell.replace("|", "¦").split()) or EMPTY for cell in row]
            for row in csv.reader(io.StringIO(text, newline=""), dialect)
        ]
    except csv.Error:  # a quotation mark that never ends: its words are read all the same
        return text
    lines = [f"| {' | '.join(row)} |" for row in rows if set(row) - {EMPTY}]
    return "\n".join((*lines[:1], *("|" + "---|" * len(rows[0]) for _ in lines[:1]), *lines[1:]))


def mail_of(data: bytes) -> tuple[str, Metadata, str]:
    """The head and the words of a mail, what it says of itself, and a note on what was not read; raises ValueError."""
    mail = message_from_bytes(data, _class=EmailMessage, policy=default)
    body = mail.get_body(("plain",))
    if body is None:
        raise ValueError("it has no plain words")
    head = [f"{name}: {' '.join(str(mail[name]).split())}" for name in _HEAD if mail[name]]
    try:
        date = parsedate_to_datetime(str(mail["Date"])).date().isoformat()
    except (TypeError, ValueError):
        date = ""
    left = [part.get_filename() or part.get_content_type() for part in mail.iter_attachments()]
    note = attached_files(left) if left else ""
    said = Metadata(
        " ".join(str(mail["Subject"] or "").split())[:300],
        date,
        values={"author": " ".join(str(mail["From"]).split())[:300]} if mail["From"] else {},
    )
    return "\n".join((*head, "", body.get_content())), said, note


def without_struck(text: str, *, markdown: bool) -> tuple[str, int]:
    """The text without what is struck out, and how many characters that were; a line that loses all is empty."""
    spans = sorted({*(_markdown(text) if markdown else ()), *(match.span() for match in _STROKES.finditer(text))})
    if not spans:
        return text, 0
    parts, at, struck = [], 0, 0
    for start, end in spans:
        if end <= at:  # within the one before
            continue
        start = max(start, at)
        struck += len(_MARKS.sub("", text[start:end]))
        while start > at and end < len(text) and text[start - 1] == text[end] and text[end] in "*_":
            start, end = start - 1, end + 1
        parts.append(text[at:start])
        # the blanks before and after it one stays
        at = end + 1 if text[end : end + 1] == " " and (not start or text[start - 1].isspace()) else end
        parts.append("\0")
    lines = "".join((*parts, text[at:])).split("\n")
    return "\n".join(
        "" if "\0" in line and not _SAYS.search(line) else line.replace("\0", "") for line in lines
    ), struck


def _markdown(text: str) -> Iterator[tuple[int, int]]:
    prose = without_code(text)
    yield from (match.span() for match in _TILDES.finditer(prose))
    depth = begun = 0
    for tag in _TAG.finditer(prose):
        if not tag[1]:
            begun = begun if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield begun, tag.end()
