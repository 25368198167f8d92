"""The jobs that programs started: each has an id, and belongs to a collection and to whoever started it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

from rag_core.service.principal import Overloaded, Principal, Scope, ShareTaken, missing
from rag_core.work.handing_in import HandingIn
from rag_core.work.jobs import File, Job, Place, Work
from rag_core.work.runner import Runner, drop

# that are not finished, in all and of one caller: each holds its files, and the last one waits for all others
MAX_JOBS, MAX_EACH = 8, 4
MAX_KEPT = 500  # finished ones whose result can still be asked for
RETRY_SECONDS = 30  # a job takes seconds to minutes


class Jobs:
    """The jobs of all callers. Safe to share between threads."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self._lock = runner, threading.Lock()
        self._known: OrderedDict[str, Job] = OrderedDict()

    def start(
        self,
        principal: Principal,
        place: Place,
        title: str,
        work: Work,
        count: int,
        listed: Sequence[File] = (),
        handing_in: HandingIn | None = None,
    ) -> Job:
        with self._lock:
            self.require_room(principal)
            job = self._runner.start(
                title, work, count, place=place, listed=listed, bounded=False, handing_in=handing_in
            )
            job.program = principal.id
            self._known[job.id] = job
            finished = [id for id, one in self._known.items() if one.finished]
            for id in finished[: max(0, len(finished) - MAX_KEPT)]:
                del self._known[id]
        return job

    def require_room(self, principal: Principal) -> None:
        """Raise ShareTaken or Overloaded where as many jobs wait as may."""
        names = [one.program for one in list(self._known.values()) if not one.finished]
        come = f"Call again in {RETRY_SECONDS} seconds."
        if names.count(principal.id) >= MAX_EACH:
            raise ShareTaken(
                f"{MAX_EACH} jobs of yours are running or waiting.", remedy=come, retry_after=RETRY_SECONDS
            )
        if len(names) >= MAX_JOBS:
            raise Overloaded(f"{MAX_JOBS} jobs are running or waiting.", remedy=come, retry_after=RETRY_SECONDS)

    def find(self, principal: Principal, id: str) -> Job:
        """A job of the caller's; of anybody's in their collections, with the scope admin."""
        job = self._known.get(id)
        if job is None or not self._may_see(principal, job):
            raise missing("job")
        return job

    def all(self, principal: Principal) -> tuple[Job, ...]:
        """The jobs that the caller may see, newest first."""
        return tuple(one for one in reversed(list(self._known.values())) if self._may_see(principal, one))

    def waiting(self) -> tuple[int, int]:
        left = [job for job in list(self._known.values()) if not job.finished]
        return sum(job.started for job in left), sum(not job.started for job in left)

    def stop(self, seconds: float, left: Callable[[], float]) -> None:
        """Ask all to stop, and wait so many seconds at most; `left` is a clock."""
        running = [job for job in list(self._known.values()) if not job.finished]
        for job in running:
            job.stop()
        until = left() + seconds
        for job in running:
            job.wait(max(0.0, until - left()))

    def drop(self, folder: Path, collection: str) -> bool:
        """Delete a collection with its jobs, where that is open to whoever acts; whether there was one."""
        found = drop(folder, collection, self._runner)
        with self._lock:
            for id in [id for id, one in self._known.items() if one.place[1] == collection]:
                del self._known[id]
        return found

    @staticmethod
    def _may_see(principal: Principal, job: Job) -> bool:
        if not principal.may_enter(job.place[1]):
            return False
        return job.program == principal.id or principal.may(Scope.ADMIN)
