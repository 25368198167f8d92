"""The acts that an audit log keeps, who is acting, and what is open to them. No text of a question or of a document.

Whoever lets a caller in says who acts (`acting`). The places where something is asked or changed say what is done
(`Note`), so that no entry point has to remember it. What is not open to whoever acts is refused there as well
(`permit`), before it is noted or done.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

from rag_core.errors import NotAllowed

NAME_DIGITS = 16  # hex digits of a name's hash: enough to tell the names of a collection apart


class Action(StrEnum):
    """An act; the word that stands in the log."""

    ASK = "ask"  # a question was asked of a collection
    DECIDE = "decide"  # over passages that the caller retrieved
    JUDGE = "judge"  # an answer that the caller brought
    KEEP = "keep"  # a decision was stored; its id
    FORGET = "forget"  # a stored decision was deleted; its id
    WATCH = "watch"  # a stored decision is watched, or no longer; its id
    INDEX = "index"
    REREAD = "reread"
    REBUILD = "rebuild"
    DISCARD = "discard"  # a file that was not indexed to its end
    DESCRIBE = "describe"  # metadata were changed
    DELETE = "delete"
    ERASE = "erase"  # deleted everywhere
    COLLECTION = "create_collection"
    DROP = "delete_collection"  # with all that was in it and kept about it
    FEEDBACK = "feedback"  # a reader's word; the id of the decision
    LABELS = "change_labels"  # a labelled set was written or deleted; a hash of its name
    RUN = "run"  # a labelled set was measured; the number of the run
    DELETE_RUN = "delete_run"
    THRESHOLDS = "change_thresholds"  # a saved preset, the one to start with, or a calibration
    EXECUTION = "record_execution"  # a program said how its work went; the number of the record
    KEEPING = "change_keeping"  # whether questions are kept
    EXPORT = "export"  # something was downloaded
    CREATE_TOKEN = "create_token"
    REVOKE_TOKEN = "revoke_token"
    SEE = "see_records"  # read what others asked, said and labelled; changes nothing, and leaves no line


# an act, and the ids of what it is about; raises where it cannot be kept
Note = Callable[[Action, Sequence[str]], None]


def unnoted(action: Action, objects: Sequence[str]) -> None:
    """Keep nothing: for what belongs to no library."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody who acts."""

    name: str  # as it stands in the log and beside what they keep: a token's id, a user of the command line, an address
    # the acts open to them everywhere; None for all, where whoever let them in has guards of its own
    may: frozenset[Action] | None = None
    within: Mapping[str, frozenset[Action]] = field(default_factory=dict, hash=False)  # further acts, by collection

    def is_open(self, action: Action, collection: str) -> bool:
        """Whether an act is open to them in a collection; "" for what belongs to none."""
        return self.may is None or action in self.may or action in self.within.get(collection, ())

    def may_enter(self, collection: str) -> bool:
        return self.may is None or bool(self.may) or bool(self.within.get(collection))

    def may_somewhere(self, action: Action) -> bool:
        """Whether an act is open to them in any collection."""
        return self.may is None or action in self.may or any(action in acts for acts in self.within.values())


_actor: ContextVar[Actor | None] = ContextVar("actor", default=None)
_process: list[Callable[[], Actor]] = [lambda: Actor("program")]  # who acts where nobody said so, in the whole process


@contextmanager
def acting(who: str | Actor) -> Iterator[None]:
    """Within the block this one acts. Threads that `Background` starts act for them too."""
    before = _actor.set(Actor(who) if isinstance(who, str) else who)
    try:
        yield
    finally:
        _actor.reset(before)


def actor() -> Actor:
    return _actor.get() or _process[0]()


def acts_by_default(find: Callable[[], Actor]) -> None:
    """Say who acts wherever nobody else says so: the page does, whose callbacks come from threads that are not ours."""
    _process[0] = find


def require_entry(collection: str) -> None:
    """Raise NotAllowed unless something in this collection is open to whoever acts now."""
    if not actor().may_enter(collection):
        raise NotAllowed(
            "No such collection is open to you.",
            remedy="Choose another, or ask whoever runs this page for a role that has it.",
        )


def permit(action: Action, collection: str) -> None:
    """Raise NotAllowed unless this act is open to whoever acts now, in this collection."""
    if not actor().is_open(action, collection):
        raise NotAllowed(
            f"This is not open to you here ({action.value}).",
            remedy="Ask whoever runs this page for a role that has it.",
        )


def permit_own(owner: str, collection: str) -> None:
    """Raise NotAllowed unless whoever acts now kept this record, or may see everybody's."""
    require_entry(collection)
    if owner != actor().name:
        permit(Action.SEE, collection)


def name_id(name: str) -> str:
    """An id for what has a name only, which somebody typed: a part of its hash."""
    return f"name:{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:NAME_DIGITS]}"
