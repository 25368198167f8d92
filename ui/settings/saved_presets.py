"""Presets that were saved for a collection: offered under the built-in ones, with the certificate they carry, and
whether it still holds.

Their names are untrusted: they are shown as options of a field and as text, which Streamlit does not interpret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from rag_core.errors import InvalidSetting, RagError
from rag_core.evaluation.certificate import Basis, Certificate, stale
from rag_core.records.stored import SavedPreset
from rag_core.service.people import Right
from rag_core.settings import DEFAULT_PRESET, Mode, Settings, presets
from rag_core.wiring import RecordStore, records
from ui.app import state
from ui.app.elements import badge, button, shown_error, submit
from ui.app.people import visitor
from ui.app.texts import say, screen, tell
from ui.settings import certificates
from ui.settings.fields import FIXED, take

FRONT = ("balanced", "careful", "open")  # ours, named for what they do
# designs of others; their variants have no place here
PUBLISHED = ("compliance", "relevance-guard", "tutor", "rag-engine", "scoping")
NAME_CHARS = 80  # a preset's name; it stands in a list in the side bar
_OPTION = "saved:"  # before the name, as the preset field's value; no built-in preset is called so
_SAVED = "preset_saved"  # in the session: that one was saved by the last run, which ended there
_SEEN = "saved_presets_seen"  # in the session: collections whose default was taken


def saved() -> tuple[SavedPreset, ...]:
    """The presets of the session's collection; none where they cannot be read."""
    with suppress(RagError):
        return _store().presets()
    return ()


def save(name: str, settings: Settings, certificate: Certificate | None, *, default: bool) -> None:
    """Save settings under a name; with `default` new sessions of this collection start with them.

    Raises:
        RagError: the name cannot be used, or nothing can be written.
    """
    values = settings.model_dump(mode="json", exclude=set(FIXED))
    store, created = _store(), datetime.now(UTC).isoformat(timespec="seconds")
    store.save_preset(SavedPreset(name, values, certificate.to_json() if certificate else None, created))
    if default:
        store.set_default_preset(name)


def show_saving(settings: Callable[[], Settings]) -> None:
    """A name, and a button that saves the settings under it for this collection; for whoever may set its thresholds."""
    if not visitor.may(Right.THRESHOLDS):
        return
    if st.session_state.pop(_SAVED, False):
        st.toast(say("presets.is_saved"), icon=":material/bookmark_added:")
    with st.form(key="save_preset", border=False, clear_on_submit=True):
        name = st.text_input(say("presets.name"), key="preset_name", max_chars=NAME_CHARS)
        if submit("presets.save", "bookmark_add") and name and name.strip():
            with shown_error():
                save(name.strip(), settings(), None, default=False)
                here = state.session()
                here.saved = name.strip()  # it is the one in force from now on
                here.editions["preset"] += 1
                st.session_state[_SAVED] = True
                st.rerun()


def as_settings(values: Mapping[str, Any]) -> Settings:
    """The settings of saved values, over those of the start; the library's model stays.

    Raises:
        InvalidSetting: a value that this version does not take.
    """
    kept = {name: value for name, value in values.items() if name not in FIXED}
    return state.base_settings().changed(**{"preset": DEFAULT_PRESET, **kept})


def settings_of(option: str) -> Settings:
    """The settings that an option of the preset field gives; a saved preset's values over those of the start.

    Raises:
        InvalidSetting: a saved value that this version does not take.
    """
    preset = _saved_as(option)
    return state.preset_settings(option) if preset is None else as_settings(preset.values)


def _saved_as(option: str) -> SavedPreset | None:
    return next((one for one in saved() if _OPTION + one.name == option), None)


def options(built_in: list[str]) -> list[str]:
    """The values of the preset field: our presets that are on offer, the saved ones, the published designs, and the one
    that is chosen.

    Where built-in presets are left out for want of a calibration, the saved ones that need it are too.
    """
    served = len(built_in) == len(presets())
    fit = (
        preset
        for preset in saved()
        if served or Mode.ENFORCE not in map(preset.values.get, ("correctness_mode", "answerability_mode"))
    )
    front = [name for name in FRONT if name in built_in]
    shown = [name for name in built_in if name in (*PUBLISHED, state.session().preset) and name not in FRONT]
    return [*front, *(_OPTION + preset.name for preset in fit), *shown]


def label(option: str) -> str:
    """An option as the field shows it. No two are alike."""
    if option.startswith(_OPTION):
        return tell("presets.saved", name=option.removeprefix(_OPTION))
    if option in FRONT:
        return say(f"presets.front_{option}")
    values = presets()[option].values  # without a model these refuse every question
    needs_model = values.get("sufficiency_mode") == Mode.ENFORCE or values.get("drafter") == "model"
    return tell("presets.published_model" if needs_model else "presets.published", title=presets()[option].title)


def settle(offered: list[str]) -> str:
    """Before the fields are drawn: start with the collection's own preset, and let go of one that is not offered; the
    option that is in force.
    """
    session = state.session()
    seen: set[str] = st.session_state.setdefault(_SEEN, set())
    if session.collection not in seen:
        seen.add(session.collection)
        _start(offered)
    if session.saved and _in_force() not in offered:
        _let_go()
    return _in_force()


def _in_force() -> str:
    session = state.session()
    return _OPTION + session.saved if session.saved else session.preset


def _let_go() -> None:
    session = state.session()
    session.saved = ""
    session.editions["preset"] += 1


def chosen() -> SavedPreset | None:
    """The saved preset that the settings started from; None for a built-in one."""
    name = state.session().saved
    return _saved_as(_OPTION + name) if name else None


def switch(key: str) -> None:
    """Take over the preset that was chosen, in the field's callback; the field shows the one that could be taken."""
    option, session = st.session_state[key], state.session()
    edition = session.editions["preset"]
    take_option(option)
    session.editions["preset"] = edition + (_in_force() != option)


def take_option(option: str) -> None:
    """Take over the preset of an option, in a callback."""
    if not option.startswith(_OPTION):
        take(state.preset_settings(option))
    elif (preset := _saved_as(option)) is not None:
        _take(preset)


def take_again() -> None:
    """Go back to what the chosen preset, saved or built in, gives; in a button's callback."""
    take_option(_in_force())


def start_settings() -> Settings:
    """The settings that the chosen preset, saved or built in, gives."""
    preset = chosen()
    try:
        return state.preset_settings(state.session().preset) if preset is None else as_settings(preset.values)
    except InvalidSetting:
        return state.preset_settings(state.session().preset)


def show() -> None:
    """Under the field: the chosen saved preset's certificate, whether it holds now, and how to delete the preset."""
    preset = chosen()
    if preset is None:
        name = state.session().preset
        st.caption(screen().get(f"help.preset_{name}", presets()[name].help))
        return
    with st.container(key="saved_preset", gap="small"):
        certificate = None
        with shown_error():
            as_settings(preset.values)
            certificate = Certificate.from_json(preset.certificate) if preset.certificate else None
        if certificate is None:
            st.caption(say("presets.help"))
        else:
            _show_certificate(certificate)
        _manage(preset, certificate)


def _show_certificate(certificate: Certificate) -> None:
    session, engine = state.session(), state.opened_engine()  # while it is being opened, nothing is said against it
    reasons = stale(certificate, Basis.of(engine, session.collection), session.settings()) if engine else ()
    if reasons:
        badge("presets.stale", "gpp_maybe", "orange")
        for reason in reasons:
            st.text(say(f"presets.stale_{reason}"))
    else:
        badge("presets.certified", "verified", "green", n=certificates.percent(certificate.confidence))
    st.text(certificates.in_a_line(certificate))


def _manage(preset: SavedPreset, certificate: Certificate | None) -> None:
    with st.popover(say("presets.manage"), icon=":material/more_horiz:", key="manage_preset"):
        st.text(preset.name)
        if certificate is not None:
            certificates.offer(certificate, preset.name, "preset")
        if not visitor.may(Right.THRESHOLDS):  # it is everybody's
            return
        st.toggle(
            say("presets.default_on"),
            value=_default() == preset.name,
            key="preset_default",
            help=say("presets.default_help"),
            on_change=_set_default,
            args=(preset.name,),
        )
        sure = st.checkbox(say("presets.delete_sure"), key="preset_delete_sure")
        button("presets.delete", "preset_delete", _delete, preset.name, icon="delete", disabled=not sure)


def _take(preset: SavedPreset) -> None:
    with suppress(InvalidSetting):
        take(as_settings(preset.values), preset.name)


def _start(offered: list[str]) -> None:
    # settings that came with the address are those of a saved preset where they are the same
    session, there = state.session(), [preset for preset in saved() if _OPTION + preset.name in offered]
    if not there:
        return
    now, base, name = session.settings(), state.base_settings(), _default()
    untouched = session.preset == base.preset and session.values == base.model_dump(exclude={"preset"})
    preset = next((one for one in there if (one.name == name if untouched else _gives(one, now))), None)
    if preset is not None:
        _take(preset)


def _gives(preset: SavedPreset, settings: Settings) -> bool:
    try:
        return as_settings(preset.values).model_dump(exclude=set(FIXED)) == settings.model_dump(exclude=set(FIXED))
    except InvalidSetting:
        return False


def _default() -> str | None:
    with suppress(RagError):
        return _store().default_preset()
    return None


def _set_default(name: str) -> None:
    _store().set_default_preset(name if st.session_state.get("preset_default") else None)


def _delete(name: str) -> None:
    _store().delete_preset(name)
    _let_go()


def _store() -> RecordStore:
    return records(state.library_folder(), state.session().collection)
