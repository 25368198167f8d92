"""A table of cases as one test: every case runs, and the failure names each case that failed, with its own traceback.

    @each(("text", "wanted"), [("a b", 2), ("", 0)])
    def test_given_a_text_when_counted_then_its_words_are(text, wanted): ...

It reads as `pytest.mark.parametrize` does. Use that one where a case needs fixtures of its own (`tmp_path`, `monkeypatch`), a mark, or
many seconds: fixtures are set up once for the whole table.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def each(names: str | Sequence[str], cases: Iterable[Any], ids: Any = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each case in one go.

    Args:
        names: of the test's arguments that a case gives, as a sequence or with commas between.
        cases: a value each where there is one name, a row of values where there are several.
        ids: what a failing case is called: one text a case, or a function of each of its values; its values where None.

    Raises:
        ValueError: there is no case, so that nothing would be tested.
    """
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [tuple(case) if len(wanted) > 1 else (case,) for case in cases]
    if not rows:
        raise ValueError("The table has no case.")
    called = [_called(row, ids) for row in rows] if ids is None or callable(ids) else list(ids)

    def fold(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failed: list[Exception] = []
            for name, row in zip(called, rows, strict=True):
                try:
                    test(**fixtures, **dict(zip(wanted, row, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(error if isinstance(error, Exception) else AssertionError(str(error)).with_traceback(error.__traceback__))
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
