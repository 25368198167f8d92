"""The child of `ray_workers`, and the only process of ours that imports Ray for itself: it has workers started and hands sources on.

    read   {"do": "connect", "address", "workers", "folder"}    write  {"address"}
    read   {"do": "begin", "job", "model", "precision", "ocr", "workers", "fingerprint"}    write  {"ready", "job"}
    read   {"do": "make", "number", "row", "settings"} and the source's bytes
    write  {"far": [what, done, total], "number"} while a worker is at it, then {"made": [[name, size], ...], "number"} and the files, one
           after another, or {"failed": [kind, problem, remedy], "number"}
    read   {"do": "stop"}

{"problem", "remedy"} says that the workers cannot be used, and is the last word. The child ends when its standard input does, and its Ray
with it.

Ray ends a process of its cluster's user that cannot reach the cluster any more: this one, and not the one that has the library open.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import ray
from ray._raylet import GcsClient

from rag_core.adapters.child import frames
from rag_core.adapters.workers.maker import Maker
from rag_core.errors import WorkersUnavailable

WAIT_SECONDS = 0.1  # for news of the workers, between two looks at what this process is told
LOOK_SECONDS = 0.3  # between two questions to a worker how far it is
MAX_TRIES = 3  # workers that may end while they make a document: it may be what ends them
START_SECONDS = 180.0  # for the first worker to have its model: it takes about 6 on two free cores, and more where a file system is slow
STOP_SECONDS = 5.0  # for a worker to let go of a document, before it is ended; it looks ten times a second while a PDF is read
LEAVE_SECONDS = 4.0  # for Ray to end what it started, which takes about one
ASK = "import sys; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1])"  # ends well where one is let in
OBJECT_BYTES = 1 << 30  # shared memory for sources and documents on their way: at most two of each for a core

Head = dict[str, Any]


@dataclass(eq=False)
class _Order:
    """A source to be made into a document: as it is handed on, and how many workers ended at it."""

    number: int
    said: str
    data: bytes
    tries: int = 0
    wanted: bool = True


@dataclass(eq=False)
class _Worker:
    """A worker, the reply that it owes (a greeting as long as it is not `ready`), and the order that it works on."""

    handle: Any
    owes: Any
    ready: bool = False
    order: _Order | None = None
    look: Any = None
    looked: float = 0.0
    stopped: float = 0.0


class Driver:
    """Hands orders to workers, and what they make to the parent.

    Args:
        told: what the parent says, each with its bytes.
        tell: says something to the parent.
    """

    def __init__(self, told: SimpleQueue[tuple[Head, bytes]], tell: Any) -> None:
        self._told, self._tell = told, tell
        # a core each; a second thread answers while the first one makes a document
        self._class = ray.remote(num_cpus=1, max_restarts=0, max_concurrency=2)(Maker)
        self._workers: list[_Worker] = []
        self._waiting: deque[_Order] = deque()
        self._begun: Head | None = None
        self._began = 0.0
        self._announced = False

    def run(self) -> None:
        """Serve for ever; `WorkersUnavailable` where there is nobody to hand work to."""
        while True:
            self._listen()
            self._hand_out()
            self._look()

    def _listen(self) -> None:
        wait = not self._workers
        with suppress(Empty):
            while True:
                head, body = self._told.get(block=wait)
                wait = False
                match head["do"]:
                    case "begin":
                        self._begin(head)
                    case "make":
                        said = json.dumps({"row": head["row"], "settings": head["settings"]})
                        self._waiting.append(_Order(head["number"], said, body))
                    case "stop":
                        self._stop()
                    case "leave":
                        _leave()

    def _begin(self, head: Head) -> None:
        asked, self._begun, self._announced, self._began = self._begun, head, False, time.monotonic()
        if asked is not None and any(asked[name] != head[name] for name in ("model", "precision", "ocr", "fingerprint")):
            for worker in self._workers:
                ray.kill(worker.handle)
            self._workers.clear()
        most = head["workers"] or int(ray.cluster_resources().get("CPU", 1))
        while len(self._workers) < most:
            self._start()
        if any(worker.ready for worker in self._workers):
            self._announce()

    def _start(self) -> None:
        assert self._begun is not None
        handle = self._class.remote(self._begun["model"], self._begun["precision"])
        self._workers.append(_Worker(handle, handle.greeting.remote(self._begun["ocr"])))

    def _announce(self) -> None:
        if not self._announced and self._begun is not None:
            self._announced = True
            self._tell({"ready": len(self._workers), "job": self._begun["job"]})

    def _stop(self) -> None:
        self._waiting.clear()
        for worker in self._workers:
            if worker.order is not None and worker.order.wanted:
                worker.order.wanted, worker.stopped = False, time.monotonic()
                worker.handle.stop.remote(worker.order.number)

    def _hand_out(self) -> None:
        for worker in self._workers:
            if worker.ready and worker.order is None and self._waiting:
                worker.order = self._waiting.popleft()
                worker.owes, worker.stopped = worker.handle.make.remote(worker.order.number, worker.order.said, worker.order.data), 0.0

    def _look(self) -> None:
        owed = {worker.owes: worker for worker in self._workers if worker.owes is not None}
        looks = {worker.look: worker for worker in self._workers if worker.look is not None}
        if not owed:
            time.sleep(0 if self._waiting else WAIT_SECONDS)
            return
        found, _ = ray.wait([*owed, *looks], num_returns=1, timeout=WAIT_SECONDS)
        for ref in found:
            if ref in owed:
                self._heard(owed[ref])
            elif (worker := looks[ref]).look is ref:
                self._saw(worker)
        now = time.monotonic()
        for worker in list(self._workers):
            if worker.order is not None and worker.look is None and now - worker.looked > LOOK_SECONDS:
                worker.look, worker.looked = worker.handle.look.remote(), now
            if worker.stopped and now - worker.stopped > STOP_SECONDS:
                ray.kill(worker.handle)
                worker.stopped = 0.0
        if not self._announced and now - self._began > START_SECONDS:
            raise WorkersUnavailable(
                f"No Ray worker was ready within {START_SECONDS:g} s.", remedy="See whether the cluster has free cores."
            )

    def _saw(self, worker: _Worker) -> None:
        ref, worker.look = worker.look, None
        with suppress(ray.exceptions.RayError):  # it ended: what it owes says so
            far = ray.get(ref)
            if far is not None and worker.order is not None:
                self._tell({"far": far, "number": worker.order.number})

    def _heard(self, worker: _Worker) -> None:
        """Take the reply of a worker."""
        ref, order = worker.owes, worker.order
        worker.owes = worker.order = worker.look = None
        worker.stopped = 0.0
        try:
            found = ray.get(ref)
        except ray.exceptions.RayTaskError as error:  # a fault of ours that nobody caught
            sys.stderr.write(f"{error}\n")
            self._failed(order, f"a worker failed ({type(error.cause).__name__})")
            return
        except ray.exceptions.RayError as error:
            self._ended(worker, order, error)
            return
        if order is None:
            self._greeted(worker, json.loads(found))
            return
        head, body = json.loads(found[0]), found[1]
        if "problem" in head:
            raise WorkersUnavailable(head["problem"], remedy=head["remedy"])
        if order.wanted and "stopped" not in head:
            self._tell({**head, "number": order.number}, body)

    def _greeted(self, worker: _Worker, greeting: Head) -> None:
        assert self._begun is not None
        if "problem" in greeting:
            raise WorkersUnavailable(f"A Ray worker cannot work. {greeting['problem']}", remedy=greeting["remedy"])
        for what, here in self._begun["fingerprint"].items():
            if greeting["fingerprint"].get(what) != here:
                raise WorkersUnavailable(
                    f"A Ray worker would not make the same documents as this process: its {what} is {greeting['fingerprint'].get(what)!r}, "
                    f"here it is {here!r}.",
                    remedy="Install the same version of Plumbline, with the same language data, on each machine of the cluster.",
                )
        worker.ready = True
        self._announce()

    def _ended(self, worker: _Worker, order: _Order | None, error: Exception) -> None:
        """A worker's process is gone: its order goes to another one."""
        self._workers.remove(worker)
        if not any(node["Alive"] for node in ray.nodes()) or (order is None and not worker.ready):
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise WorkersUnavailable(
                f"A Ray worker could not be started ({lines[0] if lines else type(error).__name__})." if not worker.ready
                else "No machine of the Ray cluster answers any more.",
                remedy="See Ray's own log, and whether Plumbline is installed on each machine of the cluster.",
            )  # fmt: skip
        self._start()
        if order is not None and order.wanted:
            order.tries += 1
            if order.tries < MAX_TRIES:
                self._waiting.appendleft(order)
            else:
                self._failed(order, f"{order.tries} workers ended while they made it, perhaps for want of memory")

    def _failed(self, order: _Order | None, why: str) -> None:
        if order is None:
            raise WorkersUnavailable(f"No Ray worker can be used: {why}.", remedy="Look into the log.")
        if order.wanted:
            remedy = "Add it again with workers=here, or split it into parts; the other files are unharmed."
            self._tell({"failed": ["IngestError", f"The file could not be indexed: {why}.", remedy], "number": order.number})


def _connect(head: Head) -> None:
    """Start a Ray of our own on this machine, or join the cluster whose address the parent gave."""
    quiet: Head = {"log_to_driver": False, "configure_logging": False}
    if head["address"]:
        GcsClient(address=head["address"])  # a wrong token is said at once; `init` would try it again and again
        _require_closed(head["address"])
        ray.init(address=head["address"], **quiet)
    else:
        ray.init(num_cpus=head["workers"], include_dashboard=False, object_store_memory=OBJECT_BYTES, _temp_dir=head["folder"], **quiet)


def _require_closed(address: str) -> None:
    """Raise where the cluster lets somebody in who has no token; tried out by a process that has none."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH_")}
    without = {**known, "RAY_AUTH_MODE": "disabled"}
    if subprocess.run([sys.executable, "-P", "-c", ASK, address], env=without, capture_output=True, check=False).returncode == 0:
        raise WorkersUnavailable(
            "The Ray cluster lets anybody in who reaches it: it does not ask for a token.",
            remedy="Start it with RAY_AUTH_MODE=token and a token in RAY_AUTH_TOKEN, on each of its machines.",
        )


def main() -> None:
    """Serve until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal reaches every process there; the parent decides
    told: SimpleQueue[tuple[Head, bytes]] = SimpleQueue()
    threading.Thread(target=_hear, args=(told,), daemon=True, name="listening").start()
    replies = frames.own_standard_output()

    def tell(head: Head, body: bytes = b"") -> None:
        frames.write(replies, head, body)

    try:
        try:
            head = told.get()[0]
            if head["do"] == "connect":
                _connect(head)
        except WorkersUnavailable:
            raise
        except Exception as error:  # Ray raises many kinds; the parent knows one
            why = str(error).strip().splitlines() or [type(error).__name__]
            raise WorkersUnavailable(
                f"Ray cannot be used: {type(error).__name__}: {why[0]}", remedy="Check its address and token, and that it runs."
            ) from error
        tell({"address": ray.get_runtime_context().gcs_address})
        Driver(told, tell).run()
    except WorkersUnavailable as error:
        tell({"problem": error.problem, "remedy": error.remedy})
    except ray.exceptions.RayError as error:
        tell({"problem": f"Ray failed: {type(error).__name__}.", "remedy": "Look into the log, then try it again."})
    _leave()


def _hear(told: SimpleQueue[tuple[Head, bytes]]) -> None:
    stream = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    try:
        while True:
            told.put(frames.read(stream))
    finally:
        threading.Timer(LEAVE_SECONDS, os._exit, (0,)).start()  # the kernel then ends the Ray that was started here
        told.put(({"do": "leave"}, b""))


def _leave() -> None:
    with suppress(Exception):
        ray.shutdown()
    os._exit(0)


if __name__ == "__main__":
    main()
