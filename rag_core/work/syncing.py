"""Collections that follow a folder: files that are added, changed or deleted there are added, replaced, deleted here.

What is known of each file stands in `synced/files.json` beside the documents. A document that was there before its file
was stays when that file goes. Equal bytes are one document, which goes with the last of its files.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping
from collections.abc import Set as Several
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path

from rag_core.domain.acts import Actor, acting
from rag_core.domain.ports import Cancel, Progress
from rag_core.errors import IngestError, InvalidInput, RagError
from rag_core.library.disk.files import damaged, storage_problems, write_atomically
from rag_core.library.disk.lock import writing
from rag_core.library.library import AddReport
from rag_core.library.stored.named import SYNCED, collections
from rag_core.library.stored.sources import Source, kind_of, name_of, within_limit
from rag_core.settings import Settings
from rag_core.wiring import SyncedFolder, folder_at, make_collection
from rag_core.work import loading
from rag_core.work.jobs import File
from rag_core.work.runner import Runner

STILL_SECONDS = 5.0  # a file is read, and its absence believed, when nothing of it moved for so long
TRIES = 12  # that are made while files are being written: a minute
BATCH_FILES, BATCH_BYTES = 20, 64 << 20  # that are read and added together; then others have their turn
WAIT_SECONDS = 60.0  # for another process that follows the same folder
SYNC = Actor("sync")  # the program itself
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Known:
    """A file as it was read last: its stamp, its document's digest ("" for none), and why there is no newer one."""

    stamp: str
    digest: str = ""
    problem: str = ""


@dataclass(slots=True)
class State:
    """A followed folder as it is known: its files by path, and what is wrong with all of it.

    `owned` are digests of documents that nobody else brought; `before` is how many documents there were when the first
    of the files that are gone was missed.
    """

    files: dict[str, Known] = field(default_factory=dict)
    owned: set[str] = field(default_factory=set)
    before: int = 0
    problem: str = ""

    @classmethod
    def read(cls, path: Path) -> State:
        """The state in a file; an empty one without it. Raises LibraryDamaged where it is not what was written."""
        try:
            row = json.loads(path.read_bytes())
            files = {name: Known(**known) for name, known in row["files"].items()}
            return cls(files, set(row["owned"]), row["before"], row["problem"])
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(path, "cannot be read") from error

    def problems(self) -> list[str]:
        of_files = [f"{path}: {known.problem}" for path, known in sorted(self.files.items()) if known.problem]
        return [self.problem, *of_files] if self.problem else of_files

    def changed(self, found: Mapping[str, str]) -> dict[str, str]:
        """Those of these files, with their stamps, that were not read as they are."""
        return {path: stamp for path, stamp in found.items() if self.files.get(path, Known("")).stamp != stamp}

    def digests(self, without: Several[str] = frozenset()) -> set[str]:
        return {known.digest for path, known in self.files.items() if path not in without} - {""}


@dataclass(frozen=True, slots=True)
class Synced:
    """Files that were added or replaced, documents deleted with their files, and files that are left for later."""

    added: int = 0
    deleted: int = 0
    left: int = 0


@dataclass(eq=False)
class Follower:
    """One collection, which is made where it is not there, and the folder that it follows."""

    library: Path  # the library's folder
    name: str  # the collection's
    folder: SyncedFolder  # what it follows
    base: Settings  # settings of the service
    runner: Runner  # runs its jobs
    still_seconds: float = STILL_SECONDS  # as STILL_SECONDS
    delete_most: bool = False  # delete documents even where more than half of them have no file any more
    stop: threading.Event = field(default_factory=threading.Event, init=False)
    # files that are not as they are known, and since when they stand still
    _seen: dict[str, tuple[str, float]] = field(default_factory=dict, init=False)
    _done: tuple[dict[str, str], str] | None = field(default=None, init=False)  # a look that left nothing to do

    def __post_init__(self) -> None:
        self.path = self.library / self.name / SYNCED / "files.json"
        make_collection(self.library, self.name)

    def follow(self) -> None:
        """Take over what changes until `stop` is set, or the collection was deleted."""
        with acting(SYNC):
            for _ in chain((None,), self.folder.changes(self.stop)):
                if self.name not in collections(self.library):
                    return
                try:
                    self.catch_up()
                except RagError as error:  # the next look tries again
                    _log.warning("a folder could not be followed: %s", error.kind)
                except Exception:
                    _log.exception("following a folder failed")

    def catch_up(self) -> Synced:
        """Take over all that stands still, waiting a minute for the rest; raises RagError."""
        added = deleted = tries = 0
        while True:
            found = self.step()
            added, deleted = added + found.added, deleted + found.deleted
            if found.left and (found.added or found.deleted) and not self.stop.is_set():
                continue
            tries += 1
            if not found.left or tries > TRIES or self.stop.wait(self.still_seconds):
                return Synced(added, deleted, found.left)

    def step(self) -> Synced:
        """Look once, add a batch of the files that stand still, and delete what is gone; raises RagError."""
        self._require_collection()
        if (look := self.folder.look()) == self._done:
            return Synced()
        with writing(self.path.parent, WAIT_SECONDS):
            state = State.read(self.path)
            was, (found, state.problem) = state.problem, look
            gone = set() if state.problem else state.files.keys() - found.keys()
            changed = state.changed(found)
            still = self._standing_still({**changed, **dict.fromkeys(gone, "")})
            lost = state.digests() - state.digests(gone)
            state.before = (state.before or len(state.digests())) if lost else 0
            batch = self._read({path: stamp for path, stamp in sorted(changed.items()) if path in still})
            added = self._add(batch, changed, state) if batch else 0
            if self._most_are(gone, state):
                gone = set()
            left = state.changed(found).keys() | (gone - still)
            if state.problem not in ("", was):
                _log.warning("a followed folder cannot be read, or most of its files are gone: nothing is deleted")
            doomed = set[str]()
            if not still & left:  # else a file that was moved may be among the next ones
                lost = state.digests() - state.digests(gone & still)
                state.files = {path: one for path, one in state.files.items() if path not in gone & still}
                doomed = lost & state.owned if left else state.owned - state.digests()  # and what a kill had left
            deleted = self._delete(doomed, state)
            self._done = None if left else look
            return Synced(added, deleted, len(left))

    def _standing_still(self, stamps: Mapping[str, str]) -> set[str]:
        """Those of these files that had the same stamp for long enough."""
        now, before = time.monotonic(), self._seen
        self._seen = {
            path: before[path] if path in before and before[path][0] == stamp else (stamp, now)
            for path, stamp in stamps.items()
        }
        return {path for path, (_, since) in self._seen.items() if now - since >= self.still_seconds}

    def _read(self, stamps: Mapping[str, str]) -> dict[str, Source | IngestError]:
        """The first of these files, each of another name; one that changed meanwhile is left out."""
        batch: dict[str, Source | IngestError] = {}
        names, size = set[str](), 0
        for path, stamp in stamps.items():
            name = name_of(Path(path))
            if name in names:  # a report tells problems by name
                continue
            if len(batch) == BATCH_FILES or size > BATCH_BYTES:
                break
            try:
                if (data := self.folder.read(path, stamp)) is None:
                    del self._seen[path]
                    continue
                batch[path] = Source(name, within_limit(name, data), kind_of(name))
                size += len(data)
            except IngestError as error:
                batch[path] = error
            names.add(name)
        return batch

    def _add(self, batch: Mapping[str, Source | IngestError], stamps: Mapping[str, str], state: State) -> int:
        """Index these files as a job; how many are documents now."""
        library = loading.fresh(self.library, self.name, self.base).library
        opened, there = loading.known(self.library, self.name), set[str]()
        settings = opened.settings if opened else self.base
        sources = {path: one for path, one in batch.items() if isinstance(one, Source)}
        digests = {path: one.digest for path, one in sources.items()}
        state.owned |= {digest for digest in digests.values() if not library.remembers(f"sha256:{digest}")}
        self._keep(state)  # first: else a kill leaves documents that look as if somebody had uploaded them

        def work(progress: Progress, stop: Cancel) -> AddReport:
            self._require_collection()
            report = library.add(sources.values(), settings, progress=progress, cancelled=stop)
            there.update(document.id for document in (*report.added, *report.unchanged))
            problems = {name: str(error) for name, error in report.problems}
            earlier = {state.files[path].digest for path in batch if path in state.files}
            for path, one in batch.items():
                problem = str(one) if isinstance(one, IngestError) else problems.get(one.name, "")
                if f"sha256:{digests.get(path)}" in there:
                    state.files[path] = Known(stamps[path], digests[path])
                elif problem or not report.cancelled:  # what could be read of it before stays
                    state.files[path] = Known(stamps[path], state.files.get(path, Known("")).digest, problem)
            self._delete((earlier & state.owned) - state.digests(), state)  # before watched answers have their turn
            return report

        listed = [File(one.name, f"sha256:{digests[path]}") for path, one in sources.items()]
        place = str(self.library), self.name
        job = self.runner.start("Following a folder", work, len(listed), place=place, listed=listed, bounded=False)
        job.look(result=True)  # nobody waits for it
        while not job.wait(1):
            if self.stop.is_set():
                job.stop()
        if job.error is not None:
            raise job.error
        return len(there)

    def _most_are(self, gone: Several[str], state: State) -> bool:
        """Whether so many are gone that somebody has to say that this was meant; the state's problem says so."""
        lost = len(state.digests() - state.digests(gone))
        if self.delete_most or 2 * lost <= state.before:
            return False
        state.problem = (
            f"{lost} of {state.before} documents have no file in the folder any more. None was deleted. If that was "
            f"meant, run: python -m rag_core sync {self.name} --delete-most"
        )
        return True

    def _delete(self, digests: Several[str], state: State) -> int:
        """Delete documents, and keep the state; how many were still there."""
        self._keep(state)
        if not digests:
            return 0
        library = loading.fresh(self.library, self.name, self.base).library
        there = [id for id in (f"sha256:{digest}" for digest in digests) if library.remembers(id)]
        if there:
            library.delete(*there)
        state.owned -= digests
        self._keep(state)
        return len(there)

    def _keep(self, state: State) -> None:
        self._require_collection()
        with storage_problems("following a folder"):
            write_atomically(self.path, json.dumps({**asdict(state), "owned": sorted(state.owned)}).encode())

    def _require_collection(self) -> None:
        if self.name not in collections(self.library):
            raise InvalidInput(f"The collection {self.name!r} was deleted.", remedy="Take it out of access.yaml.")


def follow_all(
    library: Path, folders: Mapping[str, tuple[str, bool]], base: Settings, runner: Runner
) -> list[Follower]:
    """Have collections follow folders, of these addresses and polling, until `stop` is set or the process ends."""
    following = []
    for name, (address, polling) in folders.items():
        try:
            with acting(SYNC):
                follower = Follower(library, name, folder_at(address, polling=polling), base, runner)
        except RagError as error:
            _log.warning("a folder cannot be followed: %s", error.kind)
        else:
            threading.Thread(target=follower.follow, daemon=True, name="following a folder").start()
            following.append(follower)
    return following
