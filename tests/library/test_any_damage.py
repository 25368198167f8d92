"""Every stored file of a small library harmed in four ways: it is told, or every part reads as before."""

from __future__ import annotations

import damage


def test_given_any_stored_file_damaged_in_any_way_then_it_is_told_with_a_remedy_or_nothing_changes(tmp_path):
    folder = damage.a_library(tmp_path / "library")
    whole = damage.read(folder)
    assert not [value for value in whole.values() if isinstance(value, Exception)]

    done = list(damage.damaged(folder, tmp_path / "copies", damage.stored(folder), per_file=6))

    assert [problem for one in done if (problem := one.problem())] == []
    kinds = {one.name.split("/")[1] for one in done}
    assert kinds >= {"collection.sqlite", "sources", "records.sqlite", "calibration.json"}
    assert sum(one.told for one in done) > len(done) / 4
