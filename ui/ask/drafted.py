"""Says who drafted the answer, and shows what a language model was asked and wrote. Rejected text stands nowhere else.

Names of models and hosts, and whatever a model says, are shown as inert text only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from rag_core.domain.decision import AttemptView, Decision
from rag_core.domain.llm_trace import Call, LlmTrace, Sufficiency
from rag_core.domain.trace import CheckResult, State
from ui.app.texts import say, spoken, tell
from ui.ask.sentences import show_sentences


def show_drafter(decision: Decision) -> None:
    """Who drafted an answer, or was asked before a refusal, in a quiet line; nothing where no model has to do with
    it.
    """
    lines = drafter_in_words(decision)
    if lines:
        with st.container(key="drafted"):
            st.text("\n".join(lines))


def drafter_in_words(decision: Decision) -> list[str]:
    """Who it was and why not the one before, and what it cost."""
    said = decision.metadata
    if decision.answered and said.get("drafter") == "model":
        lines = [tell("drafted.model", **_named(said))]
    elif decision.answered and said.get("drafter_note"):
        lines = [] if stand_in(decision) else [tell("drafted.extract", why=spoken(said["drafter_note"]))]
    else:
        lines = [tell("drafted.asked", **_named(said))] if said.get("model") else []
    if said.get("calls"):
        sent_nothing = said.get("cached") and not said["total_tokens"]
        lines.append(tell("drafted.cached") if sent_nothing else tell("drafted.cost", **_cost(said)))
    return [*lines, *(tell("drafted.tried", why=why) for why in said.get("tried", ()))]


def stand_in(decision: Decision) -> str:
    """The note that the extract stands in for a model that failed; empty where it does not."""
    why = decision.metadata.get("drafter_note")
    return next((note for note in decision.notes if why and note.startswith(why)), "")


def show_stand_in(decision: Decision) -> None:
    """That the extract stands in for the model, in one sentence."""
    note = stand_in(decision)
    if note:
        with st.container(key="stand_in"):
            st.text(spoken(note))


def _named(said: Mapping[str, Any]) -> dict[str, object]:
    return {"model": said["model"], "endpoint": said["endpoint"]}


def _cost(said: Mapping[str, Any]) -> dict[str, object]:
    return {
        "calls": said["calls"],
        "tokens": f"{said['total_tokens']:,}",
        "seconds": f"{said['generation_time_ms'] / 1000:.1f}",
    }


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
    if call.cached:
        lines.append(tell("attempts.cached"))
    elif call.tokens_in or call.tokens_out or call.ms:
        lines.append(
            tell(
                "attempts.cost",
                tokens_in=f"{call.tokens_in:,}",
                tokens_out=f"{call.tokens_out:,}",
                seconds=f"{call.ms / 1000:.1f}",
            )
        )
    if call.failure:
        lines.append(tell("attempts.failed_because", why=call.failure))
    return "\n".join(lines)


def _show_attempt(one: AttemptView) -> None:
    """Its sentences with what was found on each, the checks that it missed, what the model said of it when asked again,
    and the request.
    """
    attempt = one.attempt
    if one.outcome != "shown":
        st.badge(say("attempts.no_answer"), icon=":material/block:", color="orange")
    if attempt.refusal:
        st.text(tell("attempts.refusal", refusal=attempt.refusal))
    show_sentences(
        f"attempt_{one.number}", attempt.draft.claims, attempt.draft.measured, attempt.draft.citations.values()
    )
    missed = [_in_words(check) for check in one.checks if check.state in (State.FAILED, State.NOT_RUN)]
    if missed:
        st.text("\n".join([tell("attempts.missed"), *missed]))
    if attempt.verification is not None:
        answers = [
            tell(f"attempts.verdict_{answer}", number=number)
            for number, answer in enumerate(attempt.verification.answers, 1)
        ]
        st.text("\n".join([tell("attempts.verification"), *answers]))
    asked_again = [attempt.verification.call] if attempt.verification is not None else []
    _show_calls(f"attempt_{one.number}", attempt.call, *asked_again)


def _show_judgement(number: int, judgement: Sufficiency) -> None:
    if judgement.can_answer:
        lines = [tell(f"attempts.can_answer_{judgement.can_answer}", confidence=f"{judgement.confidence:.2f}")]
        lines += [tell("attempts.missing", missing="; ".join(judgement.missing))] if judgement.missing else []
        lines += [tell("attempts.contradicts")] if judgement.contradicts else []
        lines += [tell("attempts.reasoning", reasoning=judgement.reasoning)] if judgement.reasoning else []
        st.text("\n".join(lines))
    _show_calls(f"verdict_{number}", judgement.call)


def _show_calls(of: str, *calls: Call) -> None:
    with st.container(key=f"source_calls_{of}"):
        st.text("\n\n".join(filter(None, map(call_in_words, calls))))


def _in_words(check: CheckResult) -> str:
    key = "attempts.check" if check.blocks else "attempts.check_observed"
    return tell(key, check=say(f"checks.title_{check.stage}"), found=spoken(check.found or check.note))
