"""Whose a picture or a download is, and how long it is kept.

Streamlit names what it serves after a hash of its bytes: whoever knew the name could open it, also from a collection
that is not theirs. Here a name begins with a tag of whoever it was drawn for and of the collection it came from, and
opens for them alone.

A picture is kept for a while after the last run that shows it, so that no browser comes too late for it. Streamlit
forgets the pictures of a run when the next one begins, and deletes what nobody refers to when any session's run ends: a
browser that was slow, or whose session was just drawn anew while another one ended its run, found an empty frame where
the page should be.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any

from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rag_core.domain.acts import Actor, acting, actor
from ui.app import state
from ui.app.touches import wrap

KEPT_SECONDS = 60.0  # longer than a browser takes on a slow line; a page's picture has about 200 kB
TAG = 16  # hex digits before Streamlit's own: enough to tell the collections of ten thousand people apart
MAX_OWNERS = 100_000  # that are remembered; what an older one was shown is drawn anew in the next run
_naming = threading.Lock()
_secret = secrets.token_bytes(32)  # drawn anew in each process: a name of an earlier one opens nothing
_owners: OrderedDict[str, Owner] = OrderedDict()
_for: ContextVar[Owner | None] = ContextVar("media_owner", default=None)  # whose a download is that is being made


@dataclass(frozen=True, slots=True)
class Owner:
    """Whoever a picture was drawn for, by the name in the log, and the collection that was open then."""

    name: str
    collection: str


def owner(file: str) -> Owner | None:
    """Whose a file under `/media` is, by its name; None for one that was drawn for nobody known."""
    return _owners.get(file[:TAG])


def is_theirs(file: str, who: Actor) -> bool:
    """Whether a file under `/media` was drawn for this visitor, from a collection that is still open to them."""
    found = owner(file)
    return found is not None and found.name == who.name and who.may_enter(found.collection)


def install() -> None:
    """See to it for all sessions of this process, from the first run on."""
    wrap(MediaFileManager, "_get_inactive_file_ids", _long_enough)
    wrap(MemoryMediaFileStorage, "load_and_get_id", _tagged)
    wrap(MediaFileManager, "add_deferred", _bound)


def _tagged(load: Callable[..., str]) -> Callable[..., str]:
    """Keep a file under a name that begins with its owner's tag, and under no other."""

    @wraps(load)
    def loaded(storage: MemoryMediaFileStorage, *given: Any, **named: Any) -> str:
        tag = _tag(_for.get() or _owner_here())
        with _naming:  # two who are shown the same picture at once
            plain = load(storage, *given, **named)
            storage._files_by_id[tag + plain] = storage._files_by_id.pop(plain)
        return tag + plain

    return loaded


def _bound(add: Callable[..., str]) -> Callable[..., str]:
    """A download that is made on the click, outside of any run, is made for whoever it was offered to."""

    @wraps(add)
    def added(manager: MediaFileManager, make: Callable[[], Any], *given: Any, **named: Any) -> str:
        who, owned_by = actor(), _owner_here()

        def made() -> Any:
            _for.set(owned_by)  # in a thread's own context, which ends with this download
            with acting(who):
                return make()

        return add(manager, made, *given, **named)

    return added


def _owner_here() -> Owner:
    return Owner(actor().name, state.session().collection if get_script_run_ctx() else "")


def _tag(owned_by: Owner) -> str:
    tag = hmac.digest(_secret, f"{owned_by.collection}\0{owned_by.name}".encode(), "sha256").hex()[:TAG]
    with _naming:
        _owners[tag] = owned_by
        _owners.move_to_end(tag)
        while len(_owners) > MAX_OWNERS:
            _owners.popitem(last=False)
    return tag


def _long_enough(find: Callable[[MediaFileManager], set[str]]) -> Callable[[MediaFileManager], set[str]]:
    """Of the files that nobody refers to, those that nobody has for `KEPT_SECONDS`."""

    @wraps(find)
    def found(manager: MediaFileManager) -> set[str]:
        inactive, now = find(manager), time.monotonic()
        known: dict[str, float] = vars(manager).get("_inactive_since", {})
        since = {file: known.get(file, now) for file in inactive}
        vars(manager)["_inactive_since"] = since
        return {file for file, first in since.items() if now - first >= KEPT_SECONDS}

    return found
