"""The way of a question as one panel a stage: Retrieve, Gate, Compress, Ground, Decide.

The stage that decided stands open.

Each panel says what went in and what came out, shows each check against its limit, and the time taken. Whatever comes
from documents or a model is a cell of a table, or inert text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from rag_core.compression.scoring import Scored
from rag_core.decision.summary import ending_of
from rag_core.domain.decision import Decision
from rag_core.domain.passages import Hit
from rag_core.domain.status import Reason
from rag_core.engine import Engine
from rag_core.gating.levels import cut_passages
from ui.app import tables
from ui.app.asked import Asked
from ui.app.elements import show_text
from ui.app.texts import figure, say, screen, tell
from ui.ask.changes import show_what_if
from ui.ask.checks import show_checks
from ui.ask.drafts import show_answered, show_attempts, show_judgements, show_rejected
from ui.ask.evidence import place_of
from ui.documents import viewer
from ui.settings.wording import STAGES, in_percents, stage_of

ICONS = {
    "passed": ":material/check_circle:",
    "decided": ":material/gavel:",
    "not_reached": ":material/radio_button_unchecked:",
}
TIMES: Mapping[str, tuple[str, ...]] = {  # the stages of `Measurements.timings`, by panel
    "retrieve": ("understand", "embed", "retrieve", "expand"),
    "gate": ("signals", "relevance", "keywords"),
    "compress": ("extract", "read", "model"),
    "ground": ("conflicts", "audit", "check"),
    "decide": (),
}
_DRAFTING = (
    Reason.MODEL_REFUSED,
    Reason.MALFORMED_DRAFT,
    Reason.EMPTY_DRAFT,
    Reason.OFF_QUESTION,
    Reason.ONE_SIDED,
    Reason.ALL_CLAIMS_CUT,
)
_ROWS_IN_VIEW = 10  # as many as `top_k` is by default


def decided_at(decision: Decision) -> str:
    """The stage that refused; the last one for an answer, and for what no stage judges."""
    blocked = next((check.stage for check in decision.trace.checks if check.blocks), "")
    return stage_of(blocked) if blocked else "compress" if decision.reason in _DRAFTING else "decide"


def show_stages(asked: Asked, engine: Engine | None = None) -> None:
    """The panels; of a reply without a check only its file. Without an engine nothing leads to a page or a setting."""
    decision = asked.decision
    if not decision.trace.checks:
        _offer_file(decision)
        return
    end = decided_at(decision)
    claims = len(decision.claims or asked.measurements.draft.claims)
    for name in STAGES:
        reached = name == "decide" or STAGES.index(name) < STAGES.index(end)
        state = "decided" if name == end else "passed" if reached else "not_reached"
        ms = sum(asked.measurements.timings.get(part, 0.0) for part in TIMES[name])
        head = f"decide_{ending_of(decision)}" if name == "decide" else name
        label = say(f"stages.{head}", kept=len(decision.retrieved), checks=len(_checks(decision, name)), claims=claims)
        state_key = "unjudged" if ms and state == "not_reached" else state
        label += "" if state == "passed" else say(f"stages.is_{state_key}")
        label += say("stages.ms", ms=ms) if ms else ""
        with (
            st.expander(label, expanded=state == "decided", icon=ICONS[state], key=f"stage_{name}_{end}"),
            st.container(key=f"in_{name}"),
        ):
            _SHOW[name](asked, engine)
            show_checks(_checks(decision, name))
            _show_times(asked, name)


def _checks(decision: Decision, stage: str) -> list[Any]:
    return [check for check in decision.trace.checks if stage_of(check.stage) == stage]


def _show_retrieve(asked: Asked, engine: Engine | None) -> None:
    found, facts = asked.measurements.understanding, asked.measurements.library
    words, names = ", ".join(found.keywords) or "–", ", ".join(found.entities) or "–"
    st.text(tell("stages.retrieve_in", language=found.language, intent=found.intent, words=words, names=names))
    cut, hits = cut_passages(asked.measurements), asked.decision.retrieved
    searched = {"passages": facts.passages, "documents": facts.documents}
    st.text(tell("stages.retrieve_out", **searched, found=len(hits), cut=len(cut)))
    if hits:
        quoted = {one.chunk_id for one in asked.decision.citations}
        rows = [_passage(rank, name, hit, cut, quoted) for rank, (name, hit) in enumerate(hits, 1)]
        _table(rows, "found_rows", "stages.passages_alt", partial(_open_hit, engine, hits) if engine else None)


def _show_gate(asked: Asked, _: Engine | None) -> None:
    refused = [say(f"checks.title_{check.stage}") for check in _checks(asked.decision, "gate") if check.blocks]
    st.text(tell("stages.gate_in", found=len(asked.measurements.hits)))
    st.text(tell("stages.gate_refused" if refused else "stages.gate_passed", checks=", ".join(refused)))
    if asked.measurements.llm_trace:
        show_judgements(asked.measurements.llm_trace)
    if features := asked.measurements.features:
        with st.expander(say("stages.features", n=len(features)), key="features"):
            named = {screen().get(f"stages.feature_{name}", name): figure(of, ".4g") for name, of in features.items()}
            st.code("\n".join(f"{name}: {of}" for name, of in named.items()), language=None)


def _show_compress(asked: Asked, _: Engine | None) -> None:
    draft, considered = asked.measurements.draft, asked.considered
    read = {"passages": len(asked.measurements.hits), "chars": draft.context_chars}
    out = [one for one in considered if _is_out(one, asked)]
    kept = {"kept": len(out if considered else draft.claims), "considered": len(considered) or "?"}
    st.text(tell("stages.compress_out", **read, **kept, drafted=draft.chars))
    if considered:
        _table(_sentences(asked), "sentence_rows", "stages.sentences_alt")
    elif asked.measurements.hits:
        st.caption(say("stages.not_recorded"))
    show_attempts(asked.decision.attempts)


def _show_ground(asked: Asked, _: Engine | None) -> None:
    st.text(tell("stages.ground_in", claims=len(asked.measurements.draft.claims)))
    if asked.decision.answered:
        show_answered(asked.decision)
    else:
        show_rejected(asked.decision, asked.measurements)


def _show_decide(asked: Asked, engine: Engine | None) -> None:
    decision, s = asked.decision, asked.settings
    blocked = [say(f"checks.title_{check.stage}") for check in decision.trace.checks if check.blocks]
    key = (
        "stages.decide_refused" if blocked else "stages.decide_answered" if decision.answered else "stages.decide_other"
    )
    codes = {"status": decision.status, "reason": decision.reason}
    st.text(tell(key, checks=", ".join(blocked), **codes, ending=tell(f"changes.ended_{ending_of(decision)}")))
    if decision.answered and s.levels and not decision.scores["correctness"]:  # else the probability is the one figure
        levels = {"high": s.high_answerability, "medium": s.medium_answerability, "low": s.low_distance}
        by = "probability"
        if s.main_gate == "cosine":
            levels, by = levels | {"high": s.high_distance, "medium": s.medium_distance}, "distance"
        st.markdown(say(f"answer.{decision.confidence_level}"), help=say(f"answer.level_by_{by}", **levels))
    if decision.confidence_basis != "none":  # where nothing was found there is none
        basis = say(f"answer.confidence_{decision.confidence_basis}")
        st.caption(say("answer.confidence", value=int(in_percents(decision.confidence))), help=basis)
    if decision.conflicts:
        st.caption(say("answer.confidence_halved"))
    if engine is not None:
        show_what_if(asked)
    _offer_file(decision)


_SHOW = {
    "retrieve": _show_retrieve,
    "gate": _show_gate,
    "compress": _show_compress,
    "ground": _show_ground,
    "decide": _show_decide,
}


def _offer_file(decision: Decision) -> None:
    with st.popover(say("stages.json"), icon=":material/data_object:", key="json"):
        st.code(json.dumps(decision.to_json(), ensure_ascii=False, indent=2), language="json", height=480)


def _show_times(asked: Asked, stage: str) -> None:
    ms = {part: asked.measurements.timings.get(part) for part in TIMES[stage]}
    parts = [
        tell("stages.timing", step=say(f"stages.timing_{part}"), ms=figure(took, ".1f"))
        for part, took in ms.items()
        if took is not None
    ]
    if parts:
        show_text(tell("stages.time", parts=" · ".join(parts)), f"source_times_{stage}")


def _passage(rank: int, name: str, hit: Hit, cut: frozenset[str], quoted: set[str]) -> dict[str, object]:
    became = "cut" if hit.passage.id in cut else "quoted" if hit.passage.id in quoted else "kept"
    return {
        "rank": rank,
        "became": tell(f"stages.became_{became}"),
        "document": name,
        "page": hit.passage.page,
        "text": hit.passage.text,
        "cosine": hit.cosine,
        "bm25": hit.lexical,
        "by_meaning": hit.dense_rank or None,
        "by_words": hit.lexical_rank or None,
        "section": hit.passage.section,
    }


def _is_out(one: Scored, asked: Asked) -> bool:
    """Whether the draft rests on this sentence, as it reads without line breaks, or on the row at its place."""
    here, text = one.unit.spans[:1], _letters(one.unit.text)
    cited = [evidence for claim in asked.measurements.draft.claims for evidence in claim.evidence]
    quotes = [(_letters(of.quote), of.spans[0]) for of in cited if of.passage == one.unit.passage.id]
    if here:
        return any(here[0].holds(there) or there.holds(here[0]) for _, there in quotes)
    return any(quote and (text in quote or quote in text) for quote, _ in quotes)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _sentences(asked: Asked) -> list[dict[str, object]]:
    """The sentences that were considered, the likeliest first, and why each was kept or dropped."""
    ranked = sorted(asked.considered, key=lambda one: -one.relevance)
    names, least = asked.measurements.library.names, asked.settings.extra_sentence_ratio * ranked[0].relevance

    def became(one: Scored) -> str:
        if _is_out(one, asked):
            return "cut" if one.unit.passage.id in cut_passages(asked.measurements) else "kept_sentence"
        if one.relevance < least:
            return "unlikely"
        here, best = one.unit.passage, ranked[0].unit.passage
        same = (here.document, here.section) == (best.document, best.section)
        return "not_needed" if same else "elsewhere"

    return [
        {
            "rank": rank,
            "became": tell(f"stages.became_{became(one)}"),
            "relevance": one.relevance,
            "log_odds": one.log_odds,
            "text": one.unit.text,
            "document": names.get(one.unit.passage.document, ""),
            "page": one.unit.passage.page,
        }
        for rank, one in enumerate(ranked, 1)
    ]


def _table(rows: tables.Rows, key: str, alt: str, act: Callable[[int], object] | None = None) -> None:
    about: dict[str, Any] = {
        "wide": dict.fromkeys(rows[0], 84) | {"text": 340, "document": 150, "section": 150, "became": 150},
        "forms": {"cosine": "%.3f", "bm25": "%.1f", "relevance": "%.3f", "log_odds": "%.2f"},
        "in_view": _ROWS_IN_VIEW,
        "alt": alt,
    }
    if act is None:
        tables.show(rows, "stages.column_", key, **about)
    else:
        tables.show_rows(rows, "stages.column_", key, act, **about)


def _open_hit(engine: Engine, hits: Sequence[tuple[str, Hit]], row: int) -> None:
    viewer.open_at(place_of(engine, hits[row][1].passage))
