"""Keeps what a touch of the page sent or asked for when the next touch comes before it was dealt with.

Streamlit looks for the next touch once before it takes what the last one sent, and at each reading of the session in a callback. A touch
that was found there put an end to the run: a question that was typed 0.1 s earlier was dropped unseen, a callback was left half done.

A run that begins takes back all that was not sent to the browser yet, for most of it is drawn anew. What the browser had asked for is not:
a dropped file would wait for ever for the address to send it to, and be lost unseen.

A page runs once at a time (`runner.fastReruns` is off): the touches that wait are put together, where a second run beside the first would
drop some. Then one thread makes many runs, and a run of the page begins where the fragment before it stood, unless it is told.

A thread that has no more touches ends. Where the next touch, or the timer of a fragment, is dealt with before all that the thread drew was
taken from it, Streamlit takes nothing of it any more: of a file that was indexed the page said nothing. So a new thread waits for its turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import streamlit as st
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.state import SafeSessionState
from streamlit.runtime.state.common import user_key_from_element_id

ANSWERS = ("file_urls_response", "backend_operation_response")  # messages that the browser waits for
_SHOWN = "plumbline_shown"  # an attribute of a session: keys of the fields that the browser told a value of with its last touch


def take_each() -> None:
    """See to it for all sessions of this process, from the first run on."""
    if not hasattr(SafeSessionState.on_script_will_rerun, "__wrapped__"):
        SafeSessionState.on_script_will_rerun = _taking(SafeSessionState.on_script_will_rerun)  # type: ignore[method-assign]
    if not hasattr(ForwardMsgQueue.clear, "__wrapped__"):
        ForwardMsgQueue.clear = _keeping(ForwardMsgQueue.clear)  # type: ignore[method-assign]
    if not hasattr(AppSession._create_scriptrunner, "__wrapped__"):
        AppSession._create_scriptrunner = _waiting(AppSession._create_scriptrunner)  # type: ignore[method-assign, assignment]


def tell(key: str, value: object) -> None:
    """Give a field its value, before it is drawn.

    A browser that does not show the field yet must be told in every run: what a run that was cut short had to say is dropped, and a slider
    stands at its lowest then. One that shows it is not told again, for that would take back a touch that is on its way.
    """
    context = get_script_run_ctx()
    shown = context is not None and key in context.session_state.__dict__.get(_SHOWN, ())
    if not shown or key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def _taking(take: Callable[..., None]) -> Callable[..., None]:
    @wraps(take)
    def taken(state: SafeSessionState, sent: WidgetStates | None, **more: Any) -> None:
        context_dg_stack.set(get_default_dg_stack_value())  # a fragment goes to its own place by itself
        if sent is not None:
            state.__dict__[_SHOWN] = {user_key_from_element_id(field.id) for field in sent.widgets}
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
        if next_touch is not None:
            raise next_touch

    return taken


def _keeping(clear: Callable[..., None]) -> Callable[..., None]:
    @wraps(clear)
    def cleared(queue: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, **more: Any) -> None:
        answers = [message for message in queue._queue if message.WhichOneof("type") in ANSWERS]
        clear(queue, retain_lifecycle_msgs, **more)
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
