"""Server-sent events: how many streams may be open, and how an event is written."""

from __future__ import annotations

from typing import Any

MAX_STREAMS = 50  # that are open at once
EVENT = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}, "required": ["event", "data"]}
# 200: HTTP's status of success
EVENTS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {"schema": EVENT}}}}


def event(name: str, data: str) -> str:
    """An event; `data` is one line of JSON."""
    return f"event: {name}\ndata: {data}\n\n"
