"""Harm done to every stored file of a library, and what is read from it afterwards.

folder = a_library(path)                                           something in every kind of file
for done in damaged(folder, copies, stored(folder), per_file=2):   bytes changed, cut short, emptied, deleted
    done.problem()                                                 "" where it was told or changed nothing, else what
    went wrong
healing_problem(copy)                                              "" where the remedies make it whole
"""

from __future__ import annotations

import gc
import hashlib
import random
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pymupdf
from builders import HashEmbedder, calibration, measurements

from rag_core.adapters.index.flat import FaissStore
from rag_core.adapters.records.store import FILE as RECORDS
from rag_core.adapters.records.store import RecordStore
from rag_core.domain.documents import Metadata, Page
from rag_core.errors import RagError
from rag_core.gating import scores as calibrate
from rag_core.library.library import Library
from rag_core.library.stored.sources import Source, text_source
from rag_core.records.stored import FeedbackKind
from rag_core.settings import Settings

COLLECTION, DIM = "default", 32
SETTINGS = Settings.load()
# who writes, for a message only; what SQLite takes away when the last connection ends, which may be at any time
NOT_READ = (
    "lock",
    *(f"{name}.sqlite-{end}" for name in ("collection", "records") for end in ("shm", "wal")),
)
# deleted: as if they had never been made
OPTIONAL = {
    RECORDS: "records",
    "calibration.json": "calibration",
}
PLAIN = ("records",)  # its cells have no checksums of their own: a changed letter is read as it is
BODIES, WAITING = {"The notice period is 28 days.", "Cats sleep all day.", "Dogs run about."}, "Not yet."
PORTS = {"vectors": FaissStore(DIM)}


def a_library(folder: Path) -> Path:
    """A PDF, two texts and a file that waits; records, and a calibration."""
    library, sources = opened(folder), given()
    (contract,) = library.add(sources[:1], SETTINGS).added
    library.add(sources[1:], SETTINGS)
    library.set_metadata(contract.id, Metadata(title="The contract"))
    library.add([text_source("waits", WAITING)], SETTINGS, cancelled=lambda: True)
    library._collection.close()
    root = folder / COLLECTION
    (root / "calibration.json").write_bytes(calibrate.packed(calibration()))
    store = RecordStore(root / RECORDS)
    store.add_feedback(store.keep(measurements(0.9, 0.8)), FeedbackKind.HELPFUL, "It is right.")
    store.set_keeping(True)
    store.close()
    return folder


@cache
def given() -> tuple[Source, ...]:
    """The files of the library, as they were handed in."""
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "The notice period is 28 days.")
    contract = Source("contract.pdf", document.tobytes(), "pdf")
    return contract, text_source("note", "Cats sleep all day.", id="note"), text_source("memo", "Dogs run about.")


def opened(folder: Path) -> Library:
    """The library with an embedder that needs no model."""
    return Library.open(folder, COLLECTION, embedder=HashEmbedder(DIM), **PORTS)


def _library(folder: Path) -> object:
    library = opened(folder)
    snapshot = library.snapshot
    found = [
        snapshot.lexical.search(["notice", "period"], 3, None),
        snapshot.vectors.search(HashEmbedder(DIM).embed(["notice"])[0], 3, None),
    ]
    pages = [
        _spelled_out(snapshot.page(one.id, number))
        for one in snapshot.documents
        for number in range(1, one.page_count + 1)
    ]
    sources = [hashlib.sha256(library.source(one.id)).hexdigest() for one in snapshot.documents]
    return repr((snapshot.documents, tuple(snapshot.passages), found, pages, sources))


def _spelled_out(page: Page) -> Page:
    # columns show their address, not their values
    return replace(page, words=tuple(page.words), lines=tuple(page.lines))


def _unfinished(folder: Path) -> object:
    return repr(opened(folder).unfinished())


def _records(folder: Path) -> object:
    store = RecordStore(folder / COLLECTION / RECORDS)
    try:
        return repr(
            (
                [(one, store.measurements(one.id)) for one in store.decisions()],
                store.feedback(),
                store.keeping(),
                store.sets(),
                store.runs(),
            )
        )
    finally:
        store.close()


def _calibration(folder: Path) -> object:
    path = folder / COLLECTION / "calibration.json"
    return repr(calibrate.read(path)) if path.exists() else ""


PARTS: Mapping[str, Callable[[Path], object]] = {
    "library": _library,
    "unfinished": _unfinished,
    "records": _records,
    "calibration": _calibration,
}


def read(folder: Path, parts: Collection[str] = tuple(PARTS)) -> dict[str, object]:
    """What these parts of a library hold; the error where one is refused, whatever its kind."""
    found: dict[str, object] = {}
    for part in parts:
        try:
            found[part] = PARTS[part](folder)
        except Exception as error:
            found[part] = error
    return found


def healing_problem(folder: Path) -> str:
    """What is wrong after the remedies: the library is built anew, and its files are added again.

    Empty where it is whole.
    """
    try:
        library, report = Library.rebuild(folder, COLLECTION, SETTINGS, embedder=HashEmbedder(DIM), **PORTS)
        again = library.add(given(), SETTINGS)
        opened(folder).verify()
    except Exception as error:
        return f"after the remedies: {error!r}"
    bodies = {passage.text.strip() for passage in opened(folder).snapshot.passages}
    if again.problems or not all(error.remedy for _, error in report.problems):
        return f"problems without a remedy: {report.problems}, {again.problems}"
    return "" if BODIES <= bodies <= BODIES | {WAITING} else f"other texts after the remedies: {bodies}"


@dataclass(frozen=True)
class Done:
    """One file harmed, what was read before (`whole`), with nothing there (`bare`), and after."""

    name: str
    harm: str
    whole: Mapping[str, object]
    bare: Mapping[str, object]
    after: Mapping[str, object]

    @property
    def told(self) -> bool:
        """Whether some part was refused with an error of ours that has a remedy."""
        return any(isinstance(value, RagError) and value.remedy for value in self.after.values())

    def problem(self) -> str:
        """What went wrong; empty where every part was refused by a typed error, or reads as before."""
        for part, value in self.after.items():
            if isinstance(value, RagError):
                if not (value.problem and value.remedy):
                    return f"{self}: {part}: an error without a remedy: {value!r}"
            elif isinstance(value, Exception):
                return f"{self}: {part}: a raw error: {value!r}"
            elif value != self.whole[part] and part not in PLAIN and not self._may_be_bare(part):
                return f"{self}: {part}: other bytes were believed"
        return ""

    def _may_be_bare(self, part: str) -> bool:
        of = OPTIONAL.get(self.name.rpartition("/")[2].removesuffix("-wal").removesuffix("-shm"))
        return part == of and self.harm == "deleted" and self.after[part] == self.bare[part]

    def __str__(self) -> str:
        return f"{self.name} {self.harm}"


def harms(data: bytes, per_file: int, chance: random.Random) -> Iterator[tuple[str, bytes | None]]:
    """`per_file` changed bytes, one cut, an empty file, and none."""
    for position in chance.sample(range(len(data)), min(per_file, len(data))):
        yield (
            f"byte {position} changed",
            data[:position] + bytes([data[position] ^ 1 << chance.randrange(8)]) + data[position + 1 :],
        )
    if len(data) > 1:
        size = chance.randrange(1, len(data))
        yield f"cut to {size} bytes", data[:size]
    if data:
        yield "emptied", b""
    yield "deleted", None


def stored(folder: Path) -> list[Path]:
    """All stored files of a library."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in NOT_READ)


def damaged(folder: Path, copies: Path, files: Collection[Path], *, per_file: int, seed: int = 13) -> Iterator[Done]:
    """These files of a copy of the library below `folder`, harmed in every way, one at a time.

    `copies` is a folder of ours.
    """
    chance, whole, bare = random.Random(seed), read(folder), read(copies / "nothing")
    gc.collect()  # connections that nobody holds any more end, and take their logs away now, not while files are copied
    for path in files:
        name, data = str(path.relative_to(folder)), path.read_bytes()
        own = OPTIONAL.get(path.name)
        # what the file may change
        parts = (own,) if own and path.suffix == ".sqlite" else ("library", "unfinished", "calibration")
        for harm, harmed in harms(data, per_file, chance):
            copy = copies / "copy"
            shutil.copytree(folder, copy)
            (copy / name).unlink() if harmed is None else (copy / name).write_bytes(harmed)
            yield Done(name, harm, whole, bare, read(copy, parts))
            shutil.rmtree(copy)
