"""A calibration from a labelled set: judged on what each fold was kept from, with a complete provenance."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from builders import calibration, claim, draft, identity, measurements, passage

from rag_core.errors import InvalidInput
from rag_core.evaluation.calibration import (
    MAX_WORDS,
    Sample,
    false_refusals_at,
    figures_of,
    fitted,
    given_by,
    is_right,
    out_of_fold,
)
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.gating.features import FEATURES
from rag_core.gating.scores import Calibration, question_hash


def samples(
    count: int, *, seed: int = 3, slope: float = 8.0, middle: float = 0.5, language: str = "en"
) -> list[Sample]:
    """Questions whose chance of an answer rises with `draft_cosine`; every other signal is noise."""
    draw = np.random.default_rng(seed)
    rows = draw.uniform(0, 1, (count, len(FEATURES)))
    of = FEATURES.index("draft_cosine")
    answerable = draw.uniform(0, 1, count) < 1 / (1 + np.exp(-slope * (rows[:, of] - middle)))
    return [
        Sample(f"question {seed} {n}", language, bool(label), dict(zip(FEATURES, map(float, row), strict=True)))
        for n, (row, label) in enumerate(zip(rows, answerable, strict=True))
    ]


def test_given_a_labelled_set_when_fitted_then_the_provenance_is_complete_and_json() -> None:
    rows = samples(300) + samples(100, seed=4, language="cs")

    made = fitted(identity("m"), rows, {"sets": {"own": 400}, "date": "2026-11-21"})

    about = json.loads(json.dumps(made.provenance))
    assert about["sets"] == {"own": 400}
    assert (about["date"], about["folds"], about["seed"]) == ("2026-11-21", 5, 7)
    assert about["n"] == {
        "answerable": sum(r.answerable for r in rows),
        "unanswerable": sum(not r.answerable for r in rows),
    }
    assert list(about["left_out_of_the_fit"]) == ["all", "en", "cs"]
    assert about["left_out_of_the_fit"]["all"]["n"] == 400
    assert about["strength"] in (0.01, 0.1, 1.0)
    assert about["question_hashes"] == sorted(question_hash(row.question) for row in rows)
    assert not any(row.question in json.dumps(about) for row in rows)
    assert Calibration.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_given_noise_for_signals_when_left_out_then_the_folds_do_not_flatter_it_and_a_real_signal_is_found() -> None:
    """A fit's own questions look better than they are; those that it was kept from do not."""
    rows = samples(120)
    noise = [replace(row, answerable=bool(n % 2)) for n, row in enumerate(rows)]

    chance = fitted(identity("m"), noise, {}).provenance["left_out_of_the_fit"]["all"]["auroc"]
    real = fitted(identity("m"), samples(300), {}).provenance["left_out_of_the_fit"]["all"]["auroc"]

    assert 0.3 < chance < 0.65
    assert real > 0.8


def test_given_one_question_asked_of_several_documents_then_its_copies_share_a_fold() -> None:
    """Else a question would be judged by a fit that was told its label."""
    rows = [replace(row, question=f"  Question {n % 60} ") for n, row in enumerate(samples(240))]
    seen: list[set[str]] = []

    def remembering(train: object) -> Calibration:
        seen.append({question_hash(row.question) for row in train})  # type: ignore[attr-defined]
        return calibration("m")

    out_of_fold(rows, remembering)

    assert len(seen) == 5
    assert all(len(train) == 48 for train in seen)


@pytest.mark.parametrize("kind", [True, False])
def test_given_forty_nine_of_one_kind_then_nothing_is_fitted(kind: bool) -> None:
    rows = [replace(row, answerable=(n < 49) == kind) for n, row in enumerate(samples(200))]

    with pytest.raises(InvalidInput, match=r"too few.*at least 50"):
        fitted(identity("m"), rows, {})


def test_given_known_scores_then_false_refusals_are_counted_at_the_lowest_threshold_that_allows_five_percent() -> None:
    no = np.linspace(0.0, 0.95, 20)  # one of twenty may pass: the threshold lies just above 0.9
    scores = np.concatenate([no, [0.1, 0.5, 0.92, 0.99]])
    labels = np.array([False] * 20 + [True] * 4)

    assert false_refusals_at(scores, labels) == 0.5
    assert false_refusals_at(scores[:20], labels[:20]) is None
    assert false_refusals_at(scores, labels, wrong=1.0) == 0.0
    assert false_refusals_at(np.full(24, 0.5), labels) == 1.0, "equal scores pass or fail together"


def rightly(rows: list[Sample], share: float = 0.5) -> list[Sample]:
    """The same questions; of the answerable ones about this share is answered rightly, those that hold more of the
    question's words.
    """
    cut = float(np.quantile([row.features["draft_cosine"] for row in rows if row.answerable], 1 - share))
    return [replace(row, right=row.answerable and row.features["draft_cosine"] >= cut) for row in rows]


def test_given_right_answers_then_the_score_of_right_answers_follows_them_and_is_named() -> None:
    rows = rightly(samples(300))
    made = fitted(identity("m"), rows, {}, calibration("m"))

    assert made.correctness is not None
    right = [bool(row.right) for row in rows]
    assert np.mean(given_by(made.correctness, rows)) == pytest.approx(np.mean(right), abs=0.05)
    assert np.mean(given_by(made, rows)) == pytest.approx(np.mean([row.answerable for row in rows]), abs=0.05)
    about = json.loads(json.dumps(made.provenance))["correctness"]
    assert about["n"] == {"answerable": sum(right), "unanswerable": 300 - sum(right)}
    assert about["left_out_of_the_fit"]["all"]["auroc"] > 0.9
    assert figures_of({"correctness": about})[1] == about["left_out_of_the_fit"]
    assert Calibration.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_given_no_score_of_before_and_few_right_answers_then_there_is_none() -> None:
    assert fitted(identity("m"), rightly(samples(300), 0.1), {}).correctness is None


@pytest.mark.parametrize("known", [0.0, 0.5])
def test_given_too_few_known_right_answers_then_the_score_of_right_answers_stays(known: float) -> None:
    """Unanswerable questions alone, or half of the answerable ones, would say that hardly any answer is right."""
    base, draw = calibration("m"), np.random.default_rng(1)
    rows = [
        replace(row, right=row.right if not row.answerable or draw.uniform() < known else None)
        for row in rightly(samples(300))
    ]

    made = fitted(identity("m"), rows, {}, base)

    assert made.correctness == base.correctness
    assert "correctness" not in made.provenance


def test_given_a_draft_then_it_is_right_where_it_holds_a_right_answer_and_is_short() -> None:
    def drafted(text: str) -> bool | None:
        of = measurements(0.9, draft=draft([claim(passage(), text)]))
        return is_right(LabelledQuestion("q", "How long?", True, ("30 days",)), of)

    assert drafted("The notice period is 30 days.")
    assert not drafted("The notice period is 300 days.")
    assert drafted("30 days " + "x " * (MAX_WORDS - 2))
    assert not drafted("30 days " + "x " * (MAX_WORDS - 1))
    of = measurements(0.9)
    assert is_right(LabelledQuestion("q", "How long?", True), of) is None
    assert is_right(LabelledQuestion("q", "How long?", False), of) is False
    assert is_right(LabelledQuestion("q", "How long?", True, ("30 days",)), measurements()) is False
