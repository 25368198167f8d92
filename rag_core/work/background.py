"""Work beside a caller: its thread, a way to stop it, its end.

Neither a page nor a request does long work itself. It starts a `Background`, and looks at it later.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from rag_core.domain.acts import acting, actor
from rag_core.domain.ports import Cancel
from rag_core.errors import Cancelled, RagError
from rag_core.settings.request_context import REQUEST

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Background(Generic[T]):
    """One piece of work in a thread of its own. The thread writes it; pages read it.

    At its end it has a `result`, or an `error` that says what to do; a stopped one may have neither. A fault of ours is
    told as "`doing` stopped because of a fault in this program. `kept`"; `gone` says that nobody waits for it any more.
    `name`, which stands in the log, is never of the user's text.
    """

    def __init__(
        self, name: str, doing: str = "It", kept: str = "Nothing was changed.", gone: Cancel = lambda: False
    ) -> None:
        self.result: T | None = None
        self.error: RagError | None = None
        self.since = time.monotonic()
        self._name, self._doing, self._kept, self._gone = name, doing, kept, gone
        self._stop, self._done = threading.Event(), threading.Event()
        self._delivered = False

    def start(self, work: Callable[[Cancel], T]) -> Background[T]:
        """Do the work in a daemon thread, for whoever acts and for the request that is served now.

        `work` takes a function that says whether it was stopped. Where the system gives no more threads it ends at
        once, with an error.
        """
        who, request = actor(), REQUEST.get()

        def run() -> None:
            REQUEST.set(request)  # in the context of this thread
            with acting(who):
                self._run(work)

        thread = threading.Thread(target=run, daemon=True, name=self._name)
        try:
            thread.start()
        except RuntimeError:  # else whoever waits for its end would wait for ever
            _log.warning("%s could not begin: there is no thread for it", self._name)
            problem = f"{self._doing} could not begin: this machine gives the program no more threads."
            self.error = RagError(problem, remedy="Try again when other work has ended, or allow it more threads.")
            self._done.set()
        return self

    def wait(self, seconds: float = 0.0) -> bool:
        return self._done.wait(seconds)

    def stop(self) -> None:
        self._stop.set()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def cancelled(self) -> bool:
        """Whether it was asked to stop, or nobody waits for it any more."""
        return self._stop.is_set() or self._gone()

    def deliver(self, to: Callable[[T], None]) -> None:
        """Hand the result on, once. A run of the page that is ended meanwhile leaves it to the next one."""
        if self.result is None or self._delivered:
            return
        to(self.result)
        self._delivered = True  # last: see above

    def _run(self, work: Callable[[Cancel], T]) -> None:
        try:
            self.result = work(self.cancelled)
        except Cancelled:
            pass  # nobody waits for it
        except RagError as error:
            self.error = error
        except Exception as error:
            _log.exception("%s failed", self._name)
            problem = f"{self._doing} stopped because of a fault in this program ({type(error).__name__})."
            self.error = RagError(problem, remedy=f"{self._kept} Report it with the log.")
        finally:
            self._done.set()
