"""The side bar: the preset, and by stage the sliders that can decide under it.

All other settings stand on the page *Settings*. It says on request which calibration the probability comes from;
without one, a preset that goes by similarity is taken: others refuse all.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from rag_core.decision.checks import CHECKS, LLM_DRAFT, SUFFICIENCY, VERIFICATION
from rag_core.domain.status import AnswerStatus
from rag_core.errors import RagError
from rag_core.gating.scores import Calibration
from rag_core.settings import Mode, Settings, presets
from ui.app import state
from ui.app.asked import Asked
from ui.app.elements import button
from ui.app.people import recording
from ui.app.texts import say, show_error, tell
from ui.settings import saved_presets, sharing
from ui.settings.fields import changed, show_field, take
from ui.settings.wording import STAGES, stage_of, value_in_words

# sliders that belong to no check
ALWAYS: Mapping[str, tuple[str, ...]] = {"retrieve": ("top_k",), "decide": ("min_place",)}
# checks that what is quoted word for word always passes
OF_DRAFTS = frozenset({"length_ratio", "overlap", "similarity", "support", SUFFICIENCY.name, VERIFICATION.name})
OF_DRAFTS |= {check.name for check in LLM_DRAFT}
FALLBACK = "relevance-guard"
_PLACES = "flip_places"  # in the session: where under each slider of this run its flip is said


def deciding() -> dict[str, list[str]]:
    """The sliders that can decide a question as the session's settings stand, by stage."""
    values = state.session().values
    found = {stage: list(ALWAYS.get(stage, ())) for stage in STAGES}
    for check in CHECKS:
        enforced = not check.mode or values[check.mode] == Mode.ENFORCE
        if not enforced or (check.name in OF_DRAFTS and values["drafter"] != "model"):
            continue
        for knob in map(Settings.knob, check.settings):
            known = any(knob.name in names for names in found.values())
            if knob.low is not None and knob.stricter and "_extra_" not in knob.name and not known:
                found[stage_of(check.name)].append(knob.name)
    return found


def settings_from_sidebar() -> Settings:
    """The settings as the side bar stands, which the address repeats; those of the start when a value is refused."""
    sharing.follow_address()
    if (taking := state.session().taking) is not None:
        take(taking)
        state.session().taking = None
    _settle_preset()
    options, session = saved_presets.options(offered()), state.session()
    option = saved_presets.settle(options)  # it may set the field
    key = state.key_of("preset")
    with st.sidebar:
        sharing.show_omissions()
        st.markdown(say("settings.bar"))
        st.selectbox(
            say("settings.preset"),
            options,
            options.index(option),
            format_func=saved_presets.label,
            key=key,
            on_change=saved_presets.switch,
            args=(key,),
            help=say("settings.preset_help"),
        )
        about = st.container(key="about_preset")
        _show_calibration()
        start = saved_presets.start_settings()
        _show_sliders(start)
        with about:  # after the fields: a certificate holds for what they say now
            saved_presets.show()
        _way_back(start)
        sharing.show(session.settings)
        st.caption(say("settings.all"))
        recording.show_switch()
    try:
        settings = session.settings()
    except RagError as error:
        show_error(error)
        return state.base_settings()
    sharing.write_address(settings)
    return settings


def _show_sliders(start: Settings) -> None:
    places: dict[str, st.delta_generator.DeltaGenerator] = {}
    for stage, names in deciding().items():
        if names or stage in ("gate", "ground"):
            st.markdown(say(f"settings.head_{stage}"))
        if not names and stage in ("gate", "ground"):
            st.caption(say(f"settings.none_{stage}"))
        for name in names:
            show_field(Settings.knob(name), start, front=True)
            places[name] = st.container(key=f"flip_at_{name}")
    st.session_state[_PLACES] = places


def show_flips(asked: Asked) -> None:
    """Under each slider the value from which this question ends otherwise; it is judged after the side bar is drawn."""
    places: Mapping[str, st.delta_generator.DeltaGenerator] = st.session_state[_PLACES]
    for flip in asked.flips_under(asked.settings):
        if flip.name in places:
            to = "answer" if flip.status is AnswerStatus.SUCCESS else "refuse"
            places[flip.name].text(tell(f"settings.flip_{to}", value=value_in_words(flip.name, flip.after)))


def _way_back(start: Settings) -> None:
    moved = changed(start)
    if moved:
        st.caption(say("settings.changed", n=len(moved)))
        button("settings.reset", "undo", saved_presets.take_again, icon="undo")


def offered() -> list[str]:
    """The presets that can answer from this library; all of them where a calibration fits, or none could."""
    every = list(presets())
    if not _missing():
        return every
    return [name for name in every if not _needs_probability(name)] or every


def _settle_preset() -> None:
    """Before the fields are drawn: leave a preset that this library cannot serve."""
    if _missing() and FALLBACK in offered() and state.session().preset not in offered():
        take(state.preset_settings(FALLBACK))


def _show_calibration() -> None:
    """The calibration in force, behind a button; a warning where none is; nothing while the library is being opened."""
    if state.opened_engine() is None:
        return
    calibration = _in_force()
    if calibration is None or _missing():
        st.warning(say("settings.no_calibration"), icon=":material/warning:")
        st.caption(say("settings.no_calibration_more"), help=say("settings.no_calibration_help"))
        return
    about = calibration.provenance
    sets: Mapping[str, int] = about.get("sets", {})
    with st.popover(say("settings.calibration_where"), icon=":material/info:", type="tertiary", key="calibration"):
        st.text(tell("settings.calibration", model=calibration.model, date=about.get("date", "")))
        st.text(tell("settings.calibration_sets", id=calibration.id, n=sum(sets.values()), sets=len(sets)))


def _needs_probability(preset: str) -> bool:
    of = state.preset_settings(preset)
    return Mode.ENFORCE in (of.correctness_mode, of.answerability_mode)


def _in_force() -> Calibration | None:
    engine = state.opened_engine()
    return engine.tools.calibration if engine is not None else None


def _missing() -> bool:
    """Whether the library is open and no calibration that fits it gives the probability that an answer is right."""
    found = _in_force()
    return state.opened_engine() is not None and (found is None or found.correctness is None)
