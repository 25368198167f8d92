"""Estimates, before a run, what its language model will cost: from the prompts that a few of its questions would send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from rag_core.compression.llm.excerpts import BYTES_OF_A_TOKEN
from rag_core.compression.llm.prompts import compress_prompt, sufficiency_prompt, verify_prompt
from rag_core.compression.raw import context_words
from rag_core.decision.bearing import SentenceScores
from rag_core.decision.checks import SUFFICIENCY, VERIFICATION
from rag_core.decision.llm_steps import sent_of
from rag_core.decision.progress import hits_of, judged_hits, next_step
from rag_core.domain.llm_trace import LlmTrace, Prompt
from rag_core.domain.measurements import Measurements
from rag_core.engine import Engine
from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.gating.levels import prompt_level
from rag_core.settings import Mode, Settings

SAMPLED = 10  # questions whose prompts are looked at


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens of a run, in and out, as far as can be told beforehand.

    Args:
        questions: to be measured.
        sampled: of them, those whose prompts were looked at.
        asking: of the sampled ones, those for which the model is asked; gates refuse others, or have no need of it.
        least: tokens when every first draft passes, and the model is asked as often as in the sample.
        most: tokens when the model is asked for every question, and judges and drafts as often as the settings let it.
    """

    questions: int
    sampled: int
    asking: int
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Sampled:
    """A question as it is before a model is asked.

    `sent` is what a draft's prompt sends of each passage, by passage id; None where it sends them whole.
    """

    measurements: Measurements
    sent: Mapping[str, str] | None


def sample(engine: Engine, questions: Sequence[LabelledQuestion], settings: Settings) -> tuple[Sampled, ...]:
    """Up to `SAMPLED` of the questions, evenly spread, with all that needs no model; it is not called."""
    step = max(1, ceil(len(questions) / SAMPLED))
    found = []
    for question in questions[::step]:
        try:
            measured = engine.measure(question.question, settings.changed(drafter="extract"), question.documents or None)
        except InvalidInput:  # it names a document that is not there: it will cost nothing
            continue
        found.append(Sampled(measured, sent_of(hits_of(measured, 0), SentenceScores(measured, engine.library.snapshot, engine.tools))))
    return tuple(found)


def estimate(records: Sequence[Sampled], questions: int, settings: Settings) -> Estimate:
    """The cost of so many questions under these settings; `records` from `sample`, under settings that differ in judgements only."""
    progress = [replace(one, measurements=_under(one.measurements, settings)) for one in records]
    asking = sum(next_step(one.measurements) is not None for one in progress)
    each = [_tokens(one.measurements, one.sent) for one in progress if one.measurements.hits]
    if not each:
        return Estimate(questions, len(records), 0, 0, 0)
    least, most = (sum(tokens) / len(each) for tokens in zip(*each, strict=True))
    return Estimate(questions, len(records), asking, round(questions * least * asking / len(records)), round(questions * most))


def _under(measurements: Measurements, settings: Settings) -> Measurements:
    """The measurements as they are when the model has not been asked yet."""
    return replace(measurements, settings=settings, llm_trace=LlmTrace(context_words(measurements.hits)))


def _tokens(measurements: Measurements, excerpts: Mapping[str, str] | None) -> tuple[float, float]:
    """The least and the most tokens of one question, by the prompts that it would send."""
    s, hits = measurements.settings, hits_of(measurements, 0)
    language, library = measurements.understanding.language, measurements.library
    if excerpts is not None:  # without those of passages that these settings cut
        excerpts = {id: text for id, text in excerpts.items() if id in {hit.passage.id for hit in hits}}
    sent = _size(compress_prompt(measurements.question, language, hits, prompt_level(measurements), library, s, excerpts=excerpts))
    judges = sufficiency_prompt(measurements.question, language, judged_hits(measurements, 0), library, s)
    verifies = verify_prompt(measurements.draft.claims, {hit.passage.id: hit.passage.text for hit in hits}, s)
    judged, verified = (check.mode_under(s) is not Mode.OFF for check in (SUFFICIENCY, VERIFICATION))
    once = sent + judged * _size(judges) + verified * _size(verifies)
    often = (1 + s.max_retries) * (sent + verified * _size(verifies)) + judged * (1 + s.expand_searches) * _size(judges)
    return min(once, s.model_budget), min(often, s.model_budget)


def _size(prompt: Prompt) -> float:
    """Tokens of a prompt with its answer; half of the longest answer is taken for a usual one."""
    sent = f"{prompt.system}{prompt.user}{prompt.plain}".encode()
    return len(sent) / BYTES_OF_A_TOKEN + prompt.max_tokens / 2
