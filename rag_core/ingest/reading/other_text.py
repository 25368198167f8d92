"""Text of other kinds than prose: separated values become the rows of one table, as Markdown has them; a mail its head and its words."""

from __future__ import annotations

import csv
import io
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from email.utils import parsedate_to_datetime

from rag_core.domain.documents import Metadata

VALUES, MAIL = (".csv", ".tsv"), ".eml"  # ends of file names
_SNIFFED = 20_000  # characters that tell what parts the values; chosen
_HEAD = ("From", "To", "Cc", "Date", "Subject")


def rows_of(text: str) -> str:
    """The rows of separated values, the first one as their head. A bar within a cell becomes a broken one, so that no cell is parted."""
    try:
        dialect = csv.Sniffer().sniff(text[:_SNIFFED], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        rows = [[" ".join(cell.replace("|", "¦").split()) for cell in row] for row in csv.reader(io.StringIO(text, newline=""), dialect)]
    except csv.Error:  # a quotation mark that never ends: its words are read all the same
        return text
    lines = [f"| {' | '.join(row)} |" for row in rows if any(row)]
    return "\n".join((*lines[:1], *("|" + "---|" * len(rows[0]) for _ in lines[:1]), *lines[1:]))


def mail_of(data: bytes) -> tuple[str, Metadata, str]:
    """The head and the words of a mail, what it says of itself, and a note on what was not read; "" for none.

    Raises:
        ValueError: it has no plain words.
    """
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
    note = f"Attachments were not read: {', '.join(' '.join(one.split())[:80] for one in left[:5])}." if left else ""
    said = Metadata(
        " ".join(str(mail["Subject"] or "").split())[:300],
        date,
        values={"author": " ".join(str(mail["From"]).split())[:300]} if mail["From"] else {},
    )
    return "\n".join((*head, "", body.get_content())), said, note
