"""Runs the jobs of a process one by one, knows those of each library, and deletes a collection with its jobs."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.domain.acts import Action, actor, permit
from rag_core.errors import LibraryBusy, LimitExceeded
from rag_core.library.stored.sources import Source
from rag_core.wiring import drop_collection
from rag_core.work import loading
from rag_core.work.jobs import File, Job, Place, Turns, Work

if TYPE_CHECKING:
    from rag_core.work.handing_in import HandingIn


MAX_UNFINISHED, MAX_EACH = 24, 8  # jobs of the page that run or wait, in all and of one person who signed in
MAX_KEPT = 50  # finished jobs whose result nobody has seen


class Runner:
    """Runs jobs one after the other: each person's in the order in which they were started, and people by turns."""

    def __init__(self) -> None:
        self._turns = Turns()
        self._starting = threading.RLock()
        self._shared: dict[str, Job] = {}
        self._jobs: list[Job] = []
        self._going = Counter[Place]()  # libraries that are being deleted

    def start(
        self,
        title: str,
        work: Work,
        files: int,
        sources: Sequence[Source] = (),
        *,
        kind: str = "adding",
        place: Place = ("", ""),
        listed: Sequence[File] = (),
        bounded: bool = True,
        handing_in: HandingIn | None = None,
    ) -> Job:
        """Start a job over so many files, or queue it; too many jobs end a `bounded` one at once, with an error."""
        job = Job(
            title,
            kind,
            tuple(sources),
            place,
            tuple(listed),
            files=files,
            handing_in=handing_in,
            by=actor().name,
        )
        with self._starting:
            if self._going[place]:
                remedy = "Choose another one for it, or wait until this one is gone."
                return job.refused(LibraryBusy("The collection is being deleted.", remedy=remedy))
            if bounded and self._has_no_room(job):
                remedy = "Wait until some are done, or stop some; then start this again."
                return job.refused(LimitExceeded("Too many jobs wait already.", remedy=remedy))
            finished = [known for known in self._jobs if known.finished]
            self._jobs = [known for known in self._jobs if known not in finished[:-MAX_KEPT]] + [job]
        # the library survives being killed, so stopping the server need not wait for it
        job.begin(work, self._turns)
        return job

    def _has_no_room(self, job: Job) -> bool:
        """Whether too many wait before it, in all or of whoever signed in."""
        left = self.unfinished()
        of_theirs = sum(known.by == job.by for known in left)
        return len(left) >= MAX_UNFINISHED or (actor().may is not None and of_theirs >= MAX_EACH)

    def unfinished(self) -> list[Job]:
        """The jobs that run or wait."""
        return [job for job in self._jobs if not job.finished]

    def start_once(self, key: str, title: str, work: Work, files: int) -> Job:
        """The job of this key, started at the first call in this process. It belongs to no session."""
        with self._starting:
            if key not in self._shared:
                self._shared[key] = self.start(title, work, files)
            return self._shared[key]

    @property
    def shared(self) -> tuple[Job, ...]:
        return tuple(self._shared.values())

    def jobs(self, place: Place) -> tuple[Job, ...]:
        """The jobs of a library that are not finished, and the results that nobody has seen."""
        return tuple(job for job in self._jobs if job.place == place and (not job.finished or job.left_alone))

    @contextmanager
    def closed(self, place: Place) -> Iterator[None]:
        """Within the block no job of a library begins: it is being deleted, and a job would make it anew."""
        with self._starting:
            self._going[place] += 1
        try:
            yield
        finally:
            with self._starting:
                self._going[place] -= 1
                self._going = +self._going

    def end(self, place: Place, seconds: float) -> bool:
        """Stop and forget the jobs of a library that goes; whether all ended within so many seconds.

        Nothing of theirs is handed in afterwards.
        """
        with self._starting:
            ending = [job for job in self._jobs if job.place == place]
        for job in ending:
            job.given_up = True
            job.stop()
        until = time.monotonic() + seconds
        ended = [job for job in ending if job.wait(max(0.0, until - time.monotonic()))]
        with self._starting:
            self._jobs = [job for job in self._jobs if job not in ended]
        return len(ended) == len(ending)


STOP_SECONDS = 30.0  # for its jobs: a page that is read by OCR takes up to twenty, a batch of passages less
LOCK_SECONDS = 10.0  # for a writer of another process


def drop(folder: Path, collection: str, runner: Runner) -> bool:
    """Delete a collection with all that was kept of it, and stop the jobs on it; whether there was one.

    Raises:
        LibraryBusy: a job of it, or another process, went on writing. Nothing was deleted then.
        NotAllowed: that is not open to whoever acts.
        LibraryError: as `rag_core.library.dropping.drop`.
    """
    permit(Action.DROP, collection)
    place = str(folder), collection
    with runner.closed(place):
        if not runner.end(place, STOP_SECONDS):
            raise LibraryBusy(
                f"A job of the collection {collection!r} has not stopped yet.", remedy="Delete it again in a moment."
            )
        loading.forget(folder, collection)
        try:
            return drop_collection(folder, collection, LOCK_SECONDS)
        finally:
            loading.forget(folder, collection)  # whoever opened it meanwhile
