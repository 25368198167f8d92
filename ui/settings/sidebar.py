"""The side bar: the preset, and by stage the sliders that can decide under it.

All other settings stand on the page *Settings*.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from rag_core.decision.checks import CHECKS, LLM_DRAFT, SUFFICIENCY, VERIFICATION
from rag_core.domain.status import AnswerStatus
from rag_core.errors import RagError
from rag_core.settings import Mode, Settings
from ui.app import state
from ui.app.asked import Asked
from ui.app.people import recording
from ui.app.texts import say, show_error, tell
from ui.settings import calibration, saved_presets, sharing
from ui.settings.fields import changed, show_front, take
from ui.settings.wording import STAGES, stage_of, value_in_words

# sliders that belong to no check
ALWAYS: Mapping[str, tuple[str, ...]] = {
    "retrieve": ("top_k",),
    "decide": ("min_place",),
}
OF_DRAFTS = frozenset(  # checks that what is quoted word for word always passes
    (
        "length_ratio",
        "overlap",
        "similarity",
        "support",
        SUFFICIENCY.name,
        VERIFICATION.name,
        *(check.name for check in LLM_DRAFT),
    )
)
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


def settings_from_sidebar(page: str = "ask") -> Settings:
    """The settings as the sidebar of a page stands, which its address repeats; those of the start when a value is
    refused.
    """
    _arrive(page)
    sharing.follow_address()
    if (taking := state.session().taking) is not None:
        take(taking)
        state.session().taking = None
    calibration.settle()
    offered = saved_presets.options(calibration.offered())
    saved_presets.settle(offered)
    session = state.session()
    with st.sidebar:
        sharing.show_omissions()
        st.subheader(say("settings.title"), anchor=False)
        st.selectbox(
            say("settings.preset"),
            offered,
            offered.index(st.session_state["preset"]),
            format_func=saved_presets.label,
            key="preset",
            on_change=_take_preset,
            help=say("settings.preset_help"),
        )
        about = st.container(key="about_preset")
        calibration.show()
        start = saved_presets.start_settings()
        _show_sliders(start)
        with about:  # after the fields: a certificate holds for what they say now
            saved_presets.show()
            saved_presets.show_switch()
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


def _arrive(page: str) -> None:
    """Coming from another page with this sidebar, draw the fields from the session's values: Streamlit would draw them
    at their lowest.
    """
    if st.session_state.get("sidebar_page") != page:
        st.session_state["sidebar_page"] = page
        for key in ("preset", *(f"knob_{knob.name}" for knob in Settings.knobs())):
            st.session_state.pop(key, None)


def _show_sliders(start: Settings) -> None:
    places: dict[str, st.delta_generator.DeltaGenerator] = {}
    for stage, names in deciding().items():
        if names or stage in ("gate", "ground"):
            st.markdown(say(f"settings.head_{stage}"))
        if not names and stage in ("gate", "ground"):
            st.caption(say(f"settings.none_{stage}"))
        for name in names:
            show_front(Settings.knob(name), start)
            places[name] = st.container(key=f"flip_at_{name}")
    st.session_state[_PLACES] = places


def show_flips(asked: Asked) -> None:
    """Under each slider the value from which this question ends otherwise; after it was judged, which the side bar is
    drawn before.
    """
    places: Mapping[str, st.delta_generator.DeltaGenerator] = st.session_state[_PLACES]
    for flip in asked.flips_under(asked.settings):
        if flip.name in places:
            to = "answer" if flip.status is AnswerStatus.SUCCESS else "refuse"
            places[flip.name].text(tell(f"settings.flip_{to}", value=value_in_words(flip.name, flip.after)))


def _take_preset() -> None:
    saved_presets.switch(st.session_state.preset)


def _way_back(start: Settings) -> None:
    moved = changed(start)
    if moved:
        st.caption(say("settings.changed", n=len(moved)))
        st.button(say("settings.reset"), key="undo", icon=":material/undo:", on_click=saved_presets.take_again)
