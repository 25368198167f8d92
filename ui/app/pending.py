"""A question that is asked beside the page, because a language model is slow: its stage, a way to stop it, and its
result.

A thread asks, so that moving a slider or looking at another page neither cuts it off nor asks twice. Closing the tab
ends it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rag_core.domain.llm_trace import OnStage, Step
from rag_core.domain.ports import Cancel
from rag_core.work.background import Background

if TYPE_CHECKING:
    from ui.app.asked import Asked

Work = Callable[[OnStage, Cancel], "Asked"]
GONE_SECONDS = 5.0  # a browser whose line was broken for a moment is back by then


class Pending(Background["Asked | None"]):
    """One question on its way.

    `step` is what is being done now, `claims` how many sentences that is about, `drafts` how many were asked for so
    far. At its end it has `asked`, or an `error`; neither where it was stopped. `earlier` is the same question on the
    page as it was decided before, when it is asked again.
    """

    def __init__(self, question: str, work: Work, earlier: Asked | None = None, gone: Cancel = lambda: False) -> None:
        super().__init__("asking a question", "Asking", gone=gone)
        self.question, self.earlier = question, earlier
        self.step: Step | Literal["check", ""] = ""
        self.claims = self.drafts = 0

        def asked(cancelled: Cancel) -> Asked | None:
            found = work(self._on_stage, cancelled)
            return None if cancelled() else found  # what nobody waits for any more comes to nothing

        self.start(asked)

    @property
    def asked(self) -> Asked | None:
        """The question with its decision; None before it is there."""
        return self.result

    @property
    def seconds(self) -> int:
        """How long it has taken so far."""
        return int(time.monotonic() - self.since)

    def _on_stage(self, step: Step | Literal["check"], claims: int) -> None:
        self.drafts += step is Step.DRAFT
        self.step, self.claims = step, claims


def tab_closed() -> Cancel:
    """Says whether the browser tab of this session has been gone for a while; asked from another thread.

    Never where no server knows it.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return lambda: False
    session, missing = context.session_id, [0.0]
    if not (runtime.exists() and runtime.get_instance().is_active_session(session)):
        return lambda: False  # a page that is run by itself

    def closed() -> bool:
        if not runtime.exists() or runtime.get_instance().is_active_session(session):
            missing[0] = 0.0
            return False
        missing[0] = missing[0] or time.monotonic()
        return time.monotonic() - missing[0] >= GONE_SECONDS

    return closed
