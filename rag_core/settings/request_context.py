"""The request that is being served: the ids that its log lines, its problems, its spans and its calls of other servers
carry, and what its line in the log is about. No text of a question.

Ids are those of W3C Trace Context (`traceparent`) and X-Request-ID: a caller's, where they are well formed, else made
here.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass

# a version after 00 may say more behind these four parts; zeros alone are no id
_TRACEPARENT = re.compile(
    r"(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?"
)
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+/=@-]{0,127}")


@dataclass(slots=True)
class RequestContext:
    """A request, in all threads that work on it."""

    id: str  # at most 128 letters, digits and signs; a caller's or 32 hex digits
    trace_id: str  # 32 hex digits
    span_id: str  # 16 hex digits, of what is done here; a call of another server names it as its parent
    parent_id: str = ""  # 16 hex digits, of the caller's span; "" where they named none
    sampled: bool = True  # whether its spans are to be kept
    caller: str = ""  # whose share of the service it takes; "" as long as nobody knows
    collections: tuple[str, ...] = ()  # that it entered, by name
    decision: str = ""  # the id of the kept decision that it made or showed; "" for none
    is_chat: bool = False  # whether its caller reads errors as OpenAI's protocol has them

    @property
    def traceparent(self) -> str:
        """The header that names this span as the parent."""
        return f"00-{self.trace_id}-{self.span_id}-{self.sampled:02x}"

    @property
    def ids(self) -> dict[str, str]:
        return {"request_id": self.id, "trace_id": self.trace_id}


REQUEST: ContextVar[RequestContext | None] = ContextVar("request", default=None)


def received(traceparents: Sequence[str], ids: Sequence[str]) -> RequestContext:
    """The request with these values of its headers; a header that comes twice or is not well formed is not there."""
    parent = _TRACEPARENT.fullmatch(traceparents[0]) if len(traceparents) == 1 else None
    id = ids[0] if len(ids) == 1 and _REQUEST_ID.fullmatch(ids[0]) else secrets.token_hex(16)
    if parent is None:
        return RequestContext(id, secrets.token_hex(16), secrets.token_hex(8))
    return RequestContext(id, parent[1], secrets.token_hex(8), parent[2], bool(int(parent[3], 16) & 1))


def request_ids() -> dict[str, str]:
    """The ids of the request that is being served; none where it is no request that is worked on."""
    request = REQUEST.get()
    return request.ids if request else {}


def note_collection(name: str) -> None:
    request = REQUEST.get()
    if request and name not in request.collections:
        request.collections += (name,)


def note_decision(id: str) -> None:
    """Say that the request is about a kept decision; "" for one that is not kept."""
    if request := REQUEST.get():
        request.decision = id
