"""Why a call of a program was refused: each has an HTTP status, a problem and a remedy."""

from __future__ import annotations

from rag_core.errors import RagError

# HTTP statuses
UNAUTHORIZED, FORBIDDEN, MISSING, TOO_LARGE, UNUSABLE, TOO_OFTEN, BUSY = 401, 403, 404, 413, 422, 429, 503


class Refused(RagError):
    """A call that was not served.

    `status` is its HTTP status; `retry_after` seconds to wait, 0 where waiting does not help.
    """

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


def missing(what: str) -> NotFound:
    """There is no such thing for this caller; `what` is a noun of ours and never what was asked for, so that all of
    these are equal.
    """
    return NotFound(f"There is no such {what}.", remedy="Check its name or id, and what your token may reach.")
