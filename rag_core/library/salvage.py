"""Finds what a rebuild can start from: the newest manifest and the inbox, or, where these are damaged, all that is still whole.

Older manifests say what most documents were called; complete document folders say it of those that came later; what nobody names any more
is a stored source. Nothing is deleted: damaged lists, and sources that may turn out to be unusable, are copied aside.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag_core.errors import IngestError, LibraryDamaged, LibraryError
from rag_core.library.disk.files import children, stamp_file, unseal
from rag_core.library.disk.private import make_folder, tighten
from rag_core.library.stored.inbox import Accepted, Inbox
from rag_core.library.stored.manifest import DOCUMENT, LISTS, Entry, Head, Manifest
from rag_core.library.stored.store import Store
from rag_core.library.stored.stored_sources import FOLDER

Problem = tuple[str, IngestError]
MAGIC_BYTES = 1024  # a PDF says what it is within so many


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The sources that can be indexed again.

    Args:
        version: the newest one that anything tells of; the next has to be newer.
        rows: the documents' sources, described as well as is known.
        unfinished: further sources that were accepted and not indexed yet.
        problems: what could not be saved, by the name of the file or document.
        aside: copies of damaged lists, and of the sources that only the list named; None where nothing was damaged.
    """

    version: int
    rows: tuple[Accepted, ...]
    unfinished: tuple[Accepted, ...]
    problems: tuple[Problem, ...] = ()
    aside: Path | None = None

    def keep_aside(self, indexed: set[str]) -> tuple[Problem, ...]:
        """Delete the copies of sources that were `indexed` (digests); a problem that names the others, where there are any."""
        if self.aside is None:
            return ()
        left = [path.name for path in children(self.aside / FOLDER)]
        for digest in indexed.intersection(left):
            (self.aside / FOLDER / digest).unlink(missing_ok=True)
        lost = sorted(set(left) - indexed)
        problem = f"{len(lost)} stored files that no list names could not be used; they were put into the folder {self.aside.name}."
        return ((self.aside.name, IngestError(problem, remedy="Look into them, then delete the folder.")),) if lost else ()


def salvage(store: Store, inbox: Inbox) -> Salvaged:
    """All that can be indexed again.

    Raises:
        LibraryError: a newer version of this program wrote the library.
    """
    harm: list[str] = []
    manifest, damage = _newest(store)
    try:
        waiting = inbox.rows()
    except LibraryDamaged as error:
        waiting = {}
        harm.append("inbox.json")
        damage = (*damage, ("inbox.json", IngestError(f"The list of unfinished files is lost. {error.problem}", remedy=_NAMES_LOST)))
    if manifest is None and not damage and any(path.name not in waiting for path in _sources(store)):
        damage = (("CURRENT", IngestError("There are stored files, and no list of documents.", remedy=_NAMES_LOST)),)
    entries = manifest.entries if manifest else ()
    rows = {entry.source.digest: entry.source.knowing(entry.document.metadata) for entry in entries}
    version = _highest(store)
    unfinished = tuple(row for digest, row in waiting.items() if digest not in rows)
    if not damage:
        return Salvaged(version, tuple(rows.values()), unfinished)
    harm += ["CURRENT", *(f"manifests/{path.name}" for path in _manifests(store) if _whole(path) is None), *_changed_lists(store)]
    problems = list(damage)
    found = [row for row in _from_folders(store) if row.digest not in rows and row.digest not in waiting]
    problems += [(row.name, IngestError(_AFTER_LIST, remedy=_LOOK)) for row in found]
    rows |= {row.digest: row for row in found}
    unnamed = [_unnamed(path) for path in _sources(store) if path.name not in rows and path.name not in waiting]
    problems += [(row.name, IngestError(_NAMELESS, remedy=_LOOK)) for row in unnamed]
    aside = _copy_aside(store.root, [*harm, *(f"{FOLDER}/{row.digest}" for row in unnamed)])
    return Salvaged(version, (*rows.values(), *unnamed), unfinished, tuple(problems), aside)


_LOOK = "Look at its name and metadata, and describe it anew where they are wrong; delete it if it was deleted before."
_NAMES_LOST = "Look through the documents: files that were not indexed yet are there under names made up, or have to be added again."
_AFTER_LIST = "It is in no list that is whole, and was read back from its own folder; metadata that it was given since are lost."
_NAMELESS = "Its name and metadata are lost; only its stored file was there."


def _newest(store: Store) -> tuple[Manifest | None, tuple[Problem, ...]]:
    """The newest manifest that is whole, and what is wrong with newer ones."""
    try:
        return store.manifest(), ()
    except LibraryDamaged as error:
        best, lost = _best(store)
        if best is not None and best.version == _highest(store) and not lost:
            problem = IngestError(error.problem, remedy="Look through the documents: the newest list of them that is there is whole.")
        else:
            since = f"What is known is from the list of version {best.version}" if best else "No list of documents is whole"
            since += f"; {lost} of its documents are known from elsewhere, or lost" if lost else ""
            problem = IngestError(
                f"{error.problem} {since}.",
                remedy="Look through the documents: changes of names and metadata since then are lost, and what was deleted since is back.",
            )
        return best, (("CURRENT", problem),)


def _best(store: Store) -> tuple[Manifest | None, int]:
    """The newest manifest that is whole, and how many of its documents no list has that can be read.

    Older lists, which may share a damaged file with it, tell of the others what they can.
    """
    best, lost, entries = None, 0, dict[str, Entry]()
    for head, path in sorted(((head, path) for path in _manifests(store) if (head := _whole(path))), key=lambda one: -one[0].bare.version):
        known, missing = store.lists.whole(head, path)
        if best is None:
            best, lost = head.bare, missing
        for entry in known:
            entries.setdefault(entry.document.id, entry)
        if not missing:
            break
    return (replace(best, entries=tuple(entries.values())) if best else None), lost


def _manifests(store: Store) -> list[Path]:
    return [path for path in children(store.root / "manifests") if path.suffix == ".json" and path.stem.isdecimal()]


def _whole(path: Path) -> Head | None:
    with suppress(OSError, LibraryError):
        head = Head.from_bytes(path.read_bytes(), path)
        return head if str(head.bare.version) == path.stem else None
    return None


def _changed_lists(store: Store) -> list[str]:
    """The names of the lists that are not what they were; a list's checksum is its name."""
    return [f"{LISTS}/{path.name}" for path in children(store.root / LISTS) if not _has_its_checksum(path)]


def _has_its_checksum(path: Path) -> bool:
    with suppress(OSError):  # the disk cannot read it
        return stamp_file(path).sha256 == path.stem
    return False


def _highest(store: Store) -> int:
    """The newest version that the name of a file or folder, or CURRENT, tells of."""
    known = [int(path.stem) for path in _manifests(store)]
    known += [int(path.name) for path in children(store.root / "indexes") if path.name.isdecimal()]
    with suppress(LibraryDamaged):
        known.append(store.pointer()[0])
    return max(known, default=0)


def _from_folders(store: Store) -> list[Accepted]:
    """The sources of the document folders that are whole, each once, those completed last first."""
    found: dict[str, Accepted] = {}
    for folder in sorted(children(store.root / "documents"), key=_changed, reverse=True):
        with suppress(OSError, ValueError, KeyError, TypeError):
            row = Accepted.from_json(unseal(json.loads((folder / DOCUMENT).read_bytes()))["source"])
            if folder.name.startswith(f"{row.digest}-"):
                found.setdefault(row.digest, row)
    return list(found.values())


def _changed(folder: Path) -> Any:
    with suppress(OSError):
        return (folder / DOCUMENT).stat().st_mtime_ns
    return 0


def _sources(store: Store) -> list[Path]:
    return sorted(path for path in children(store.root / FOLDER) if path.is_file() and path.suffix != ".tmp")


def _unnamed(path: Path) -> Accepted:
    """A stored file of which nothing but its digest is known; a text's own id, which would be a part of it, is not."""
    with suppress(OSError), path.open("rb") as file:
        if b"%PDF-" in file.read(MAGIC_BYTES):
            return Accepted(path.name, (f"{path.name[:12]}.pdf",), "pdf")
    return Accepted(path.name, (f"{path.name[:12]}.txt",), "text")


def _copy_aside(root: Path, names: list[str]) -> Path:
    aside = root / f"damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    for name in names:
        target = aside / name
        make_folder(target.parent)
        if name.startswith(f"{FOLDER}/"):
            with suppress(OSError):
                os.link(root / name, target)  # takes no room
                continue
        _copy(root / name, target)
    tighten(aside)
    return aside


def _copy(source: Path, target: Path) -> None:
    """Copy a file, unless it is not there or the disk cannot read it. What the disk refuses to write is an error."""
    try:
        stamp_file(source)
    except OSError:
        return
    shutil.copyfile(source, target)
