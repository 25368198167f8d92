"""The domain profiles, as a caller asks and indexes under them, and what programs recorded of their work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_core.evaluation.domains import PROFILE, Taken, taken
from rag_core.evaluation.executions import Recorded, recorded
from rag_core.records.stored import Execution
from rag_core.service.callers.principal import Scope
from rag_core.service.callers.refusals import missing
from rag_core.settings import Cost
from rag_core.settings.profiles import AUTO, Profile, of_cost, profiles, require_domain

if TYPE_CHECKING:
    from rag_core.service.collection import Collection

INDEXED = frozenset({Cost.INGEST})


class Profiles:
    """The profiles, for a collection that was entered. They need the scope ask, and what was recorded the scope label."""

    def __init__(self, collection: Collection) -> None:
        self._collection, self._principal = collection, collection.principal

    def all(self) -> tuple[Profile, ...]:
        """The profile of each domain."""
        self._principal.require(Scope.ASK)
        return tuple(profiles().values())

    def taken(
        self, domain: str, question: str, documents: Sequence[str] | None = None, filters: Mapping[str, str] | None = None
    ) -> Taken:  # fmt: skip
        """The profile that a question is asked under.

        Raises:
            InvalidSetting: there is no such domain.
        """
        self._principal.require(Scope.ASK)
        return taken(self._collection.fresh().library.view, domain, question, documents, filters)

    def of_documents(self, domain: str | None) -> dict[str, Any]:
        """The settings of a domain for documents that are added; none for `auto`, where each document is looked at anyway.

        Raises:
            InvalidSetting: there is no such domain.
        """
        return {} if domain is None or domain == AUTO else of_cost(require_domain(domain).values, INDEXED)

    def recorded(self, domain: str) -> tuple[Profile, Recorded]:
        """A profile, and what was recorded of work under it.

        Raises:
            NotFound: there is no such domain.
        """
        self._principal.require(Scope.LABEL)
        if domain not in profiles():
            raise missing("domain")
        return profiles()[domain], recorded(self._collection.records.executions(), domain)

    def record(self, done: Execution) -> int:
        """Keep how a piece of work went; its number. One about a kept decision is of that decision's profile.

        Raises:
            NotFound: there is no such decision that the caller may see.
        """
        self._principal.require(Scope.ASK)
        if done.decision:
            profile = str(self._collection.questions.decision(int(done.decision)).metadata.get(PROFILE, ""))
            done = done.model_copy(update={"profile": profile})
        with self._principal.acting():
            return self._collection.records.record_execution(done, f"api:{self._principal.id}")
