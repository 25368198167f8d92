"""Takes what a field or button sent and runs its callback to the end, before the next touch of the page ends the run.

Streamlit looks for the next touch once before it takes what the last one sent, and at each reading of the session in a callback. A touch
that was found there put an end to the run: a question that was typed 0.1 s earlier was dropped unseen, a callback was left half done.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from streamlit.runtime.scriptrunner import RerunException
from streamlit.runtime.state import SafeSessionState


def take_each() -> None:
    """See to it for all sessions of this process, from the first run on."""
    if not hasattr(SafeSessionState.on_script_will_rerun, "__wrapped__"):
        SafeSessionState.on_script_will_rerun = _taking(SafeSessionState.on_script_will_rerun)  # type: ignore[method-assign]


def _taking(take: Callable[..., None]) -> Callable[..., None]:
    @wraps(take)
    def taken(state: SafeSessionState, *sent: Any, **more: Any) -> None:
        look, next_touch = state._yield_callback, None
        try:
            look()  # a session that ends is left alone
        except RerunException as touch:
            next_touch = touch
        object.__setattr__(state, "_yield_callback", lambda: None)  # its own setattr writes into the session
        try:
            take(state, *sent, **more)
        finally:
            object.__setattr__(state, "_yield_callback", look)
        if next_touch is not None:
            raise next_touch

    return taken
