"""Files that the page offers to save: made on the click, noted in the audit log before they are sent, and open to
whoever they were offered to alone.

Streamlit names a file after a hash of its bytes: whoever knew the name could open it, also from a collection that is
not theirs. Pictures have no address at all: they travel in the page's own messages.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.runtime.memory_media_file_storage import _calculate_file_id
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rag_core.domain.acts import Action, Actor, acting, actor
from rag_core.wiring import noting
from ui.app import state
from ui.app.elements import with_icon
from ui.app.texts import say

KINDS = {"md": "text/markdown", "jsonl": "application/jsonl", "yaml": "application/yaml"}  # not known everywhere
UNKNOWN = "application/octet-stream"
MAX_REMEMBERED = 10_000  # files; an older one is made anew by the next click
_collections: dict[tuple[str, str], str] = {}  # that a file came from, by its name and whoever it was made for


def download(
    text: str, make: Callable[[], bytes | str], file: str, key: str, *, n: float = 0, help: str = "", **more: Any
) -> None:
    """A button that saves what `make` gives as `file`, whose kind is told by its name; the words are by key."""
    kind = KINDS.get(file.rpartition(".")[2]) or mimetypes.guess_type(file)[0] or UNKNOWN
    said, more = say(help) if help else None, with_icon({"icon": "download", **more})
    made = _for_whoever_is_here(make, kind, file)
    st.download_button(say(text, n=n), made, file, kind, key=key, on_click="ignore", help=said, **more)


def is_theirs(file: str, who: Actor) -> bool:
    """Whether a file was made for this person, from a collection that is still open to them."""
    collection = _collections.get((file.partition(".")[0], who.name))
    return collection is not None and who.may_enter(collection)


def _for_whoever_is_here(make: Callable[[], bytes | str], kind: str, file: str) -> Callable[[], bytes]:
    """The call for the click, which comes outside of any run: what cannot be noted is an error there, and not sent."""
    who, collection = actor(), state.session().collection if get_script_run_ctx() else ""

    def made() -> bytes:
        with acting(who):
            data = make()
            sent = data.encode() if isinstance(data, str) else data
            name = _calculate_file_id(sent, kind, file)
            noting(state.library_folder(), collection)(Action.EXPORT, (f"media:{name}",))
        _collections[name, who.name] = collection
        while len(_collections) > MAX_REMEMBERED:
            _collections.pop(next(iter(_collections)), None)
        return sent

    return made
