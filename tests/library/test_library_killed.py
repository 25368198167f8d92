"""A process that changes a library is killed at random points; nothing that was confirmed is lost, and nothing is half
there.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from library_kit import SETTINGS, HashEmbedder, check_whole, found, library, pdf, text

from rag_core.errors import Cancelled
from rag_core.library.stored.sources import Source

CHILD = Path(__file__).with_name("library_child.py")


@contextmanager
def children(folder: Path) -> Iterator[Callable[[str, int], list[list[str]]]]:
    """Runs a child that is killed before its n-th change, and gives what it said; its exit status is the last line."""
    paths = os.pathsep.join([str(CHILD.parents[2]), str(CHILD.parent)])
    with subprocess.Popen(
        [sys.executable, str(CHILD), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    ) as process:

        def run(name: str, n: int) -> list[list[str]]:
            process.stdin.write(f"{name} {n}\n")
            process.stdin.flush()
            said = []
            for line in process.stdout:
                said.append(line.split())
                if said[-1][0] == "exit":
                    break
            return said

        yield run
        process.stdin.close()


def confirmed(said: list[list[str]], names: set[str]) -> tuple[set[str], set[str]]:
    """The names that must be in the library, and those that may be: of the operation during which the child was
    killed.
    """
    doubtful: set[str] = set()
    for word, *rest in said:
        if word in ("add", "delete"):
            doubtful = set(rest)
        elif word == "added":
            names, doubtful = names | set(rest), set()
        elif word == "deleted":
            names, doubtful = names - set(rest), set()
    return names - doubtful, doubtful


@pytest.mark.slow
def test_given_a_kill_at_thirty_points_then_all_that_was_confirmed_is_whole_and_the_rest_resumed(tmp_path):
    """S3-28: documents and their metadata outlive a killed process."""
    with children(tmp_path / "dry") as run:
        *_, changes, exit = run("dry", 0)
    assert exit == ["exit", "0"]
    points = random.Random(28).sample(range(1, int(changes[1]) + 1), 30)
    folder, must, waiting = tmp_path / "killed", set(), set()
    killed = 0

    with children(folder) as run:
        for number, point in enumerate(points):
            *said, exit = run(str(number), point)
            assert exit[1] in (str(-signal.SIGKILL), "0")  # 0: fewer changes were needed this time
            killed += exit[1] != "0"
            must, may = confirmed(said, must)

            opened = library(folder)
            names = {document.name for document in opened.snapshot.documents}
            assert must <= names <= must | may | waiting, f"killed at change {point} of run {number}"
            check_whole(opened)
            must, waiting = names, {row.name for row in opened.unfinished()}

    assert killed >= 25
    opened = library(folder)
    waiting = {row.name for row in opened.unfinished()}
    opened.resume(SETTINGS)
    assert opened.unfinished() == ()
    assert {document.name for document in opened.snapshot.documents} == must | waiting
    check_whole(opened)
    name = sorted(must)[0]
    assert [opened.snapshot.document(id).name for id in found(opened, f"item{name}")] == [name]


class KilledWhileEmbedding(HashEmbedder):
    """Stops as if the process ended there: nothing after it runs."""

    def embed(self, texts, kind="passage"):
        raise KeyboardInterrupt


def test_given_a_kill_while_embedding_when_resumed_then_the_pages_are_not_read_again(tmp_path, monkeypatch):
    source = Source("report.pdf", pdf("The notice period is three months."), "pdf")
    with pytest.raises(KeyboardInterrupt):
        library(tmp_path, embedder=KilledWhileEmbedding()).add([source], SETTINGS)
    opened = library(tmp_path)
    assert [row.name for row in opened.unfinished()] == ["report.pdf"]
    assert opened.snapshot.documents == ()

    def must_not_read(*_, **__):
        raise AssertionError("the PDF was read twice")

    monkeypatch.setattr("rag_core.library.indexing.reading.read_pdf", must_not_read)
    report = opened.resume(SETTINGS)

    assert [document.name for document in report.added] == ["report.pdf"]
    assert opened.unfinished() == ()
    assert opened.snapshot.words(report.added[0].id, 1)
    check_whole(opened)


def test_given_an_unfinished_encrypted_file_then_it_needs_its_password_which_is_nowhere_on_disk(tmp_path):
    data = pdf("The secret clause is long.", password="open-sesame")
    opened = library(tmp_path)

    report = opened.add([Source("locked.pdf", data, "pdf", password="open-sesame")], SETTINGS, cancelled=lambda: True)

    assert report.cancelled
    assert [(row.name, row.needs_password) for row in opened.unfinished()] == [("locked.pdf", True)]
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"open-sesame" in path.read_bytes()]
    assert [error.kind for _, error in opened.resume(SETTINGS).problems] == ["PasswordNeeded"]
    assert [row.name for row in opened.unfinished()] == ["locked.pdf"]
    assert [document.name for document in opened.resume(SETTINGS, passwords={"locked.pdf": "open-sesame"}).added] == [
        "locked.pdf"
    ]
    assert opened.unfinished() == ()


def test_given_a_stop_after_the_first_batch_when_adding_then_what_is_complete_is_kept_and_the_rest_waits(tmp_path):
    opened = library(tmp_path)
    first = [text("a", "Alpha is the first letter."), Source("b.pdf", pdf("Beta is the second letter."), "pdf")]
    stop = False

    def note(what: str, done: int, total: int) -> None:
        nonlocal stop
        stop = stop or (what, done) == ("documents", 2)

    report = opened.add(
        [*first, text("c", "Gamma is the third letter.")], SETTINGS, progress=note, cancelled=lambda: stop
    )

    assert report.cancelled
    assert [document.name for document in report.added] == ["a", "b.pdf"]
    assert [document.name for document in library(tmp_path).snapshot.documents] == ["a", "b.pdf"]
    assert [row.name for row in opened.unfinished()] == ["c"]
    opened.resume(SETTINGS)
    assert [document.name for document in opened.snapshot.documents] == ["a", "b.pdf", "c"]


def test_given_a_stop_while_waiting_for_the_lock_when_adding_then_nothing_is_accepted(tmp_path):
    from rag_core.library.disk.lock import writing

    opened = library(tmp_path)
    with writing(tmp_path / "default", 0), pytest.raises(Cancelled):
        opened.add([text("a", "Alpha.")], SETTINGS, cancelled=lambda: True, wait=5)
    assert opened.unfinished() == ()
