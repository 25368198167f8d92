"""Sets up the log that an operator reads: numbers and names of events, and never text of a question or of a document.

RAG_LOG=text or json sends it to standard error; RAG_LOG_FILE sends it to a file instead, which starts anew at 10 MB,
five old ones kept. `--verbose` of the command line is RAG_LOG=text. Without any of these, only warnings are shown.
Warnings of libraries and of Python go the same way. A line that belongs to a request of the API carries its ids.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from typing import Any

from rag_core.errors import InvalidSetting
from rag_core.settings.request_context import request_ids

LOGGERS = ("rag_core", "ui")
FORMS = ("text", "json")
FILE_BYTES, OLD_FILES = 10_000_000, 5  # chosen
_EVENT, _FIELDS = "event", "fields"
_started: list[logging.Handler] = []  # the one that the last call set up


def noted(event: str, **fields: Any) -> dict[str, Any]:
    """The `extra` of a log line: its event's name, and the numbers and names that JSON keeps as fields of their own."""
    return {_EVENT: event, _FIELDS: fields}


def start_logs(environment: Mapping[str, str], *, verbose: bool = False) -> None:
    """Log as the environment says; a second call replaces what the first one set up. Raises InvalidSetting.

    RAG_LOG is text or json, RAG_LOG_FILE the path of a file. `verbose`: as text, where the environment says nothing.
    """
    form, file = environment.get("RAG_LOG", "").strip().lower(), environment.get("RAG_LOG_FILE", "").strip()
    if form and form not in FORMS:
        raise InvalidSetting(f"RAG_LOG is {form!r}.", remedy="Set it to text or json, or not at all.")
    while _started:
        logging.getLogger().removeHandler(_started[0])
        _started.pop().close()
    logging.captureWarnings(bool(form or file or verbose))
    if not (form or file or verbose):
        return
    started: logging.Handler = _to_file(file) if file else logging.StreamHandler(sys.stderr)
    started.setFormatter(_Json() if form == "json" else _Text())
    _started.append(started)
    logging.getLogger().addHandler(started)
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.INFO)


def _to_file(path: str) -> RotatingFileHandler:
    try:
        return RotatingFileHandler(path, maxBytes=FILE_BYTES, backupCount=OLD_FILES, encoding="utf-8")
    except OSError as error:
        raise InvalidSetting(
            f"RAG_LOG_FILE is {path!r}, which cannot be written: {error.strerror}.",
            remedy="Name a file in a folder that exists and is yours.",
        ) from error


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Text(logging.Formatter):
    """Time, level, logger, ids of the request and message on a line; no control character moves a cursor."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the lines of an error after it."""
        ids = "".join(f" {name}={id}" for name, id in request_ids().items())
        line = f"{_time(record)} {record.levelname} {record.name}{ids} {super().format(record)}"
        return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in line)


class _Json(logging.Formatter):
    """One JSON object a line: time, level, logger, message, ids of the request, event and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        row = {"time": _time(record), "level": record.levelname, "logger": record.name, "message": record.getMessage()}
        row |= request_ids()
        if event := getattr(record, _EVENT, ""):
            row |= {_EVENT: event, **getattr(record, _FIELDS, {})}
        if record.exc_info:
            row["error"] = self.formatException(record.exc_info)
        return json.dumps(row)
