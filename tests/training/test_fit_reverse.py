"""The weight of a sentence that says the reverse is counted from labelled questions, and nothing else in a score changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.gating.scores import FILE, read
from training.fit_reverse import NAME, counted, weighed, weight

TEXT = "The slow train stops at Elm Halt. The fast train stops at Oakham."


def row(question: str, answers: list[str]) -> dict[str, object]:
    return {"question": question, "context": TEXT, "lang": "en", "answerable": bool(answers), "answers": answers}


def test_given_labelled_questions_then_the_sentence_of_the_answer_counts_or_else_the_likest() -> None:
    found = [
        row("Where does the slow train stop?", ["Elm Halt"]),
        row("Where does the rapid engine halt?", []),
        row("Who is Ann?", ["Ann"]),
    ]
    counts = counted(found)
    assert counts[True, False] == 1
    assert sum(counts.values()) == 2  # no sentence holds the third one's answer


def test_given_counts_then_the_weight_is_the_log_of_the_ratio_of_the_rates() -> None:
    counts = counted([])
    counts.update({(True, False): 99, (True, True): 0, (False, False): 90, (False, True): 9})
    assert weight(counts) == pytest.approx(-2.944, abs=1e-3)  # log((0.5 / 100) / (9.5 / 100))


def test_given_the_shipped_score_then_the_weight_counts_by_itself_and_a_question_without_it_scores_as_before() -> None:
    score = read(FILE).correctness
    assert score is not None
    made = weighed(replace(score, narrow=None), -1.5)
    features = dict.fromkeys(score.features, 0.3) | {NAME: 0.0, "crossed": 0.0}
    wide = replace(score, narrow=None)
    assert made.logit(features) == pytest.approx(wide.logit(features))
    assert made.logit(features | {NAME: 1.0}) == pytest.approx(wide.logit(features) - 1.5)
    assert weighed(made, -1.5).logit(features) == pytest.approx(made.logit(features))
