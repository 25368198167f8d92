"""The sources that a user adds: PDF files, folders of them, plain text, and .jsonl files of text documents.

It reads bytes only.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Literal

from rag_core.domain.bounds import require_between
from rag_core.domain.documents import Metadata
from rag_core.errors import IngestError, InvalidInput, LimitExceeded, NotAPdf
from rag_core.ingest.reading.pdf_facts import FORMS
from rag_core.ingest.reading.text import TEXT_SUFFIXES
from rag_core.library.disk.private import HeldFile, blocks_of

Kind = Literal["pdf", "text"]

MAX_FILE_BYTES = 200 << 20  # the PDF reader's own limit; checked here before the file is read into memory
READABLE = (*FORMS, *TEXT_SUFFIXES)
LISTED = ", ".join(READABLE)  # for people
# lone surrogates stand for the bytes of a name that is not UTF-8
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
_ISO_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?", re.ASCII)
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def kind_of(name: str) -> Kind:
    """The kind of a file by its name: text where it ends like one, else it is read as pages."""
    return "text" if name.lower().endswith(TEXT_SUFFIXES) else "pdf"


@dataclass(frozen=True, slots=True)
class Source:
    """One document as handed in, not yet read.

    `id` is the caller's own id of a text document; two documents of equal text and different ids stay two. `language`
    is ISO 639-1, empty to have it detected; `strategy` overrides the setting of that name. The password is used once
    and stored nowhere.
    """

    name: str
    data: bytes | HeldFile = field(repr=False)
    kind: Kind
    id: str = ""
    language: str = ""
    metadata: Metadata = field(default_factory=Metadata)
    password: str | None = field(default=None, repr=False)
    strategy: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes as hex digits; of the caller's id and the bytes where there is an id."""
        hashed = hashlib.sha256(digest_prefix(self.id))
        for block in blocks_of(self.data):
            hashed.update(block)
        return hashed.hexdigest()

    def described(self, values: Mapping[str, str], password: str | None = None) -> Source:
        """With a password, and metadata given as text; see `described`."""
        return replace(self, metadata=described(self.metadata, values), password=password or self.password)

    @classmethod
    def from_path(cls, path: Path) -> Source:
        """A PDF or plain-text file; raises IngestError where it cannot be read, is too large, or of another kind."""
        kind, name = _kind(path), name_of(path)
        with open_file(path) as file:
            try:
                data = file.read(MAX_FILE_BYTES + 1)
            except OSError as error:
                raise unreadable(path, error) from error
        return cls(name, within_limit(name, data), kind)


def within_limit(name: str, data: bytes) -> bytes:
    """The bytes of a file; raises LimitExceeded where they are more than `MAX_FILE_BYTES`."""
    if len(data) > MAX_FILE_BYTES:
        raise LimitExceeded(
            f"{name} is larger than {MAX_FILE_BYTES >> 20} MB.", remedy="Split the file, or leave out its pictures."
        )
    return data


def digest_prefix(id: str) -> bytes:
    """A source's digest begins with the caller's id of a text document, where there is one."""
    return f"id\0{len(id)}\0{id}\0".encode() if id else b""


def described(metadata: Metadata, values: Mapping[str, str]) -> Metadata:
    """`metadata` with these values on top, any key that is no field as a free value.

    Raises:
        InvalidInput: a date that is not ISO, an authority outside [0, 1], or a verified that is neither true nor false.
    """
    fields: dict[str, Any] = {}
    free = dict(metadata.values)
    for key, value in values.items():
        if key in _PARSERS:
            fields[key] = _parse(key, clean(value).strip())
        else:
            free[clean(key)] = clean(value)
    return replace(metadata, **fields, values=MappingProxyType(free))


def sources_from(paths: Sequence[Path]) -> Iterator[Source | IngestError]:
    """The documents under these paths, in order: files of all known kinds, folders (sorted), and .jsonl files.

    A .jsonl file holds one object `{id, title, lang, text}` a line. What cannot be taken is an error in its place.
    """
    for path in paths:
        if os.path.isdir(path):  # Path.is_dir raises where a folder above it may not be entered
            yield from (_file(found) if isinstance(found, Path) else found for found in files_in(path))
        elif path.suffix.lower() == ".jsonl":
            yield from _json_lines(path)
        else:
            yield _file(path)


def _iso_date(value: str) -> str:
    if not value:
        return value
    year, month, day = (*(int(part) for part in value.split("-")), 1, 1)[:3]
    if not _ISO_DATE.fullmatch(value) or date(year, month, day).year != year:
        raise ValueError(value)
    return value


# chosen: the ends and the middle
_AUTHORITIES: Mapping[str, float] = MappingProxyType({"high": 1.0, "medium": 0.5, "low": 0.0})


def _share(value: str) -> float | None:
    if not value:
        return None
    share = _AUTHORITIES.get(value.casefold())
    if share is None:
        share = float(value)
    require_between("authority", share, 0.0, 1.0)
    return share


def _yes(value: str) -> bool:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}[value.casefold()]


# how each named field is read, and what is right
_PARSERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "title": (str, "a text"),
    "date": (_iso_date, "YYYY, YYYY-MM or YYYY-MM-DD"),
    "authority": (_share, "a number from 0 to 1, or high, medium or low"),
    "verified": (_yes, "true or false"),
}


def _parse(key: str, value: str) -> Any:
    parser, right = _PARSERS[key]
    try:
        return parser(value)
    except (ValueError, KeyError) as error:
        raise InvalidInput(f"A document's {key} cannot be {value!r}.", remedy=f"Give {right}.") from error


def _kind(path: Path) -> Kind:
    if path.suffix.lower() in READABLE:
        return kind_of(path.name)
    raise NotAPdf(
        f"{name_of(path)} is of a kind that cannot be read.",
        remedy=f"Save it as PDF, or give a file of one of these kinds: {LISTED}, .jsonl.",
    )


def _file(path: Path) -> Source | IngestError:
    try:
        return Source.from_path(path)
    except IngestError as error:
        return error


def _json_lines(path: Path) -> Iterator[Source | IngestError]:
    try:
        with open_file(path) as file:
            number = 0
            while line := file.readline(MAX_FILE_BYTES):
                number += 1
                if line.strip():
                    yield _record(line, f"{name_of(path)} line {number}")
    except OSError as error:
        yield unreadable(path, error)
    except IngestError as error:
        yield error


def _record(line: bytes, where: str) -> Source | IngestError:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _bad_line(where, f"is not JSON ({type(error).__name__})")
    if not isinstance(row, dict):
        return _bad_line(where, "is not a JSON object")
    id, title, language, text = row.get("id"), row.get("title") or "", row.get("lang") or "", row.get("text")
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    if not isinstance(id, str) or not id.strip():
        return _bad_line(where, "has no id")
    if not isinstance(text, str) or not text.strip():
        return _bad_line(where, "has no text")
    if not isinstance(title, str) or not isinstance(language, str):
        return _bad_line(where, "has a title or lang that is not a text")
    return text_source(id, text, id=id, language=language, metadata=Metadata(title=clean(title)))


def text_source(name: str, text: str, **fields: Any) -> Source:
    """A text document. Lone surrogates, which no file can hold, become U+FFFD."""
    return Source(clean(name), clean(text).encode(), "text", **{**fields, "id": clean(fields.get("id", ""))})


def clean(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text)


def _bad_line(where: str, what: str) -> IngestError:
    return IngestError(
        f"{where} {what}.", remedy='Write one JSON object a line: {"id": …, "title": …, "lang": …, "text": …}.'
    )


def name_of(path: Path) -> str:
    """The file's name on one line, as it can be shown; what is no character, or moves a cursor, becomes U+FFFD."""
    return _CONTROL.sub("\ufffd", path.name or str(path))


def open_file(path: Path) -> IO[bytes]:
    """The file, open for reading; raises IngestError where it cannot be read. Never waits, as opening a pipe would."""
    try:
        _require_file(path, path.stat().st_mode)  # before it is opened: some devices act on that
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            _require_file(path, os.fstat(descriptor).st_mode)  # it may have been replaced meanwhile
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise
    except OSError as error:
        raise unreadable(path, error) from error


def files_in(folder: Path) -> Iterator[Path | IngestError]:
    """The readable files below a folder, sorted, with a problem for each part that is not, and where there are none."""
    problems: list[OSError] = []
    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=problems.append):
        # names that start with a dot are not documents: macOS leaves a "._x.pdf" beside every "x.pdf"
        found += [
            Path(parent, name)
            for name in (*names, *folders)
            if name.lower().endswith(READABLE) and not name.startswith(".")
        ]
    yield from (unreadable(Path(os.fsdecode(error.filename)), error) for error in problems)
    if not found and not problems:
        yield IngestError(
            f"No file in the folder {name_of(folder)} can be read.", remedy="Name a folder that holds documents."
        )
    yield from sorted(found)


def unreadable(path: Path, error: OSError) -> IngestError:
    return IngestError(
        f"{name_of(path)} cannot be read: {error.strerror or error}.", remedy="Check the path and its permissions."
    )


def _require_file(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        what = next((words for is_kind, words in _KINDS if is_kind(mode)), "a device")
        raise IngestError(
            f"{name_of(path)} is {what}, not a file.", remedy="Name a file, or a folder that holds documents."
        )
