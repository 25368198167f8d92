"""Limits on the length of a document's metadata: they stand in every listing, prompt and record, and are read for every
question.

Of 67 filings, papers and slides the longest title had 109 characters, the longest author 57.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rag_core.domain.documents import Metadata
from rag_core.errors import IngestError, InvalidInput
from rag_core.ingest.reading.pdf import MAX_STATED_CHARS
from rag_core.library.stored.sources import Source

MAX_NAME_CHARS = 255  # a file's name, as file systems have it, or a caller's id
MAX_TITLE_CHARS = MAX_STATED_CHARS  # a title, whoever states it
MAX_KEYS = 64  # keys of free metadata; Dublin Core has 55 terms
MAX_KEY_CHARS = 64  # as many as the name of a collection may have
MAX_VALUE_CHARS = 1000  # a free value, about a paragraph
MAX_LANGUAGE_CHARS = 35  # a language's code: the longest that BCP 47 asks programs to take

MAX_FILES = 100  # that are handed in at once
MAX_BYTES = 1_000_000_000  # at once: a hundred long filings take about 200 MB


def require_source(source: Source) -> None:
    """Raise InvalidInput where name, id, language or metadata are too long; nothing of the user's is cut."""
    for what, text, most in (
        ("name", source.name, MAX_NAME_CHARS),
        ("id", source.id, MAX_NAME_CHARS),
        ("language", source.language, MAX_LANGUAGE_CHARS),
    ):
        _require(what, text, most)
    require_metadata(source.metadata)


def admitted(sources: Iterable[Source | IngestError], refused: list[tuple[str, IngestError]]) -> Iterator[Source]:
    """The sources that are within bounds; all others go into `refused`, with their names."""
    for source in sources:
        if not isinstance(source, Source):
            refused.append(("input", source))
            continue
        try:
            require_source(source)
        except InvalidInput as error:
            refused.append((source.name[:MAX_NAME_CHARS], IngestError(error.problem, remedy=error.remedy)))
        else:
            yield source


def require_metadata(metadata: Metadata) -> None:
    """Raise InvalidInput where a title, a key or a value is longer than it may be, or there are too many keys."""
    for what, text, most in _texts(metadata):
        _require(what, text, most)
    if len(metadata.values) > MAX_KEYS:
        raise InvalidInput(
            f"A document can have {MAX_KEYS} keys of its own, got {len(metadata.values):,}.",
            remedy="Keep those that you filter by.",
        )


def _texts(metadata: Metadata) -> Iterator[tuple[str, str, int]]:
    yield "title", metadata.title, MAX_TITLE_CHARS
    for key, value in metadata.values.items():
        yield "key", key, MAX_KEY_CHARS
        yield f"value of {key[:MAX_KEY_CHARS]!r}", value, MAX_VALUE_CHARS


def _require(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise InvalidInput(
            f"A document's {what} can have {most:,} characters, got {len(text):,}: {text[:40]!r}…",
            remedy="Give a shorter one; what is longer belongs into the document's text.",
        )
