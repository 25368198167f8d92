"""The date of a document on the screen: one that only the file states says so wherever it stands."""

from __future__ import annotations

from rag_core.domain.documents import DateSource
from ui.app.texts import tell


def shown_date(date: str, source: DateSource) -> str:
    """A date, ISO, with the word that it is only the file's where it is; empty for none. For text that is not interpreted."""
    return tell("dates.file", date=date) if date and source is DateSource.FILE else date


def told_date(date: str, source: DateSource) -> str:
    """A sentence with a document's date and whose it is, or that none is known. For text that is not interpreted."""
    return tell(f"dates.told_{source or 'none'}", date=date)
