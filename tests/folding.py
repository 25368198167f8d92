"""A table of cases as one test: every case runs, and the failure names each case that failed, with its own traceback.

    @each(("text", "wanted"), [("a b", 2), ("", 0)])
    def test_given_a_text_when_counted_then_its_words_are(text, wanted): ...

It reads as `pytest.mark.parametrize` does. Use that one where a case needs fixtures of its own (`tmp_path`,
`monkeypatch`), a mark, or many seconds: fixtures are set up once for the whole table.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

ParameterSet = type(pytest.param())


def each(
    argnames: str | Sequence[str], argvalues: Iterable[Any], ids: Any = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each case in one go.

    Args:
        argnames: of the test's arguments that a case gives, as a sequence or with commas between.
        argvalues: a value each where there is one name, a row of values where there are several.
        ids: what a failing case is called: one text a case, or a function of each of its values; its values where None.

    Raises:
        ValueError: there is no case, so that nothing would be tested; or one has a mark, which a folded case cannot
            have.
    """
    wanted = [name.strip() for name in argnames.split(",")] if isinstance(argnames, str) else list(argnames)
    cases = [
        case if isinstance(case, ParameterSet) else pytest.param(*(case if len(wanted) > 1 else (case,)))
        for case in argvalues
    ]
    if not cases or any(case.marks for case in cases):
        raise ValueError("The table has no case, or a case has a mark of its own.")
    rows = [case.values for case in cases]
    named = (
        list(ids) if ids is not None and not callable(ids) else [case.id or _called(case.values, ids) for case in cases]
    )

    def fold(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failed: list[Exception] = []
            for name, row in zip(named, rows, strict=True):
                try:
                    test(**fixtures, **dict(zip(wanted, row, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(
                        error
                        if isinstance(error, Exception)
                        else AssertionError(str(error)).with_traceback(error.__traceback__)
                    )
                    failed[-1].add_note(f"case: {name}")
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(rows)} cases failed: " + "; ".join(_named(failed)), failed)

        signature = inspect.signature(test)
        run.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[parameter for name, parameter in signature.parameters.items() if name not in wanted]
        )
        return run

    return fold


def _called(row: Sequence[Any], ids: Callable[[Any], object] | None) -> str:
    if ids is None:
        return repr(row[0] if len(row) == 1 else row)[:300]
    return "-".join(str(ids(value) or repr(value)) for value in row)[:300]


def _named(failed: Sequence[Exception]) -> list[str]:
    return [error.__notes__[-1].removeprefix("case: ") for error in failed[:10]]
