"""Starts the small model's process, and finds the one that runs: its address and key stand in a file of this user's.

The page offers the model where that file names a process that lives. The key is new for each start and is in no argument, which other users
could read.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rag_core.adapters.llm.demo.packages import MODEL, is_there, weights
from rag_core.errors import ModelUnavailable
from rag_core.library.disk.files import write_atomically
from rag_core.settings.endpoints import Endpoint

FOLDER = Path("build") / "demo-model"  # from where the page and the command are started
_RUNNING = "running.json"
_START_SECONDS = 120.0  # two on an idle machine
_LAST_WORDS = 300  # characters of what a process said before it ended
_LAST_WORDS_SECONDS = 2.0  # for them to be read


@contextmanager
def serving(folder: Path = FOLDER) -> Iterator[Endpoint]:
    """The small model's server in a child process, from here to the end of the block, and known to the page meanwhile.

    Raises:
        ModelUnavailable: its packages are not there, another one runs, or it does not start.
    """
    if not is_there(folder):
        raise ModelUnavailable("The small model is not here.", remedy="Run `make demo-model`, which downloads 130 MB.")
    if (other := running(folder)) is not None:
        raise ModelUnavailable(f"The small model already runs, at {other.host}.", remedy="Use that one, or stop it first.")
    key, port = secrets.token_urlsafe(24), _free_port()
    program = Path(__file__).with_name("child.py")
    command = [sys.executable, "-I", str(program), str(folder.resolve()), str(weights(folder).resolve()), str(port)]
    place = folder / _RUNNING
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        said: list[bytes] = []
        reading = threading.Thread(target=_drain, args=(child, said), daemon=True, name="small model's log")
        reading.start()
        try:
            endpoint = _started(child, key, port)
            if endpoint is None:
                reading.join(_LAST_WORDS_SECONDS)
                raise _silent(said)
            write_atomically(
                place, json.dumps({"pid": child.pid, "port": port, "key": key}).encode()
            )  # for this user alone: it holds the key
            yield endpoint
        finally:
            place.unlink(missing_ok=True)
            child.kill()
            reading.join()


def running(folder: Path = FOLDER) -> Endpoint | None:
    """The server that `serving` has started on this machine; None where none runs. Asks the system, and sends nothing."""
    try:
        found: Any = json.loads((folder / _RUNNING).read_text(encoding="utf-8"))
        os.kill(int(found["pid"]), 0)
        return _endpoint(int(found["port"]), str(found["key"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _endpoint(port: int, key: str) -> Endpoint:
    return Endpoint(f"http://127.0.0.1:{port}/v1", key, MODEL)


def _started(child: subprocess.Popen[bytes], key: str, port: int) -> Endpoint | None:
    """Its endpoint once it listens; None where it ended instead."""
    assert child.stdin is not None
    assert child.stdout is not None
    timer = threading.Timer(_START_SECONDS, child.kill)
    timer.start()
    try:
        child.stdin.write(f"{key}\n".encode())
        child.stdin.flush()
        ready = child.stdout.readline()
    except OSError:
        ready = b""
    finally:
        timer.cancel()
    return _endpoint(port, key) if ready.startswith(b"http://127.0.0.1:") else None


def _silent(said: list[bytes]) -> ModelUnavailable:
    why = " ".join(b" ".join(said).decode("utf-8", "replace").split())[-_LAST_WORDS:]
    return ModelUnavailable(
        f"The small model does not start. {why}".strip(), remedy="Remove build/demo-model, and run `make demo-model` again."
    )


def _drain(child: subprocess.Popen[bytes], said: list[bytes]) -> None:
    """Read what the process logs, so that it never waits for us; the last lines are kept for an error."""
    assert child.stderr is not None
    for line in child.stderr:
        said.append(line)
        del said[:-5]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
