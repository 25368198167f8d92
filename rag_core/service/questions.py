"""Questions to one collection, and the decisions on them that were kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_core.decision.decide import decide, replay
from rag_core.domain.claims import Citation
from rag_core.domain.decision import Decision
from rag_core.domain.llm_trace import OnStage
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import Cancel
from rag_core.evaluation import judged_under
from rag_core.records.changes import Pin
from rag_core.records.stored import Execution, Feedback, FeedbackKind, StoredDecision
from rag_core.service.collection import Collection, chosen
from rag_core.service.principal import Scope, missing
from rag_core.settings import Cost
from rag_core.settings.profiles import PROFILE, require_domain
from rag_core.settings.request_context import note_decision
from rag_core.work import pins
from rag_core.work.recording import keep, keeping, passage_of

COSTS = frozenset({Cost.REPLAY, Cost.ASK})  # that a setting of a question may have


@dataclass(frozen=True, slots=True)
class Asking:
    """A question of a caller."""

    question: str  # in their words
    preset: str | None = None  # another one than the service's; None for that
    values: Mapping[str, Any] = field(default_factory=dict)  # settings over it, by name
    documents: Sequence[str] | None = None  # ids or names of those to search; None for all
    filters: Mapping[str, str] = field(default_factory=dict)  # values that a document's metadata must have
    domain: str | None = None  # whose profile it is asked under
    earlier: Sequence[str] = ()  # the questions before it, oldest first; it is asked as one that stands alone


class Questions:
    """The questions of a collection that was entered. Safe to share between threads."""

    def __init__(self, collection: Collection) -> None:
        self._collection, self._principal = collection, collection.principal

    def ask(
        self,
        asking: Asking,
        on_stage: OnStage | None = None,
        cancelled: Cancel | None = None,
        on_measured: Callable[[], None] | None = None,
    ) -> tuple[Decision, str]:
        """The decision, and the id under which it is kept, or ""; `on_measured` is called before it is decided."""
        self._principal.require(Scope.ASK)
        engine, profile = self._collection.fresh(), require_domain(asking.domain) if asking.domain else None
        settings = self._collection.settings(asking.preset, asking.values, COSTS, profile)
        measured: list[Measurements] = []

        def take(found: Measurements) -> None:
            measured.append(found)
            if on_measured is not None:
                on_measured()

        with self._principal.acting():
            whole = engine.stand_alone(asking.question, asking.earlier, settings, asking.documents, asking.filters)
            about = {**(profile.about if profile else {}), **whole.about}
            decision = engine.ask(
                whole.question,
                settings,
                asking.documents,
                asking.filters,
                on_stage=on_stage,
                cancelled=cancelled,
                on_measured=take,
                about=about,
            )
            store = self._collection.records
            if not keeping(store):
                return decision, ""
            narrowed = asking.documents is not None or asking.filters
            searched = tuple(measured[0].library.names) if narrowed else ()
            kept = str(keep(store, measured[0], searched, self._origin))
            note_decision(kept)
            return decision, kept

    def kept(self, limit: int, before: int | None = None) -> tuple[StoredDecision, ...]:
        """The newest kept decisions, newest first, below the id `before`; with the scope label everybody's."""
        self._principal.require(Scope.ASK)
        origin = None if self._principal.may(Scope.LABEL) else self._origin
        return self._collection.records.decisions(limit, before=before, origin=origin)

    def decision(self, id: int) -> Decision:
        """A kept decision as it was made; what was deleted since is left out of it."""
        return decide(self._measured(id))

    def replay(self, id: int, preset: str | None, values: Mapping[str, Any]) -> Decision:
        """A kept question decided under other settings, without asking it again."""
        measured = self._measured(id)
        wanted = measured.settings
        if preset is not None:
            wanted = judged_under(wanted, self._collection.settings(preset, {}, COSTS))
        return replay(measured, chosen(wanted, None, values, COSTS))

    def evidence(self, id: int, number: int) -> Citation:
        """A source of a kept decision, or a place to look of a refusal, by its number from 1."""
        decision = self.decision(id)
        found = decision.citations or decision.places
        if not 1 <= number <= len(found):
            raise missing("evidence")
        return found[number - 1]

    def picture(self, id: int, number: int) -> bytes:
        """The page of a source as PNG, with the cited words marked."""
        cited = self.evidence(id, number)
        boxes = tuple(box for page, box in cited.boxes if page == cited.page)
        return self._collection.picture(cited.document_id, cited.page, boxes)

    def say(self, id: int, kind: FeedbackKind, comment: str, document: str, page: int) -> int:
        """Keep a reader's word on a decision; its number."""
        self._require_seen(id)
        if document:
            self._collection.document(document)
        with self._principal.acting():
            return self._collection.records.add_feedback(id, kind, comment, document, page)

    def said(self) -> tuple[Feedback, ...]:
        """Everybody's open feedback, newest first."""
        self._principal.require(Scope.LABEL)
        return self._collection.records.feedback()

    def pin(self, id: int) -> None:
        """Watch a kept decision; raises NotFound, or InvalidInput where its document is gone or many are watched."""
        self._require_seen(id)
        with self._principal.acting():
            pins.pin(self._collection.fresh().library, self._collection.records, id)

    def unpin(self, id: int) -> None:
        """Watch it no longer; raises NotFound where it is not watched, or not for this caller."""
        if id not in {one.decision for one in self._pins()}:
            raise missing("watched answer")
        with self._principal.acting():
            self._collection.records.unpin(id)

    def pins(self, limit: int, offset: int) -> list[pins.Watched]:
        """Watched answers, the newest first: everybody's with the scope label, else those that the caller asked for."""
        found, text = self._pins()[offset : offset + limit], self._collection.fresh().library.view.page_text
        return pins.listed(self._collection.records, found, text)

    def _pins(self) -> tuple[Pin, ...]:
        self._principal.require(Scope.ASK)
        return self._collection.records.pins(None if self._principal.may(Scope.LABEL) else self._origin)

    def record(self, done: Execution) -> int:
        """Keep how a piece of work went; its number. One about a kept decision is of that decision's profile."""
        self._principal.require(Scope.ASK)
        if done.decision:
            done = done.model_copy(update={"profile": str(self.decision(int(done.decision)).metadata.get(PROFILE, ""))})
        with self._principal.acting():
            return self._collection.records.record_execution(done, self._origin)

    @property
    def _origin(self) -> str:
        who = self._principal.actor
        return who.name if who else f"api:{self._principal.id}"  # whoever the page knows finds it there too

    def _require_seen(self, id: int) -> None:
        self._principal.require(Scope.ASK)
        row = self._collection.records.stored(id)
        if row is None or (row.origin != self._origin and not self._principal.may(Scope.LABEL)):
            raise missing("decision")
        note_decision(str(id))

    def _measured(self, id: int) -> Measurements:
        self._require_seen(id)
        view = self._collection.fresh().library.view
        return self._collection.records.measurements(id, view.page_text, passage_of(view))
