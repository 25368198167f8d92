"""Drafts: their sentences with what each rests on and what was found on it, who drafted them, and what a language model
was asked and wrote. Rejected text stands nowhere else.

Sentences and their parts, names of models and hosts, and whatever a model says are shown as inert text only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from rag_core.decision.checks import GATING, SUFFICIENCY
from rag_core.domain.answer import is_scanned
from rag_core.domain.claims import Citation, Claim
from rag_core.domain.decision import AttemptView, Decision
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.llm_trace import Call, LlmTrace, Sufficiency
from rag_core.domain.measurements import Measurements
from rag_core.domain.rows import in_words
from rag_core.domain.trace import CheckResult, State
from rag_core.grounding.wording import flag_of
from ui.app.elements import badge, show_text
from ui.app.texts import figure, say, spoken, tell

MAX_FLAGGED = 3  # parts that a refusal names; the trace has them all
PART_CHARS = 120  # a part that is quoted is cut there
BEFORE = frozenset([*(check.name for check in GATING), SUFFICIENCY.name])  # checks before anything is drafted
# what the headline of a refusal is about, where there is any
_FIRST = ("fabricated", "quote_missing", "quote_elsewhere", "indicator")

# the part of a sentence that something is wrong with, empty for the whole, and the flag that says what
Finding = tuple[str, str]


def show_checked(decision: Decision) -> None:
    """Whether the sentences of an answer are quotes, in one line."""
    quoted, count = sum(measured.word_for_word for measured in decision.measured), len(decision.claims)
    scanned = any(citation.ocr for citation in decision.citations)
    how = "as_read" if scanned else "word_for_word"
    if quoted == count:
        row = count == 1 and in_words(decision.claims[0].text) != decision.claims[0].text
        if row:
            st.caption(say(f"sentences.row_{how}"))
        else:
            st.caption(say(f"sentences.one_{how}") if count == 1 else say(f"sentences.all_{how}", n=count))
    else:
        st.caption(say(f"sentences.some_{how}", n=quoted, of=count) if quoted else say("sentences.none_word_for_word"))


def show_answered(decision: Decision) -> None:
    """The sentences of an answer with what each has for it and against it."""
    st.caption(say("sentences.open_about"))
    show_sentences("answer", decision.claims, decision.measured, decision.citations)


def show_rejected(decision: Decision, measurements: Measurements) -> None:
    """The draft of a refusal by its checks, every part that something is wrong with marked by what is wrong with it."""
    if not is_rejected(decision):
        return
    draft = measurements.draft
    with st.container(key="rejected", gap="small"):
        st.header(say("sentences.rejected"), anchor=False)
        st.caption(say("sentences.rejected_about"))
        show_sentences("draft", draft.claims, draft.measured, draft.citations.values())


def is_rejected(decision: Decision) -> bool:
    """Whether it was the extract that was refused, and not the question or a model's draft."""
    return any(check.blocks and check.stage not in BEFORE for check in decision.trace.checks)


def flagged(decision: Decision, measurements: Measurements) -> list[str]:
    """The first parts of a rejected draft that something is wrong with, and what, in words."""
    if not is_rejected(decision):
        return []
    pairs = zip(measurements.draft.claims, measurements.draft.measured, strict=True)
    found = [(part or claim.text, flag) for claim, measured in pairs for part, flag in findings(claim, measured)]
    found.sort(key=lambda one: _FIRST.index(one[1]) if one[1] in _FIRST else len(_FIRST))
    return [_in_words(*one) for one in dict.fromkeys(found)][:MAX_FLAGGED]


def findings(claim: Claim, measured: ClaimMeasurement) -> list[Finding]:
    """The findings on a sentence, each once; a flag that a named part explains is not said of the whole one too."""
    found: list[Finding] = [(ref, "fabricated") for ref in measured.fabricated or ()]
    found += [
        (quote, "quote_elsewhere" if quote in measured.quotes_elsewhere else "quote_missing")
        for quote in measured.quotes_missing or ()
    ]
    found += [(phrase, "indicator") for phrase in measured.indicators or ()]
    found += [(text, flag_of(kind)) for kind, text in measured.changed_facts or ()]
    said = {flag for _, flag in found}
    found += [("", flag) for flag in measured.flags if flag not in said]
    return list(dict.fromkeys(found))


def show_sentences(
    of: str, claims: Sequence[Claim], of_claims: Sequence[ClaimMeasurement], citations: Iterable[Citation]
) -> None:
    """Sentences in order, each with what it has for it and against it; `of` names them among those of the page."""
    cited = tuple(citations)
    for number, (claim, measured) in enumerate(zip(claims, of_claims, strict=True), 1):
        wrong = [_in_words(part, flag) for part, flag in findings(claim, measured)]
        with st.container(key=f"sentence_{of}_{number}", gap="xsmall"):
            with st.container(key=f"said_{of}_{number}"):
                st.text(tell("sentences.text", number=number, text=in_words(claim.text)))
                for one in claim.evidence:
                    if where := next((place for place in cited if place.chunk_id == one.passage), None):
                        st.text(tell("evidence.place", title=where.title or where.document, page=where.page_in_words))
            said = "\n".join([_support(claim, measured, scanned=is_scanned(claim, cited)), *wrong])
            show_text(said, f"{'wrong' if wrong else 'right'}_with_{of}_{number}")


def _support(claim: Claim, measured: ClaimMeasurement, *, scanned: bool) -> str:
    if not claim.evidence:
        return tell("sentences.uncited")
    if measured.word_for_word:
        return tell("sentences.as_read" if scanned else "sentences.word_for_word")
    if measured.support is None:
        return tell("sentences.not_measured")
    key, shared = "sentences.supported" if measured.read else "sentences.by_words", figure(measured.overlap or 0, ".0%")
    return tell(key, support=measured.support, shared=shared)


def _in_words(part: str, flag: str) -> str:
    words = tell(f"sentences.flag_{flag}")
    if not part:
        return tell("sentences.whole", flag=words)
    return tell("sentences.part", part=part if len(part) <= PART_CHARS else f"{part[:PART_CHARS]}…", flag=words)


def show_drafter(decision: Decision) -> None:
    """Who drafted an answer, or was asked before a refusal; nothing where no model has to do with it."""
    if lines := drafter_in_words(decision):
        show_text("\n".join(lines), "drafted")


def drafter_in_words(decision: Decision) -> list[str]:
    """Who it was and why not the one before, and what it cost."""
    said = decision.metadata
    if decision.answered and said.get("drafter") == "model":
        lines = [tell("drafted.model", model=said["model"], endpoint=said["endpoint"])]
    elif decision.answered and said.get("drafter_note"):
        lines = [] if stand_in(decision) else [tell("drafted.extract", why=spoken(said["drafter_note"]))]
    else:
        of = said.get("model")
        lines = [tell("drafted.asked", model=of, endpoint=said["endpoint"])] if of else []
    if said.get("calls"):
        lines.append(tell("drafted.cost", **_cost(said)))
    return [*lines, *(tell("drafted.tried", why=why) for why in said.get("tried", ()))]


def stand_in(decision: Decision) -> str:
    """The note that the extract stands in for a model that failed; empty where it does not."""
    why = decision.metadata.get("drafter_note")
    return next((note for note in decision.notes if why and note.startswith(why)), "")


def show_stand_in(decision: Decision) -> None:
    """That the extract stands in for the model, in one sentence."""
    if note := stand_in(decision):
        show_text(spoken(note), "stand_in")


def _cost(said: Mapping[str, Any]) -> dict[str, object]:
    seconds = figure(said["generation_time_ms"] / 1000, ".1f")
    return {"calls": said["calls"], "tokens": said["total_tokens"], "seconds": seconds}


def show_judgements(llm_trace: LlmTrace) -> None:
    """Show the model's word on the passages, round by round, each to be unfolded."""
    for number, judgement in enumerate(llm_trace.judgements, 1):
        with st.expander(say("attempts.sufficiency", n=number), key=f"verdict_{number}"):
            _show_judgement(number, judgement)


def show_attempts(attempts: Sequence[AttemptView]) -> None:
    """Show the model's drafts, each to be unfolded; nothing where there is none."""
    if not attempts:
        return
    with st.container(key="attempts", gap="small"):
        st.caption(say("attempts.about"))
        for one in attempts:
            with st.expander(say(f"attempts.{one.outcome}", n=one.number), key=f"attempt_{one.number}"):
                _show_attempt(one)


def call_in_words(call: Call) -> str:
    """Lines on one call: what was sent to whom, what it cost, and why nothing came of it."""
    lines = [tell("attempts.prompt", prompt=call.prompt)] if call.prompt else []
    lines += [tell("attempts.tried", why=why) for why in call.tried]
    if call.model:
        form = tell("attempts.structured" if call.structured else "attempts.plain")
        lines.append(tell("attempts.asked", model=call.model, endpoint=call.endpoint, form=form))
    if call.tokens_in or call.tokens_out or call.ms:
        seconds = figure(call.ms / 1000, ".1f")
        lines.append(tell("attempts.cost", tokens_in=call.tokens_in, tokens_out=call.tokens_out, seconds=seconds))
    if call.failure:
        lines.append(tell("attempts.failed_because", why=call.failure))
    return "\n".join(lines)


def _show_attempt(one: AttemptView) -> None:
    attempt, draft = one.attempt, one.attempt.draft
    if one.outcome != "shown":
        badge("attempts.no_answer", "block", "orange")
    if attempt.refusal:
        st.text(tell("attempts.refusal", refusal=attempt.refusal))
    show_sentences(f"attempt_{one.number}", draft.claims, draft.measured, draft.citations.values())
    missed = [_missed(check) for check in one.checks if check.state in (State.FAILED, State.NOT_RUN)]
    if missed:
        st.text("\n".join([tell("attempts.missed"), *missed]))
    calls = [attempt.call]
    if attempt.verification is not None:
        answers = enumerate(attempt.verification.answers, 1)
        said = [tell(f"attempts.verdict_{answer}", number=number) for number, answer in answers]
        st.text("\n".join([tell("attempts.verification"), *said]))
        calls.append(attempt.verification.call)
    _show_calls(f"attempt_{one.number}", *calls)


def _show_judgement(number: int, judgement: Sufficiency) -> None:
    if judgement.can_answer:
        lines = [tell(f"attempts.can_answer_{judgement.can_answer}", confidence=figure(judgement.confidence, ".2f"))]
        lines += [tell("attempts.missing", missing="; ".join(judgement.missing))] if judgement.missing else []
        lines += [tell("attempts.contradicts")] if judgement.contradicts else []
        lines += [tell("attempts.reasoning", reasoning=judgement.reasoning)] if judgement.reasoning else []
        st.text("\n".join(lines))
    _show_calls(f"verdict_{number}", judgement.call)


def _show_calls(of: str, *calls: Call) -> None:
    show_text("\n\n".join(filter(None, map(call_in_words, calls))), f"source_calls_{of}")


def _missed(check: CheckResult) -> str:
    key = "attempts.check" if check.blocks else "attempts.check_observed"
    return tell(key, check=say(f"checks.title_{check.stage}"), found=spoken(check.found or check.note))
