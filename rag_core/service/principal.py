"""A caller: a token's holder, or whoever sits at this machine; and why a call was refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import StrEnum

from rag_core.domain.acts import Actor, acting
from rag_core.errors import InvalidInput, RagError
from rag_core.library.stored.named import is_name

# HTTP statuses
UNAUTHORIZED, FORBIDDEN, MISSING, TOO_LARGE, UNUSABLE, TOO_OFTEN, BUSY = 401, 403, 404, 413, 422, 429, 503


class Refused(RagError):
    """A call that was not served: its HTTP status, and seconds to wait, 0 where waiting does not help."""

    status = UNUSABLE

    def __init__(self, problem: str, *, remedy: str, retry_after: int = 0) -> None:
        super().__init__(problem, remedy=remedy)
        self.retry_after = retry_after


class Unauthenticated(Refused):
    """Nobody knows who asks."""

    status = UNAUTHORIZED


class Forbidden(Refused):
    """The token lacks a scope."""

    status = FORBIDDEN


class NotFound(Refused):
    """There is none, or none that this caller may see: both look the same."""

    status = MISSING


class TooOften(Refused):
    """The caller asked more often than they may."""

    status = TOO_OFTEN


class ShareTaken(TooOften):
    """The caller has as much work under way as one caller may have."""


class Overloaded(Refused):
    """The service has as much work as it takes at once."""

    status = BUSY


class Loading(Overloaded):
    """The models are not there yet."""


class Stopping(Overloaded):
    """The service was told to stop."""


def missing(what: str, name: str = "") -> NotFound:
    """There is no such thing for this caller; `what` is a noun of ours, `name` a well-formed name that they gave."""
    there_is = f"There is no {what} {name!r}." if name else f"There is no such {what}."
    return NotFound(there_is, remedy="Check its name or id, and what your token may reach.")


EVERY = "*"  # as a collection of a token: all of them, also those to come


class Scope(StrEnum):
    """Something that a token may do."""

    ASK = "ask"  # questions, one's own decisions, lists of documents, their pages
    INDEX = "index"  # add, describe and delete documents
    LABEL = "label"  # everybody's decisions and feedback
    WATCH = "watch"  # figures on how the service does; no text
    ADMIN = "admin"  # all of these, and everybody's jobs


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: `id` is a token's, or `local`, and stands in records and logs; `admin` has all scopes.

    `collections` is None for all; `actor` is set for somebody who is known to the page too. Where `scopes_in` is set,
    `scopes` are those that they have anywhere.
    """

    id: str
    scopes: frozenset[Scope]
    collections: frozenset[str] | None = None
    actor: Actor | None = None
    scopes_in: Callable[[str], frozenset[Scope]] | None = field(default=None, compare=False)

    def within(self, collection: str) -> Principal:
        """The caller, with the scopes that they have in a collection."""
        return replace(self, scopes=self.scopes_in(collection)) if self.scopes_in else self

    def may(self, scope: Scope) -> bool:
        """Whether they have a scope."""
        return scope in self.scopes or Scope.ADMIN in self.scopes

    def may_enter(self, collection: str) -> bool:
        """Whether a collection is one of theirs."""
        return self.collections is None or collection in self.collections

    @property
    def name(self) -> str:
        """As they stand in logs."""
        if self.actor is not None:
            return self.actor.name
        return self.id if self.id == LOCAL.id else f"token:{self.id}"

    def acting(self) -> AbstractContextManager[None]:
        """Within the block, and in jobs that are started there, the audit log says that they act."""
        return acting(self.actor or self.name)

    def require(self, scope: Scope) -> None:
        """Raise Forbidden unless they have a scope."""
        if not self.may(scope):
            made = f"Use a token that was made with --scope {scope.value}."
            given = "Ask whoever runs the service for a role that allows it."
            raise Forbidden(f"This needs the scope {scope.value!r}.", remedy=given if self.actor else made)


def scopes_of(names: Iterable[str]) -> frozenset[Scope]:
    """Scopes by name."""
    found = set(names)
    known = {scope.value for scope in Scope}
    if not found or found - known:
        raise InvalidInput(
            f"The scopes cannot be {', '.join(sorted(found)) or 'none'}.",
            remedy=f"Name some of {', '.join(sorted(known))}.",
        )
    return frozenset(map(Scope, found))


def collections_of(names: Iterable[str]) -> frozenset[str] | None:
    """Names of collections; None for all where one is `EVERY`."""
    found = set(names)
    wrong = sorted(name for name in found if name != EVERY and not is_name(name))
    if not found or wrong:
        raise InvalidInput(
            f"{wrong[0] if wrong else ''!r} cannot name a collection.",
            remedy=f"Use 1 to 64 of the characters a-z, 0-9, hyphen and underscore, or {EVERY} for all collections.",
        )
    return None if EVERY in found else frozenset(found)


LOCAL = Principal("local", frozenset({Scope.ADMIN}))
