"""Documents that a program hands in: each is a source, or a problem of its own that costs the others nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from rag_core.domain.documents import Metadata
from rag_core.errors import Conflict, InvalidInput, LimitExceeded, RagError
from rag_core.library.disk.files import storage_problems
from rag_core.library.disk.private import HeldFile, blocks_from, make_folder
from rag_core.library.library import AddReport
from rag_core.library.stored.bounds import MAX_NAME_CHARS, require_source
from rag_core.library.stored.sources import Source, described, kind_of, name_of, text_source
from rag_core.service.models import Indexed
from rag_core.service.request_models import TextIn, Value

MAX_FILE_BYTES = 50_000_000  # as on the page (server.maxUploadSize)
UNNAMED = "text"  # what a text is called that has neither id, nor source, nor title

HandedIn = Source | Indexed


def texts(documents: Sequence[TextIn]) -> list[HandedIn]:
    """Texts as sources, in order; raises Conflict where two have one id."""
    known: set[str] = set()
    for number, one in enumerate(documents, 1):
        if one.id in known:
            remedy = "Give each document an id of its own, or leave it out."
            raise Conflict(f"Document {number}: the id {one.id!r} is that of an earlier one.", remedy=remedy)
        known |= {one.id} - {""}
    return [_text(one) for one in documents]


def files(
    sent: Iterable[tuple[str, BinaryIO, int]], folder: Path, metadata: Mapping[str, Value], password: str
) -> list[HandedIn]:
    """Files (name, bytes and size) as sources, in order; `folder` keeps their bytes until they are indexed."""
    return [_file(name, data, size, folder, metadata, password) for name, data, size in sent]


def facts(values: Mapping[str, Value]) -> Metadata:
    return described(
        Metadata(),
        {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values.items()},
    )


def outcomes(handed_in: Sequence[HandedIn], report: AddReport | None) -> Iterator[Indexed]:
    """The outcome of each, in their order; without a report, as far as it is known already."""
    found = report or AddReport()
    added, unchanged = {one.id for one in found.added}, {one.id for one in found.unchanged}
    problems = {name: error for name, error in found.problems}
    for one in handed_in:
        if isinstance(one, Indexed):
            yield one
            continue
        id = f"sha256:{one.digest}"
        if id in added or id in unchanged:
            yield Indexed(name=one.name, id=id, state="indexed" if id in added else "unchanged")
        elif one.name in problems:
            yield _problem(one.name, problems[one.name])
        else:
            yield Indexed(name=one.name, id=id, state="waiting")


def _text(one: TextIn) -> HandedIn:
    name = next(
        (str(found) for found in (one.id, one.metadata.get("source"), one.metadata.get("title")) if found), UNNAMED
    )
    name = name_of(Path(name.replace("/", "_")[:MAX_NAME_CHARS]))
    try:
        if not one.content.strip():
            raise InvalidInput("The text is empty.", remedy="Send one with at least one visible character.")
        source = text_source(name, one.content, id=one.id, language=one.language, metadata=facts(one.metadata))
        require_source(source)
    except RagError as error:
        return _problem(name, error)
    return source


def _file(name: str, data: BinaryIO, size: int, folder: Path, metadata: Mapping[str, Value], password: str) -> HandedIn:
    shown = name_of(Path(PurePosixPath(name.replace("\\", "/")).name or "file"))[:MAX_NAME_CHARS]
    try:
        if size > MAX_FILE_BYTES:
            problem = f"The file has more than {MAX_FILE_BYTES:,} bytes."
            raise LimitExceeded(problem, remedy="Split it, or index it with the command line.")
        with storage_problems("taking a file"):
            make_folder(folder)
            held = HeldFile(blocks_from(data), folder)
        source = Source(shown, held, kind_of(shown), metadata=facts(metadata), password=password or None)
        require_source(source)
    except RagError as error:
        return _problem(shown, error)
    return source


def _problem(name: str, error: RagError) -> Indexed:
    return Indexed(name=name, state="problem", problem=error.problem, remedy=error.remedy)
