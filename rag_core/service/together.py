"""Several collections of one caller, asked together: each of them theirs, and no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rag_core.domain.decision import Decision
from rag_core.domain.llm_trace import OnStage
from rag_core.domain.ports import Cancel
from rag_core.over import ask_over
from rag_core.service.callers.principal import Principal, Scope
from rag_core.service.chosen import chosen
from rag_core.service.questions import COSTS, Asking
from rag_core.settings import Settings
from rag_core.wiring import ready_tools


class Together:
    """Collections that `Service.together` gave to a caller, each of which they may enter. Safe to share between threads."""

    def __init__(self, folder: Path, base: Settings, principal: Principal, names: Sequence[str]) -> None:
        self._folder, self._base, self._principal, self._names = folder, base, principal, names

    def ask(
        self,
        asking: Asking,
        on_stage: OnStage | None = None,
        cancelled: Cancel | None = None,
        on_measured: Callable[[], None] | None = None,
    ) -> tuple[Decision, str]:
        """The decision, and no id: it is kept in none of them, since whoever may read one need not read the others.

        `on_measured` is called before it is decided.

        Raises:
            RagError: the question cannot be asked.
        """
        self._principal.require(Scope.ASK)
        settings = chosen(self._base, asking.preset, asking.values, COSTS)
        with self._principal.acting():
            decision = ask_over(
                self._folder, self._names, asking.question, settings, asking.documents, asking.filters, on_stage=on_stage,
                cancelled=cancelled, on_measured=on_measured, tools=ready_tools(settings, apart=True),
            )  # fmt: skip
        return decision, ""
