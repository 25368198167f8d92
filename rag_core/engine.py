"""The engine: one library, one set of models, any number of questions. The command line and the pages call it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from rag_core.compression.scoring import Scored
from rag_core.conversation.halves import halves
from rag_core.conversation.moments import AskedOf, at_their_time, moments
from rag_core.conversation.spelling import respelt
from rag_core.conversation.stand_alone import StandAlone, Stated, in_context, stand_alone
from rag_core.decision.decide import decide
from rag_core.decision.llm_steps import generate
from rag_core.decision.measure import measure
from rag_core.decision.tools import Tools
from rag_core.domain.acts import Action, Note, unnoted
from rag_core.domain.decision import Decision
from rag_core.domain.indexing import INDEXING
from rag_core.domain.llm_trace import OnStage
from rag_core.domain.measurements import AS_OF, OTHER_VERSIONS, REWRITTEN_BY, SPELLING, TYPED, UNREAD, Measurements
from rag_core.domain.passages import Hit
from rag_core.domain.ports import Cancel, Corpus
from rag_core.domain.status import Reason
from rag_core.errors import LibraryError
from rag_core.gating.named import searched_documents
from rag_core.language import question_language
from rag_core.library.library import Library
from rag_core.settings import Settings
from rag_core.settings.logs import noted

Watch = Callable[[Measurements, Decision], None]  # told of each question that was decided
# the sentences that an extract was chosen from, by the passages that were read
Scores = dict[tuple[Hit, ...], Sequence[Scored]]

logger = logging.getLogger("rag_core.decision")
# the names that the sources give to a refusal; (preset or None for any, reason)
_EVENTS: Mapping[tuple[str | None, Reason], str] = MappingProxyType(
    {
        (None, Reason.RELEVANCE): "contexts_not_relevant_to_query",
        ("relevance-hybrid", Reason.RELEVANCE): "contexts_rejected_by_relevance_score",
        (None, Reason.SUFFICIENCY): "llm_rejected_contexts",
    }
)

MEASURE_ATTEMPTS = 3  # a document may be deleted, by another process too, while a question reads its pages; chosen
CHANGED = "Documents were changed or deleted while the question was asked. Ask it again first: that may be all."


class Engine:
    """Answers questions from a library, or refuses. Threads may share it: a question holds its version to the end."""

    def __init__(
        self, library: Library, tools: Tools, note: Note = unnoted, watch: Watch = lambda measurements, decision: None
    ) -> None:
        self.library = library
        self.tools = tools
        self._note, self._watch = note, watch

    def measure(
        self,
        question: str,
        settings: Settings,
        documents: Collection[str] | None = None,
        filters: Mapping[str, str] | None = None,
        *,
        on_stage: OnStage | None = None,
        cancelled: Cancel | None = None,
        scores: Scores | None = None,
    ) -> Measurements:
        """Everything measured for a question under the newest version, and all that a model had to be asked for it.

        Documents that are still being read are searched too, as far as they are. A language model is asked nothing
        unless the settings have it draft and every gate lets the question pass.

        Raises:
            InvalidInput: the question cannot be asked.
            Cancelled: it was stopped while a model was waited for.
        """
        self.library.refresh()
        for left in reversed(range(MEASURE_ATTEMPTS)):
            view = self.library.view
            measured = measured_on(
                view,
                self.tools,
                question,
                settings,
                documents,
                filters,
                on_stage=on_stage,
                cancelled=cancelled,
                scores=scores,
            )
            if not measured.failure:
                break
            with suppress(LibraryError):  # the failure itself says more
                self.library.refresh()
            if self.library.view is view:
                break  # else a document may have been deleted meanwhile, with its pages: it is asked again without it
            if not left or measured.llm_trace is not None:  # nobody pays for a model twice without being asked
                measured = replace(measured, failure=f"{CHANGED} {measured.failure}")
                break
        if documents is None and (waiting := len(self.library.unfinished())):
            return replace(measured, metadata={**measured.metadata, UNREAD: waiting})
        return measured

    def ask(
        self,
        question: str,
        settings: Settings,
        documents: Collection[str] | None = None,
        filters: Mapping[str, str] | None = None,
        *,
        on_stage: OnStage | None = None,
        cancelled: Cancel | None = None,
        on_measured: Callable[[Measurements], None] | None = None,
        about: Mapping[str, str] = MappingProxyType({}),
        scores: Scores | None = None,
    ) -> Decision:
        """A cited answer or a refusal that says why; logged, and raises as `measure` does.

        That somebody asks is noted first: a question that cannot be noted is not asked.

        Args:
            question: in the words of whoever asks.
            settings: that measure and judge it.
            documents: ids of those to search; None for all.
            filters: values that a document's metadata must have, by name.
            on_stage: told what a language model is being asked, before it is; see `OnStage`. Called from this thread.
            cancelled: asked between the steps; True ends it with `Cancelled`.
            on_measured: gets everything that was measured, before it is judged; for whoever keeps it, to judge it again
                without asking.
            about: goes into the decision's metadata as it is, and decides nothing: names of ours, such as the profile
                that was taken, and the question as it was typed (`rag_core.domain.measurements.TYPED`).
            scores: takes the sentences that were considered, which are no part of the record.
        """
        self._note(Action.ASK, ())
        measurements = self.measure(
            question, settings, documents, filters, on_stage=on_stage, cancelled=cancelled, scores=scores
        )
        if about:
            measurements = replace(measurements, metadata={**measurements.metadata, **about})
        decision = decided(measurements, on_measured)
        self._watch(measurements, decision)
        return decision

    def try_out(self, question: str, settings: Settings) -> Measurements:
        """The measurements of a question that nobody asked, from the documents alone: neither noted nor logged."""
        return self.measure(question, settings.changed(drafter="extract"))

    def stand_alone(
        self,
        question: str,
        earlier: Sequence[str],
        settings: Settings,
        documents: Collection[str] | None = None,
        filters: Mapping[str, str] | None = None,
    ) -> StandAlone:
        """A question of a conversation as it can be asked by itself; see `rag_core.conversation.stand_alone`.

        What it may mean is asked of the documents, and never of a language model. `earlier` are the questions before
        it, oldest first; other arguments and errors as in `ask`.
        """
        if not earlier:  # a call of the API: no document is looked at for it
            return StandAlone(question, question)
        view = self.library.view

        def answers(text: str) -> tuple[float, Stated]:
            found = measure(text, settings, view, self.tools, documents=documents, filters=filters)
            return found.correctness or 0.0, _said(found)

        languages = tuple(dict.fromkeys(document.language for document in view.documents))
        return stand_alone(question, earlier, languages, self.tools.talk, answers, settings.min_correctness)


def measured_on(
    corpus: Corpus,
    tools: Tools,
    question: str,
    settings: Settings,
    documents: Collection[str] | None = None,
    filters: Mapping[str, str] | None = None,
    *,
    on_stage: OnStage | None = None,
    cancelled: Cancel | None = None,
    scores: Scores | None = None,
) -> Measurements:
    """Everything measured for a question on one corpus; see `Engine.measure`."""
    read: Scores = {} if scores is None else scores
    whole = AskedOf(question.strip(), documents)

    def measured(one: AskedOf) -> Measurements:
        found = measure(one.question, settings, corpus, tools, documents=one.documents, filters=filters, scores=read)
        return (
            replace(found, metadata={**found.metadata, AS_OF: one.day, OTHER_VERSIONS: one.left_out})
            if one.day
            else found
        )

    asked = _asked(whole, settings, corpus, tools, filters)
    if len(asked) == 2:
        one, other = sorted(_both(*asked, measured), key=lambda half: -(half.correctness or 0.0))
        if one.hits and other.hits:
            return replace(one, question=whole.question, other=other)
        asked = (whole,)
    measurements = _without_slips(replace(measured(asked[0]), question=whole.question), asked[0], measured)
    if measurements.llm_trace is None:
        return measurements
    rows = corpus.rows(asked[0].documents, filters or {})
    return generate(measurements, corpus, tools, rows, on_stage=on_stage, cancelled=cancelled, scores=read)


def _both(
    first: AskedOf, second: AskedOf, measured: Callable[[AskedOf], Measurements]
) -> tuple[Measurements, Measurements]:
    """The measurements of two questions; the second may take over what the first speaks of, where that is likelier."""
    one, other = measured(first), measured(second)
    if first.question == second.question:  # asked of two days
        return one, other
    language = one.understanding.language
    if meant := in_context(second.question, first.question, language, language):
        again = measured(replace(second, question=meant))
        likelier = (again.correctness or 0.0) > (other.correctness or 0.0)
        if likelier and _said(again) != _said(one):
            return one, replace(again, question=second.question)
    return one, other


def _said(measured: Measurements) -> Stated:
    return tuple((claim.text, claim.value_text) for claim in measured.draft.claims)


def _without_slips(found: Measurements, asked: AskedOf, measured: Callable[[AskedOf], Measurements]) -> Measurements:
    """The measurements, or those of the question as its passages spell it, where these are likelier right."""
    meant = respelt(asked.question, found.understanding.language, (hit.passage.text for hit in found.hits))
    if meant == asked.question:
        return found
    again = measured(replace(asked, question=meant))
    typed = {TYPED: found.question, REWRITTEN_BY: SPELLING}
    likelier = (again.correctness or 0.0) > (found.correctness or 0.0)
    return replace(again, metadata={**again.metadata, **typed}) if likelier else found


def _asked(
    whole: AskedOf, settings: Settings, corpus: Corpus, tools: Tools, filters: Mapping[str, str] | None
) -> tuple[AskedOf, ...]:
    """The question, or the two in it, each asked of the versions in force on the day that it names."""
    language = question_language(whole.question, dict.fromkeys(document.language for document in corpus.documents))

    def in_time(question: str) -> tuple[AskedOf, ...]:
        named = moments(question, language, tools.today()) if corpus.given is None else None
        if named is None:
            return ()
        searched = searched_documents(corpus, corpus.rows(whole.documents, filters or {}))
        return at_their_time(named, corpus, searched, tools.today())

    asked = in_time(whole.question)
    if settings.drafter == "extract" and not asked and (two := halves(whole.question, language)):
        asked = tuple((*in_time(half), AskedOf(half, whole.documents))[0] for half in two)
    return asked if asked and (len(asked) == 1 or settings.drafter == "extract") else (whole,)


def decided(measurements: Measurements, on_measured: Callable[[Measurements], None] | None = None) -> Decision:
    """The decision on what was measured, logged; `on_measured` gets it before it is judged."""
    if on_measured is not None:
        on_measured(measurements)
    decision = decide(measurements)
    log_decision(decision)
    return decision


def log_decision(decision: Decision) -> None:
    """Log how a question ended: a line for each refusal and one for retrieval, numbers and names of ours only."""
    if not decision.answered:
        event = _EVENTS.get((decision.metadata.get("preset"), decision.reason)) or _EVENTS.get((None, decision.reason))
        row = next((check for check in decision.trace.checks if check.blocks), None)
        value = (
            decision.metadata["sufficiency"] if decision.reason is Reason.SUFFICIENCY else row.value if row else None
        )
        score = "none" if value is None else f"{value:.4f}"
        limit = None if row is None else row.threshold
        name = event or f"refused_by_{decision.reason}"
        logger.info(
            "%s score=%s threshold=%s reason=%s",
            name,
            score,
            "none" if limit is None else f"{limit:g}",
            decision.reason,
            extra=noted(name, score=value, threshold=limit, reason=str(decision.reason)),
        )
    metadata = confidence_metadata(decision)
    logger.info("RAG Confidence Metadata %s", json.dumps(metadata), extra=noted("rag_confidence_metadata", **metadata))


def confidence_metadata(decision: Decision) -> dict[str, Any]:
    """The confidence in the sources' names; `indexing` is there for documents searched before they were read."""
    return {
        "confidenceLevel": decision.confidence_level.value,
        "isAnswerable": decision.metadata.get("is_answerable", False),
        "filteredCount": decision.metadata.get("filtered_count", 0),
        "rawCount": decision.metadata.get("raw_count", 0),
        "scores": {name: round(value, 4) for name, value in decision.scores.items()},
        **({INDEXING: decision.metadata[INDEXING]} if INDEXING in decision.metadata else {}),
    }
