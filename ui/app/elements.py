"""Elements that the pages share, with their words by key: no text but ours can reach what interprets it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import streamlit as st

from rag_core.errors import RagError
from ui.app.texts import say, show_error

T = TypeVar("T")


def button(
    text: str,
    key: str,
    act: Callable[..., None] | None = None,
    *given: Any,
    n: float = 0,
    help: str = "",
    **more: Any,
) -> bool:
    """A button, which calls `act` with what is given; whether it was pressed.

    `text` and `help` are keys of its words, which may have a number `n`; `key` is that of the widget. `icon` is a name.
    """
    said = say(help, n=n) if help else None
    return st.button(say(text, n=n), key=key, on_click=act, args=given, help=said, **with_icon(more))


def submit(text: str, icon: str = "", act: Callable[..., None] | None = None, *given: Any, **more: Any) -> bool:
    """The button of a form, as `button`."""
    return st.form_submit_button(say(text), on_click=act, args=given, **with_icon(more | {"icon": icon}))


def segments(text: str, options: Sequence[T], words: str, key: str, value: T | None = None, **more: Any) -> T:
    """One of a few options, at first `value` or the first one; each is called by the text `words` and its name."""
    first = options[0] if value is None else value
    chosen: T | None = st.segmented_control(
        say(text),
        options,
        default=first,
        required=True,
        format_func=lambda one: say(f"{words}{one}"),
        key=key,
        **{"label_visibility": "collapsed"} | more,
    )
    return first if chosen is None else chosen


def select(
    text: str, options: Sequence[T], key: str, shown: Callable[[T], str], at: int = 0, help: str = "", **more: Any
) -> T:
    """The option that is chosen in a field, at first the one at this place; `shown` gives an option's words."""
    said = say(help) if help else None
    chosen: T = st.selectbox(say(text), options, at, format_func=shown, key=key, help=said, **more)
    return chosen


def file_field(text: str, types: Sequence[str], key: str, help: str, megabytes: int | None = None, **more: Any) -> None:
    """Where files of at most so many megabytes, or as many as the server takes, are dropped.

    The style sheet shows these words instead of Streamlit's, which are English on every screen.
    """
    st.html(_words_of_field(key, megabytes))
    st.file_uploader(say(text), types, key=key, help=say(help), max_upload_size=megabytes, **more)


def _words_of_field(key: str, megabytes: int | None) -> str:
    most = megabytes or int(st.get_option("server.maxUploadSize"))
    words = {"upload": say("files.upload"), "more": say("files.more"), "takes": say("files.takes", n=most)}
    style = ";".join(f"--{name}:{json.dumps(said, ensure_ascii=False)}" for name, said in words.items())
    return f"<style>.st-key-{key}{{{style}}}</style>"


def badge(text: str, icon: str, color: Any, *, n: float = 0, help: str = "") -> None:
    """A badge; its words and help by key, its icon by name, "" for none."""
    said, sign = say(help) if help else None, f":material/{icon}:" if icon else None
    st.badge(say(text, n=n), icon=sign, color=color, help=said)


def show_text(text: str, key: str | None) -> None:
    """Text as it is, in a container that the style sheet finds by its key."""
    with st.container(key=key):
        st.text(text)


def remember(key: str, value: object) -> None:
    """Put a value into the session; for callbacks."""
    st.session_state[key] = value


def asks_first(text: str, key: str, **more: Any) -> bool:
    """Whether a button was pressed whose act takes one more word; without it the button is shown.

    The session holds it under `key` until that is set to False.
    """
    asking = bool(st.session_state.get(key))
    if not asking:
        button(text, f"ask_{key}", remember, key, True, icon="delete", **more)
    return asking


def offer_deletion(text: str, key: str, warning: str, keep: str, act: Callable[..., None], *given: Any) -> None:
    """A button that deletes by `act` with what is given, after one more question.

    `text` is the key of its words, which end in `_sure` for the second one; `keep` that of the way back; `warning` is
    text that is shown as it is.
    """
    if asks_first(text, key):
        st.text(warning)
        button(keep, f"keep_{key}", remember, key, False)
        button(f"{text}_sure", f"sure_{key}", act, *given, type="primary")


@contextmanager
def kept_error(key: str) -> Iterator[None]:
    """Keep the error that ends the block, for `show_kept_error` in the next run: a callback draws nothing."""
    try:
        yield
    except RagError as error:
        st.session_state[key] = error


def show_kept_error(key: str) -> None:
    """Show once the error that is kept under this key."""
    if (error := st.session_state.pop(key, None)) is not None:
        show_error(error)


@contextmanager
def shown_error() -> Iterator[None]:
    """Show the error that ends the block."""
    try:
        yield
    except RagError as error:
        show_error(error)


def with_icon(more: dict[str, Any]) -> dict[str, Any]:
    """These arguments of an element, with the icon by its name."""
    return more | {"icon": f":material/{more['icon']}:" if more.get("icon") else None}
