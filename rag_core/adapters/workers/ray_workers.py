"""Workers of Ray: processes on this machine, or on a cluster, that make documents while this one publishes them.

Ray itself runs in a child process (`driver`): it ends whoever cannot reach its cluster any more, takes over signals and logging, and brings
its threads along. Nobody reaches its workers without a token: one that is made for a Ray of our own, which listens on this machine alone,
or the one of the cluster, from the environment. Nothing is reported to Ray's makers, there is no dashboard, and no code is sent.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO, Any

from rag_core import errors
from rag_core.adapters.child import frames
from rag_core.adapters.child.started import Started
from rag_core.adapters.optional import require
from rag_core.adapters.workers.fingerprint import fingerprint
from rag_core.domain.ports import Cancel, Embedder
from rag_core.errors import Cancelled, IngestError, InvalidSetting, WorkersUnavailable
from rag_core.ingest.reading.recognition import cores
from rag_core.library.indexing.elsewhere import Files, News
from rag_core.library.stored.inbox import Accepted
from rag_core.settings import Settings
from rag_core.settings.endpoints import address_of

DRIVER = "rag_core.adapters.workers.driver"
VARIABLE, EXAMPLE = "RAG_RAY_ADDRESS", "ray-head.internal:6379"
TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")  # Ray's own: the token of a cluster, or a file that holds it
TOKEN_BYTES = 32  # in a token that is made here: 256 bits
AT_ONCE = 2  # sources for a worker: one that it works on, and one that waits, so that it need not
IDLE_SECONDS = 60.0  # that workers are kept when nobody has documents made; each holds about 0.5 GB
END_SECONDS = 5.0  # for the child to end its Ray, which takes about one
START_SECONDS = 300.0  # for Ray, and the first worker's model: 10 on two free cores
POLL_SECONDS = 0.1  # between two looks whether to stop
REMEDY = "The files stay on the list: resume to try it again, or with workers=here to index them in this process."
# Ray's own switches. The network: "cluster" is its word for listening on other addresses than this machine's own.
HERE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
ALWAYS = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # it would send this folder to the workers
    "RAY_gcs_rpc_server_reconnect_timeout_s": "20",  # until a cluster that is gone is said to be: Ray's default is 60
}
CODE = ("RAY_RUNTIME_ENV_HOOK", "RAY_JOB_CONFIG_JSON_ENV_VAR", "RAY_ADDRESS")  # would run or send code, or name another cluster
_log = logging.getLogger(__name__)


class RayWorkers:
    """See `rag_core.library.indexing.elsewhere.Workers`. Started at the first `begin`, and ended when nobody needs them for a minute.

    Args:
        address: of a cluster; "" to start a Ray on this machine.
        workers: processes; None for as many as the machine, or the cluster, has cores.
        environment: of the process.

    Raises:
        MissingDependency: Ray is not installed.
        InvalidSetting: the address is none, or there is one and no token.
    """

    def __init__(self, address: str = "", workers: int | None = None, environment: Mapping[str, str] | None = None) -> None:
        require("ray", "Indexing by workers of Ray")
        known = os.environ if environment is None else environment
        if address and not re.fullmatch(r"[^/\s]+:\d+", address):
            raise InvalidSetting(f"{VARIABLE} is not the address of a Ray cluster.", remedy=f"Write it like {EXAMPLE}.")
        if address and not any(known.get(name) for name in TOKENS):
            raise InvalidSetting(
                f"{VARIABLE} names a Ray cluster, and nothing says its token.",
                remedy=f"Set {TOKENS[0]}, or {TOKENS[1]} to a file that holds it.",
            )
        self._address, self._environment = address, child_environment(known, address)
        self._workers = workers or (0 if address else cores())
        self._serving, self._job, self._number = threading.Lock(), 0, 0
        self._child: _Child | None = None
        self._idle: threading.Timer | None = None
        self._forget()

    def _forget(self) -> None:
        self._ordered: dict[int, str] = {}  # digests of what is out, by the number of its order
        self._far: dict[str, tuple[str, int, int]] = {}
        self._settings: dict[str, Any] = {}

    @property
    def address(self) -> str:
        """Where the Ray is that they run in; "" before the first `begin`."""
        return self._child.address if self._child is not None else ""

    def begin(self, embedder: Embedder, settings: Settings, cancelled: Cancel) -> int:
        """See `Workers.begin`; it waits while they serve another call."""
        while not self._serving.acquire(timeout=POLL_SECONDS):
            _require_wanted(cancelled)
        try:
            return self._begin(embedder, settings, cancelled)
        except BaseException:
            self._rest()
            raise

    def _begin(self, embedder: Embedder, settings: Settings, cancelled: Cancel) -> int:
        if self._idle is not None:
            self._idle.cancel()
        if self._child is None or self._child.ended:
            self.close()
            self._child = _Child(self._environment, self._address, self._workers)
        self._forget()
        self._job += 1
        self._settings = settings.model_dump(mode="json")
        model, _, precision = embedder.name.rpartition("@")
        ocr = settings.ocr_engine if settings.ocr else ""
        wanted = fingerprint(embedder, ocr=ocr)
        self._say(do="begin", job=self._job, model=model, precision=precision, ocr=ocr, workers=self._workers, fingerprint=wanted)
        deadline = time.monotonic() + START_SECONDS
        while True:
            if cancelled():
                raise Cancelled("Stopped while the workers started.", remedy="Resume to index the rest.")
            if time.monotonic() > deadline:
                raise self._gone(f"They were not ready within {START_SECONDS:g} s.")
            head, _ = self._heard(POLL_SECONDS)
            if head.get("job") == self._job:
                return AT_ONCE * int(head["ready"])

    def order(self, row: Accepted, data: bytes) -> None:
        """See `Workers.order`."""
        self._number += 1
        self._ordered[self._number] = row.digest
        self._say(data, do="make", number=self._number, row=row.to_json(), settings=self._settings)

    def news(self, seconds: float) -> Sequence[News]:
        """See `Workers.news`."""
        found: list[News] = []
        while True:
            head, body = self._heard(0.0 if found else seconds)
            if not head:
                return found
            number = head.get("number")
            if number not in self._ordered:  # a call that is over wanted it
                continue
            if "far" in head:
                what, done, total = head["far"]
                self._far[self._ordered[number]] = str(what), int(done), int(total)
                if not found:
                    return found
                continue
            digest = self._ordered.pop(number)
            self._far.pop(digest, None)
            found.append((digest, _result(head, body)))

    def progress(self, digest: str) -> tuple[str, int, int] | None:
        """See `Workers.progress`."""
        return self._far.get(digest)

    def end(self) -> None:
        """See `Workers.end`."""
        self._forget()
        if self._child is not None:
            with suppress(WorkersUnavailable):
                self._say(do="stop")
        self._rest()

    def _rest(self) -> None:
        self._idle = threading.Timer(IDLE_SECONDS, self._close_idle)
        self._idle.daemon = True
        try:
            self._idle.start()
        finally:  # the system may give no more threads
            self._serving.release()

    def close(self) -> None:
        """End the workers that were started here, and leave a cluster; the next `begin` starts anew."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _close_idle(self) -> None:
        if self._serving.acquire(blocking=False):
            try:
                self.close()
            finally:
                self._serving.release()

    def _say(self, body: bytes = b"", /, **head: object) -> None:
        assert self._child is not None
        try:
            frames.write(self._child.requests, head, body)
        except (OSError, ValueError) as error:
            raise self._gone(f"Their process cannot be told anything ({type(error).__name__}).") from error

    def _heard(self, seconds: float) -> tuple[frames.Head, bytes]:
        """The child's next message; an empty one where it said nothing for so long."""
        assert self._child is not None
        try:
            head, body = self._child.said.get(timeout=seconds) if seconds else self._child.said.get_nowait()
        except Empty:
            return {}, b""
        if "problem" in head:
            raise self._gone(head["problem"], head.get("remedy", ""))
        return head, body

    def _gone(self, why: str, remedy: str = "") -> WorkersUnavailable:
        self.close()
        return WorkersUnavailable(f"The workers of Ray cannot be used. {why}", remedy=f"{remedy} {REMEDY}".strip())


def ray_workers() -> RayWorkers:
    """The workers of this machine, or of the cluster whose address stands in the environment or in the file of secrets."""
    return RayWorkers(address_of(VARIABLE))


def child_environment(known: Mapping[str, str], address: str) -> dict[str, str]:
    """The environment of the child: a token is asked for, nothing is reported, no code is sent. Settings of Ray hold for a cluster only."""
    kept = {name: value for name, value in known.items() if name not in CODE and (address or not name.startswith("RAY_"))}
    own = {} if address else {**HERE, "RAY_AUTH_TOKEN": secrets.token_hex(TOKEN_BYTES)}
    return {**kept, **ALWAYS, **own}


def _require_wanted(cancelled: Cancel) -> None:
    if cancelled():
        raise Cancelled("Stopped while others had documents made.", remedy="Resume to index the rest.")


def _result(head: frames.Head, body: bytes) -> Files | IngestError:
    if "failed" in head:
        kind, problem, remedy = map(str, head["failed"])
        known = getattr(errors, kind, IngestError)
        return (known if isinstance(known, type) and issubclass(known, IngestError) else IngestError)(problem, remedy=remedy)
    files, start = {}, 0
    for name, size in head["made"]:
        files[str(name)] = body[start : start + size]
        start += size
    return files


class _Child:
    """The process that speaks to Ray, a folder for what a Ray of our own writes, and what the process says."""

    def __init__(self, environment: Mapping[str, str], address: str, workers: int) -> None:
        folder = tempfile.mkdtemp(prefix="plumbline-ray-")  # for its owner alone; Ray opens its own folders to everybody
        try:
            # TMPDIR: so that nothing is left of a worker that is killed
            self._started = Started(DRIVER, {**environment, "TMPDIR": folder}, _log, "Ray's log")
        except OSError as error:
            raise WorkersUnavailable(f"Ray's process could not be started: {error.strerror}.", remedy=REMEDY) from error
        self._process, self.requests = self._started.process, self._started.requests
        self.address = address
        self.said: SimpleQueue[tuple[frames.Head, bytes]] = SimpleQueue()
        threading.Thread(target=self._listen, args=(self._started.replies,), daemon=True, name="Ray's child").start()
        self.end = weakref.finalize(self, _end, self._process, folder)
        with suppress(OSError):  # it is gone already: whoever listens is told so
            frames.write(self.requests, {"do": "connect", "address": address, "workers": workers, "folder": f"{folder}/ray"})

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def _listen(self, stream: IO[bytes]) -> None:
        try:
            with stream:
                while True:
                    head, body = frames.read(stream)
                    if "address" in head:
                        self.address = str(head["address"])
                    else:
                        self.said.put((head, body))
        except (OSError, EOFError, ValueError):
            why = " ".join(["Ray's process ended, as it does where the cluster is gone.", *self._started.last_words()])
            self.said.put(({"problem": why, "remedy": ""}, b""))


def _end(process: subprocess.Popen[bytes], folder: str) -> None:
    assert process.stdin is not None
    with suppress(OSError, ValueError):
        process.stdin.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(folder, ignore_errors=True)
