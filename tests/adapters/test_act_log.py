"""The audit log: a chain over its lines, appended by several threads and processes; what is changed, cut or moved is
told with the line.
"""

from __future__ import annotations

import json
import multiprocessing
import threading
from pathlib import Path

import pytest

from rag_core import wiring
from rag_core.adapters.act_log import FILE, START, ActLog
from rag_core.domain.acts import Action, acting, actor
from rag_core.entrypoints.cli import main
from rag_core.errors import LibraryError
from rag_core.work.background import Background

SPAWN = multiprocessing.get_context("spawn")  # forking a process that has threads is not safe
NOTES = range(15)


def note_some(folder: Path, who: str) -> None:
    log = ActLog(folder)
    with acting(who):
        for number in NOTES:
            log.note(Action.DELETE, "default", (f"{who}-{number}", "both"))


def filled(folder: Path, count: int = 6) -> ActLog:
    log = ActLog(folder)
    with acting("program"):  # the page's tests may have been in this process
        for number in range(count):
            log.note(Action.ASK, "default", (f"object-{number}",))
    return log


def test_given_threads_and_processes_that_note_at_once_then_every_line_is_in_one_chain(tmp_path: Path) -> None:
    workers = [SPAWN.Process(target=note_some, args=(tmp_path, f"process-{n}")) for n in range(2)]
    workers += [threading.Thread(target=note_some, args=(tmp_path, f"thread-{n}")) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    log = ActLog(tmp_path)
    entries, found = list(log.entries()), log.verify()
    assert (found.problem, found.lines, found.torn) == ("", 5 * 2 * len(NOTES), ())
    assert [entry.n for entry in entries] == list(range(1, found.lines + 1))
    for who in {entry.who for entry in entries}:
        own = [entry.object for entry in entries if entry.who == who]
        assert own == [name for number in NOTES for name in (f"{who}-{number}", "both")]
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("harm", "line"),
    [
        (lambda rows: [*rows[:2], rows[2].replace(b"object-2", b"object-9"), *rows[3:]], 4),
        (lambda rows: [rows[0].replace(b"program", b"nobody."), *rows[1:]], 2),
        (lambda rows: [*rows[:2], *rows[3:]], 3),
        (lambda rows: rows[1:], 1),
        (lambda rows: [*rows[:3], rows[1], *rows[3:]], 4),
        (lambda rows: [rows[0], rows[2], rows[1], *rows[3:]], 2),
        (lambda rows: [*rows[:2], b"not a line\n", *rows[3:]], 4),
        (lambda rows: [*rows[:2], b"\n", *rows[2:]], 4),
        (lambda rows: [*rows[:2], rows[2].replace(b'"n":3', b'"n":true'), *rows[3:]], 4),
    ],
    ids=[
        "changed",
        "who changed",
        "cut out",
        "first cut out",
        "repeated",
        "reordered",
        "overwritten",
        "added",
        "no number",
    ],
)
def test_given_a_log_that_was_tampered_with_then_the_line_is_told(tmp_path: Path, harm, line: int) -> None:
    filled(tmp_path)
    path = tmp_path / FILE
    path.write_bytes(b"".join(harm(path.read_bytes().splitlines(keepends=True))))

    found = ActLog(tmp_path).verify()

    assert (found.line, bool(found.problem)) == (line, True)


def test_given_an_end_that_was_cut_off_or_changed_when_verified_then_only_a_hash_that_was_kept_elsewhere_tells_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, path = filled(tmp_path), tmp_path / FILE
    earlier = log.verify().head
    log.note(Action.DELETE, "default", ("it",))
    rows = path.read_bytes().splitlines(keepends=True)
    newest = log.verify([earlier, START])
    assert newest.met == {earlier, START}

    for harmed in (rows[:-1], [*rows[:-1], rows[-1].replace(b"it", b"no")], []):
        path.write_bytes(b"".join(harmed))
        assert log.verify([newest.head]).problem == ""
        assert log.verify([newest.head]).met == frozenset()
        assert main(["audit", "verify", "--library", str(tmp_path), "--head", newest.head]) == 1
        assert "never came to" in capsys.readouterr().err


def test_given_a_power_cut_in_a_line_when_another_is_noted_then_the_chain_goes_on(tmp_path: Path) -> None:
    log, path = filled(tmp_path), tmp_path / FILE
    whole = path.read_bytes()
    for lost in (len(whole.splitlines()[-1]), 20):
        path.write_bytes(whole[:-lost])
        assert (log.verify().line, log.verify().torn) == (6, (6,))
        log.note(Action.ASK, "default")
        found = log.verify()
        assert (found.problem, found.torn, found.lines) == ("", (6,), 7)
    path.write_bytes(path.read_bytes().replace(b'{"n":6', b'{"n":5'))  # what is left of it is in the chain, too
    assert log.verify().line == 7


def test_given_a_disk_that_refuses_when_something_is_done_then_it_is_not_done(tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / FILE).mkdir()  # no file can be written here

    with pytest.raises(LibraryError):
        wiring.records(tmp_path / "library", "default").set_keeping(False)
    assert wiring.records(tmp_path / "library", "default").keeping() is None


def test_given_work_beside_a_caller_when_it_acts_then_it_acts_for_them() -> None:
    with acting("token:1"):
        work = Background[str]("a test").start(lambda _: actor().name)
    work.wait(10)

    assert (work.result, actor().name != "token:1") == ("token:1", True)


def test_given_what_was_done_then_it_is_shown_without_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = ("--library", str(tmp_path))
    assert main(["token", "create", "Quarterly juniper", "--scope", "ask", "--collection", "*", *library]) == 0
    id = capsys.readouterr().out.split("_")[1]
    store = wiring.records(tmp_path, "default")
    store.write_set("juniper questions", [])
    store.set_keeping(True)
    capsys.readouterr()

    assert main(["audit", "show", "--json", *library]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["action"], row["collection"]) for row in rows] == [
        ("create_token", ""),
        ("change_labels", "default"),
        ("change_keeping", "default"),
    ]
    assert (rows[0]["object"], rows[0]["who"].partition(":")[0]) == (id, "command")
    assert b"juniper" not in (tmp_path / FILE).read_bytes()
    assert main(["audit", "show", "--do", "create_token", "--object", id, *library]) == 0
    assert capsys.readouterr().out.count("\n") == 1
    assert main(["audit", "show", "--who", "nobody", *library]) == 0
    assert capsys.readouterr().out == ""
    assert main(["audit", "verify", *library]) == 0
    assert "3 lines" in capsys.readouterr().out


def test_given_an_environment_that_says_no_then_no_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_AUDIT", "false")
    wiring.records(tmp_path, "default").set_keeping(True)

    assert not (tmp_path / FILE).exists()


def test_given_a_log_moved_away_then_a_new_one_begins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, old = filled(tmp_path), tmp_path / "old.jsonl"
    newest = log.verify().head
    (tmp_path / FILE).rename(old)
    log.note(Action.ASK, "default", ("later",))

    assert [entry.n for entry in log.entries()] == [1]
    assert main(["audit", "verify", "--file", str(old), "--library", str(tmp_path), "--head", newest]) == 0
    assert "6 lines" in capsys.readouterr().out
    assert main(["audit", "verify", "--file", str(tmp_path / "none.jsonl"), "--library", str(tmp_path)]) == 1
