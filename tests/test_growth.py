"""The report of how a library grows measures a real library, and writes only between its marks."""

from __future__ import annotations

import json

import pytest

from reports import END, begin, scale
from reports.scale import NAMES, PAGE, Texts, built, measured, opened, table, written

ROW = dict.fromkeys(NAMES, 0.25) | {"passages": 1000, "documents": 20}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(scale, "SENTENCES", 48)
    monkeypatch.setattr(scale, "QUESTIONS", 3)


def test_given_a_size_when_measured_then_everything_of_the_table_is_there_and_the_library_is_as_before(tmp_path, small):
    took = built(tmp_path, 30)

    row = measured(tmp_path)

    assert row["passages"] >= 30
    assert took > 0
    assert {"index_ms", *row} == {"passages", "documents", *NAMES}
    assert all(row[name] >= 0 for name in row if name != "memory_kb")
    assert row["recall"] == 1
    assert len(opened(tmp_path).snapshot.passages) == row["passages"]


def test_given_sizes_when_run_then_libraries_that_are_kept_are_taken_up(tmp_path, small, monkeypatch):
    monkeypatch.setattr(scale, "PAGE", tmp_path / "page.md")
    (tmp_path / "page.md").write_text(f"{begin('scale')}{END}")
    (tmp_path / "10").mkdir()
    (tmp_path / "10/indexed.json").write_text('{"index_ms": 12.5}')
    built(tmp_path / "10", 10)

    scale.main(["10", "--folder", str(tmp_path)])

    assert "| index a passage, without a model (ms) | 12 |" in (tmp_path / "page.md").read_text()
    assert json.loads((tmp_path / "10/indexed.json").read_text()) == {"index_ms": 12.5}


def test_given_a_seed_then_its_text_is_the_same_each_time_and_another_than_that_of_the_next() -> None:
    assert [*Texts(3).sentences(5)] == [*Texts(3).sentences(5)] != [*Texts(4).sentences(5)]


def test_given_figures_when_written_then_the_rest_of_the_page_stays() -> None:
    page = f"before\n{begin('scale')}\nold\n{END}\nafter"

    said = written(page, [ROW, {**ROW, "passages": 10_000}], "2026-11-24")

    assert said.startswith("before\n")
    assert said.endswith("\nafter")
    assert "old" not in said
    assert "| reopen (s) | 0.25 | 0.25 |" in table([ROW, ROW])
    assert "10,000 passages" in said
    with pytest.raises(ValueError, match="needs the lines"):
        written("nothing", [ROW], "2026-11-24")
    assert written(PAGE.read_text(encoding="utf-8"), [ROW], "2026-11-24")
