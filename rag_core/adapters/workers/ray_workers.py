"""Makes documents of many PDFs with Ray: by processes on this machine, or on the cluster that the environment names.

Ray schedules the work, and gives the file of a worker that ended to another one. It runs in a child process, which is
this module run as a program: Ray ends a process that has lost its cluster, and the library is open in this one. Nobody
reaches the workers without a token: a Ray of our own gets a new one, that of a cluster stands in the environment.
Nothing is reported to Ray's makers, and no code is sent.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError, wait
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, cast

from rag_core.adapters.child import pipes
from rag_core.adapters.child.pipes import Started
from rag_core.adapters.embedding.by_name import has_bfloat16
from rag_core.adapters.embedding.choose import load_embedder
from rag_core.adapters.optional import require
from rag_core.domain.ports import Cancel, Embedder
from rag_core.errors import Cancelled, IngestError, InvalidSetting, RagError, WorkersUnavailable
from rag_core.ingest.reading.ocr_engines import find_tessdata, version_of
from rag_core.ingest.reading.recognition import cores, use_cores
from rag_core.library.indexing.elsewhere import Workers, make
from rag_core.library.indexing.indexer import INDEX_VERSION
from rag_core.library.indexing.reading import READING_VERSION
from rag_core.library.stored.entry import Accepted
from rag_core.library.stored.typed_json import to_row
from rag_core.settings import Settings
from rag_core.settings.endpoints import address_of

VARIABLE = "RAG_RAY_ADDRESS"
TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")  # Ray's own: the token of a cluster, or a file that holds it
FILES_PER_CORE = 2  # one that a worker reads, and one that waits for it
MAX_RETRIES = 2  # a file that ended three workers may be what ends them
POLL_SECONDS = 0.1  # between two looks whether the user stopped it
END_SECONDS = 5.0  # that Ray has to end what it started, which takes about one
REMEDY = "The files stay on the list: resume to try it again, or with workers=here to index them in this process."
ALWAYS = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # it would send this folder to the workers
    "RAY_task_oom_retries": str(MAX_RETRIES),  # Ray's default is for ever
}
# would run or send code, or name another cluster
CODE = ("RAY_RUNTIME_ENV_HOOK", "RAY_JOB_CONFIG_JSON_ENV_VAR", "RAY_ADDRESS")
ASK = "import sys; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1])"  # ends well where one is let in
_log = logging.getLogger(__name__)
_model = lru_cache(maxsize=1)(load_embedder)  # loaded once a worker


def workers_of(settings: Settings) -> Workers | None:
    """The workers that the settings name; None where documents are made in this process.

    Raises:
        InvalidSetting: there are none of this name; the address of the cluster is none; or nothing says its token.
        MissingDependency: Ray is not installed.
    """
    if settings.workers not in ("here", "ray"):
        raise InvalidSetting(f"There are no workers {settings.workers!r}.", remedy="Set workers to one of: here, ray.")
    return None if settings.workers == "here" else RayWorkers(address_of(VARIABLE))


class RayWorkers:
    """The workers of one call; see `rag_core.library.indexing.elsewhere.Workers`. Raises as `workers_of`.

    `address` is a cluster's, as host:port; "" to start a Ray on this machine, with a worker for each core.
    """

    def __init__(self, address: str = "", environment: Mapping[str, str] | None = None) -> None:
        require("ray", "Indexing by workers of Ray")
        known = os.environ if environment is None else environment
        if address and not re.fullmatch(r"[^/\s]+:\d+", address):
            raise InvalidSetting(
                f"{VARIABLE} is not the address of a Ray cluster.", remedy="Write it like ray-head.internal:6379."
            )
        if address and not any(known.get(name) for name in TOKENS):
            remedy = f"Set {TOKENS[0]}, or {TOKENS[1]} to a file that holds it."
            raise InvalidSetting(f"{VARIABLE} names a Ray cluster, and nothing says its token.", remedy=remedy)
        self._address, self._environment = address, child_environment(known, address)
        self._ready: Future[int] = Future()
        self._out: dict[str, Future[bytes]] = {}  # by the digest of the source
        self._child: Started | None = None
        self._error: WorkersUnavailable | None = None
        self._folder = ""

    def begin(self, embedder: Embedder, settings: Settings, cancelled: Cancel) -> int:
        # for its owner alone; Ray opens its own folders to everybody
        self._folder = tempfile.mkdtemp(prefix="plumbline-ray-")
        # nothing is left of a worker on this machine that is killed
        environment = {**self._environment, "TMPDIR": self._folder}
        self._child = Started("rag_core.adapters.workers.ray_workers", environment, _log, "Ray's log")
        threading.Thread(target=self._listen, args=(self._child,), daemon=True, name="Ray's child").start()
        own = {"num_cpus": cores(), "include_dashboard": False, "_temp_dir": f"{self._folder}/ray"}
        head = {
            "ray": {"address": self._address} if self._address else own,
            "model": embedder.name.rsplit("@", 1),
            "settings": settings.model_dump(mode="json"),
            "fingerprint": fingerprint(embedder, settings),
        }
        with suppress(OSError):  # it ended already: whoever listens says so
            pipes.write(self._child.requests, head)
        while not wait([self._ready], POLL_SECONDS).done:
            if cancelled():
                raise Cancelled("Stopped while the workers started.", remedy="Resume to index the rest.")
        return FILES_PER_CORE * self._ready.result()

    def order(self, row: Accepted, data: bytes) -> Future[bytes]:
        assert self._child is not None
        self._out[row.digest] = made = Future[bytes]()
        with suppress(OSError):
            pipes.write(self._child.requests, to_row(row), data)
        if self._error is not None:  # whoever listens may have ended before the order was noted
            self._fail(self._error)
        return made

    def end(self) -> None:
        if self._child is not None:
            with suppress(OSError):
                self._child.requests.close()
            with suppress(subprocess.TimeoutExpired):
                self._child.process.wait(END_SECONDS)
            self._child.process.kill()
            self._child.process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _listen(self, child: Started) -> None:
        head: pipes.Head = {}
        with suppress(OSError, EOFError, ValueError), child.replies:
            while "problem" not in head:
                head, body = pipes.read(child.replies)
                if "ready" in head:
                    self._ready.set_result(head["ready"])
                elif "failed" in head:
                    kind, problem, what_to_do = head["failed"]
                    known = {one.__name__: one for one in IngestError.__subclasses__()}
                    self._out.pop(head["digest"]).set_exception(
                        known.get(kind, IngestError)(problem, remedy=what_to_do)
                    )
                elif "made" in head:
                    self._out.pop(head["digest"]).set_result(body)
        why = head.get("problem") or " ".join(
            ["Its process ended, as it does where its cluster is gone.", *child.last_words()]
        )
        remedy = f"{head.get('remedy', '')} {REMEDY}".strip()
        self._fail(WorkersUnavailable(f"The workers of Ray cannot be used. {why}", remedy=remedy))

    def _fail(self, error: WorkersUnavailable) -> None:
        self._error = error
        for future in [cast("Future[Any]", self._ready), *self._out.values()]:
            with suppress(InvalidStateError):  # it has its result already
                future.set_exception(error)


def child_environment(known: Mapping[str, str], address: str) -> dict[str, str]:
    """The environment of the child; only a cluster takes settings of Ray from the outside."""
    kept = {
        name: value for name, value in known.items() if name not in CODE and (address or not name.startswith("RAY_"))
    }
    return {
        **kept,
        **ALWAYS,
        **({} if address else {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", TOKENS[0]: secrets.token_hex(32)}),
    }


def fingerprint(embedder: Embedder, settings: Settings) -> dict[str, str]:
    """The things that must be equal in two processes for them to make the same document of the same bytes."""
    ocr = settings.ocr_engine if settings.ocr else ""
    return {
        "version": f"{INDEX_VERSION}, {READING_VERSION}",
        "embedding model": embedder.name,
        "tokenizer": embedder.tokenizer,
        # else it adds up in another order
        "bfloat16 in hardware": str(embedder.name.endswith("@bfloat16") and has_bfloat16()),
        "OCR": "+".join([version_of(ocr), *find_tessdata()[0]]) if ocr else "",
    }


def made(said: pipes.Head, row: pipes.Head, data: bytes) -> tuple[pipes.Head, bytes]:
    """Runs in a worker: a file that holds the document, behind a head; else a head that says what is wrong."""
    settings = Settings(**said["settings"])
    try:
        use_cores(1)  # others work beside it
        embedder, here = _model(*said["model"]), said["fingerprint"]
        if (own := fingerprint(embedder, settings)) != here:
            why = (
                f"A worker would not make the same documents: it has "
                f"{dict(own.items() - here.items())}, here is {here}."
            )
            raise WorkersUnavailable(
                why, remedy="Install the same version and language data on each machine of the cluster."
            )
        with tempfile.TemporaryDirectory(prefix="plumbline-worker-") as folder:
            file = make(Accepted.from_json(row), data, settings, embedder, Path(folder))
    except IngestError as error:
        return {"failed": [error.kind, error.problem, error.remedy]}, b""
    except RagError as error:  # no fault of the file
        return {"problem": error.problem, "remedy": error.remedy}, b""
    return {"made": True}, file


def main() -> None:
    """The child: has Ray make what it reads of its standard input, and ends with that."""
    import ray

    from rag_core.adapters.workers import ray_workers  # by this name workers find the function: no code is sent

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal reaches every process there; the parent decides
    orders, replies = os.fdopen(os.dup(sys.stdin.fileno()), "rb"), pipes.own_standard_output()
    writing = threading.Lock()

    def reply(head: pipes.Head, body: bytes = b"") -> None:
        with writing:
            pipes.write(replies, head, body)

    def give(digest: str, found: Future[tuple[pipes.Head, bytes]]) -> None:
        try:
            head, body = found.result()
            reply({**head, "digest": digest}, body)
        except (ray.exceptions.RayError, ValueError) as error:  # ValueError: its document is too large for a message
            why = (
                f"The file could not be indexed: its workers ended, perhaps for want of "
                f"memory, or failed ({type(error).__name__})."
            )
            remedy = "Add it again with workers=here, or split it into parts; the other files are unharmed."
            reply({"failed": ["IngestError", why, remedy], "digest": digest})

    try:
        head, _ = pipes.read(orders)
        if address := head["ray"].get("address"):
            ray._raylet.GcsClient(address=address)  # a wrong token is said at once; `init` would try it again and again
            _require_closed(address)
        ray.init(**head["ray"], log_to_driver=False, configure_logging=False)
        task = ray.remote(num_cpus=1, max_retries=MAX_RETRIES)(ray_workers.made)
        reply({"ready": int(ray.cluster_resources().get("CPU", 1))})
        while True:
            row, data = pipes.read(orders)
            task.remote(head, row, data).future().add_done_callback(partial(give, row["digest"]))
    except EOFError:
        pass
    except Exception as error:  # Ray raises many kinds; the parent knows one
        remedy = getattr(error, "remedy", "Check its address and token, and that it runs.")
        reply({"problem": f"{type(error).__name__}: {str(error)[:200]}", "remedy": remedy})
    ray.shutdown()
    os._exit(0)


def _require_closed(address: str) -> None:
    """Raise where the cluster lets somebody in who has no token; tried out by a process that has none."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH_")}
    without, asked = {**known, "RAY_AUTH_MODE": "disabled"}, [sys.executable, "-P", "-c", ASK, address]
    if subprocess.run(asked, env=without, capture_output=True, check=False).returncode == 0:
        remedy = "Start it with RAY_AUTH_MODE=token and a token in RAY_AUTH_TOKEN, on each of its machines."
        raise WorkersUnavailable(
            "The Ray cluster lets anybody in who reaches it: it does not ask for a token.", remedy=remedy
        )


if __name__ == "__main__":
    main()
