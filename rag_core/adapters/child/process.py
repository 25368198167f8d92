"""An embedder whose model runs in a child process.

Importing torch and sentence-transformers takes seconds in which no other thread of a process gets on. In a child they
are imported on another core, beside the start of the page; later the page is drawn while the child computes.
"""

from __future__ import annotations

import logging
import math
import os
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from threading import Timer

import numpy as np

from rag_core.adapters.child import pipes
from rag_core.adapters.child.pipes import Started
from rag_core.adapters.embedding.by_name import EMBEDDED
from rag_core.adapters.embedding.embedded import count_tokens
from rag_core.adapters.embedding.reader import MODEL_FILE, version_of
from rag_core.adapters.embedding.support import SUPPORT_FILE, SUPPORT_LANGUAGES
from rag_core.domain.passages import Place, ReadPlace
from rag_core.domain.ports import TextKind, Vectors
from rag_core.errors import ModelTimedOut, ModelUnavailable

# seconds in which short requests come before a long one: a batch of passages takes a tenth of that, so questions lose
# little; chosen
PATIENCE = 1.0
# seconds without a short request after which a long one may begin; a question's next one comes within; chosen
MOMENT = 0.05


class InTurn:
    """Places that are given in the order of asking; who can wait (`behind`) asks as if `PATIENCE` seconds later, and
    begins when all are free.

    Python's own goes to whoever is quickest: beside a file of 300 pages questions waited a minute for a thread that
    embeds. A question comes with some six short requests, so who can wait lets a moment pass after each one of somebody
    else, as an anticipatory scheduler of a disk does (Iyer and Druschel, 2001). No thread may hold two.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, places: int = 1) -> None:
        self._clock, self._count = clock, count()
        self._changed, self._places = threading.Condition(), places
        self._free = list(range(places))
        self._line: list[tuple[float, int, bool]] = []  # who waits: from when on, a number, whether it can wait
        self._last = -math.inf, 0  # when the last short request was done, and in which thread

    def locked(self) -> bool:
        return len(self._free) < self._places

    @contextmanager
    def held(self, behind: bool = False) -> Iterator[int]:
        """Have a place, by its number, within the block."""
        place = self._take(self._clock() + PATIENCE * behind, behind)
        try:
            yield place
        finally:
            with self._changed:
                self._free.append(place)
                self._last = self._last if behind else (self._clock(), threading.get_ident())
                self._changed.notify_all()

    def _take(self, since: float, behind: bool) -> int:
        with self._changed:
            mine = since, next(self._count), behind
            self._line.append(mine)
            try:
                while (
                    len(self._free) < (self._places if behind else 1)
                    or mine != min(self._line)
                    or (behind and self._waits(since))
                ):
                    self._changed.wait(MOMENT if behind else None)
                return self._free.pop()
            finally:  # a signal may end the wait
                self._line.remove(mine)
                self._changed.notify_all()

    def _waits(self, since: float) -> bool:
        """Whether who can wait lets a moment pass, where nobody else waits."""
        done, thread = self._last
        return self._clock() < min(since, done + MOMENT) and thread != threading.get_ident()


WORKER = "rag_core.adapters.child.worker"
AT_ONCE = 2  # requests: the texts of one seldom fill two cores to their end, and a question alone has one
# for one request to a loaded model; the longest usual one, three passages for an entailment model, takes some seconds
ANSWER_SECONDS = 300.0
# texts at most in a request of a question, which embeds eight sentences; indexing sends more, and lets questions by;
# chosen
SHORT = 12
END_SECONDS = 2.0  # for a child that closed its pipe to be gone, so that it can be said why
_log = logging.getLogger(__name__)


class ProcessEmbedder:
    """An `Embedder` in a child process; see `load_embedder` for its arguments. Threads may share it: `AT_ONCE` requests
    at a time.

    It is made at once; the first call waits until the model is loaded. A child that ended between two calls is
    replaced; one that ends costs the calls under way a `ModelUnavailable`. No child outlives this object or this
    process.
    """

    def __init__(self, model: str, precision: str = "auto") -> None:
        self._load: pipes.Head = {"do": "load", "model": model, "precision": precision}
        # name, max_tokens, tokenizer, unblocked: the same from every child
        self._greeting: tuple[str, int, str, str] | None = None
        self._lock, self._loading = InTurn(places=AT_ONCE), threading.Lock()
        self._child: _Child | None = _started(self._load)

    @property
    def name(self) -> str:
        """Model and precision, as a library stores it; the child says it when it has loaded the model."""
        return self._greeted()[0]

    @property
    def max_tokens(self) -> int:
        return self._greeted()[1]

    @property
    def tokenizer(self) -> str:
        return self._greeted()[2]

    @property
    def unblocked(self) -> str:
        """Why the child has a network; "" where it is refused one."""
        return self._greeted()[3]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        if self._load["model"] == EMBEDDED:  # in this process: files are cut while the child embeds
            with suppress(ModelUnavailable):  # the child says what is wrong
                return count_tokens(texts)
        head, _ = self.ask(len(texts) > SHORT, do="count_tokens", texts=list(texts))
        return list(head["counts"])

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """Unit vectors of shape (len(texts), dim), float32: bit by bit those that the model gives in this process."""
        head, body = self.ask(len(texts) > SHORT, do="embed", texts=list(texts), kind=kind)
        # a view of bytes cannot be written to
        vectors: Vectors = np.frombuffer(body, dtype=np.float32).reshape(head["shape"]).copy()
        return vectors

    def ask(self, behind: bool = False, /, **request: object) -> tuple[pipes.Head, bytes]:
        """The child's reply to a request; see `worker`. One that stands `behind` lets others by."""
        with self._lock.held(behind) as place:
            return self._exchange(self._loaded(), request, place)

    def close(self) -> None:
        """End the child, whatever it is doing; a later call would start another."""
        if (child := self._child) is not None:
            self._drop(child)

    def _drop(self, child: _Child) -> None:
        """End a child; another may have taken its place."""
        if self._child is child:
            self._child = None
        child.end()

    def _greeted(self) -> tuple[str, int, str, str]:
        if self._greeting is None:
            self._loaded()
        assert self._greeting is not None
        return self._greeting

    def _loaded(self) -> _Child:
        """A child that has loaded the model; one is started at most."""
        with self._loading:
            child = self._child
            if child is None or child.ended:
                if child is not None:
                    _log.warning("the embedding model's process was gone: %s", child.fate())
                child = self._child = _started(self._load)
            if not child.loaded:
                head, _ = self._exchange(child)
                child.loaded = True
                self._greeting = head["name"], head["max_tokens"], head["tokenizer"], head["unblocked"]
                if head["unblocked"]:
                    _log.warning("The embedding model's process has a network. %s", head["unblocked"])
            return child

    def _exchange(self, child: _Child, request: pipes.Head | None = None, place: int = 0) -> tuple[pipes.Head, bytes]:
        """The child's reply to this request, or to the one it was started with."""
        requests, replies = child.channels[place]
        try:
            if request is None:
                head, body = pipes.read(replies)
            else:
                with child.within(ANSWER_SECONDS):
                    pipes.write(requests, request)
                    head, body = pipes.read(replies)
        except (OSError, EOFError, ValueError) as error:
            fate = child.fate() or str(error)
            self._drop(child)
            if child.late:
                raise ModelTimedOut(
                    f"The model's process did not answer within {ANSWER_SECONDS:g} s, and was ended.",
                    remedy="Close other programs or choose a smaller model, then try it "
                    "again: the model is loaded anew.",
                ) from error
            raise ModelUnavailable(
                f"The embedding model's process ended while it was needed ({fate}).",
                remedy="Try it again: the model is loaded anew. If that does not help, free "
                "some memory, or look into the log.",
            ) from error
        except BaseException:
            self._drop(child)  # interrupted: what it still answers would be taken for the reply to the next request
            raise
        if "problem" in head:
            if not child.loaded:
                self._drop(child)
            raise ModelUnavailable(head["problem"], remedy=head["remedy"])
        return head, body


class ProcessAnswerability:
    """An `AnswerabilityModel` on the reader in an embedder's child."""

    def __init__(self, embedder: ProcessEmbedder) -> None:
        self._embedder = embedder
        self.version = version_of(MODEL_FILE)

    def read(self, question: str, places: Sequence[Place]) -> list[ReadPlace]:
        if not places:
            return []
        head, _ = self._embedder.ask(do="read", question=question, places=[[one.heading, one.units] for one in places])
        return [ReadPlace.from_json(row) for row in head["places"]]


class ProcessEntailment:
    """The support model in an embedder's child, which loads it when it is asked."""

    def __init__(self, embedder: ProcessEmbedder, precision: str) -> None:
        self.version, self.languages = version_of(SUPPORT_FILE), SUPPORT_LANGUAGES
        self._embedder, self._precision = embedder, precision

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        if not pairs:
            return []
        head, _ = self._embedder.ask(do="supports", precision=self._precision, pairs=list(pairs))
        return list(head["odds"])


def prepare() -> None:
    """Start a child that imports what every model needs; the next `ProcessEmbedder` tells it which model."""
    with suppress(ModelUnavailable):  # that embedder tries again, and says why
        _spare.append(_Child())


def _started(load: pipes.Head) -> _Child:
    """The prepared child, else a new one, told to load a model."""
    child = _spare.popleft() if _spare else _Child()
    with suppress(OSError):  # it is gone already: the first call is told so
        pipes.write(child.channels[0][0], load)  # a few bytes: they wait in the pipe
    return child


class _Child:
    """A process for one model, and the pipes to it; it is killed when this object or this process ends."""

    def __init__(self) -> None:
        self.loaded = False  # the model
        self.late = False  # it was ended because it did not answer in time
        try:
            self._started = Started(WORKER, os.environ, _log, "model's log", AT_ONCE)
        except OSError as error:
            raise ModelUnavailable(
                f"The embedding model's process could not be started: {error.strerror}.",
                remedy="Close other programs, then try it again.",
            ) from error
        self._process = self._started.process
        self.channels = self._started.channels
        self.end = weakref.finalize(self, _end, self._process)

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """End the process, and say so in `late`, when the block takes longer."""
        timer = Timer(seconds, self._give_up)
        timer.daemon = True  # nobody waits for it when the program ends
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _give_up(self) -> None:
        self.late = True
        self._process.kill()

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def fate(self) -> str:
        """How it ended, and the last line that it wrote to standard error; "" when it did not end."""
        try:
            status = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            return ""
        self._started.listener.join(END_SECONDS)
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        return ": ".join([how, *self._started.last_words()])


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with suppress(OSError):  # what it did not read any more is flushed at last
            pipe.close()


_spare: deque[_Child] = deque()
