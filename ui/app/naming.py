"""Names and dates of documents on the screen: one label for each in fields to choose from, short ones for lines, and
whose a date is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rag_core.domain.documents import DateSource, Document
from ui.app.texts import tell

ID_DIGITS = slice(len("sha256:"), len("sha256:") + 8)  # eight hex digits tell the documents of a library apart


MAX_LINE_CHARS = 48  # a file's name within a line that says more; chosen: half of such a line on a small laptop


def shortened(name: str) -> str:
    """A name for a line that says more: of a long one the beginning and the end, where people tell files apart."""
    if len(name) <= MAX_LINE_CHARS:
        return name
    end = MAX_LINE_CHARS // 2
    return f"{name[: MAX_LINE_CHARS - end - 1].rstrip()}…{name[-end:].lstrip()}"


def unique_names(documents: Iterable[Document]) -> dict[str, str]:
    """Labels by document id: the file name, with the first digits of the id where several documents share it.

    No two are equal.
    """
    named = {document.id: document.name or "(no name)" for document in documents}
    shared = Counter(named.values())
    labels = {id: f"{name} ({id[ID_DIGITS]})" if shared[name] > 1 else name for id, name in named.items()}
    taken = Counter(labels.values())
    return {id: label if taken[label] == 1 else f"{label} {id}" for id, label in labels.items()}


def shown_date(date: str, source: DateSource) -> str:
    """A date, ISO, with the word that it is only the file's where it is; empty for none.

    For text that is not interpreted.
    """
    return tell("dates.file", date=date) if date and source is DateSource.FILE else date


def told_date(date: str, source: DateSource) -> str:
    """A sentence with a document's date and whose it is, or that none is known. For text that is not interpreted."""
    return tell(f"dates.told_{source or 'none'}", date=date)
