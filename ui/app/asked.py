"""A question of a session: on its way, where a language model is slow; then with everything measured for it, and the
reader's word on its decision.

A thread asks, so that moving a slider or looking at another page neither cuts it off nor asks twice. Closing the tab
ends it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rag_core.compression.scoring import Scored
from rag_core.decision.what_if import Flip, flips
from rag_core.domain.decision import Decision
from rag_core.domain.llm_trace import OnStage, Step
from rag_core.domain.measurements import TYPED, Measurements
from rag_core.domain.ports import Cancel
from rag_core.records.stored import FeedbackKind
from rag_core.settings import Settings
from rag_core.work.background import Background
from ui.app.scope import Scope

COLLECTION = "default"
GONE_SECONDS = 5.0  # a browser whose line was broken for a moment is back by then


@dataclass
class Given:
    """A reader's feedback on the decision on the page.

    `id` is its number among the records; `kept_for_it` says that the decision was stored for its sake only.
    """

    id: int
    kind: FeedbackKind
    kept_for_it: bool = False
    said_more: bool = False


@dataclass
class Asked:
    """A question of a session with everything measured for it.

    `before` is the decision that the last change of settings replaced; None when nothing was changed since it was
    asked. `record` is the number under which the decision is kept as it stands, None where it is not; `given` is the
    reader's word on it. `outdated` says that the settings or documents of now would ask a language model for something
    else, which nobody has allowed yet. `kept` says that it came from a link: it is judged again under other settings,
    but never asked again by itself. `turn` is the number under which it was kept first, which stays when it is judged
    otherwise. `suggestion` is a whole question to begin from, where this one leans on another and nobody is sure how.
    `flips` are the changes that would turn the outcome, with the measurements and settings that they were found for.
    `considered` are the sentences that the extract was chosen from; none for a decision that comes from its record,
    which has no text of a document.
    """

    question: str
    scope: Scope
    measurements: Measurements
    decision: Decision
    settings: Settings
    before: tuple[Decision, Settings] | None = None
    collection: str = COLLECTION
    number: int = 0  # counts the questions of the session, from 1
    record: int | None = None
    given: Given | None = None
    outdated: bool = False
    kept: bool = False
    turn: int | None = None
    suggestion: str = ""
    flips: tuple[Measurements, Settings, tuple[Flip, ...]] | None = None
    considered: Sequence[Scored] = ()

    @property
    def typed(self) -> str:
        """The question as it was typed, where it was asked in other words; empty where it was asked as it is."""
        return str(self.measurements.metadata.get(TYPED, ""))

    def flips_under(self, settings: Settings) -> tuple[Flip, ...]:
        """The single changes of these settings that would turn the outcome, found once by some thirty replays."""
        if self.flips is None or self.flips[0] is not self.measurements or self.flips[1] != settings:
            self.flips = self.measurements, settings, flips(replace(self.measurements, settings=settings))
        return self.flips[2]


class Pending(Background[Asked | None]):
    """One question on its way.

    `step` is what is being done now, `claims` how many sentences that is about, `drafts` how many were asked for so
    far. At its end it has `asked`, or an `error`; neither where it was stopped. `earlier` is the same question on the
    page as it was decided before, when it is asked again.
    """

    def __init__(
        self,
        question: str,
        work: Callable[[OnStage, Cancel], Asked],
        earlier: Asked | None = None,
        gone: Cancel = lambda: False,
    ) -> None:
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
    """Says, to another thread, whether the tab of this session has been gone for a while; never without a server."""
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
