"""One library, one set of models, any number of questions. What the command line and the pages call."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rag_core.case import Case
from rag_core.decision import Decision
from rag_core.ingest.library import Library
from rag_core.measure import Tools, measure
from rag_core.pipeline import decide
from rag_core.settings import Settings


class Engine:
    """Answers questions from a library, or refuses. Safe to share between threads: a question holds its generation to the end."""

    def __init__(self, library: Library, tools: Tools) -> None:
        self.library = library
        self.tools = tools

    def measure(
        self,
        question: str,
        settings: Settings,
        documents: Collection[str] | None = None,
        filters: Mapping[str, str] | None = None,
    ) -> Case:
        """Everything measured for a question, under the newest generation of the library; see `rag_core.measure.measure`."""
        self.library.refresh()
        return measure(question, settings, self.library.snapshot, self.tools, documents=documents, filters=filters)

    def ask(
        self,
        question: str,
        settings: Settings,
        documents: Collection[str] | None = None,
        filters: Mapping[str, str] | None = None,
    ) -> Decision:
        """A cited answer or a refusal that says why."""
        return decide(self.measure(question, settings, documents, filters))
