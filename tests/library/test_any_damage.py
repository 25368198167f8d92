"""Every stored file of a small library harmed in four ways: it is told, or every part reads as before."""

from __future__ import annotations

from pathlib import Path

import damage


def test_given_any_stored_file_damaged_in_any_way_then_it_is_told_with_a_remedy_or_nothing_changes(tmp_path):
    folder = damage.a_library(tmp_path / "library")
    whole = damage.read(folder)
    assert not [value for value in whole.values() if isinstance(value, Exception)]

    done, healed = [], {}
    for one in damage.damaged(folder, tmp_path / "copies", damage.stored(folder), per_file=6):
        done.append(one)
        if one.told and one.name not in healed and Path(one.name).name not in damage.OPTIONAL:
            healed[one.name] = damage.healing_problem(tmp_path / "copies" / "copy")

    assert [problem for one in done if (problem := one.problem())] == []
    assert set(healed.values()) == {""}
    kinds = {one.name.split("/")[1] for one in done}
    assert kinds >= {"collection.sqlite", "sources", "records.sqlite", "calibration.json"}
    assert sum(one.told for one in done) > len(done) / 4
