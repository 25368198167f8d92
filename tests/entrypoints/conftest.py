"""A command as a user runs it, in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_core.entrypoints.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command: its exit code, and what it wrote to standard output and to standard error."""

    def call(*args: object) -> tuple[int, str, str]:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
