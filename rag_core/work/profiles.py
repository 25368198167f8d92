"""Asks under a domain's profile, and proposes a changed one with evidence. A proposal changes nothing until a person puts it in force."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import Cancel, Progress
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, InvalidSetting
from rag_core.evaluation import Ran, begin, run
from rag_core.evaluation.domains import detect, searched
from rag_core.evaluation.evidence import of_kept, of_labelled
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.sequential import Compared, compared, still_needed
from rag_core.records.stored import Comparison, ProfileVersion, RunHead
from rag_core.settings import Cost, Settings
from rag_core.settings.profiles import AUTO, GENERAL, allowed, named, of_cost, require_domain
from rag_core.wiring import RecordStore

ASKED = frozenset({Cost.REPLAY, Cost.ASK})  # settings of a question; the others are of documents that are added
PROFILE, WHY = "profile", "profile_why"  # in a decision's metadata
MAX_KEPT = 300  # newest kept decisions that a proposal is judged on; about 12 ms each
CALLER = "Chosen by the caller."
ASKER_DIGITS = 16  # hex digits of a hash: enough to tell askers apart
# what is tried where nobody names a change: the settings that the sources' learned rules are about, with values around theirs
TRIES: Mapping[str, Sequence[Any]] = MappingProxyType({"top_k": (5, 15, 20), "semantic_weight": (0.3, 0.7), "recency_weight": (0.5, 1.0)})


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison on live questions; `asker` is a hash, under which somebody always is on the same side."""

    comparison: Comparison
    asker: str
    is_b: bool

    @classmethod
    def of(cls, comparison: Comparison, asker: str) -> Side:
        """The side of somebody, by whatever names them."""
        hashed = hashlib.sha256(f"{comparison.domain} {comparison.id} {comparison.at}\0{asker}".encode("utf-8", "replace")).hexdigest()
        return cls(comparison, hashed[:ASKER_DIGITS], int(hashed[-8:], 16) % 2 == 1)

    @property
    def version(self) -> int:
        """The version that they are asked under."""
        return self.comparison.b if self.is_b else self.comparison.a


@dataclass(frozen=True, slots=True)
class Taken:
    """The version that a question is asked under, and why this domain, in one sentence; `side` where two versions are compared."""

    version: ProfileVersion
    why: str
    side: Side | None = None

    @property
    def about(self) -> dict[str, str]:
        """The names for a decision's metadata."""
        return {PROFILE: named(self.version.domain, self.version.version), WHY: self.why}

    def over(self, settings: Settings) -> Settings:
        """The settings with the profile's for questions."""
        return settings.changed(**of_cost(self.version.values, ASKED))


def taken(
    store: RecordStore, engine: Engine, domain: str, question: str, documents: Collection[str] | None = None,
    filters: Mapping[str, str] | None = None, asker: str = "",
) -> Taken:  # fmt: skip
    """The version in force of a domain; of the one that is detected where it is `auto`.

    While two versions are compared, the one of the asker's side; `asker` is whatever names them, "" for nobody in particular.

    Raises:
        InvalidSetting: there is no such domain.
        InvalidInput: a document is not there.
    """
    if domain != AUTO:
        require_domain(domain)
        return _sided(store, domain, CALLER, asker)
    found = detect(question, searched(engine.library.view, documents, filters))
    return _sided(store, found.domain, found.why, asker)


def _sided(store: RecordStore, domain: str, why: str, asker: str) -> Taken:
    comparison = store.comparison_running(domain) if asker else None
    if comparison is None:
        return Taken(store.profile_in_force(domain), why)
    side = Side.of(comparison, asker)
    return Taken(store.profile_version(domain, side.version), why, side)


@dataclass(frozen=True, slots=True)
class Standing:
    """A comparison and what it shows so far; `needed` as `still_needed` has it."""

    comparison: Comparison
    found: Compared
    needed: int | None

    @property
    def better(self) -> int | None:
        """The version that is better, by more than chance; None as long as that is not shown."""
        a, b = self.found.a.share, self.found.b.share
        if not self.found.decided_at or a is None or b is None or a == b:
            return None
        return self.comparison.b if b > a else self.comparison.a

    def to_json(self) -> dict[str, Any]:
        """As commands and HTTP show it."""
        one, sides = self.comparison, {}
        for name, side in (("a", self.found.a), ("b", self.found.b)):
            low, high = side.interval(one.alpha)
            version = one.a if name == "a" else one.b
            sides[name] = {"version": version, "good": side.good, "answers": side.n, "share": side.share, "low": low, "high": high}
        return {
            "id": one.id, "domain": one.domain, **sides, "alpha": one.alpha, "p": self.found.p, "decided_at": self.found.decided_at,
            "better": self.better, "needed": self.needed, "at": one.at, "by": one.by, "stopped": one.stopped, "stopped_by": one.stopped_by,
        }  # fmt: skip


def standings(store: RecordStore, domain: str) -> tuple[Standing, ...]:
    """The comparisons of a domain, oldest first, each with what its answers show.

    Raises:
        InvalidSetting: there is no such domain.
    """
    require_domain(domain)
    found = []
    for one in store.comparisons(domain):
        shown = compared(store.comparison_answers(one.id), one.alpha)
        found.append(Standing(one, shown, still_needed(shown, one.alpha)))
    return tuple(found)


def changed(store: RecordStore, base: Settings, domain: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a proposal: those in force with these over them. `base` has the settings that the profile stands over.

    Raises:
        InvalidSetting: a value that a profile cannot set, or of documents that are added, which no replay can judge.
        InvalidInput: nothing would change.
    """
    new = allowed(values)
    if len(of_cost(new, ASKED)) < len(new):
        raise InvalidSetting(
            "A proposal cannot change how documents are read.", remedy="Index them into a collection of their own, and compare runs there."
        )
    current = dict(store.profile_in_force(domain).values)
    if all(current.get(name, getattr(base, name)) == value for name, value in new.items()):
        raise InvalidInput("This proposal changes nothing.", remedy="Name a setting with another value than the one in force.")
    return {**current, **new}


def propose(
    engine: Engine, store: RecordStore, base: Settings, domain: str, values: Mapping[str, Any], why: str,
    questions: Sequence[LabelledQuestion], progress: Progress | None = None, cancelled: Cancel | None = None,
    budget_tokens: int | None = None,
) -> tuple[ProfileVersion | None, Ran]:  # fmt: skip
    """Measure labelled questions under the profile in force and under the changed one, and keep the proposal with what that shows.

    Both are runs like any other, which the lab shows. A proposal is kept only where both came to their end.

    Args:
        engine: over the collection.
        store: of its records.
        base: settings that the profile stands over.
        domain: whose profile is to change.
        values: to change, see `changed`.
        why: of whoever proposes it.
        questions: labelled; none of them twice.
        progress: told (QUESTIONS, done, total) for both runs together.
        cancelled: asked between questions.
        budget_tokens: of a language model, for each of the two runs.

    Raises:
        RagError: as `changed`, `begin` and `run` do.
    """
    current, new = store.profile_in_force(domain), changed(store, base, domain, values)
    settings = [base.changed(**of_cost(side, ASKED)) for side in (current.values, new)]
    names = (named(domain, current.version), f"{domain} (proposed)")
    heads: list[RunHead] = []
    ran = Ran(0, 0, 0, 2 * len(questions))
    for name, under in zip(names, settings, strict=True):
        head, done = begin(engine, name, name, questions, under, store), len(heads) * len(questions)
        heads.append(head)
        part = run(engine, head, store, _shifted(progress, done, ran.total), cancelled, budget_tokens)
        ran = Ran(
            ran.measured + part.measured, ran.reused + part.reused, ran.failed + part.failed, ran.total, part.cancelled,
            ran.tokens + part.tokens, part.over_budget,
        )  # fmt: skip
        if part.cancelled or part.over_budget:
            return None, ran
    text = engine.library.view.page_text
    before, after = [(store.results(head.id, text), head.settings) for head in heads]
    evidence = of_labelled(questions, before, after)
    if not evidence["questions"]:
        raise InvalidInput("None of the questions could be measured.", remedy=f"Look at the run {heads[0].id} in the lab: it says why.")
    runs = {"before_run": heads[0].id, "after_run": heads[1].id, "from": current.version}
    return store.propose_profile(domain, new, why, {**evidence, **runs}), ran


def learn(
    engine: Engine, store: RecordStore, base: Settings, domain: str, questions: Sequence[LabelledQuestion],
    progress: Progress | None = None, cancelled: Cancel | None = None, tries: Mapping[str, Sequence[Any]] = TRIES,
) -> ProfileVersion | None:  # fmt: skip
    """Try changes one by one on every other question, and propose the best with evidence on the rest, which chose nothing.

    Returns:
        The proposal; None where no change ends more of these questions right, or where it was stopped.

    Raises:
        InvalidInput: there are fewer than two questions.
        RagError: as `propose` does.
    """
    choosing, proving = questions[::2], questions[1::2]
    if not proving:
        raise InvalidInput("One question cannot choose a change and prove it.", remedy="Give more labelled questions.")
    current = store.profile_in_force(domain)
    now = base.changed(**of_cost(current.values, ASKED))
    changes = [{name: value} for name, values in tries.items() for value in values if getattr(now, name) != value]
    total, sides = len(choosing) * (1 + len(changes)), []
    for number, change in enumerate([{}, *changes]):
        head = begin(engine, f"{domain} (choosing)", f"{domain} (choosing)", choosing, now.changed(**change), store)
        try:
            part = run(engine, head, store, _shifted(progress, number * len(choosing), total), cancelled)
            if part.cancelled:
                return None
            sides.append((store.results(head.id, engine.library.view.page_text), head.settings))
        finally:
            store.delete_run(head.id)  # what proves the change is kept, what chose it is not
    found = [of_labelled(choosing, sides[0], side) for side in sides[1:]]
    won = [one["only_after"] - one["only_before"] for one in found]
    if not won or max(won) <= 0:
        return None
    best, n = won.index(max(won)), len(choosing)
    why = f"The best of {len(changes)} changes on {n} other questions: {won[best]} more of them ended right."
    return propose(engine, store, base, domain, changes[best], why, proving, progress, cancelled)[0]


def propose_by_kept(store: RecordStore, base: Settings, domain: str, values: Mapping[str, Any], why: str) -> ProfileVersion:
    """Judge kept decisions of a domain again under the changed profile, and keep the proposal with what flips; nothing is asked again.

    Raises:
        InvalidSetting: a setting needs more than a judgement.
        InvalidInput: no decision was kept under this domain's profile.
    """
    current, new = store.profile_in_force(domain), changed(store, base, domain, values)
    if len(of_cost(allowed(values), {Cost.REPLAY})) < len(values):
        raise InvalidSetting(
            "Kept decisions cannot show what another search finds.",
            remedy="Name labelled questions: they are measured under both settings.",
        )
    kept = {one.id: _readable(store, one.id) for one in store.decisions(MAX_KEPT)}
    own = {id: one for id, one in kept.items() if one is not None and _domain_of(one) == domain}
    if not own:
        raise InvalidInput(
            f"None of the newest {MAX_KEPT} kept decisions was made under the profile {domain}.",
            remedy="Ask some questions with this domain first, or name labelled questions.",
        )
    before, after = [base.changed(**of_cost(side, ASKED)) for side in (current.values, new)]
    return store.propose_profile(domain, new, why, {**of_kept(own, before, after), "from": current.version})


def _readable(store: RecordStore, id: int) -> Measurements | None:
    """A kept decision; None where another version of this program stored it."""
    try:
        return store.measurements(id)
    except InvalidInput:
        return None


def _domain_of(measurements: Measurements) -> str:
    """The domain that a question was asked under; one without is general."""
    return str(measurements.metadata.get(PROFILE, GENERAL)).partition("@")[0]


def _shifted(progress: Progress | None, by: int, total: int) -> Progress | None:
    if progress is None:
        return None
    return lambda step, done, _: progress(step, by + done, total)
