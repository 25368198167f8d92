"""Correctness is scaled in single languages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import calibration

from rag_core.gating.features import FEATURES
from rag_core.gating.scores import FILE, Platt
from training.fit_languages import LEAST_GROUP, main, raised, report, scaling

ZERO = dict.fromkeys(FEATURES, 0.0)


def asked(truth: Platt, count: int, group: str) -> list[dict[str, Any]]:
    """Questions of which as many are right as a score with this scaling says."""
    draw = np.random.default_rng(3)
    told = replace(calibration(), languages={"hi": truth})
    rows = [ZERO | {"coverage_all": float(value), "searched": 1.0} for value in draw.uniform(0, 1, count)]
    return [
        {"signals": row, "right": bool(draw.uniform() < told.probability(row, "hi")), "answerable": True, "group": group,
         "question": str(place), "language": "hi"}
        for place, row in enumerate(rows)
    ]  # fmt: skip


def test_given_questions_of_a_language_that_is_surer_than_the_score_then_its_scaling_is_found() -> None:
    found = scaling(calibration(), asked(Platt(2.0, -1.0), 3000, "xquad-hi"))

    assert found.slope == pytest.approx(2.0, abs=0.3)
    assert found.shift == pytest.approx(-1.0, abs=0.3)


def test_given_a_score_that_says_what_is_so_then_it_is_hardly_scaled() -> None:
    found = scaling(calibration(), asked(Platt(), 3000, "xquad-hi"))

    assert (found.slope, found.shift) == (pytest.approx(1.0, abs=0.15), pytest.approx(0.0, abs=0.15))


def test_given_a_score_that_says_the_opposite_then_the_order_still_stays() -> None:
    rows = [row | {"right": not row["right"]} for row in asked(Platt(2.0, 0.0), 400, "xquad-hi")]

    assert scaling(calibration(), rows).slope > 0


def test_given_two_groups_then_each_has_a_line_judged_by_a_fit_that_did_not_see_its_questions() -> None:
    rows = asked(Platt(3.0, 0.0), 1200, "xquad-hi") + asked(Platt(3.0, 0.0), 300, "nearmiss-hi")

    lines = report(calibration(), rows, 0.5).splitlines()

    assert [line.partition(":")[0] for line in lines] == ["xquad-hi", "nearmiss-hi"]
    before, now = (float(part.rpartition("error ")[2]) for part in lines[0].split(" | ")[1:])
    assert now < before


def test_given_groups_that_ask_for_more_then_the_odds_are_raised_by_the_lower_end_of_the_least() -> None:
    rows = asked(Platt(1.0, 2.0), 900, "xquad-en") + asked(Platt(1.0, 1.2), 900, "pdf-en")

    found = raised(calibration(), rows)

    assert (found.slope, found.sentences) == (1.0, True)
    assert 0.8 < found.shift < 1.2


def test_given_a_group_that_asks_for_none_then_nothing_is_raised() -> None:
    rows = asked(Platt(1.0, 2.0), 900, "xquad-en") + asked(Platt(1.0, -0.5), 900, "pdf-en")

    assert raised(calibration(), rows).shift == 0


def test_given_few_questions_or_rows_of_tables_then_they_do_not_say_by_how_much() -> None:
    """A handful of questions tells little, and a draft of rows is not raised."""
    few, rows = asked(Platt(1.0, -5.0), LEAST_GROUP - 1, "filings-en"), asked(Platt(1.0, -5.0), 900, "pdf-en")
    for row in rows:
        row["signals"]["draft_table"] = 1.0

    assert raised(calibration(), few + rows).shift == 0
    assert raised(calibration(), few + rows + asked(Platt(1.0, 2.0), 900, "xquad-en")).shift > 1.5


def test_given_one_language_is_scaled_then_the_others_keep_their_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "measured.jsonl"
    kept.write_text("".join(json.dumps(row) + "\n" for row in asked(Platt(), 300, "xquad-hi")), encoding="utf-8")
    written: list[str] = []
    monkeypatch.setattr("training.fit_languages.write", lambda _, made: written.append(json.dumps(made)))
    monkeypatch.setattr("sys.argv", ["fit_languages", str(kept), "--languages", "hi", "--write"])

    main()

    before = json.loads(FILE.read_text(encoding="utf-8"))["correctness"].get("languages", {})
    now = json.loads(written[0])["correctness"]["languages"]
    assert now.keys() == before.keys() | {"hi"}
    assert [code for code in now if now[code] != before.get(code)] == ["hi"]
