"""Keeps what a touch of the page sent or asked for when the next touch comes before it was dealt with.

Streamlit looks for the next touch once before it takes what the last one sent, and at each reading of the session in a
callback. A touch that was found there put an end to the run: a question that was typed 0.1 s earlier was dropped
unseen, a callback was left half done.

A run that begins takes back all that was not sent to the browser yet, for most of it is drawn anew. What the browser
had asked for is not: a dropped file would wait for ever for the address to send it to, and be lost unseen. A fragment's
run takes back what the page's run had drawn at the fragment's place. The browser, which hears that the page's run
ended, closes that gap, and then draws the fragment over what stands behind it: that a file was indexed. So a fragment's
run takes nothing back.

A page runs once at a time (`runner.fastReruns` is off): the touches that wait are put together, where a second run
beside the first would drop some. Then one thread makes many runs, and a run of the page begins where the fragment
before it stood, unless it is told.

A thread that has no more touches ends. Where the next touch, or the timer of a fragment, is dealt with before all that
the thread drew was taken from it, Streamlit takes nothing of it any more: of a file that was indexed the page said
nothing. So a new thread waits for its turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import streamlit as st
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import RerunException
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.common import user_key_from_element_id

ANSWERS = ("file_urls_response", "backend_operation_response")  # messages that the browser waits for
MAX_TOLD = 50  # values of a field that are on their way to a browser; chosen: fast keys send some ten a second
_FIELDS = "plumbline_fields"  # a key of a session


@dataclass(slots=True)
class _Fields:
    """Values of the settings' fields, by key."""

    said: dict[str, object] = field(default_factory=dict)  # by the browser, with its last touch
    told: dict[str, list[object]] = field(default_factory=dict)  # to the browser, which has not said them yet
    put: dict[str, object] = field(default_factory=dict)  # by a callback, and not drawn since


def take_each() -> None:
    """See to it for all sessions of this process, from the first run on."""
    wrap(SafeSessionState, "on_script_will_rerun", _taking)
    wrap(ForwardMsgQueue, "clear", _keeping)
    wrap(AppSession, "_create_scriptrunner", _waiting)


def wrap(of: type, name: str, wrapped: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put a function around a method of Streamlit's, once in the life of the process."""
    if not hasattr(getattr(of, name), "__wrapped__"):
        setattr(of, name, wrapped(getattr(of, name)))


def put(key: str, value: object) -> None:
    """Give a field its value from elsewhere on the page, in a callback.

    It holds until the field is drawn or the user moves it.

    The browser sends every field with every touch, so until it was told it sends the old value. Taken for the user's
    wish, that would undo this: a limit that was moved under its answer went back where the side bar's slider still
    stood.
    """
    st.session_state[key] = value
    _fields().put[key] = value


def tell(key: str, value: object) -> None:
    """Give a field its value, before it is drawn; draw the field with the same value as its default.

    A browser that shows another value, or does not show the field yet, is told in every run, for what a run that was
    cut short had to say is dropped. One that shows this value is not told again: that would take back a touch that is
    on its way. Where the browser forgets a field between two runs, it begins again at the default, and without one a
    slider stands at its lowest.
    """
    fields = _fields()
    fields.put.pop(key, None)
    if key not in st.session_state or key not in fields.said or fields.said[key] != value:
        st.session_state[key] = value
        fields.told[key] = [*(one for one in fields.told.get(key, ()) if one != value), value][-MAX_TOLD:]


def _fields() -> _Fields:
    found: _Fields = st.session_state.setdefault(_FIELDS, _Fields())
    return found


def _taking(take: Callable[..., None]) -> Callable[..., None]:
    @wraps(take)
    def taken(state: SafeSessionState, sent: WidgetStates | None, **more: Any) -> None:
        context_dg_stack.set(get_default_dg_stack_value())  # a fragment goes to its own place by itself
        look, next_touch = state._yield_callback, None
        try:
            look()  # a session that ends is left alone
        except RerunException as touch:
            next_touch = touch
        object.__setattr__(state, "_yield_callback", lambda: None)  # its own setattr writes into the session
        try:
            take(state, sent, **more)
        finally:
            object.__setattr__(state, "_yield_callback", look)
        if sent is not None:
            _listen(state._state, sent)
        if next_touch is not None:
            raise next_touch

    return taken


def _listen(session: SessionState, sent: WidgetStates) -> None:
    """Note what the browser says of each field.

    What was put or told and not said yet holds, unless the user has moved the field since.
    """
    fields: _Fields = session[_FIELDS] if _FIELDS in session else _Fields()
    before, fields.said = fields.said, _values(session, sent)
    unmoved = {key for key, said in fields.said.items() if said == before.get(key) or said in fields.told.get(key, ())}
    fields.put = {key: value for key, value in fields.put.items() if key in unmoved or key not in fields.said}
    fields.told = {
        key: left for key, told in fields.told.items() if key in unmoved and (left := _left(told, fields.said[key]))
    }
    for key, value in ({key: told[-1] for key, told in fields.told.items()} | fields.put | {_FIELDS: fields}).items():
        session[key] = value


def _left(told: list[object], said: object) -> list[object]:
    """The values that a browser was told after the one that it says."""
    return told[told.index(said) + 1 :] if said in told else told


def _values(session: SessionState, sent: WidgetStates) -> dict[str, object]:
    """The values that a browser sent, by the keys of the fields; without those that no run has drawn yet."""
    keys = {told.id: user_key_from_element_id(told.id) for told in sent.widgets}
    known = session._new_widget_state
    return {key: known[name] for name, key in keys.items() if key and name in known.widget_metadata and name in known}


def _keeping(clear: Callable[..., None]) -> Callable[..., None]:
    @wraps(clear)
    def cleared(
        queue: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        if retain_lifecycle_msgs and fragment_ids_this_run:
            queue._delta_index_map = {}  # and puts nothing of its own among what is there
            return
        answers = [message for message in queue._queue if message.WhichOneof("type") in ANSWERS]
        clear(queue, retain_lifecycle_msgs, fragment_ids_this_run)
        kept = set(map(id, queue._queue))
        if retain_lifecycle_msgs:  # else they were sent
            queue._queue += [answer for answer in answers if id(answer) not in kept]

    return cleared


def _waiting(create: Callable[[AppSession, RerunData], None]) -> Callable[[AppSession, RerunData], None]:
    @wraps(create)
    def created(session: AppSession, touch: RerunData) -> None:
        ended = session._scriptrunner
        if ended is None:
            create(session, touch)
            return

        def after_what_it_drew() -> None:
            runner = session._scriptrunner
            if session._state != AppSessionState.SHUTDOWN_REQUESTED and (
                runner is None or runner is ended or not runner.request_rerun(touch)
            ):
                create(session, touch)

        session._event_loop.call_soon(after_what_it_drew)  # what it drew was handed to this loop before

    return created
