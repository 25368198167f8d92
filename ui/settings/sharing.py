"""Settings that leave the page and come back: in its address, and as a file that `--config` of the command line reads.

The address holds what differs from the settings that the page starts with, and the collection, so that a copied link
shows what its sender saw, and a reload keeps it. Free text never travels in it: a link must not put words into the page
or name a model to load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st
import yaml

from rag_core.domain.acts import actor
from rag_core.errors import InvalidSetting, RagError
from rag_core.library.stored.named import collections
from rag_core.settings import Knob, Settings
from rag_core.settings.configuration import load_settings
from ui.app import first_run, state, texts
from ui.app.asked import COLLECTION as OWN
from ui.app.downloads import download
from ui.app.elements import badge, button, file_field
from ui.app.people.collections import switch
from ui.app.texts import LANGUAGE, say, show_error, speaking, tell
from ui.settings import saved_presets
from ui.settings.fields import FIXED, changed, help_text, take

FILE = "plumbline-settings.yaml"
COLLECTION = "collection"  # its parameter
DECISION = "decision"  # the parameter of a link to a kept decision (`ui.ask.export`)
TURNS = "turns"  # the parameter with the kept decisions of this tab (`ui.ask.turns`)
MAX_TURNS = 10  # as many as the history lists
MAX_KB = 64  # a settings file: all settings take 5
LINE_ENDS = frozenset("\x85\u2028\u2029")  # that PyYAML would write as they are, and read as a line end
_ADDRESS = "page_address"  # in the session
MAX_SAID, MAX_CHARS = 5, 200  # problems of an address that are named, and characters of each


@dataclass
class Address:
    """Words of a session on the address and on the file that it took settings from.

    `left_out` are the problems of the address, and `error` that of the last file; both may quote untrusted text.
    """

    left_out: list[str] = field(default_factory=list)
    error: RagError | None = None
    taken: int | None = None  # values that the last file changed
    files: int = 0  # counts up so that the upload field is empty again


def address(page: str, collection: str, number: int) -> str:
    """The link, from the page's own address."""
    scheme, host, path, _, _ = urlsplit(page)
    return urlunsplit((scheme, host, path or "/", urlencode({COLLECTION: collection, DECISION: number}), ""))


def to_address(settings: Settings) -> dict[str, str]:
    """The parameters for these settings: none for those of the start, else the preset and what differs from it."""
    start = state.preset_settings(settings.preset)
    moved = {
        name: _written(getattr(settings, name)) for name in _shared() if getattr(settings, name) != getattr(start, name)
    }
    return {"preset": settings.preset, **moved} if moved or settings.preset != state.base_settings().preset else {}


def from_address(parameters: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """The settings that an address asks for, and what of it was left out, in words."""
    problems: list[str] = []
    try:
        settings = state.preset_settings(parameters.get("preset"))
    except InvalidSetting as error:
        problems.append(error.problem)
        settings = state.base_settings()
    shared = _shared()
    for name, value in parameters.items():
        if name in ("preset", COLLECTION):
            continue
        if name not in shared:
            key = "sharing.address_text" if name in Settings.model_fields else "sharing.address_unknown"
            problems.append(tell(key, name=name))
            continue
        try:
            settings = settings.changed(**{name: value})
        except InvalidSetting as error:
            problems.append(error.problem)
    return settings, problems


def follow_address() -> None:
    """Take over the address that the page was opened with, once in the life of a tab, before any field is drawn.

    From then on the address repeats what the session has.
    """
    if _ADDRESS in st.session_state:
        return
    seen, session = st.query_params.to_dict(), state.session()
    linked, turns, _ = seen.pop(DECISION, ""), seen.pop(TURNS, ""), seen.pop(texts.PARAMETER, "")
    st.session_state[_ADDRESS] = Address()
    if seen:
        _take_address(seen)
    session.resuming = tuple(turns.split("."))[-MAX_TURNS:] if turns else ()
    session.linked = linked  # last: another collection leaves the link of the one before


def write_address(settings: Settings) -> None:
    """Bring the page's address up to these settings."""
    _write(_with_collection(to_address(settings)) | _of_decisions() | texts.parameter())


def write_turns() -> None:
    """Bring the kept decisions in the address up to those of the session, after a question was asked."""
    seen = st.query_params.to_dict()
    wanted = {name: value for name, value in seen.items() if name not in (DECISION, TURNS)} | _of_decisions()
    _write(wanted)


def _write(wanted: dict[str, str]) -> None:
    if wanted != st.query_params.to_dict():
        st.query_params.from_dict(wanted)


def _of_decisions() -> dict[str, str]:
    session = state.session()
    kept = [str(one.turn) for one in session.history if one.turn is not None and one.collection == session.collection]
    turns = ".".join(session.resuming or kept[-MAX_TURNS:])
    return {**({DECISION: session.linked} if session.linked else {}), **({TURNS: turns} if turns else {})}


def show_omissions() -> None:
    """Show the parts of the address that were not taken over, until this is closed."""
    known = _known()
    if not known.left_out:
        return
    with st.container(border=True, key="address"):
        badge("sharing.address", "link_off", "orange", n=len(known.left_out))
        for problem in known.left_out[:MAX_SAID]:
            st.text(problem[:MAX_CHARS])
        if len(known.left_out) > MAX_SAID:
            st.text(say("sharing.address_more", n=len(known.left_out) - MAX_SAID))
        button("sharing.close", "close_address", known.left_out.clear)


def show(current: Callable[[], Settings]) -> None:
    """The settings as a file, from a file, and a word on the address."""
    known = _known()
    with st.popover(say("sharing.title"), icon=":material/ios_share:", key="sharing"):
        saved_presets.show_saving(current)
        st.caption(say("sharing.hint"))
        download("sharing.save", lambda: to_yaml(current()), FILE, "save_settings", help="sharing.save_help")
        key = f"load_settings_{known.files}"
        file_field("sharing.load", ["yaml", "yml"], key, "sharing.load_help", 1, on_change=_load, args=(key,))
    if known.error is not None:
        show_error(known.error)
        button("sharing.close", "close_error", setattr, known, "error", None)
    if known.taken is not None:
        st.toast(say("sharing.loaded", n=known.taken), icon=":material/check:")
        known.taken = None


@speaking(LANGUAGE)
def to_yaml(settings: Settings) -> str:
    """The preset and what differs from it, each with what it does; the library's model is not among them."""
    start = state.preset_settings(settings.preset)
    lines = [f"# {say('sharing.comment_head')}", *_yaml("preset", settings.preset)]
    for knob in _file_knobs().values():
        value = getattr(settings, knob.name)
        if value != getattr(start, knob.name):
            about = tell("sharing.comment", label=say(f"knobs.{knob.name}"), help=help_text(knob))
            lines += ["", f"# {about}", *_yaml(knob.name, value)]
    return "\n".join(lines) + "\n"


def from_yaml(data: bytes) -> Settings:
    """The settings of a file, validated as `--config` does, over what the environment says.

    Raises:
        InvalidSetting: it is too large, no YAML of `name: value` lines, or holds an unknown name or a value out of
            range.
    """
    if len(data) > MAX_KB * 1024:
        raise InvalidSetting(say("sharing.too_large"), remedy=tell("sharing.too_large_remedy", kb=MAX_KB))
    try:
        rows = yaml.safe_load(data.decode("utf-8"))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidSetting(say("sharing.unreadable"), remedy=tell("sharing.unreadable_remedy")) from error
    if not isinstance(rows, dict):
        raise InvalidSetting(say("sharing.unreadable"), remedy=tell("sharing.unreadable_remedy"))
    return load_settings(values={str(name): value for name, value in rows.items()}, environment=state.environment())


def _load(key: str) -> None:
    known, file = _known(), st.session_state.get(key)
    if file is None:
        return
    known.files, known.error = known.files + 1, None
    try:
        settings = from_yaml(file.getvalue())
    except InvalidSetting as error:
        known.error = InvalidSetting(error.problem[:MAX_CHARS], remedy=error.remedy)
        return
    take(settings)
    known.taken = len(changed(state.preset_settings(settings.preset)))


def _take_address(parameters: Mapping[str, str]) -> None:
    known = _known()
    settings, known.left_out = from_address(parameters)
    take(settings)
    start = first_run.start_collection(state.library_folder())
    collection = parameters.get(COLLECTION, start)
    there = (OWN, start, *collections(state.library_folder()))
    if collection in there and actor().may_enter(collection):
        switch(collection)
    else:
        known.left_out.append(tell("sharing.address_collection", name=collection))


def _with_collection(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters with the session's collection, but for the one that every page starts with."""
    collection = state.session().collection
    start = first_run.start_collection(state.library_folder())
    return {**parameters} if collection == start else {COLLECTION: collection, **parameters}


def _known() -> Address:
    known: Address = st.session_state[_ADDRESS]
    return known


def _file_knobs() -> dict[str, Knob]:
    return {knob.name: knob for knob in Settings.knobs() if knob.name not in FIXED}


def _shared() -> dict[str, Knob]:
    """The settings that travel in an address: numbers, switches and choices."""
    return {
        name: knob
        for name, knob in _file_knobs().items()
        if knob.low is not None or knob.options or isinstance(knob.default, bool)
    }


def _written(value: Any) -> str:
    """A value as a parameter; ten digits are more than any slider has, and 0.1 + 0.2 is 0.3."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _yaml(name: str, value: Any) -> list[str]:
    plain = str(value) if isinstance(value, str) else value  # a mode is a string of ours
    written_as_it_is = not (isinstance(plain, str) and LINE_ENDS & set(plain))
    return yaml.safe_dump({name: plain}, allow_unicode=written_as_it_is, width=1000).rstrip("\n").split("\n")
