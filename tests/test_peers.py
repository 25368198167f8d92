"""The bench beside LangChain and LlamaIndex: figures made of runs, the PDFs it sets, and what it says when it cannot
measure.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest

from rag_core.settings import Settings
from tests.bench.peers import __main__ as bench
from tests.bench.peers import frameworks, memory, pdfs, turns, vectors
from tests.bench.peers.turns import OURS, PEERS, Run


def test_given_runs_when_made_a_figure_then_the_faster_peer_of_each_round_counts_and_of_the_rounds_the_median(
    capsys,
) -> None:
    seconds = {OURS: [10, 10, 30], "langchain": [40, 20, 60], "llamaindex": [80, 30, 45]}
    asked: list[str] = []

    def runner(who: str, paths: Sequence[Path]) -> Run:
        asked.append(who)
        return Run(who, pages=100, passages=500, seconds=seconds[who][asked.count(who) - 1], processor=1, load=0)

    ((_, value, target, _),) = turns.figures([], runner)

    assert value == pytest.approx(0.5), "the rounds are 10/40, 10/20 and 30/45"
    assert target == 0.25
    assert "2.0 times as fast" in capsys.readouterr().out
    assert asked == [OURS, *PEERS, *PEERS, OURS, PEERS[1], OURS, PEERS[0]], "each round begins with another one"


def test_the_peers_that_are_run_are_those_that_can_be_run() -> None:
    assert tuple(frameworks.BY_NAME) == PEERS


def test_given_no_peers_then_the_bench_says_so_and_how_to_get_them_and_the_other_figures_are_taken(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(turns, "DONE", tmp_path / "absent")
    monkeypatch.setattr(vectors, "figures", lambda texts, model: [("embedding", 0.1, 0.2, "x")])
    monkeypatch.setattr(memory, "figures", list)
    monkeypatch.setattr(bench, "embedder", lambda model, precision: None)

    found, missing = bench.measured([], [], Settings())
    late = bench.told(found, missing)

    assert late == 0
    assert found == [("embedding", 0.1, 0.2, "x")]
    said = capsys.readouterr().out
    assert "run: make peers" in said
    assert "2 of 3 figures not measured" in said


def test_a_figure_is_late_past_twice_its_target_and_not_at_it(capsys) -> None:
    assert bench.told([("a", 2.0, 1.0, "x"), ("b", 2.01, 1.0, "x"), ("c", 1.0, 1.0, "x")], []) == 1
    said = capsys.readouterr().out.splitlines()
    assert [line.endswith("PAST TARGET") for line in said] == [True, True, False]


def test_files_and_folders_of_pdfs_may_be_named(tmp_path) -> None:
    for name in ("b.pdf", "a.pdf", "notes.txt"):
        (tmp_path / name).touch()

    assert bench.named([str(tmp_path), "other.pdf"]) == [tmp_path / "a.pdf", tmp_path / "b.pdf", Path("other.pdf")]


def test_the_pdfs_have_as_many_pages_as_asked_are_the_same_each_time_and_repeat_little(tmp_path) -> None:
    (tmp_path / "again").mkdir()

    made, again = pdfs.make(tmp_path, 103), pdfs.make(tmp_path / "again", 103)

    texts = []
    for path, other in zip(made, again, strict=True):
        with pymupdf.open(path) as one, pymupdf.open(other) as two:
            pages = [page.get_text() for page in one]
            assert pages == [page.get_text() for page in two]
            texts.append(pages)
    assert [len(pages) for pages in texts] == [100, 3]
    words = [len(page.split()) for pages in texts for page in pages]
    assert 250 < sum(words) / len(words) < 700, "as a page of a report has"
    lines = [line for line in "\n".join(texts[0]).splitlines() if len(line) > 60]
    assert len(set(lines)) > 0.9 * len(lines)
    assert "Mathematics" in "".join(texts[0])


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="only Linux says it")
def test_given_a_process_with_a_child_then_the_memory_of_both_counts() -> None:
    child = "held = bytes(b'x') * (64 << 20); print(1, flush=True); input()"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=False)"
    with subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        held = memory.tree_bytes(process.pid)
        process.stdin.close()

    assert held > 64 << 20
    assert memory.tree_bytes(process.pid) == 0, "it ended"


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="only Linux says it")
def test_given_a_child_that_does_not_run_its_own_program_yet_then_its_memory_is_not_counted_twice() -> None:
    forked = "import os; held = bytes(b'x') * (64 << 20); child = os.fork(); child and print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", forked], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        process.stdout.readline()
        held = memory.tree_bytes(process.pid)
        process.stdin.close()

    assert 0 < held < 64 << 20, "half of what the two share, as the child is left out"


def test_given_a_run_then_its_speed_is_by_the_clock() -> None:
    run = Run(OURS, pages=100, passages=1, seconds=4.0, processor=8.0, load=0.0)

    assert run.speed == 25.0
    assert replace(run, processor=80.0).speed == 25.0
