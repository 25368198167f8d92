"""`each`: no case of a table is dropped, whichever fails."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from folding import each


def test_given_a_table_when_run_then_each_case_runs_and_the_failure_names_all_that_failed() -> None:
    ran: list[tuple[int, int]] = []

    @each("a,b", [(1, 1), (1, 2), (2, 2), (3, 1)])
    def equal(a: int, b: int) -> None:
        ran.append((a, b))
        assert a == b

    with pytest.raises(ExceptionGroup, match=r"2 of 4 cases failed: \(1, 2\); \(3, 1\)") as caught:
        equal()
    assert ran == [(1, 1), (1, 2), (2, 2), (3, 1)]
    assert [error.__notes__ for error in caught.value.exceptions] == [["case: (1, 2)"], ["case: (3, 1)"]]


def test_given_a_table_in_a_table_and_fixtures_then_every_pair_runs_and_pytest_is_asked_for_the_fixtures_only() -> None:
    ran: list[str] = []

    @each("a", "xy")
    @each("b", [1, 2], ids=["one", "two"])
    def paired(kept: str, a: str, b: int) -> None:
        ran.append(f"{kept}{a}{b}")
        assert b == 1

    with pytest.raises(ExceptionGroup, match="2 of 2 cases failed: 'x'; 'y'"):
        paired(kept="k")
    assert ran == ["kx1", "kx2", "ky1", "ky2"]
    assert list(inspect.signature(paired).parameters) == ["kept"]


def test_given_a_case_that_raises_nothing_where_it_should_then_it_has_failed_too() -> None:
    @each("number", [0, 1], ids=lambda number: f"number {number}")
    def divided(number: int) -> None:
        with pytest.raises(ZeroDivisionError):
            _ = 1 / number

    with pytest.raises(ExceptionGroup, match="1 of 2 cases failed: number 1"):
        divided()


def test_given_cases_with_names_of_their_own_then_the_failure_names_them_so() -> None:
    @each("a,b", [pytest.param(1, 2, id="other"), pytest.param(1, 1, id="same")])
    def equal(a: int, b: int) -> None:
        assert a == b

    with pytest.raises(ExceptionGroup, match=r"1 of 2 cases failed: other$"):
        equal()


@pytest.mark.parametrize("cases", [[], [pytest.param(1, marks=pytest.mark.slow)]])
def test_given_an_empty_table_or_a_case_with_a_mark_then_it_is_no_test(cases: list[Any]) -> None:
    with pytest.raises(ValueError, match="no case"):
        each("a", cases)
