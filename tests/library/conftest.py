"""A library that is asked while it is indexed: the fixtures that several files of tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from early_kit import PAGES, Held
from library_kit import library

from rag_core.library.indexing import adding
from rag_core.library.library import Library


@pytest.fixture
def asked_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PDF of the tests has passages enough to be asked before its vectors are made."""
    monkeypatch.setattr(adding, "EARLY_PASSAGES", PAGES // 2)


@pytest.fixture
def embedder() -> Held:
    return Held()


@pytest.fixture
def opened(tmp_path: Path, embedder: Held) -> Library:
    """An empty one."""
    return library(tmp_path, embedder=embedder)
