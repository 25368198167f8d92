"""Ray's workers, two real processes: the same library, hostile files held, a killed worker, a stop, tokens, and a Ray
that is gone.
"""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path

import pymupdf
import pytest

from rag_core.adapters.workers import ray_workers
from rag_core.adapters.workers.ray_workers import REMEDY, RayWorkers, child_environment
from rag_core.errors import InvalidSetting, WorkersUnavailable
from rag_core.ingest.limits import DEFAULT_LIMITS
from rag_core.library.library import Library
from rag_core.library.stored.entry import Accepted
from rag_core.library.stored.named import FILE
from rag_core.library.stored.sources import Source, sources_from
from rag_core.settings import Settings
from rag_core.wiring import embedder, open_library

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "data" / "samples"
HERE = Settings.load()
APART = HERE.changed(workers="ray")
SECONDS = 120.0  # reached by what hangs
pytestmark = [pytest.mark.ray, pytest.mark.slow]


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("ray") is None:  # importing it would add a folder of packages to all tests of this process
        pytest.skip("the packages of `make ray` are not installed")
    monkeypatch.setattr(ray_workers, "cores", lambda: 2)


@pytest.fixture
def running() -> Iterator[RayWorkers]:
    """Workers that have begun and have nothing to do."""
    made = RayWorkers()
    made.begin(embedder(HERE.embedding_model, HERE.embedding_precision), HERE, lambda: False)
    yield made
    made.end()


def library(folder: Path) -> Library:
    return open_library(folder, "default", embedder(HERE.embedding_model, HERE.embedding_precision))


def pdf(number: int, pages: int = 3) -> Source:
    made = pymupdf.open()
    for page in range(pages):
        made.new_page().insert_text(
            (72, 72), f"Buoy {number} shows the light {number}{page}. The harbour office keeps it."
        )
    return Source(f"buoy-{number}.pdf", made.tobytes(no_new_id=True), "pdf")


def stored_in(folder: Path) -> list[tuple[object, ...]]:
    """All that is kept of the documents, in an order that does not depend on who made them when."""
    tables = ("page", "passages")  # the latter with terms and vectors
    with closing(sqlite3.connect(folder / "default" / FILE)) as db:
        rows = [
            (key, table, *row[1:])
            for key, id in db.execute("SELECT key, id FROM document WHERE state = 'ready' ORDER BY key")
            for table in tables
            for row in db.execute(f"SELECT * FROM {table} WHERE document = ?", [id])
        ]
    return sorted(rows, key=repr)


def below(pid: int) -> list[int]:
    """All processes that a process started, and theirs."""
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, thread.read_text().split()):
            found += [child, *below(child)]
    return found


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def workers() -> set[int]:
    """Processes of Ray below this one that make a document."""
    return {pid for pid in below(os.getpid()) if command(pid).startswith("ray::made")}


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_given_two_workers_when_the_samples_are_added_then_every_file_is_as_without_ray(tmp_path: Path) -> None:
    sources = [one for one in sources_from([SAMPLES]) if isinstance(one, Source)][::2]  # in three languages

    expected = library(tmp_path / "here").add(sources, HERE)
    report = library(tmp_path / "apart").add(sources, APART)

    assert report == expected
    assert stored_in(tmp_path / "apart") == stored_in(tmp_path / "here")
    assert len({key for key, *_ in stored_in(tmp_path / "here")}) == len(sources)
    opened = library(tmp_path / "apart")
    opened.verify()


def test_given_a_worker_that_is_killed_then_another_makes_its_documents_and_nothing_is_lost(tmp_path: Path) -> None:
    sources = [pdf(number, pages=40) for number in range(5)]
    killed: set[int] = set()
    held: list[str] = []

    def kill() -> None:
        """One dies while its child reads a PDF, which is held as everywhere: its memory, its time, its network and its
        files.
        """
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            reading = [(pid, child) for pid in workers() for child in below(pid) if "pdf_worker" in command(child)]
            for pid, child in reading:
                limits, status = (Path(f"/proc/{child}/{name}") for name in ("limits", "status"))
                with suppress(OSError):  # it has just ended
                    if "Seccomp:\t2" in status.read_text():
                        held.append(limits.read_text())
                        os.kill(pid, signal.SIGKILL)
                        killed.add(pid)
                        return

    expected = library(tmp_path / "here").add(sources, HERE)
    killer = threading.Thread(target=kill)
    killer.start()
    report = library(tmp_path / "apart").add(sources, APART)
    killer.join()

    assert len(killed) == 1
    (memory,) = re.findall(r"Max address space +(\d+)", held[0])
    (seconds,) = re.findall(r"Max cpu time +(\d+)", held[0])
    assert (int(memory), 0 < int(seconds) < 1000) == (DEFAULT_LIMITS.memory_bytes, True)
    assert report == expected
    assert stored_in(tmp_path / "apart") == stored_in(tmp_path / "here")
    assert library(tmp_path / "apart").unfinished() == ()


def test_given_a_ray_of_our_own_then_it_listens_here_alone_and_asks_for_its_token(running: RayWorkers) -> None:
    driver = running._child.process.pid
    pids = [driver, *below(driver)]
    sockets = {os.readlink(link) for pid in pids for link in Path(f"/proc/{pid}/fd").glob("*") if os.path.lexists(link)}
    listening = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            local, state, inode = line.split()[1], line.split()[3], line.split()[9]
            if state == "0A" and f"socket:[{inode}]" in sockets:
                listening.append(local)

    assert len(listening) > 4
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert {local.split(":")[0] for local in listening} <= loopback
    assert 8265 not in {int(local.split(":")[1], 16) for local in listening}  # Ray's dashboard
    # it lets callers in, or not; others' titles overwrite their environment
    (server,) = [pid for pid in pids if "gcs_server" in command(pid)]
    said = dict(pair.split("=", 1) for pair in Path(f"/proc/{server}/environ").read_text().split("\0") if "=" in pair)
    assert (said["RAY_AUTH_MODE"], said["RAY_USAGE_STATS_ENABLED"], len(said["RAY_AUTH_TOKEN"])) == ("token", "0", 64)
    assert Path(running._folder).stat().st_mode & 0o077 == 0  # what it writes down is for its owner alone

    joins = (
        "import sys; from ray._raylet import GcsClient; "
        "GcsClient(address=sys.argv[1]).internal_kv_get(b'x', None, timeout=60)"
    )
    address = next(found[1] for pid in pids if (found := re.search(r"--gcs-address=(\S+)", command(pid))))
    outcomes = {}
    for name, token in (("right", running._environment["RAY_AUTH_TOKEN"]), ("wrong", 64 * "0")):
        environment = {**running._environment, "RAY_AUTH_TOKEN": token}
        run = subprocess.run(
            [sys.executable, "-c", joins, address], env=environment, capture_output=True, text=True, check=False
        )
        outcomes[name] = run.returncode == 0
    assert outcomes == {"right": True, "wrong": False}

    other = RayWorkers(address, environment={**os.environ, "RAY_AUTH_TOKEN": 64 * "0"})
    try:
        with pytest.raises(WorkersUnavailable, match="AuthenticationError") as caught:
            other.begin(embedder(HERE.embedding_model, HERE.embedding_precision), HERE, lambda: False)
    finally:
        other.end()
    assert REMEDY in caught.value.remedy


def test_given_a_cluster_that_lets_anybody_in_then_nothing_is_sent_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # as a door that is open says
    monkeypatch.setattr(ray_workers, "ASK", "import os, sys; sys.exit('RAY_AUTH_TOKEN' in os.environ)")
    monkeypatch.setenv("RAY_AUTH_TOKEN", 64 * "0")
    with pytest.raises(WorkersUnavailable, match="lets anybody in"):
        ray_workers._require_closed("head:6379")
    monkeypatch.setattr(ray_workers, "ASK", "import sys; sys.exit(1)")
    ray_workers._require_closed("head:6379")


def test_given_an_address_without_a_token_or_one_that_is_none_then_it_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="nothing says its token") as missing:
        RayWorkers("head:6379", environment={})
    assert "RAY_AUTH_TOKEN" in missing.value.remedy
    for address in ("ray://head:10001", "auto", "head"):  # the first one needs packages that are not installed
        with pytest.raises(InvalidSetting, match="not the address of a Ray cluster"):
            RayWorkers(address, environment={"RAY_AUTH_TOKEN": "x"})


def test_given_an_environment_that_loosens_ray_then_it_does_not_hold() -> None:
    said = {
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "1",
        "RAY_RUNTIME_ENV_HOOK": "evil.hook",
        "RAY_ADDRESS": "other:1",
        "RAY_USE_TLS": "1",
        "RAY_AUTH_TOKEN": "theirs",
        "HOME": "/nonexistent",
    }

    here, cluster = child_environment(said, ""), child_environment(said, "head:6379")

    for found in (here, cluster):
        assert (found["RAY_AUTH_MODE"], found["RAY_USAGE_STATS_ENABLED"], found["RAY_ENABLE_UV_RUN_RUNTIME_ENV"]) == (
            "token",
            "0",
            "0",
        )
        assert not {"RAY_RUNTIME_ENV_HOOK", "RAY_ADDRESS"} & found.keys()
        assert found["HOME"] == "/nonexistent"
    assert here["RAY_AUTH_TOKEN"] not in ("theirs", child_environment(said, "")["RAY_AUTH_TOKEN"])
    assert "RAY_USE_TLS" not in here
    assert (cluster["RAY_AUTH_TOKEN"], cluster["RAY_USE_TLS"]) == ("theirs", "1")


def test_given_a_ray_that_is_gone_then_an_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray ends the process that speaks to it where its cluster is gone; that is done here."""
    order, pids = RayWorkers.order, list[int]()

    def ordered(own: RayWorkers, row: Accepted, data: bytes) -> Future[bytes]:
        found = order(own, row, data)
        if row.name == "buoy-31.pdf":
            pids.extend(below(own._child.process.pid))
            os.kill(own._child.process.pid, signal.SIGKILL)
        return found

    opened = library(tmp_path)
    monkeypatch.setattr(RayWorkers, "order", ordered)
    with pytest.raises(WorkersUnavailable, match="The workers of Ray cannot be used") as caught:
        opened.add([pdf(number) for number in range(30, 36)], APART)

    assert "workers=here" in caught.value.remedy
    assert len(opened.snapshot.documents) + len(opened.unfinished()) == 6
    assert opened.unfinished()
    report = library(tmp_path).resume(HERE)
    assert (report.problems, len(library(tmp_path).snapshot.documents)) == ((), 6)
    assert pids
    wait_for(lambda: not any("ray::" in command(pid) or "raylet" in command(pid) for pid in pids))
