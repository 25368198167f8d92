"""Long work beside a caller, on documents or on labelled questions; `runner` runs one job at a time in the process.

A thread does the work, so that moving a slider, leaving the page or closing the tab does not cut it off. Progress is
shown to every session that has the same library open; what came of a job belongs to the session that started it, for as
long as that one looks. The next file is read while vectors of one are made.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from rag_core.domain.ports import Cancel, Progress, Step
from rag_core.errors import Cancelled, PasswordNeeded, RagError
from rag_core.library.library import AddReport
from rag_core.library.stored.sources import Source
from rag_core.work.background import Background

if TYPE_CHECKING:
    from rag_core.evaluation import Ran
    from rag_core.work.handing_in import HandingIn


EMBEDDING, PROBLEM = "embedding", "problem"
# the stages of a file in their order: where each begins in its bar, and how long it is
STAGES = {"reading": (0.0, 0.5), "cutting": (0.5, 0.1), EMBEDDING: (0.6, 0.4)}


@dataclass(frozen=True, slots=True)
class File:
    """A file of a job: its name (untrusted text) and the id that its document has or will have."""

    name: str
    id: str


@dataclass(frozen=True, slots=True)
class Far:
    """How far a file is: its step (untrusted text: it has the name), and `done` of `total` pages or passages."""

    step: str = ""
    done: int = 0
    total: int = 0

    @property
    def stage(self) -> str:
        what = self.step.rpartition(": ")[2]
        return what if what in STAGES else ""

    @property
    def share(self) -> float:
        """How much of the whole file is done, in [0, 1]."""
        before, own = STAGES.get(self.stage, (0.0, 0.0))
        return before + own * (self.done / self.total if self.total else 0.0)


MAX_SERVED = 1_000  # names that are remembered; who is forgotten counts as never served


class Turns:
    """Lets one job through at a time: of whoever was never served, then of whoever was longest ago, in their order."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holder: Job | None = None
        self._waiting: list[Job] = []
        self._served: dict[str, None] = {}  # who was served longest ago comes first

    def take(self, job: Job) -> bool:
        """Wait for the turn of a job; False where it was stopped before."""
        with self._changed:
            self._waiting.append(job)
            self._changed.wait_for(lambda: job.stopping or (self._holder is None and self._next() is job))
            self._waiting.remove(job)
            if job.stopping:
                self._changed.notify_all()  # it may have been the next one
                return False
            self._holder = job
            self._served.pop(job.by, None)
            self._served[job.by] = None
            if len(self._served) > MAX_SERVED:
                del self._served[next(iter(self._served))]
            return True

    def give_back(self, job: Job) -> None:
        with self._changed:
            if self._holder is job:
                self._holder = None
                self._changed.notify_all()

    def pass_on(self, job: Job) -> None:
        """Let others but those of the same name, who wait for what this work keeps, come first."""
        with self._changed:
            if self._holder is job and any(one.by != job.by for one in self._waiting):
                self.give_back(job)
                self.take(job)

    def look_again(self) -> None:
        """Have those who wait look whether they were stopped."""
        with self._changed:
            self._changed.notify_all()

    def _next(self) -> Job:
        order = {name: number for number, name in enumerate(self._served, 1)}
        return min(self._waiting, key=lambda one: (order.get(one.by, 0), one.number))


Work = Callable[[Progress, Cancel], "AddReport | Ran"]
Place = tuple[str, str]  # a library's folder and collection
LEFT_ALONE_SECONDS = 90.0  # a browser looks every half second, and once a minute from a tab in the background
MIN_PACE_SECONDS = 3.0  # embedding takes so long before its pace is told
QUESTIONS = "questions"
WHOLE = ("documents", QUESTIONS)  # steps that count whole files, or questions


@dataclass(eq=False)
class Job(Background["AddReport | Ran"]):
    """One call of add, resume, reread, rebuild or evaluate.

    `step` is what is being done with the current file (untrusted text: it names a file), `done` of `total` its pages or
    passages; `files_done` of `files` counts whole files or questions, files in the order of `listed` where that is
    known. `sources` are kept so that a password can be tried without uploading again: while the job runs all of them,
    then those that need one.
    """

    title: str
    kind: str = "adding"  # or resuming, rereading, rebuilding, evaluating, watching
    sources: tuple[Source, ...] = field(default=(), repr=False)
    place: Place = ("", "")
    listed: tuple[File, ...] = field(default=(), repr=False)
    step: str = ""
    done: int = 0
    total: int = 0
    files_done: int = 0
    files: int = 0
    report: AddReport | None = None
    ran: Ran | None = None  # the report of an evaluation
    handing_in: HandingIn | None = field(default=None, repr=False)  # lists the files that it adds
    by: str = ""  # who started it
    program: str = ""  # the id of the principal that did so over the service
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    given_up: bool = False  # stopped since its library goes: nothing needs to be kept of it
    stored: bool = False  # its files are on the library's list, where an end of the process does not reach them
    started: bool = False  # its turn has come
    shown: bool = False  # its result, to the session that started it
    taken_over: bool = False  # by another session, since that one was closed
    looked_at: float = field(default_factory=time.monotonic)  # by that session
    _far: dict[int, Far] = field(default_factory=dict, repr=False)  # by number, of the files that are in work
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)  # by the ids of their documents
    _telling: threading.Lock = field(default_factory=threading.Lock, repr=False)  # two threads tell of files
    # what is counted (questions, or passages of a file), when the first were done, how many then, how many now, of all
    _pace: tuple[str, float, int, int, int] | None = None
    _turns: Turns | None = field(default=None, repr=False)
    number: int = field(default_factory=count().__next__)  # in the order in which jobs were started

    def __post_init__(self) -> None:
        super().__init__("a job", kept="What was complete is kept.")
        for number, file in enumerate(self.listed):
            self._numbers.setdefault(file.id, number)

    @property
    def finished(self) -> bool:
        return self.wait()

    @property
    def stage(self) -> str:
        """The stage of the current file: reading, cutting, embedding, or none of them."""
        return self._current.stage

    @property
    def _current(self) -> Far:
        return self._far.get(self.files_done, Far())

    @property
    def share(self) -> float:
        """How much is done, in [0, 1]: whole files, and the parts of those in work."""
        with self._telling:
            done = self.files_done + sum(one.share for one in self._far.values())
        return 1.0 if self.finished else min(done / max(self.files, 1), 1.0)

    @property
    def failed(self) -> bool:
        """Whether it came to an error, for all it was about or for a file or question of it."""
        return (
            self.error is not None or bool(self.report and self.report.problems) or bool(self.ran and self.ran.failed)
        )

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the questions, or the current file's passages, are done at the pace so far, or None."""
        if self._pace is None:
            return None
        _, since, before, done, total = self._pace
        seconds = time.monotonic() - since
        return None if done <= before or seconds < MIN_PACE_SECONDS else seconds / (done - before) * (total - done)

    @property
    def left_alone(self) -> bool:
        """Whether it ended, and the session that started it must have been closed."""
        return self.finished and not self.shown and time.monotonic() - self.looked_at > LEFT_ALONE_SECONDS

    def look(self, result: bool = False) -> None:
        """Called by the session that started it, each time it shows the job, or its `result`."""
        self.looked_at = time.monotonic()
        self.shown = self.shown or result

    def stop(self) -> None:
        """Ask it to stop, without waiting for its end; one that waits for its turn ends once its files are listed."""
        super().stop()
        if self._turns is not None:
            self._turns.look_again()

    def call_off(self) -> None:
        """Stop it because somebody wants it to end: no start takes up its files, as after a mere `stop`."""
        self.stop()
        if self.handing_in is not None:
            self.handing_in.call_off()

    def progress(self, step: str, done: int, total: int) -> None:
        with self._telling:
            self._told(step, done, total)

    def _told(self, step: str, done: int, total: int) -> None:
        what = step.rpartition(": ")[2]
        if step in WHOLE:
            self._far = {number: far for number, far in self._far.items() if number >= done}
            self.files_done, self.files = done, total
        elif what != PROBLEM:
            self._far[self._number(step)] = Far(step, done, total)
        if step == QUESTIONS or what == EMBEDDING:
            # from the first ones on: the model may have been loaded before, and recorded questions take no time
            known = self._pace if self._pace is not None and self._pace[0] == step and done >= self._pace[2] else None
            if done:
                self._pace = (*(known[:3] if known else (step, time.monotonic(), done)), done, total)
        elif step in WHOLE:
            self._pace = None
        if self._current.step:
            self.step, self.done, self.total = self._current.step, self._current.done, self._current.total

    def _number(self, step: str) -> int:
        """The number of the file that a step is about; files that nobody listed come in order."""
        if not isinstance(step, Step):
            return self.files_done
        return max(self.files_done, self._numbers.setdefault(step.document, max(self.files_done, len(self._numbers))))

    def refused(self, error: RagError) -> Job:
        """It ends at once: as a job that failed it is shown where jobs are shown."""
        self.error, self.sources = error, ()
        self._done.set()
        return self

    def begin(self, work: Work, turns: Turns) -> None:
        """In a thread of its own: list its files and wait for its turn, then do the work."""
        self._turns = turns

        def told(step: str, done: int, total: int) -> None:
            self.progress(step, done, total)
            # between two questions watched answers, which keep no lock, let others come first
            if self.kind == "watching" and step in WHOLE and done < total:
                turns.pass_on(self)

        def noted(cancelled: Cancel) -> AddReport | Ran:
            try:
                if self.handing_in is not None and not self.given_up:
                    self.handing_in.hand_in()
                    self.stored = True
                if not turns.take(self) and not self.given_up:
                    self.report = AddReport(cancelled=True)  # nothing of it was begun
                    return self.report
                if self.given_up:
                    raise Cancelled("Its collection is being deleted.", remedy="Add the files to another one.")
                self.started = True
                found = work(told, cancelled)
                self.report, self.ran = (found, None) if isinstance(found, AddReport) else (None, found)
                return found
            finally:
                turns.give_back(self)
                locked = {
                    name for name, error in (self.report or AddReport()).problems if isinstance(error, PasswordNeeded)
                }
                # the others only hold memory
                self.sources = tuple(source for source in self.sources if source.name in locked)

        self.start(noted)
