"""The domain profiles of a collection that was entered: which are in force, what changes were proposed, and who may accept them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_core.domain.ports import Cancel, Progress
from rag_core.errors import InvalidInput
from rag_core.evaluation import Ran
from rag_core.evaluation.executions import Recorded, recorded
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.records.stored import Execution, ExecutionOutcome, FeedbackKind, ProfileVersion, VersionState
from rag_core.service.callers.principal import Scope
from rag_core.service.callers.refusals import missing
from rag_core.service.queues.jobs import Started
from rag_core.settings import Cost
from rag_core.settings.profiles import AUTO, Profile, named, of_cost, profiles
from rag_core.work.profiles import ASKED, PROFILE, Standing, Taken, changed, learn, propose, propose_by_kept, standings, taken

if TYPE_CHECKING:
    from rag_core.service.collection import Collection

INDEXED = frozenset({Cost.INGEST})
MIN_LEARNED = 2  # labelled questions: one to choose a change, one to prove it


class Profiles:
    """The profiles of a collection. Reading needs the scope ask, evidence and proposals label, and to put one in force admin."""

    def __init__(self, collection: Collection) -> None:
        self._collection, self._principal = collection, collection.principal

    def all(self) -> list[tuple[Profile, ProfileVersion, int]]:
        """Each shipped profile, its version in force, and how many proposals wait."""
        self._principal.require(Scope.ASK)
        store = self._collection.records
        return [
            (one, store.profile_in_force(domain), sum(v.state is VersionState.PROPOSED for v in store.profile_versions(domain)))
            for domain, one in profiles().items()
        ]

    def taken(
        self, domain: str, question: str, documents: Sequence[str] | None = None, filters: Mapping[str, str] | None = None, asker: str = ""
    ) -> Taken:
        """The version that a question is asked under; `asker` names whoever is asked for, where a comparison splits them.

        Raises:
            InvalidSetting: there is no such domain.
        """
        self._principal.require(Scope.ASK)
        return taken(self._collection.records, self._collection.fresh(), domain, question, documents, filters, asker)

    def of_documents(self, domain: str | None) -> dict[str, Any]:
        """The settings of a domain for documents that are added; none for `auto`, where each document is looked at anyway.

        Raises:
            InvalidSetting: there is no such domain.
        """
        if domain is None or domain == AUTO:
            return {}
        return of_cost(self._collection.records.profile_in_force(domain).values, INDEXED)

    def versions(self, domain: str) -> list[tuple[ProfileVersion, bool, Recorded]]:
        """All versions of a domain, whether each is in force, and what was recorded of work under it.

        Raises:
            NotFound: there is no such domain.
        """
        self._principal.require(Scope.LABEL)
        self._require_known(domain)
        store = self._collection.records
        done, current = store.executions(), store.profile_in_force(domain).version
        return [
            (one, one.version == current, recorded(done, named(domain, one.version))) for one in store.profile_versions(domain)
        ]  # fmt: skip

    def propose(
        self, domain: str, values: Mapping[str, Any], why: str, preset: str | None, run: int | None, set_name: str | None,
        budget_tokens: int | None = None,
    ) -> Started:  # fmt: skip
        """Start a job that judges a changed profile, and keeps the proposal with its evidence.

        Args:
            domain: whose profile is to change.
            values: settings to change, by name.
            why: of whoever proposes it.
            preset: that the profile stands over.
            run: for its labelled questions; None for others.
            set_name: a labelled set; without either, kept decisions are judged again.
            budget_tokens: of a language model, for each run.

        Raises:
            NotFound: there is no such domain, run or set.
            InvalidSetting: a value that cannot be proposed.
        """
        self._principal.require(Scope.LABEL)
        self._require_known(domain)
        collection = self._collection
        engine, store, base = collection.fresh(), collection.records, collection.settings(preset, {}, ASKED)
        changed(store, base, domain, values)  # what is wrong with it is said now
        questions = self._questions(run, set_name)

        def work(progress: Progress, stop: Cancel) -> Ran:
            if questions is None:
                version = propose_by_kept(store, base, domain, values, why)
                return Ran(0, version.evidence["questions"], 0, version.evidence["questions"])
            return propose(engine, store, base, domain, values, why, questions, progress, stop, budget_tokens)[1]

        return collection.start("Trying a changed profile", work, "evaluating", 2 * len(questions or ()))

    def learn(self, domain: str, preset: str | None, run: int | None, set_name: str | None) -> Started:
        """Start a job that tries usual changes on labelled questions and proposes the best, if one is better; see `learn`.

        Raises:
            NotFound: there is no such domain, run or set.
            InvalidInput: no questions are named, or fewer than two.
        """
        self._principal.require(Scope.LABEL)
        self._require_known(domain)
        collection = self._collection
        questions = self._questions(run, set_name)
        if questions is None or len(questions) < MIN_LEARNED:
            raise InvalidInput("A change is chosen and proved on labelled questions.", remedy="Name a run or a set with two or more.")
        engine, store, base = collection.fresh(), collection.records, collection.settings(preset, {}, ASKED)

        def work(progress: Progress, stop: Cancel) -> Ran:
            found = learn(engine, store, base, domain, questions, progress, stop)
            measured = found.evidence["questions"] if found else len(questions[::2])
            return Ran(measured, 0, 0, measured)

        return collection.start("Looking for a better profile", work, "evaluating", len(questions))

    def standings(self, domain: str) -> tuple[Standing, ...]:
        """The comparisons of a domain on live questions, oldest first, each with what it shows.

        Raises:
            NotFound: there is no such domain.
        """
        self._principal.require(Scope.LABEL)
        self._require_known(domain)
        return standings(self._collection.records, domain)

    def compare(self, domain: str, a: int, b: int, alpha: float) -> tuple[Standing, ...]:
        """Split live questions between two versions, by asker.

        Raises:
            NotFound: there is no such version.
            InvalidInput: one runs already, or both are the same.
        """
        for version in (a, b):
            self._require_version(domain, version)
        with self._principal.acting():
            self._collection.records.begin_comparison(domain, a, b, alpha)
        return self.standings(domain)

    def stop_comparing(self, domain: str) -> tuple[Standing, ...]:
        """Ask under the version in force again.

        Raises:
            NotFound: there is no such domain.
            InvalidInput: nothing is compared.
        """
        self._principal.require(Scope.ADMIN)
        self._require_known(domain)
        with self._principal.acting():
            self._collection.records.stop_comparison(domain)
        return self.standings(domain)

    def put_in_force(self, domain: str, version: int) -> ProfileVersion:
        """Accept a version: questions of this domain are asked under it from now on. Any earlier one can be put in force again.

        Raises:
            NotFound: there is no such version.
        """
        self._require_version(domain, version)
        with self._principal.acting():
            return self._collection.records.put_profile_in_force(domain, version)

    def decline(self, domain: str, version: int) -> ProfileVersion:
        """Say no to a proposal; it is kept.

        Raises:
            NotFound: there is no such version.
            InvalidInput: it is no proposal any more.
        """
        self._require_version(domain, version)
        with self._principal.acting():
            return self._collection.records.decline_profile(domain, version)

    def record(
        self, prompt: str, confidence: float, citation_coverage: float, hallucination: bool, outcome: ExecutionOutcome,
        feedback: FeedbackKind | None, decision: int, profile: str,
    ) -> int:  # fmt: skip
        """Keep how a piece of work went; its number. One about a kept decision is of that decision's profile.

        Raises:
            NotFound: there is no such decision that the caller may see.
        """
        self._principal.require(Scope.ASK)
        if decision:
            profile = str(self._collection.questions.decision(decision).metadata.get(PROFILE, ""))
        done = Execution(prompt, profile, confidence, citation_coverage, hallucination, outcome, feedback, decision)
        with self._principal.acting():
            return self._collection.records.record_execution(done, f"api:{self._principal.id}")

    def _questions(self, run: int | None, set_name: str | None) -> tuple[LabelledQuestion, ...] | None:
        store = self._collection.records
        if run is not None:
            if run not in {one.id for one in store.runs()}:
                raise missing("run")
            return store.run_questions(run)
        if set_name is not None:
            if set_name not in store.sets():
                raise missing("set")
            return store.read_set(set_name)
        return None

    def _require_version(self, domain: str, version: int) -> None:
        self._principal.require(Scope.ADMIN)
        self._require_known(domain)
        if version not in {one.version for one in self._collection.records.profile_versions(domain)}:
            raise missing("version")

    def _require_known(self, domain: str) -> None:
        if domain not in profiles():
            raise missing("domain")
