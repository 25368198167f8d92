"""The report of how a library grows measures a real library, and writes only between its marks."""

from __future__ import annotations

import pytest

from reports import scale
from reports.scale import BEGIN, END, NAMES, PAGE, Texts, built, drawn, measured, table, written

ROW = dict.fromkeys(NAMES, 0.25) | {"passages": 1000, "documents": 20}


def test_given_a_small_size_when_measured_then_everything_of_the_table_is_there_and_the_library_is_as_before(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "SENTENCES", 48)
    monkeypatch.setattr(scale, "QUESTIONS", 3)
    took = built(tmp_path, 8)

    row = measured(tmp_path)

    assert row["passages"] >= 8
    assert took > 0
    assert {"build_s", *row} == {"passages", "documents", *NAMES}
    assert all(row[name] > 0 for name in row if name != "memory_kb")
    assert len(scale.opened(tmp_path).snapshot.passages) == row["passages"]


def test_given_a_seed_then_its_text_is_the_same_each_time_and_another_than_that_of_the_next() -> None:
    assert [*Texts(3).sentences(5)] == [*Texts(3).sentences(5)] != [*Texts(4).sentences(5)]


def test_given_figures_when_written_then_the_rest_of_the_page_stays(tmp_path) -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter"

    said = written(page, [ROW, {**ROW, "passages": 10_000}], "2026-11-24")
    drawn([ROW, {**ROW, "passages": 10_000}], tmp_path / "made" / "growth.svg")

    assert said.startswith("before\n")
    assert said.endswith("\nafter")
    assert "old" not in said
    assert "| reopen (s) | 0.25 | 0.25 |" in table([ROW, ROW])
    assert "10,000 passages" in said
    assert "<svg" in (tmp_path / "made" / "growth.svg").read_text()
    with pytest.raises(ValueError, match="no place"):
        written("nothing", [ROW], "2026-11-24")
    assert written(PAGE.read_text(encoding="utf-8"), [ROW], "2026-11-24")
