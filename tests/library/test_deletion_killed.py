"""A deletion that is killed at any step is finished by whoever opens the library next: no file holds a word of what
went.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from deleting_child import GONE, LISTED, READ, id_of
from library_kit import SETTINGS, check_whole, found, library, text, traces

from rag_core.library.library import Library

CHILD = Path(__file__).with_name("deleting_child.py")
EVERY = int(os.environ.get("EVERY_KILL", "8"))  # one step in so many; all of them with EVERY_KILL=1
WAYS = ("delete", "everywhere", "listed", "discard", "being_read")
WORDS = {GONE: b"zyxoquant", LISTED: b"ulvexine", READ: b"buoy"}


def body(word: str, number: int) -> str:
    return f"The {word} of part {number} is calibrated every {number + 3} days. " * 3


Killed = Callable[[Path, str, int], list[str]]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Killed]]:
    """A library whose documents came one after the other, with a file that is not indexed yet."""
    folder = tmp_path_factory.mktemp("template")
    opened = library(folder)
    for number, name in enumerate(("a.txt", "b.txt", GONE, "c.txt")):
        opened.add(
            [text(name, body("zyxoquant" if name == GONE else f"gauge{number}", number), language="en")], SETTINGS
        )
    opened.add(
        [text(LISTED, body("ulvexine", 9), language="en")], SETTINGS, cancelled=lambda: bool(opened.unfinished())
    )
    assert [row.name for row in opened.unfinished()] == [LISTED]
    opened._collection.close()
    with killed(folder) as run:
        yield folder, run


@contextmanager
def killed(template: Path) -> Iterator[Killed]:
    """Deletes in a process that is killed at its n-th step, and gives the words of its last line but the exit
    status.
    """
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(CHILD.parents[2]), str(CHILD.parent)])}
    with subprocess.Popen(
        [sys.executable, str(CHILD), str(template)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as process:

        def run(folder: Path, way: str, n: int) -> list[str]:
            process.stdin.write(f"{folder} {way} {n}\n")
            process.stdin.flush()
            said = []
            for line in process.stdout:
                if line.startswith("exit"):
                    return [*said, line.split()[1]]
                said.append(line.split()[1])
            raise AssertionError("the child died")

        yield run
        process.stdin.close()


def known(opened: Library) -> set[str]:
    return {document.name for document in opened.snapshot.documents} | {row.name for row in opened.unfinished()}


def secrets(template: Path, name: str) -> list[bytes]:
    """What may be left nowhere of a document: its words, its name, its digest and its vectors."""
    opened = library(template)
    id = id_of(opened, name)
    rows = opened.snapshot.rows_of(id) if name == GONE else range(0)
    vectors = [opened.snapshot.vectors.vectors([row]).tobytes() for row in rows]
    return [WORDS[name], name.encode(), id.removeprefix("sha256:").encode(), *vectors]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_given_a_deletion_killed_at_each_step_when_opened_then_nothing_is_left_of_it(template, tmp_path, way):
    source, run = template
    gone = {"listed": LISTED, "discard": LISTED, "being_read": READ}.get(way, GONE)
    hidden = secrets(source, gone) if gone != READ else [WORDS[READ]]
    changes, status = run(tmp_path / "dry", way, 0)
    assert status == "0"
    in_force, last = 0, int(changes)
    for n in sorted({*range(1 + WAYS.index(way) % EVERY, last, EVERY), last}):
        folder = tmp_path / str(n)
        *_, status = run(folder, way, n)
        assert status in (str(-signal.SIGKILL), "0")  # 0: threads may need fewer steps

        opened = library(folder)  # the next opening

        check_whole(opened)
        assert len(found(opened, "gauge0")) == len(found(opened, "gauge3")) == 1
        assert {"a.txt", "b.txt", "c.txt", GONE, LISTED} - {gone} <= known(opened), n
        assert not opened._collection.facts().deleting, n
        if gone in known(opened):
            opened.delete(id_of(opened, gone))
        else:
            in_force += 1
        assert traces(folder, *hidden) == [], n
        shutil.rmtree(folder)
    assert in_force
