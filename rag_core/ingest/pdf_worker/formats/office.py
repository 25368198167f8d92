"""Opens the parts of an Office document; each is checked before it is parsed."""

from __future__ import annotations

import io
import posixpath
import xml.etree.ElementTree as ET
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from ..failure import Failure, too_much

# all parts of a document that are read, unpacked; 16 million characters with their tags would be more than anybody
# wrote
MAX_PART_BYTES = 60 << 20
MAX_TAGS = 4_000_000  # in all parts that are read; 600,000 cells have 2.4 million; chosen
MAX_DEPTH = 200  # nested elements; Word's own have about 20, and MuPDF lays out nested blocks by recursion
FED_BYTES = 1 << 20  # at once; chosen
ON = ("true", "1", "on")
ABOUT = {"title": "title", "creator": "author", "created": "creationDate", "modified": "modDate"}
TOO_DEEP = (
    "LimitExceeded",
    "The page has too many tags, or tags nested too deep.",
    "Print it to PDF, and add that copy.",
)


@contextmanager
def unpacked(data: bytes, main: str, what: str, end: str) -> Iterator[Office]:
    """The document whose first part is `main`; `what` names its kind, `end` the form to save it in; raises Failure."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if main not in archive.namelist():
                remedy = f"Save it as {end} or PDF, and add that copy."
                raise Failure("NotAPdf", f"The file is not a {what} ({end}).", remedy)
            yield Office(archive, what)
    except (
        zipfile.BadZipFile,
        zlib.error,
        ET.ParseError,
        ValueError,
        KeyError,
        IndexError,
        ArithmeticError,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        remedy = "Save it again without a password, and add that copy."
        raise Failure("DamagedPdf", f"The {what} is damaged, or encrypted.", remedy) from error


class _Fed(io.BytesIO):
    """A part, read in large pieces: with each one Expat begins anew on a comment or text that goes on."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(FED_BYTES)


class Office:
    """The parts of an open document, by their names."""

    def __init__(self, archive: zipfile.ZipFile, what: str) -> None:
        self._archive, self._what, self._left, self._tags = archive, what, MAX_PART_BYTES, MAX_TAGS
        self.names = frozenset(archive.namelist())

    def part(self, name: str) -> ET.Element:
        """The root of a part; raises Failure where it costs too much, KeyError or ValueError where it is none."""
        too_long = self._archive.getinfo(name).file_size > self._left
        with self._archive.open(name) as file:
            data = b"" if too_long else file.read(self._left + 1)
        if too_long or len(data) > self._left:  # it may have said less than it has
            raise too_much(f"The {self._what} unpacks to more than {MAX_PART_BYTES >> 20} MiB of text.")
        self._left, self._tags = self._left - len(data), self._tags - data.count(b"<")
        if self._tags < 0:
            raise too_much(f"The {self._what} has more than {MAX_TAGS:,} tags.")
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"\x00" in data[:200]:  # Office writes neither, and UTF-8
            raise Failure(
                "DamagedPdf",
                f"The {self._what} declares entities of its own, which no program writes.",
                "Save it again with the program that it was made with, and add that copy.",
            )
        depth = 0
        root: ET.Element | None = None
        for event, element in ET.iterparse(_Fed(data), ("start", "end")):
            root = element if root is None else root
            depth += 1 if event == "start" else -1
            if depth > MAX_DEPTH:
                raise Failure(
                    "LimitExceeded", f"The {self._what} is nested too deep.", "Save it as PDF, and add that copy."
                )
        if root is None:
            raise ValueError(name)
        return root

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """The parts that a part refers to: by the id of each its kind and name."""
        folder, own = posixpath.split(name)
        rows = f"{folder}/_rels/{own}.rels"
        return {
            row.get("Id", ""): (
                posixpath.basename(row.get("Type", "")),
                posixpath.normpath(posixpath.join("/", folder, row.get("Target", "")))[1:],
            )
            for row in (self.part(rows) if rows in self.names else ())
            if row.get("TargetMode") != "External"
        }

    def about(self) -> dict[str, str]:
        """The title, author and dates that the document states, by the names that MuPDF has for a PDF's."""
        core = self.part("docProps/core.xml") if "docProps/core.xml" in self.names else ()
        said = {one.tag.rpartition("}")[2]: one.text or "" for one in core}
        dates = ("created", "modified")
        return {
            name: said[own].replace("-", "") if own in dates else said[own]
            for own, name in ABOUT.items()
            if said.get(own)
        }


def id_of(element: ET.Element) -> str:
    """By which an element refers to another part; its key has one of two namespaces."""
    return next((value for key, value in element.items() if key.endswith("}id")), "")
