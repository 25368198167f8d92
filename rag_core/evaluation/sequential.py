"""Compares two shares while answers are still coming in: however often somebody looks, the rate of false alarms stays below alpha.

The method is the mixture sequential probability ratio test (Robbins, "Statistical methods related to the law of the iterated logarithm",
Ann. Math. Stat. 41, 1970), reported as an always-valid p-value (Johari, Koomen, Pekelis, Walsh, "Always valid inference: continuous
monitoring of A/B tests", Operations Research 70(3), 2022). Theirs approximates by a normal distribution; for yes and no it is exact:

    E(p) = B(1 + a, 1 + n_a - a) B(1 + b, 1 + n_b - b) / (p^(a + b) (1 - p)^(n_a + n_b - a - b))

is a martingale that begins with 1 where both sides have the share p, whatever p is: its numerator is a mixture over all pairs of shares,
uniformly. So is never more than alpha the probability that it ever reaches 1 / alpha (Ville, 1939). The least of it over p, at the share of
both sides together, is smaller still. The answers must come from different people: two words of one person are not two answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

ALPHA = 0.05  # rate of false alarms that is allowed where nobody chose one
MAX_ANSWERS = 1_000_000  # where it is not looked further how many more it would take
_STEPS = 60  # halvings of an interval: to the last digit of a float


@dataclass(frozen=True, slots=True)
class Side:
    """One side: how many answers it has, and how many of them are good."""

    good: int = 0
    n: int = 0

    @property
    def share(self) -> float | None:
        """Of good ones, in [0, 1]; None where there are no answers."""
        return self.good / self.n if self.n else None

    def plus(self, good: bool) -> Side:
        """With one more answer."""
        return Side(self.good + good, self.n + 1)

    def interval(self, alpha: float = ALPHA) -> tuple[float, float]:
        """Where the share lies: at all looks together it is wrong with probability alpha at most (a confidence sequence)."""
        if not self.n:
            return 0.0, 1.0
        most, share = math.log(1 / alpha), self.good / self.n

        def inside(p: float) -> bool:
            return _log_mixture(self.good, self.n) - _log_likelihood(self.good, self.n, p) < most

        return 1.0 - _edge(lambda x: inside(1.0 - x), 1.0 - share), _edge(inside, share)


@dataclass(frozen=True, slots=True)
class Compared:
    """The answers so far, and what they show.

    Args:
        a: one side.
        b: the other.
        p: always-valid p-value, in (0, 1]: the smallest of all looks so far.
        decided_at: with how many answers it first was alpha or less; 0 where it never was.
    """

    a: Side
    b: Side
    p: float = 1.0
    decided_at: int = 0


def compared(answers: Sequence[tuple[bool, bool]], alpha: float = ALPHA) -> Compared:
    """Look after each answer, in the order in which they came: (whether it is of side b, whether it is good)."""
    a, b, p, decided_at = Side(), Side(), 1.0, 0
    for number, (is_b, good) in enumerate(answers, 1):
        a, b = (a, b.plus(good)) if is_b else (a.plus(good), b)
        p = min(p, math.exp(-max(log_evidence(a, b), 0.0)))
        if p <= alpha and not decided_at:
            decided_at = number
    return Compared(a, b, p, decided_at)


def log_evidence(a: Side, b: Side) -> float:
    """The natural logarithm of the evidence against equal shares; log(1 / alpha) is enough to stop."""
    good, n = a.good + b.good, a.n + b.n
    return _log_mixture(a.good, a.n) + _log_mixture(b.good, b.n) - (_log_likelihood(good, n, good / n) if n else 0.0)


def still_needed(found: Compared, alpha: float = ALPHA) -> int | None:
    """How many more answers it would take if both shares stay as they are; None where they are equal or it would be too many."""
    a, b, target = found.a, found.b, math.log(1 / alpha)
    if found.decided_at:
        return 0
    if a.share is None or b.share is None or a.share == b.share:
        return None
    n = a.n + b.n
    low, high = 1.0, 2.0
    while log_evidence(_times(a, high), _times(b, high)) < target:
        low, high = high, 2 * high
        if high * n > MAX_ANSWERS:
            return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if log_evidence(_times(a, middle), _times(b, middle)) >= target else (middle, high)
    return math.ceil(high * n) - n


def _times(side: Side, factor: float) -> Side:
    return Side(round(side.good * factor), round(side.n * factor))


def _log_mixture(good: int, n: int) -> float:
    """The logarithm of B(1 + good, 1 + n - good)."""
    return math.lgamma(1 + good) + math.lgamma(1 + n - good) - math.lgamma(2 + n)


def _log_likelihood(good: int, n: int, p: float) -> float:
    bad = n - good
    if (good and p <= 0.0) or (bad and p >= 1.0):
        return -math.inf
    return (good * math.log(p) if good else 0.0) + (bad * math.log1p(-p) if bad else 0.0)


def _edge(inside: Callable[[float], bool], start: float) -> float:
    """The largest value in [start, 1] that is inside."""
    if inside(1.0):
        return 1.0
    low, high = start, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) else (low, middle)
    return low
