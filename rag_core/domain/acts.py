"""The acts that an audit log keeps, and who is acting: names and ids of ours only, never text of a question or of a document.

Whoever lets a caller in says who acts (`acting`). The places where something is asked or changed say what is done (`Note`), so that no
entry point has to remember it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum

NAME_DIGITS = 16  # hex digits of a name's hash: enough to tell the names of a collection apart


class Action(StrEnum):
    """An act; the word that stands in the log."""

    ASK = "ask"  # a question was asked of a collection
    DECIDE = "decide"  # over passages that the caller retrieved
    JUDGE = "judge"  # an answer that the caller brought
    KEEP = "keep"  # a decision was stored; its id
    FORGET = "forget"  # a stored decision was deleted; its id
    INDEX = "index"
    REREAD = "reread"
    REBUILD = "rebuild"
    DISCARD = "discard"  # a file that was not indexed to its end
    DESCRIBE = "describe"  # metadata were changed
    DELETE = "delete"
    ERASE = "erase"  # deleted everywhere
    COLLECTION = "create_collection"
    FEEDBACK = "feedback"  # a reader's word; the id of the decision
    LABELS = "change_labels"  # a labelled set was written or deleted; a hash of its name
    RUN = "run"  # a labelled set was measured; the number of the run
    DELETE_RUN = "delete_run"
    THRESHOLDS = "change_thresholds"  # a saved preset, the one to start with, or a calibration
    PROFILE = "change_profile"  # a version was proposed, put in force or declined; such as legal@2
    EXECUTION = "record_execution"  # a program said how its work went; the number of the record
    KEEPING = "change_keeping"  # whether questions are kept
    EXPORT = "export"  # something was downloaded
    QUOTA = "change_quota"  # how much a collection may have
    CREATE_TOKEN = "create_token"
    REVOKE_TOKEN = "revoke_token"
    PRUNE = "shorten_log"  # old lines of this log were removed; how many since its beginning, and the chain's hash up to there


Note = Callable[[Action, Sequence[str]], None]  # an act, and the ids of what it is about; raises where it cannot be kept


def unnoted(action: Action, objects: Sequence[str]) -> None:
    """Keep nothing: for what belongs to no library."""


_actor: ContextVar[str] = ContextVar("actor", default="")
_process = ["program"]  # who acts where nobody said so: one name for the whole process


@contextmanager
def acting(who: str) -> Iterator[None]:
    """Within the block this one acts: a token's id, the command line's user. Threads that `Background` starts act for them too."""
    before = _actor.set(who)
    try:
        yield
    finally:
        _actor.reset(before)


def actor() -> str:
    """Who acts now."""
    return _actor.get() or _process[0]


def acts_by_default(who: str) -> None:
    """Say who acts wherever nobody else says so: the page does, whose callbacks come from threads that are not ours."""
    _process[0] = who


def name_id(name: str) -> str:
    """An id for what has a name only, which somebody typed: a part of its hash."""
    return f"name:{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:NAME_DIGITS]}"
