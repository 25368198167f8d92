"""Asks a language model, step by step: a loop that does the next step that the record of the question needs.

Each step appends one thing to the question's record: a judgement, an expanded search, a draft with its measurements, or
its verification. What comes next is read from the record by `progress.next_step`, so nothing is asked before the gates
have let the question pass, and nothing of a model counts before it was checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from rag_core.compression.citing import cite
from rag_core.compression.extract import undoing_claims
from rag_core.compression.llm.drafting import both_sides, draft_facts, model_draft
from rag_core.compression.llm.prompts import compress_prompt, sufficiency_prompt, verify_prompt
from rag_core.compression.llm.replies import EmptyReply, MalformedReply, read_draft, read_sufficiency, read_yes_no
from rag_core.compression.scoring import Scored
from rag_core.decision.bearing import SentenceScores, bears, draft_correctness, is_one_sided
from rag_core.decision.find import find, read_query
from rag_core.decision.progress import Ask, next_step
from rag_core.decision.tools import Tools, entailment_model_for
from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.domain.drafts import Draft
from rag_core.domain.llm_trace import (
    Attempt,
    Call,
    Completion,
    Limits,
    LlmTrace,
    OnStage,
    Prompt,
    Step,
    Sufficiency,
    Verification,
)
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Hit
from rag_core.domain.ports import Cancel, Corpus
from rag_core.domain.status import Reason
from rag_core.errors import Cancelled, InvalidSetting, MissingDependency, ModelUnavailable, RagError
from rag_core.facts import absent_facts
from rag_core.grounding.additions import added_to
from rag_core.grounding.claims import measure_claims
from rag_core.grounding.own_words import reworded
from rag_core.grounding.units import with_header
from rag_core.settings import Settings

MAX_HITS = 50  # passages of a wider search; `top_k` allows no more either
SAID_CHARS = 300  # characters shown of a model's reason, or of what it calls missing, in the trace
NO_SCORES: Mapping[tuple[Hit, ...], Sequence[Scored]] = MappingProxyType({})
_MIN_SECONDS = 0.5  # less is no time to ask a model in
_NOT_CONFIGURED = (
    "No language model is configured: set RAG_MODEL, and OPENAI_BASE_URL for a server of your own (docs/models.md)."
)


def generate(
    measurements: Measurements,
    corpus: Corpus,
    tools: Tools,
    rows: Sequence[int] | None = None,
    *,
    on_stage: OnStage | None = None,
    cancelled: Cancel | None = None,
    scores: Mapping[tuple[Hit, ...], Sequence[Scored]] = NO_SCORES,
) -> Measurements:
    """The measurements with everything a language model had to be asked; unchanged where that is nothing.

    `rows` may be searched, None for all. `on_stage` is told what begins: the stage is all that may be shown before the
    checks are done. `scores` are the sentences of passages that were scored under these settings and on this corpus.

    Raises:
        Cancelled: the user stopped it.
    """
    known = SentenceScores(measurements, corpus, tools, dict(scores))
    run = _Run(
        measurements.settings,
        corpus,
        tools,
        rows,
        on_stage or (lambda step, claims: None),
        cancelled or (lambda: False),
        known,
    )
    while (ask := next_step(measurements)) is not None:
        if run.cancelled():
            raise Cancelled("The question was stopped.", remedy="Ask it again.")
        try:
            measurements = run.take(ask, measurements)
        except Cancelled:
            raise
        except RagError as error:  # a failure of ours, as where the question was measured: never an answer
            measurements = replace(measurements, failure=str(error))
    return replace(measurements, timings={**measurements.timings, **run.ms}) if run.ms else measurements


@dataclass(slots=True)
class _Run:
    """The work on one question: what it may still cost, and how long its parts took."""

    settings: Settings
    corpus: Corpus
    tools: Tools
    rows: Sequence[int] | None
    on_stage: OnStage
    cancelled: Callable[[], bool]
    scores: SentenceScores
    ms: dict[str, float] = field(default_factory=dict)
    waited: float = 0.0  # seconds
    spent: int = 0  # tokens
    # what the last judgement calls missing, in full: looked for, and kept only as far as it is sayable
    wanted: tuple[str, ...] = ()

    def take(self, ask: Ask, measurements: Measurements) -> Measurements:
        assert measurements.llm_trace is not None
        steps = {
            Step.SUFFICIENCY: self._judge,
            Step.EXPAND: self._expand,
            Step.DRAFT: self._draft,
            Step.VERIFY: self._verify,
        }
        return replace(measurements, llm_trace=steps[ask.step](ask, measurements, measurements.llm_trace))

    def _judge(self, ask: Ask, measurements: Measurements, llm_trace: LlmTrace) -> LlmTrace:
        self.on_stage(Step.SUFFICIENCY, 0)
        understood = measurements.understanding
        prompt = sufficiency_prompt(
            measurements.question, understood.language, ask.hits, measurements.library, self.settings
        )
        call, completion = self._complete(Step.SUFFICIENCY, prompt)
        judgement = Sufficiency(call, len(ask.hits))
        if completion is not None:
            try:
                reply = read_sufficiency(completion)
            except MalformedReply as error:
                judgement = replace(judgement, call=replace(call, failure=str(error)))
            else:
                started = self.tools.clock()
                known = self._known(measurements, ask.hits)
                shown = both_sides(
                    reply, ask.hits, self.corpus, measurements.library, understood.language, self.tools.embedder
                )
                self.wanted = tuple(reply.missing)
                missing = (sayable(one, known, understood.language) for one in reply.missing)
                judgement = replace(
                    judgement,
                    can_answer=reply.can_answer,
                    confidence=reply.confidence,
                    missing=tuple(filter(None, missing)),
                    reasoning=sayable(reply.reasoning, known, understood.language),
                    contradicts=bool(reply.contradictions),
                    sides=shown[0] if shown else None,
                    conflict=shown[1] if shown else None,
                )
                self._count("check", self.tools.clock() - started)
        return replace(llm_trace, judgements=(*llm_trace.judgements, judgement))

    def _expand(self, ask: Ask, measurements: Measurements, llm_trace: LlmTrace) -> LlmTrace:
        """Retrieve again, more and with what is missing; earlier passages keep their places before the new ones."""
        self.on_stage(Step.EXPAND, 0)
        started = self.tools.clock()
        top_k = min(MAX_HITS, self.settings.top_k * (ask.round + 2))
        wider = replace(
            measurements,
            question=" ".join((measurements.question, *self.wanted))[:MAX_QUESTION_CHARS],
            settings=self.settings.changed(top_k=top_k),
        )
        before = measurements.hits if ask.round == 0 else llm_trace.expanded[ask.round - 1]
        found = find(wider, read_query(wider, self.tools.embedder), self.corpus, self.tools, self.rows).hits
        known = {hit.passage.id for hit in before}
        hits = (*before, *(hit for hit in found if hit.passage.id not in known))[: max(top_k, len(before))]
        self._count("expand", self.tools.clock() - started)
        return replace(llm_trace, expanded=(*llm_trace.expanded[: ask.round], hits))

    def _draft(self, ask: Ask, measurements: Measurements, llm_trace: LlmTrace) -> LlmTrace:
        self.on_stage(Step.DRAFT, 0)
        language = measurements.understanding.language
        prompt = compress_prompt(
            measurements.question,
            language,
            ask.hits,
            ask.level,
            measurements.library,
            self.settings,
            ask.findings,
        )
        call, completion = self._complete(Step.DRAFT, prompt)
        attempt = Attempt(ask.asked, call)
        if completion is not None:
            attempt = self._read(attempt, completion, ask, measurements)
        return replace(llm_trace, attempts=(*llm_trace.attempts, attempt))

    def _read(self, attempt: Attempt, completion: Completion, ask: Ask, measurements: Measurements) -> Attempt:
        language = measurements.understanding.language
        try:
            reply = read_draft(completion)
        except EmptyReply:
            return replace(attempt, problem=Reason.EMPTY_DRAFT)
        except MalformedReply:
            return replace(attempt, problem=Reason.MALFORMED_DRAFT)
        if not reply.answerable:
            said = sayable(reply.reason, self._known(measurements, ask.hits), language)
            return replace(attempt, problem=Reason.MODEL_REFUSED, refusal=said)
        started = self.tools.clock()
        self.on_stage("check", len(reply.claims))
        entailment_model = entailment_model_for(self.settings, self.tools)
        draft = model_draft(
            reply,
            ask.hits,
            self.corpus,
            language,
            self.tools.embedder,
            entailment_model,
            measurements.settings.min_support,
        )
        view = replace(measurements, hits=ask.hits)
        added = tuple(len(added_to(claim, view)) for claim in draft.claims)
        own = reworded(draft, ask.hits, self.corpus.page_text, language)
        sure = draft_correctness(draft, ask.hits, self.scores)
        attempt = replace(attempt, draft=draft, added=added, reworded=own, correctness=sure)
        found = replace(attempt, **draft_facts(draft, language, self.tools.embedder))  # type: ignore[arg-type]
        problem = self._problem(draft, measurements, ask.hits)
        if problem is Reason.NONE:
            found = self._with_beside(found, measurements, ask.hits)
        self._count("check", self.tools.clock() - started)
        return replace(found, problem=problem)

    def _with_beside(self, attempt: Attempt, measurements: Measurements, hits: Sequence[Hit]) -> Attempt:
        """A draft with the sentences that undo its own, as its last ones."""
        draft, page_text = attempt.draft, self.corpus.page_text
        claims = undoing_claims(draft.claims, hits, page_text, self.tools.undoing)
        if not claims:
            return attempt
        retrieved = {hit.passage.id: with_header(hit.passage) for hit in hits}
        measured = measure_claims(claims, retrieved, page_text, measurements.understanding.language, whole=True)
        longer = replace(
            draft,
            claims=(*draft.claims, *claims),
            measured=(*draft.measured, *measured),
            citations={**draft.citations, **cite(claims, hits, self.corpus)},
        )
        # they add no word, and change none
        added = (*(attempt.added or ()), *[0] * len(claims))
        changed = (*(attempt.reworded or ()), *[False] * len(claims))
        return replace(attempt, draft=longer, added=added, reworded=changed)

    def _problem(self, draft: Draft, measurements: Measurements, hits: Sequence[Hit]) -> Reason:
        """Why a draft is none, whatever its checks say; NONE where it is one."""
        if not draft.claims:
            return Reason.EMPTY_DRAFT
        if self.settings.rewording != "audited" and not bears(draft, hits, self.scores):
            return Reason.OFF_QUESTION
        return Reason.ONE_SIDED if is_one_sided(draft, measurements, hits, self.corpus) else Reason.NONE

    def _verify(self, ask: Ask, measurements: Measurements, llm_trace: LlmTrace) -> LlmTrace:
        """Ask of each claim with evidence whether the passages it cites say so; the others failed already."""
        attempt = llm_trace.attempts[-1]
        claims = attempt.draft.claims
        self.on_stage(Step.VERIFY, len(claims))
        cited = {id for claim in claims for id in claim.cited}
        sources = {hit.passage.id: with_header(hit.passage) for hit in ask.hits if hit.passage.id in cited}
        call, completion = self._complete(Step.VERIFY, verify_prompt(claims, sources))
        verification = Verification(call)
        if completion is not None:
            try:
                verification = Verification(call, read_yes_no(completion, len(claims)))
            except MalformedReply as error:
                verification = Verification(replace(call, failure=str(error)))
        return replace(llm_trace, attempts=(*llm_trace.attempts[:-1], replace(attempt, verification=verification)))

    def _complete(self, step: Step, prompt: Prompt) -> tuple[Call, Completion | None]:
        """Send a prompt within what the question may still cost; what fails is recorded, and nothing passes by it."""
        call = Call(step, prompt.id, self.settings.model)
        try:
            model = self.tools.model(self.settings) if self.tools.model else None
        except (InvalidSetting, MissingDependency) as error:
            return replace(call, failure=str(error)), None
        if model is None:
            return replace(call, failure=_NOT_CONFIGURED), None
        call = replace(call, model=model.name)
        left = self.settings.model_seconds - self.waited
        if left < _MIN_SECONDS:
            return replace(call, failure=f"The {self.settings.model_seconds} seconds for one question are spent."), None
        if self.spent >= self.settings.model_budget:
            return replace(call, failure=f"The {self.settings.model_budget} tokens for one question are spent."), None
        started = self.tools.clock()
        try:
            answer = model.complete(prompt, Limits(left, self.cancelled))
        except ModelUnavailable as error:
            return replace(call, failure=str(error), ms=(self.tools.clock() - started) * 1000), None
        finally:
            took = self.tools.clock() - started
            self._count("model", took)
            self.waited += took
        self.spent += answer.tokens_in + answer.tokens_out
        return replace(
            call,
            model=answer.model,
            endpoint=answer.endpoint,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            ms=answer.ms,
            structured=answer.structured,
            tried=answer.tried,
        ), answer

    def _known(self, measurements: Measurements, hits: Sequence[Hit]) -> str:
        """The texts that a model may speak of: the question, the passages, and the names of their documents."""
        names = (*measurements.library.names.values(), *measurements.library.titles.values())
        return "\n".join((measurements.question, *(hit.passage.text for hit in hits), *names))

    def _count(self, stage: str, seconds: float) -> None:
        self.ms[stage] = self.ms.get(stage, 0.0) + seconds * 1000


def sayable(text: str, known: str, language: str) -> str:
    """A model's words on missing information, short; empty where they state a fact that nothing it was shown holds.

    It stands in the trace alone; even there it must not carry an invented fact.
    """
    said = " ".join(text.split())[:SAID_CHARS]
    return "" if absent_facts(said, known, language) else said
