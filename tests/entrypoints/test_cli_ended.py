"""The command line as a process: folders that hold anything, and signals.

No file ends the others, and nothing is left behind.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pymupdf
from hostile import make

from rag_core.library.library import Accepted
from rag_core.library.stored.sources import Source, sources_from
from rag_core.library.stored.typed_json import to_row

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "rag_core"]
PATIENCE_SECONDS = 120.0  # on a busy machine; a command that hangs fails the test


def pdf(body: str) -> bytes:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), body)
    return document.tobytes()


def any_folder(folder: Path) -> Path:
    """A good file between all that a folder may hold besides."""
    folder.mkdir()
    (folder / "good.pdf").write_bytes(pdf("The gate opens at 8 o'clock."))
    Path(os.fsdecode(os.fsencode(folder) + b"/na\xefve.pdf")).write_bytes(pdf("Cats sleep all day."))
    (folder / "two\nlines \x1b[31m\u202efdp.pdf").write_bytes(pdf("Dogs run about."))
    (folder / "folder.pdf").mkdir()
    (folder / "folder.pdf/inside.pdf").write_bytes(pdf("Fish swim."))
    (folder / "nowhere.pdf").symlink_to(folder / "gone")
    (folder / "round.pdf").symlink_to("round.pdf")
    (folder / "endless.pdf").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.pdf")
    os.mkfifo(folder / "pipe.jsonl")
    return folder


def test_given_a_name_and_metadata_that_are_no_text_when_listed_then_they_can_be_stored() -> None:
    source = Source("\ud800.pdf", b"", "pdf").described({"title": "\udcff", "class": "\udc80"})

    row = to_row(Accepted.of(source))

    assert json.loads(json.dumps(row, ensure_ascii=False).encode()) == {**row, "names": ["\ufffd.pdf"]}
    assert (row["metadata"]["title"], row["metadata"]["values"]) == ("\ufffd", {"class": "\ufffd"})


def test_given_a_folder_of_anything_when_indexed_then_good_files_are_there_and_others_named(tmp_path, run):
    folder, library = any_folder(tmp_path / "any"), tmp_path / "lib"
    code, _, said = run("index", folder, folder / "pipe.jsonl", folder / ("long" * 80 + ".pdf"), "--library", library)

    assert code == 1, said
    assert "4 documents in collection" in said
    assert "Traceback" not in said
    assert "\x1b" not in said
    for name, what in {
        "folder.pdf": "a folder",
        "nowhere.pdf": "No such file",
        "round.pdf": "levels of symbolic links",
        "endless.pdf": "a device",
        "pipe.pdf": "a pipe",
        "pipe.jsonl": "a pipe",
        "longlong": "too long",
    }.items():
        assert [line for line in said.splitlines() if name in line and what in line], name
    listed = [json.loads(line)["name"] for line in run("documents", "--json", "--library", library)[1].splitlines()]
    assert sorted(listed) == ["good.pdf", "inside.pdf", "na\ufffdve.pdf", "two\ufffdlines \ufffd[31m\u202efdp.pdf"]


def test_given_a_file_that_goes_while_others_are_read_then_it_is_one_problem(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.pdf").write_bytes(pdf(name))
    reading = sources_from([tmp_path])

    first = next(reading)
    (tmp_path / "b.pdf").unlink()

    assert isinstance(first, Source)
    assert [getattr(item, "name", item) if isinstance(item, Source) else item.problem for item in reading] == [
        "b.pdf cannot be read: No such file or directory.",
        "c.pdf",
    ]


def test_given_sigterm_or_ctrl_c_while_a_command_works_then_its_temporary_folder_and_its_children_are_gone(tmp_path):
    (tmp_path / "tmp").mkdir()
    # seconds of reading: no machine is done before it is told to stop
    (tmp_path / "long.pdf").write_bytes(make.many_pages(1500))
    for sign, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        process = subprocess.Popen(
            [*COMMAND, "ask", "What is said?", "--documents", str(tmp_path / "long.pdf")],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        )
        children = until_it_reads(process, tmp_path / "tmp")
        process.send_signal(sign)
        _, said = process.communicate(timeout=PATIENCE_SECONDS)

        assert process.returncode == code, said
        assert b"What was finished is kept." in said
        assert b"Traceback" not in said
        assert list((tmp_path / "tmp").glob("plumbline-*")) == []
        # one that was being started at that very moment ends by itself, as its pipe is closed: some milliseconds later
        until_none_is_running(children)


def until_it_reads(process: subprocess.Popen[bytes], folder: Path) -> list[int]:
    """Wait until the command reads its file in a child, with its library in the temporary folder; the ids of its
    children.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        children = children_of(process.pid)
        if list(folder.glob("plumbline-*/default/collection.sqlite")) and children:
            return children
        time.sleep(0.01)
    raise AssertionError(f"the command never read its file: {process.communicate()}")


def children_of(id: int) -> list[int]:
    """The ids of a process's children, whichever of its threads started them."""
    found = []
    for thread in Path(f"/proc/{id}/task").glob("*/children"):
        with suppress(OSError):  # the thread ended meanwhile
            found += map(int, thread.read_text().split())
    return found


def until_none_is_running(children: list[int]) -> None:
    """Wait until these processes are gone."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while left := [child for child in children if is_running(child)]:
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.01)


def is_running(id: int) -> bool:
    try:
        return Path(f"/proc/{id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_given_a_file_that_becomes_a_pipe_before_it_is_opened_then_nobody_waits_for_it(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "x.pdf")
    monkeypatch.setattr(Path, "stat", lambda path: os.stat(__file__))

    (found,) = sources_from([tmp_path / "x.pdf"])

    assert "is a pipe" in found.problem
