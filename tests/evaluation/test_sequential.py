"""Two shares compared while answers come in: looking after every answer gives no more false alarms than alpha, and real ones are seen."""

from __future__ import annotations

import math
import random

import pytest

from rag_core.evaluation.sequential import ALPHA, Compared, Side, compared, log_evidence, still_needed


def drawn(seed: int, n: int, a: float, b: float) -> list[tuple[bool, bool]]:
    dice = random.Random(seed)
    return [(is_b, dice.random() < (b if is_b else a)) for is_b in (dice.random() < 0.5 for _ in range(n))]


def test_given_two_equal_sides_when_somebody_looks_after_each_answer_then_false_alarms_stay_below_alpha() -> None:
    """S3-26. A fixed test at the same looks is wrong far more often, which is what this one is for."""
    alarms = fixed = 0
    runs, n = 300, 150
    for share in (0.5, 0.9):
        for seed in range(runs):
            answers = drawn(seed, n, share, share)
            alarms += bool(compared(answers).decided_at)
            a = b = Side()
            for is_b, good in answers:
                a, b = (a, b.plus(good)) if is_b else (a.plus(good), b)
                if min(a.n, b.n) >= 10:
                    both = (a.good + b.good) / (a.n + b.n)
                    spread = math.sqrt(both * (1 - both) * (1 / a.n + 1 / b.n))
                    if spread and abs(a.good / a.n - b.good / b.n) / spread > 1.96:
                        fixed += 1
                        break

    assert alarms / (2 * runs) <= ALPHA
    assert fixed / (2 * runs) > 3 * ALPHA


def test_given_sides_that_differ_when_answers_come_in_then_it_is_seen_and_said_how_many_it_takes() -> None:
    needed = []
    for seed in range(20):
        found = compared(drawn(seed, 400, 0.5, 0.85))
        assert found.decided_at
        needed.append(found.decided_at)
    assert sorted(needed)[10] < 150

    some = Compared(Side(20, 40), Side(28, 40))
    more = still_needed(some)
    assert more is not None
    grown = [Side(round(side.good * (80 + more) / 80), round(side.n * (80 + more) / 80)) for side in (some.a, some.b)]
    assert math.exp(-log_evidence(*grown)) == pytest.approx(ALPHA, rel=0.25)
    assert still_needed(Compared(Side(5, 10), Side(5, 10))) is None
    assert still_needed(Compared(Side(), Side(5, 10))) is None
    assert still_needed(Compared(Side(5_000, 10_000), Side(5_001, 10_000))) is None
    assert still_needed(compared(drawn(1, 400, 0.2, 0.9))) == 0


def test_given_the_evidence_when_it_is_summed_over_all_that_could_come_then_it_is_one_on_average() -> None:
    """The martingale, exactly: for every share, over all ways in which six answers can end."""
    for p in (0.1, 0.5, 0.8):
        mean = 0.0
        for a in range(4):
            for b in range(4):
                chance = math.comb(3, a) * math.comb(3, b) * p ** (a + b) * (1 - p) ** (6 - a - b)
                mixture = 1 / (4 * math.comb(3, a)) / (4 * math.comb(3, b))
                mean += chance * mixture / (p ** (a + b) * (1 - p) ** (6 - a - b))
                assert math.exp(log_evidence(Side(a, 3), Side(b, 3))) <= mixture / (p ** (a + b) * (1 - p) ** (6 - a - b)) * (1 + 1e-9)
        assert mean == pytest.approx(1.0)


def test_given_a_share_when_its_interval_is_looked_at_all_the_time_then_it_holds_the_share() -> None:
    missed = 0
    for seed in range(200):
        dice, side = random.Random(seed), Side()
        out = False
        for number in range(80):
            side = side.plus(dice.random() < 0.7)
            if number % 8 == 7:
                low, high = side.interval()
                out = out or not low <= 0.7 <= high
        missed += out
    assert missed / 200 <= ALPHA
    assert Side().interval() == (0.0, 1.0)
    low, high = Side(60, 60).interval()
    assert (high, 0.85 < low < 1) == (1.0, True)
    low, high = Side(0, 60).interval()
    assert (low, 0 < high < 0.15) == (0.0, True)


def test_given_no_answers_then_nothing_is_shown() -> None:
    assert compared([]) == Compared(Side(), Side(), 1.0, 0)
    assert compared([(True, True)] * 3).p == 1.0
