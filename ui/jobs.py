"""Long work beside the page: one job at a time in the process, each with its progress, its result, and a flag to stop it.

A thread does the work, so that moving a slider or leaving the page does not cut it off.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rag_core.errors import RagError
from rag_core.ingest.library import AddReport
from rag_core.ingest.sources import Source
from rag_core.ports import Cancel, Progress

Work = Callable[[Progress, Cancel], AddReport]
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Job:
    """One call of add or resume. The working thread writes it, pages read it.

    `step` is what is being done now (untrusted text: it names a file), `done` of `total` its pages or passages; `files_done` of `files`
    counts whole files. `sources` are kept so that a password can be tried without uploading again.
    """

    title: str
    sources: tuple[Source, ...] = field(default=(), repr=False)
    step: str = ""
    done: int = 0
    total: int = 0
    files_done: int = 0
    files: int = 0
    report: AddReport | None = None
    error: RagError | None = None
    finished: bool = False
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)

    def stop(self) -> None:
        """Ask it to stop; what is complete is kept."""
        self._stop.set()

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()

    def progress(self, step: str, done: int, total: int) -> None:
        """What the library reports."""
        if step == "documents":
            self.files_done, self.files = done, total
        else:
            self.step, self.done, self.total = step, done, total

    def run(self, work: Work) -> None:
        """Do the work in this thread; whatever happens, the job ends with a report or an error."""
        try:
            self.report = work(self.progress, self._stop.is_set)
        except RagError as error:
            self.error = error
        except Exception as error:
            _log.exception("a job failed")
            problem = f"It stopped because of a fault in this program ({type(error).__name__})."
            self.error = RagError(problem, remedy="What was complete is kept. Report it with the log.")
        finally:
            self.finished = True


class Runner:
    """Runs jobs one after the other, in the order in which they were started."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._starting = threading.Lock()
        self._shared: dict[str, Job] = {}

    def start(self, title: str, work: Work, files: int, sources: Sequence[Source] = ()) -> Job:
        """Start a job over so many files, or queue it behind the running one."""
        job = Job(title, tuple(sources), files=files)
        # a daemon: the library survives being killed, so stopping the server need not wait
        threading.Thread(target=self._run, args=(job, work), daemon=True, name=title).start()
        return job

    def start_once(self, key: str, title: str, work: Work, files: int) -> Job:
        """The job of this key, started at the first call in this process."""
        with self._starting:
            if key not in self._shared:
                self._shared[key] = self.start(title, work, files)
            return self._shared[key]

    @property
    def shared(self) -> tuple[Job, ...]:
        """The jobs that belong to no session."""
        return tuple(self._shared.values())

    def _run(self, job: Job, work: Work) -> None:
        with self._turn:
            job.run(work)
