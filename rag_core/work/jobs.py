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
from enum import StrEnum
from typing import TYPE_CHECKING

from rag_core.domain.ports import Cancel, Progress, Step
from rag_core.errors import Cancelled, PasswordNeeded
from rag_core.library.library import AddReport
from rag_core.library.stored.sources import Source
from rag_core.work.background import Background

if TYPE_CHECKING:
    from rag_core.evaluation import Ran
    from rag_core.work.handing_in import HandingIn


READING_SHARE, CUTTING_SHARE = 0.5, 0.1  # parts of a file's bar for reading and for cutting; embedding is the rest


class FileState(StrEnum):
    """Where a file of a job stands."""

    READING = "reading"
    CUTTING = "cutting"  # into passages, whose words are counted
    EMBEDDING = "embedding"
    PROBLEM = "problem"


STAGES = (FileState.READING, FileState.CUTTING, FileState.EMBEDDING)  # a file goes through them in this order
_PARTS = {  # where a stage begins in a file's bar, and how long it is
    "": (0.0, 0.0),
    FileState.READING: (0.0, READING_SHARE),
    FileState.CUTTING: (READING_SHARE, CUTTING_SHARE),
    FileState.EMBEDDING: (READING_SHARE + CUTTING_SHARE, 1 - READING_SHARE - CUTTING_SHARE),
}


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
        before, own = _PARTS[self.stage]
        return before + own * (self.done / self.total if self.total else 0.0)


MAX_SERVED = 1_000  # names that are remembered; who is forgotten counts as never served


class Turns:
    """Lets one through at a time. Safe to share between threads."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.busy = False
        self.waiting: list[Turn] = []  # in the order in which they came
        self.served: dict[str, None] = {}  # who was served longest ago comes first

    def turn(self, whose: str, given_up: Cancel = lambda: False) -> Turn:
        """A turn, to be held within a `with` block. Turns are shared out evenly between these names.

        It stands in the line from now on; whoever never enters the block calls `Turn.leave`. Where it was `given_up`,
        the block is entered without its turn, and ends at once.
        """
        turn = Turn(self, whose, given_up)
        with self.changed:
            self.waiting.append(turn)
        return turn

    def look_again(self) -> None:
        """Have those who wait ask again whether they were given up."""
        with self.changed:
            self.changed.notify_all()

    def next(self) -> Turn:
        """Who never was served comes first, then who was longest ago; among equals, who came first."""
        order = {name: number for number, name in enumerate(self.served, 1)}
        return min(self.waiting, key=lambda one: order.get(one.whose, 0))


class Turn:
    """One turn of `Turns`, for one thread. `held` says whether it is this one's turn."""

    def __init__(self, turns: Turns, whose: str, given_up: Cancel) -> None:
        self.whose, self.held = whose, False
        self.turns, self._given_up = turns, given_up

    def __enter__(self) -> Turn:
        turns = self.turns
        with turns.changed:
            turns.changed.wait_for(lambda: self._given_up() or (not turns.busy and turns.next() is self))
            self.leave()
            if not self._given_up():
                self.held = turns.busy = True
                turns.served.pop(self.whose, None)
                turns.served[self.whose] = None
                if len(turns.served) > MAX_SERVED:
                    del turns.served[next(iter(turns.served))]
        return self

    def __exit__(self, *_: object) -> None:
        if self.held:
            with self.turns.changed:
                self.held = self.turns.busy = False
                self.turns.changed.notify_all()

    def leave(self) -> None:
        """Nobody waits for it any more."""
        with self.turns.changed:
            if self in self.turns.waiting:
                self.turns.waiting.remove(self)
                self.turns.changed.notify_all()  # it may have been the next one

    def pass_on(self) -> None:
        """Let others but those of the same name, who wait for what this work keeps, come first."""
        with self.turns.changed:
            if self.held and any(one.whose != self.whose for one in self.turns.waiting):
                self.turns.waiting.insert(0, self)  # before others of the same name
                self.__exit__()
                self.__enter__()


Work = Callable[[Progress, Cancel], "AddReport | Ran"]
Place = tuple[str, str]  # a library's folder and collection
LEFT_ALONE_SECONDS = 90.0  # a browser looks every half second, and once a minute from a tab in the background
MIN_PACE_SECONDS = 3.0  # embedding takes so long before its pace is told
WHOLE = ("documents", "questions")  # steps that count whole files, or questions


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
    visits: bool = False  # that is a visitor of a shared demo
    given_up: bool = False  # stopped since its library goes: nothing needs to be kept of it
    started: bool = False  # its turn has come
    shown: bool = False  # its result, to the session that started it
    taken_over: bool = False  # by another session, since that one was closed
    looked_at: float = field(default_factory=time.monotonic)  # by that session
    # when the first question was done, and how many were then: recorded ones take no time
    _first: tuple[float, int] | None = None
    _far: dict[int, Far] = field(default_factory=dict, repr=False)  # by number, of the files that are in work
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)  # by the ids of their documents
    _telling: threading.Lock = field(default_factory=threading.Lock, repr=False)  # two threads tell of files
    # when the first passages of the current file had their vectors, and how many
    _paced: tuple[float, int] | None = None
    _turn: Turn | None = field(default=None, repr=False)

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
        """How long the rest takes at the pace so far; None while there is none to tell from."""
        if self._first is None or self.files_done <= self._first[1]:
            return None
        since, before = self._first
        return (time.monotonic() - since) / (self.files_done - before) * (self.files - self.files_done)

    @property
    def file_seconds_left(self) -> float | None:
        """Seconds until the current file's passages are embedded, at the pace so far, or None."""
        if self.stage != FileState.EMBEDDING or self._paced is None:
            return None
        since, before = self._paced
        seconds = time.monotonic() - since
        if self.done <= before or seconds < MIN_PACE_SECONDS:
            return None
        return seconds / (self.done - before) * (self.total - self.done)

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
        if self._turn is not None:
            self._turn.turns.look_again()

    @property
    def passed_up(self) -> bool:
        """Whether it needs no turn any more: its collection goes, or it was stopped and its files are listed."""
        return self.given_up or (self.stopping and (self.handing_in is None or self.handing_in.wait()))

    def call_off(self) -> None:
        """Stop it because somebody wants it to end: no start takes up its files, as after a mere `stop`."""
        self.stop()
        if self.handing_in is not None:
            self.handing_in.call_off()

    @property
    def stored(self) -> bool:
        """Whether its files are on the library's list, where an end of the process does not reach them."""
        return bool(self.stage) or self.files_done > 0 or (self.handing_in is not None and self.handing_in.wait())

    def progress(self, step: str, done: int, total: int) -> None:
        with self._telling:
            self._told(step, done, total)

    def _told(self, step: str, done: int, total: int) -> None:
        if step in WHOLE:
            self._far = {number: far for number, far in self._far.items() if number >= done}
            self.files_done, self.files, self._paced = done, total, None
            if self._first is None:
                self._first = time.monotonic(), done
        else:
            number, what = self._number(step), step.rpartition(": ")[2]
            if what == FileState.PROBLEM:
                return
            self._far[number] = Far(step, done, total)
            # from the first batch on: the model may have been loaded before it
            if what == FileState.EMBEDDING and done and (self._paced is None or done < self._paced[1]):
                self._paced = time.monotonic(), done
        if self._current.step:
            self.step, self.done, self.total = self._current.step, self._current.done, self._current.total

    def _number(self, step: str) -> int:
        """The number of the file that a step is about; files that nobody listed come in order."""
        if not isinstance(step, Step):
            return self.files_done
        return max(self.files_done, self._numbers.setdefault(step.document, max(self.files_done, len(self._numbers))))

    def begin(self, work: Work, turn: Turn | None = None) -> None:
        """Do the work in a thread of its own, once it has its `turn`, and take its progress and result."""

        def told(step: str, done: int, total: int) -> None:
            self.progress(step, done, total)
            # Between two files a visitor lets others come first: nobody else writes to their collection, whose lock
            # they keep meanwhile. So do watched answers between two questions, which keep no lock.
            if turn is not None and (self.visits or self.kind == "watching") and step in WHOLE and done < total:
                turn.pass_on()

        def noted(cancelled: Cancel) -> AddReport | Ran:
            try:
                if self.given_up:
                    raise Cancelled("Its collection is being deleted.", remedy="Add the files to another one.")
                if turn is not None and not turn.held:  # stopped before its turn: nothing of it was begun
                    self.report = AddReport(cancelled=True)
                    return self.report
                self.started = True
                found = work(told, cancelled)
                self.report, self.ran = (found, None) if isinstance(found, AddReport) else (None, found)
                return found
            finally:
                locked = {
                    name for name, error in (self.report or AddReport()).problems if isinstance(error, PasswordNeeded)
                }
                # the others only hold memory
                self.sources = tuple(source for source in self.sources if source.name in locked)

        self._turn = turn
        self.start(noted, turn)
        if self.error is not None and not self.started and turn is not None:  # there may have been no thread for it
            turn.leave()
