"""Standard error as JSON alone: one object a line, whoever writes it.

Our own events are JSON by themselves (`logs`). A server, a framework, a library, Python's warnings and a plain `print` write as they like:
their loggers get our form, and what still comes as text goes through `Lines`. Beyond reach is what the interpreter or a library in C
writes as it ends the process.
"""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any, TextIO

_undo: list[Callable[[], None]] = []  # what puts everything back as it was, the latest last
_log = logging.getLogger("python")  # tells errors that nobody caught


class Lines(io.TextIOBase):
    """A stream of text on which every line becomes what `formed` makes of it.

    Args:
        below: where it goes.
        formed: one line of text, without its end, as one line of another form.
    """

    def __init__(self, below: TextIO, formed: Callable[[str], str]) -> None:
        super().__init__()
        self.below, self._formed = below, formed
        self._begun = threading.local()  # a line may come in pieces, and two threads write at once

    def write(self, text: str) -> int:
        """Take text; whole lines go on at once."""
        begun: str = getattr(self._begun, "text", "")
        *lines, self._begun.text = (begun + text).split("\n")
        said = [self._formed(line) + "\n" for line in (line.rpartition("\r")[2].rstrip() for line in lines) if line]
        if said:
            self.below.write("".join(said))
            self.below.flush()
        return len(text)

    def flush(self) -> None:
        """Hand on what is whole; the beginning of a line waits for its end."""
        with suppress(ValueError):  # the stream was closed
            self.below.flush()

    def close(self) -> None:
        """Hand on a line that has no end; the stream below stays open, for this one is closed where it is forgotten, too."""
        begun: str = getattr(self._begun, "text", "")
        if begun and not self.closed:
            with suppress(ValueError):
                self.write("\n")
        super().close()

    def fileno(self) -> int:
        """See `io.IOBase`."""
        return self.below.fileno()

    def writable(self) -> bool:
        """See `io.IOBase`."""
        return True


def begin(form: logging.Formatter, ours: tuple[str, ...]) -> None:
    """Let nothing but lines of this form onto standard error, until `end`.

    Args:
        form: makes a line of a record.
        ours: loggers that have a handler of their own.
    """
    below = sys.stderr

    def formed(line: str) -> str:
        return form.format(logging.LogRecord("stderr", logging.INFO, "", 0, line, None, None))

    lines = Lines(below, formed)
    sys.stderr = lines

    def back() -> None:
        if sys.stderr is lines:
            sys.stderr = below

    _undo.append(back)
    rest = logging.StreamHandler(below)  # for loggers that have no handler
    rest.setFormatter(form)
    rest.addFilter(lambda record: record.name.partition(".")[0] not in ours)
    logging.getLogger().addHandler(rest)
    _undo.append(lambda: logging.getLogger().removeHandler(rest))
    for handler in _on(below, apart={rest}):
        _take(handler, form, below)
    logging.captureWarnings(True)
    _undo.append(lambda: logging.captureWarnings(False))
    _hooks()


def end() -> None:
    """Leave standard error as it was before `begin`."""
    while _undo:
        _undo.pop()()


def _on(stream: TextIO, apart: set[Any]) -> list[logging.StreamHandler[Any]]:
    """The handlers of all loggers that write to standard error."""
    named = [logger for logger in logging.Logger.manager.loggerDict.values() if isinstance(logger, logging.Logger)]
    handlers = {handler for logger in (logging.getLogger(), *named) for handler in logger.handlers} - apart
    streams = (stream, sys.stderr, sys.__stderr__)
    return [handler for handler in handlers if type(handler) is logging.StreamHandler and handler.stream in streams]


def _take(handler: logging.StreamHandler[Any], form: logging.Formatter, stream: TextIO) -> None:
    before, was = handler.formatter, handler.stream
    handler.setFormatter(form)
    handler.setStream(stream)

    def back() -> None:
        handler.setFormatter(before)
        with handler.lock or nullcontext():
            handler.stream = was  # `setStream` would flush ours, which a test or a server may have closed by now

    _undo.append(back)


def _hooks() -> None:
    """Errors that nobody caught as one line each."""
    whole, threads = sys.excepthook, threading.excepthook

    def ended(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            _log.critical("ended by an error", exc_info=(kind, error, trace))

    def thread_ended(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not issubclass(args.exc_type, SystemExit):
            name = args.thread.name if args.thread else "?"
            _log.critical("the thread %s was ended by an error", name, exc_info=(args.exc_type, args.exc_value, args.exc_traceback))

    def back() -> None:
        sys.excepthook, threading.excepthook = whole, threads

    sys.excepthook, threading.excepthook = ended, thread_ended
    _undo.append(back)
