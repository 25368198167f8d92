"""A deletion that is killed at any step is finished by whoever opens the library next: no file holds a word of what went."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from deleting_child import GONE, LISTED, WAITING, id_of
from library_kit import SETTINGS, check_whole, found, library, text

from rag_core.library.deletion import NOTE
from rag_core.library.library import Library
from rag_core.library.stored import lists

CHILD = Path(__file__).with_name("deleting_child.py")
EVERY = int(os.environ.get("EVERY_KILL", "8"))  # one step in so many; all of them, EVERY_KILL=1, take 8 minutes
WAYS = ("delete", "everywhere", "listed", "discard", "waiting")
WORDS = {GONE: b"zyxoquant", LISTED: b"ulvexine", WAITING: b"buoy"}


def body(word: str, number: int) -> str:
    return f"The {word} of part {number} is calibrated every {number + 3} days. " * 3


Killed = Callable[[Path, str, int, int], list[str]]


@pytest.fixture(scope="module", params=[False, True], ids=["manifest", "lists"])
def template(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, bool, Killed]]:
    """A library whose documents came one after the other, with a file that is not indexed yet; its lists stand apart or not."""
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        if request.param:
            patch.setattr(lists, "MIN_DOCUMENTS", 2)
            patch.setattr(lists, "MAX_DOCUMENTS", 4)
        opened = library(folder)
        for number, name in enumerate(("a.txt", "b.txt", GONE, "c.txt")):
            opened.add([text(name, body("zyxoquant" if name == GONE else f"gauge{number}", number), language="en")], SETTINGS)
        opened.add([text(LISTED, body("ulvexine", 9), language="en")], SETTINGS, cancelled=lambda: bool(opened.unfinished()))
        assert [row.name for row in opened.unfinished()] == [LISTED]
        with killed(folder, request.param) as run:
            yield folder, request.param, run


@contextmanager
def killed(template: Path, parted: bool) -> Iterator[Killed]:
    """Deletes in a process that is killed before its n-th change, and gives the words of its last line but the exit status."""
    paths = os.pathsep.join([str(CHILD.parents[2]), str(CHILD.parent)])
    env = {**os.environ, "PYTHONPATH": paths, "PARTED": "1" if parted else ""}
    with subprocess.Popen(
        [sys.executable, str(CHILD), str(template)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as process:
        assert process.stdin
        assert process.stdout

        def run(folder: Path, way: str, left: int, n: int) -> list[str]:
            process.stdin.write(f"{folder} {way} {left} {n}\n")
            process.stdin.flush()
            said = []
            for line in process.stdout:
                if line.startswith("exit"):
                    return [*said, line.split()[1]]
                said.append(line.split()[1])
            raise AssertionError("the child died")

        yield run
        process.stdin.close()


def unpacked(data: bytes) -> Iterator[bytes]:
    """The bytes, and what is packed in them, wherever it begins."""
    yield data
    at = data.find(b"\x1f\x8b\x08")
    while at >= 0:
        try:
            yield zlib.decompressobj(31).decompress(data[at:])
        except zlib.error:
            pass
        at = data.find(b"\x1f\x8b\x08", at + 1)


def traces(folder: Path, *words: bytes) -> list[str]:
    """The files that hold one of these, or are named by it."""
    hits = []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        texts = [name.encode(), *(unpacked(path.read_bytes()) if path.is_file() else ())]
        hits += [name for one in texts if any(word.lower() in one.lower() for word in words)]
    return hits


def known(opened: Library) -> set[str]:
    return {document.name for document in opened.snapshot.documents} | {row.name for row in opened.unfinished()}


def secrets(template: Path, name: str) -> list[bytes]:
    """What may be left nowhere of a document: its words, its name, its digest and its vectors."""
    opened = library(template)
    id = id_of(opened, name)
    rows = opened.snapshot.rows_of(id) if name == GONE else range(0)
    vectors = [opened.snapshot.vectors.vectors([row]).tobytes() for row in rows]
    return [WORDS[name], id.removeprefix("sha256:").encode(), *vectors]


@pytest.mark.slow
@pytest.mark.parametrize("left", [-1, 0], ids=["room", "full"])
@pytest.mark.parametrize("way", WAYS)
def test_given_a_deletion_killed_at_each_step_when_opened_again_then_the_others_are_whole_and_nothing_is_left_of_it(
    template, tmp_path, way, left
):
    source, parted, run = template
    gone = {"listed": LISTED, "discard": LISTED, "waiting": WAITING}.get(way, GONE)
    hidden = secrets(source, gone) if gone != WAITING else [WORDS[WAITING]]
    changes, status = run(tmp_path / "dry", way, left, 0)
    assert status == "0"
    every = max(1, EVERY // 2) if way == "delete" else EVERY  # the shortest, of which few steps have the note that is looked for
    first = 1 + (WAYS.index(way) + 5 * parted - 3 * left) % every  # the cases share most steps: each begins at another
    in_force, last = 0, int(changes)
    for n in sorted({*range(first, last, every), last}):
        folder = tmp_path / str(n)
        *_, status = run(folder, way, left, n)
        assert status in (str(-signal.SIGKILL), "0")  # 0: threads may need fewer changes
        noted = (folder / "default" / NOTE).exists()

        opened = library(folder)  # the next opening

        check_whole(opened)
        assert len(found(opened, "gauge0")) == len(found(opened, "gauge3")) == 1
        assert {"a.txt", "b.txt", "c.txt", GONE, LISTED} - {gone} <= known(opened), n
        assert not (folder / "default" / NOTE).exists(), n
        if gone in known(opened):
            opened.delete(id_of(opened, gone))
        elif noted or left == 0 or way != "delete":  # else all was done, and the older versions are left to their readers
            in_force += 1
            assert traces(folder, *hidden) == [], n
        shutil.rmtree(folder)
    assert in_force
