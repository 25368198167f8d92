"""Shared by both clients: errors of the service, when to send again, and reading a stream of events."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from rag_core.errors import RagError
from rag_core.service.messages import models

MAX_WAIT_SECONDS = 30.0  # before a call is sent again, whatever the service says
TIMEOUT = httpx2.Timeout(120.0, connect=10.0)  # seconds; indexing waits up to a minute by default
BUSY = (429, 503)  # HTTP statuses with which the service has done nothing


class ServiceError(RagError):
    """The service did not do it.

    Args:
        status: of HTTP; 0 where it was not reached.
        kind: a stable name of the problem.
        errors: the fields that cannot be used.
    """

    def __init__(self, problem: str, *, remedy: str, status: int = 0, kind: str = "", errors: Any = ()) -> None:
        super().__init__(problem, remedy=remedy)
        self.status, self.told, self.errors = status, kind, tuple(errors)

    @property
    def kind(self) -> str:
        """A stable name of the problem, as the service has it."""
        return self.told or type(self).__name__


def options(address: str, token: str | None, visit: str | None = None) -> dict[str, Any]:
    """The options of the connection; it follows no redirect, so that the token goes nowhere else, and asks no proxy."""
    headers = {"authorization": f"Bearer {token}"} if token else {"x-browser-id": visit} if visit else {}
    return {"base_url": address, "headers": headers, "timeout": TIMEOUT, "follow_redirects": False, "trust_env": False}


def wait_seconds(response: httpx2.Response, left: int) -> float | None:
    """How long to wait before the call is sent again; None where it is not."""
    if response.status_code not in BUSY or left <= 0:
        return None
    said = response.headers.get("retry-after", "1")
    return min(float(said) if said.isdecimal() else 1.0, MAX_WAIT_SECONDS)


def failure(response: httpx2.Response) -> ServiceError:
    """The problem that a response tells."""
    return problem(response.content, response.status_code)


def problem(content: bytes, status: int = 0) -> ServiceError:
    """The problem that a body tells."""
    try:
        told = json.loads(content)
        detail, remedy, kind = (str(told[name]) for name in ("detail", "remedy", "kind"))
    except (ValueError, KeyError, TypeError):
        return ServiceError(f"The service answered {status}.", remedy="Look at its address and its log.", status=status)
    return ServiceError(detail, remedy=remedy, status=int(told.get("status", status)), kind=kind, errors=told.get("errors", ()))


def unreachable(error: Exception) -> ServiceError:
    """The service was not reached, or sent what nobody can read."""
    return ServiceError(f"The service was not reached ({type(error).__name__}).", remedy="Look at its address, and whether it runs.")


def event(line: str) -> models.Job | None:
    """The job that a line of a stream tells; None for any other line."""
    return models.Job.model_validate_json(line.removeprefix("data: ")) if line.startswith("data: ") else None


def stage(line: str, name: str) -> tuple[str, str | models.Decision | None]:
    """The event that the next line belongs to, and what this line tells: a stage's name, a decision, or nothing.

    Raises:
        ServiceError: the question came to a problem.
    """
    if line.startswith("event: "):
        return line.removeprefix("event: "), None
    data = line.removeprefix("data: ")
    if not line.startswith("data: "):
        return name, None
    if name == "problem":
        raise problem(data.encode())
    if name == "decision":
        return name, models.Decision.model_validate_json(data)
    return name, str(json.loads(data).get("step", "")) if name == "stage" else None
