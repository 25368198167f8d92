"""`python -m tests.campaign.load`: a real service under people's load, in figures: errors, others' answers, latency,
memory, a stop.

Each user has a collection and a token of their own, and a fact that nobody else's documents hold. They ask at a
person's pace while a file of 300 pages is read. Then questions come without a pause, and the memory is watched. At last
the service is told to stop with work in it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import httpx2

from rag_core.library.stored.collection import Collection
from rag_core.service.tokens import Tokens
from rag_core.wiring import records
from tests.campaign import ROOT

sys.path.insert(0, str(ROOT / "tests" / "hostile"))
import greedy

PAGES = 300  # of the file that is read meanwhile
THINKING = 5.0  # seconds between a person's questions, on average
READY_SECONDS = 180.0
TRIES = 4  # of a call while the service is busy
WORDS = "pump valve tank meter gauge filter sensor boiler piston flange".split()


class Asked:
    """The outcomes of questions and how long each took, also those that came to an error.

    Safe to share between threads.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self.outcomes: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.errors: list[float] = []

    def add(self, outcome: str, seconds: float, *, error: bool = False) -> None:
        with self._turn:
            self.outcomes[outcome] += 1
            (self.errors if error else self.seconds).append(seconds)

    def said(self) -> str:
        cuts = statistics.quantiles(self.seconds, n=20) if len(self.seconds) > 1 else [0.0] * 19
        most = max(self.seconds, default=0.0)
        failed = f"; errors after {max(self.errors):.2f} s at most" if self.errors else ""
        return f"{dict(self.outcomes)}; seconds: p50 {cuts[9]:.2f}, p95 {cuts[18]:.2f}, most {most:.2f}{failed}"


def code(user: int) -> str:
    return f"K{user:02d}-{(user * 7919) % 9973:04d}"


def caller(address: str, token: str) -> httpx2.Client:
    return httpx2.Client(base_url=address, headers={"authorization": f"Bearer {token}"}, timeout=120.0)


def sent(client: httpx2.Client, path: str, **what: Any) -> dict[str, Any]:
    """The reply; a busy service is asked again, as often as a patient program does."""
    for _ in range(TRIES):
        response = client.post(path, **what)
        if response.status_code not in (429, 503):
            break
        time.sleep(min(float(response.headers.get("retry-after", 1)), 30.0))
    return dict(response.raise_for_status().json())


def sent_file(client: httpx2.Client, name: str, pages: int) -> str:
    """The job that reads a file of so many pages."""
    reply = sent(
        client, "/api/rag/index?wait=0", data={"namespace": "big"}, files={"files": (name, greedy.ordinary(pages))}
    )
    return str(reply["job"])


def ask(client: httpx2.Client, user: int, users: int, asked: Asked, extra: str = "") -> None:
    """One question: what came, and whether it was one's own."""
    begun = time.monotonic()
    try:
        question = f"What is the access code of the {WORDS[user % len(WORDS)]} room{extra}?"
        found = sent(client, "/api/rag/query", json={"query": question, "namespace": f"user{user}"})
    except httpx2.HTTPStatusError as error:
        asked.add(f"status {error.response.status_code}", time.monotonic() - begun, error=True)
        time.sleep(2.0)
        return
    except Exception as error:
        asked.add(type(error).__name__, time.monotonic() - begun, error=True)
        return
    text = json.dumps(found)
    others = any(code(other) in text for other in range(users) if other != user)
    own = code(user) in found["answer"]
    asked.add("another's" if others else "answered" if own else "refused or other", time.monotonic() - begun)


@contextmanager
def serving(folder: Path, log: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """The service as `serve` starts it, with the page."""
    port = 8600 + os.getpid() % 300
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_", "OPENAI_"))}
    with log.open("wb") as output:
        command = [
            sys.executable,
            "-m",
            "rag_core",
            "serve",
            "--library",
            str(folder),
            "--port",
            str(port),
            "--rate",
            "100000",
        ]
        process = subprocess.Popen(
            command, cwd=ROOT, env=inherited, stdout=output, stderr=output, start_new_session=True
        )
    address, deadline = f"http://127.0.0.1:{port}", time.monotonic() + READY_SECONDS
    try:
        while True:
            assert process.poll() is None, log.read_text()
            try:
                with urlopen(f"{address}/readyz", timeout=5):
                    break
            except OSError:
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.5)
        yield process, address
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def memory(pid: int) -> tuple[float, int]:
    """MB that the process and its children hold in memory of their own, and files that the process has open."""
    tree, total = [pid], 0.0
    for one in tree:
        try:
            rows = Path(f"/proc/{one}/smaps_rollup").read_text()
            total += next(int(line.split()[1]) for line in rows.splitlines() if line.startswith("Pss_Anon:")) / 1024
            tree += [
                int(child)
                for task in Path(f"/proc/{one}/task").iterdir()
                for child in (task / "children").read_text().split()
            ]
        except OSError:  # it ended
            continue
    return total, len(list(Path(f"/proc/{pid}/fd").iterdir()))


def people(address: str, tokens: list[str], minutes: float, asked: Asked) -> None:
    """All users, each in a thread, asking at a person's pace."""
    end = time.monotonic() + 60 * minutes

    def sit(user: int) -> None:
        dice = random.Random(user)
        with caller(address, tokens[user]) as client:
            time.sleep(dice.uniform(0, THINKING))
            while time.monotonic() < end:
                ask(client, user, len(tokens), asked)
                time.sleep(dice.expovariate(1 / THINKING))

    threads = [threading.Thread(target=sit, args=(user,)) for user in range(len(tokens))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def without_pause(
    process: subprocess.Popen[bytes], address: str, tokens: list[str], minutes: float, asked: Asked, most: int = 0
) -> None:
    """Questions of two users at once without a pause, each another one, for so long or until `most`; the memory now and
    then.
    """
    end, numbers = time.monotonic() + (3600 * 24 if most else 60 * minutes), iter(range(most or 10**9))

    def ask_on(user: int) -> None:
        with caller(address, tokens[user]) as client:
            for number in numbers:
                if time.monotonic() >= end:
                    return
                ask(client, user, len(tokens), asked, f" for order {number}")

    held = list[tuple[int, float]]()
    threads = [threading.Thread(target=ask_on, args=(user,)) for user in (0, 1)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        megabytes, files = memory(process.pid)
        held.append((sum(asked.outcomes.values()), megabytes))
        print(f"  {held[-1][0]:6} questions: {megabytes:7.0f} MB, {files} files open", flush=True)
        time.sleep(15.0 if most else max(20.0 * minutes / 4, 1.0))
    total = sum(asked.outcomes.values())
    thirds = [
        [size for count, size in held if total * part / 3 <= count <= total * (part + 1) / 3] for part in range(3)
    ]
    if all(thirds):
        print(
            f"memory by thirds: {', '.join(f'{statistics.median(third):.0f}' for third in thirds)} MB at the median",
            flush=True,
        )


def main() -> int:
    """Run it; 1 where something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.load", description=__doc__)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=5.0, help="of people asking (default: %(default)s)")
    parser.add_argument(
        "--memory-minutes", type=float, default=10.0, help="of questions without a pause (default: %(default)s)"
    )
    parser.add_argument("--questions", type=int, default=0, help="so many without a pause, instead of for some minutes")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "library"
        tokens = [
            Tokens(folder).create(f"u{user}", ["ask", "index"], [f"user{user}"])[1] for user in range(chosen.users)
        ]
        reader = Tokens(folder).create("reader", ["ask", "index"], ["big"])[1]
        print(f"load of the machine before: {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores", flush=True)
        with serving(folder, Path(place) / "log") as (process, address):
            for user, token in enumerate(tokens):
                room = WORDS[user % len(WORDS)]
                text = (
                    f"The access code of the {room} room is {code(user)}. The {room} room is "
                    f"cleaned on Mondays. Visitors sign a list."
                )
                with caller(address, token) as client:
                    sent(
                        client,
                        "/api/rag/index?wait=60",
                        json={"namespace": f"user{user}", "documents": [{"content": text}]},
                    )
            print(f"ready: {memory(process.pid)[0]:.0f} MB with its children", flush=True)
            with caller(address, reader) as big:
                begun = time.monotonic()
                job = sent_file(big, "big.pdf", PAGES)
                asked = Asked()
                done = threading.Thread(target=lambda: big.get(f"/api/jobs/{job}/events", timeout=None))
                done.start()
                took: list[float] = []
                threading.Thread(
                    target=lambda: (done.join(), took.append(time.monotonic() - begun)), daemon=True
                ).start()
                people(address, tokens, chosen.minutes, asked)
                print(
                    f"{chosen.users} users, {chosen.minutes:g} min: {asked.said()}; load {os.getloadavg()[0]:.1f}",
                    flush=True,
                )
                done.join()
                time.sleep(0.2)
                print(
                    f"file of {PAGES} pages: {took[0]:.0f} s beside them, "
                    f"{len(Collection(folder, 'big').taken())} documents",
                    flush=True,
                )
            alone = Asked()
            without_pause(process, address, tokens, chosen.memory_minutes, alone, chosen.questions)
            print(f"without a pause: {alone.said()}; load {os.getloadavg()[0]:.1f}", flush=True)
            wrong = stopped(process, address, tokens, reader, folder)
        bad = {name for found in (asked, alone) for name in found.outcomes} - {
            "answered",
            "refused or other",
            "status 503",
        }
        return 1 if bad or wrong else 0


def kept_so_far(folder: Path, users: int) -> int:
    """How many decisions of these users were ever kept: a collection keeps its newest 5,000, and their numbers go
    on.
    """
    newest = [records(folder, f"user{user}").decisions(1) for user in range(users)]
    return sum(rows[0].id for rows in newest if rows)


def stopped(process: subprocess.Popen[bytes], address: str, tokens: list[str], reader: str, folder: Path) -> bool:
    """Tell the service to stop with questions and a file in it; whether something was lost."""
    asked, kept = Asked(), kept_so_far(folder, min(8, len(tokens)))

    # a client takes a while to be made, and is no question in flight
    ready = threading.Barrier(min(8, len(tokens)) + 1)

    def one(user: int) -> None:
        with caller(address, tokens[user]) as client:
            client.get("/api/collections")
            ready.wait()
            ask(client, user, len(tokens), asked, " now")

    with caller(address, reader) as big:
        sent_file(big, "more.pdf", PAGES + 1)
    threads = [threading.Thread(target=one, args=(user,)) for user in range(min(8, len(tokens)))]
    for thread in threads:
        thread.start()
    ready.wait()
    time.sleep(0.2)
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    code_of_exit = process.wait(90)
    for thread in threads:
        thread.join()
    listed = (
        any(row.name == "more.pdf" for row in Collection(folder, "big").waiting())
        or len(Collection(folder, "big").taken()) == 2
    )
    now_kept = kept_so_far(folder, min(8, len(tokens)))
    served = asked.outcomes["answered"] + asked.outcomes["refused or other"]
    print(
        f"stop: exit {code_of_exit} after {time.monotonic() - begun:.1f} s; 8 questions in it: {dict(asked.outcomes)}, "
        f"{now_kept - kept} kept; file listed or indexed: {listed}",
        flush=True,
    )
    return code_of_exit != 0 or not listed or now_kept - kept < served


if __name__ == "__main__":
    sys.exit(main())
