"""Two settings side by side on the question of the page: how each ends, the line that judges it, and every check that differs.

Where only limits differ, what was measured is judged again. Where the search itself differs it is searched again, and the page says so.
A language model is never asked from here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from rag_core.decision.decide import replay
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, State
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.service.chosen import AS_BUILT
from rag_core.settings import Settings
from rag_core.settings.llm import ModelSettings
from ui.app.asked import Asked
from ui.app.problems import show_error
from ui.app.texts import say, tell
from ui.ask.decision.how_sure import show_line
from ui.ask.decision.refusal import why
from ui.ask.decision.trace import measured, required, state_in_words
from ui.ask.question.asking import ASK, INGEST, ask, changed_knobs
from ui.settings import calibration, saved_presets
from ui.settings.wording import moved_in_words

NOW = "=now"  # an option beside the presets; no preset is called so
KEPT = 4  # searches of this kind that a session remembers
MAX_NAMED = 6  # settings that are named one by one
_MEMORY = "side_by_side_asked"


@dataclass(frozen=True, slots=True)
class Side:
    """The question under one of the two settings; `searched` are the settings for which it was searched again, by name: (before, now).

    `asked` is None where a language model would have to be asked, or the documents may be others than those of a kept decision.
    """

    name: str
    asked: Asked | None
    searched: dict[str, tuple[object, object]]


def show_side_by_side(engine: Engine, asked: Asked) -> None:
    """Two fields to choose from, then both sides and the checks that differ."""
    with st.expander(say("side_by_side.title"), icon=":material/compare:", key="side_by_side"):
        st.caption(say("side_by_side.about"))
        options = [NOW, *saved_presets.options(calibration.offered())]
        columns = st.columns(2)
        chosen = []
        for column, which, at in zip(columns, ("first", "second"), (0, None), strict=True):
            with column:
                chosen.append(
                    st.selectbox(
                        say(f"side_by_side.{which}"), options, at, format_func=_name, key=f"side_{which}",
                        placeholder=say("side_by_side.choose"),
                    )
                )  # fmt: skip
        if None in chosen:
            return
        try:
            sides = [decided(engine, asked, option) for option in chosen if option is not None]
        except RagError as error:
            show_error(error)
            return
        for number, side in enumerate(sides):
            with columns[number], st.container(border=True, key=f"side_{number}", gap="xsmall"):
                _show_side(number, side)
        _show_differences(*sides)


def decided(engine: Engine, asked: Asked, option: str) -> Side:
    """The question under an option: as it stands, judged again, or searched again. It is not put on record.

    Raises:
        RagError: a saved value that this version does not take, or the question cannot be asked.
    """
    if option == NOW:
        return Side(_name(option), asked, {})
    before = asked.measurements.settings
    wanted = saved_presets.settings_of(option)
    wanted = wanted.changed(**{name: getattr(before, name) for name in (*INGEST, *AS_BUILT)})
    if "model" not in (before.drafter, wanted.drafter):  # then these change nothing
        unused = {name for name in ASK if name in ModelSettings.model_fields}
        unused |= set() if before.return_short_context or wanted.return_short_context else {"short_context_words"}
        wanted = wanted.changed(**{name: getattr(before, name) for name in unused})
    searched = {name: pair for name, pair in changed_knobs(before, wanted).items() if name in ASK}
    if not searched:
        return Side(_name(option), replace(asked, decision=replay(asked.measurements, wanted), settings=wanted), {})
    if asked.kept or wanted.drafter == "model":
        return Side(_name(option), None, searched)
    return Side(_name(option), _search(engine, asked, wanted), searched)


def _search(engine: Engine, asked: Asked, wanted: Settings) -> Asked:
    """Search again, once for each question, library and settings: the page is drawn at every touch."""
    key = (asked.number, engine.library.snapshot.version, repr(asked.scope), wanted.model_dump_json())
    memory: dict[tuple[object, ...], Asked] = st.session_state.setdefault(_MEMORY, {})
    if key not in memory:
        memory[key] = ask(engine, asked.question, asked.scope, wanted, asked.collection)
        for old in list(memory)[:-KEPT]:
            del memory[old]
    return memory[key]


def _name(option: str) -> str:
    return tell("side_by_side.now") if option == NOW else saved_presets.label(option)


def _show_side(number: int, side: Side) -> None:
    with st.container(key=f"side_name_{number}"):
        st.text(side.name)
    if side.searched:
        moved = [moved_in_words(name, old, new) for name, (old, new) in side.searched.items()]
        told = ", ".join(moved) if len(moved) <= MAX_NAMED else tell("changes.many", n=len(moved))
        st.text(tell("side_by_side.searched" if side.asked is not None else "side_by_side.not_searched", what=told))
    else:
        st.caption(say("side_by_side.judged"))
    if side.asked is None or side.asked.decision.reason is Reason.NEEDS_GENERATION:
        st.badge(say("side_by_side.undecided"), icon=":material/help:", color="gray")
        return
    decision = side.asked.decision
    if decision.answered:
        st.badge(say("answer.answered"), icon=":material/check_circle:", color="green")
        st.text(decision.answer)
    else:
        st.badge(say("refusal.badge"), icon=":material/warning:", color="orange")
        st.text(why(side.asked))
    show_line(side.asked, f"side_line_{number}")


def _show_differences(first: Side, second: Side) -> None:
    """A row for every check that one of them measured, limited or judged otherwise; those that a refusal kept from one are counted."""
    if first.asked is None or second.asked is None:
        return
    one, other = ({check.stage: check for check in asked.decision.trace.checks} for asked in (first.asked, second.asked))
    stages = list(dict.fromkeys([*one, *other]))
    same = [stage for stage in stages if _cell(one.get(stage)) == _cell(other.get(stage))]
    unreached = [stage for stage in stages if stage not in same and _only_unreached(one.get(stage), other.get(stage))]
    rows = [
        {"check": say(f"trace.title_{stage}"), "first": _cell(one.get(stage)), "second": _cell(other.get(stage))}
        for stage in stages
        if stage not in (*same, *unreached)
    ]
    st.caption(say("side_by_side.differ", n=len(rows), same=len(same), unreached=len(unreached)))
    if rows:
        columns = {name: st.column_config.TextColumn(say(f"side_by_side.column_{name}")) for name in rows[0]}
        st.dataframe(rows, hide_index=True, column_config=columns, key="side_checks", alt=say("side_by_side.alt"))


def _only_unreached(one: CheckResult | None, other: CheckResult | None) -> bool:
    """Whether a check differs by nothing but that an earlier one refused before it on one side."""
    if one is None or other is None:
        return True
    return State.NOT_REACHED in (one.state, other.state) and (measured(one), required(one)) == (measured(other), required(other))


def _cell(check: CheckResult | None) -> str:
    if check is None:
        return tell("side_by_side.no_check")
    return tell("side_by_side.cell", state=state_in_words(check), measured=measured(check), required=required(check))
