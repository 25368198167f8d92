"""How much a collection may have, held in the core: what does not fit is a problem of its own file, and is not
stored.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from library.library_kit import HashEmbedder, library, text

from rag_core.errors import InvalidSetting, QuotaExceeded
from rag_core.library.library import Library
from rag_core.library.quota import Quota
from rag_core.library.stored.collection import Collection
from rag_core.settings import Settings
from rag_core.settings.configuration import quotas
from rag_core.wiring.folder import quota_of

SETTINGS = Settings.load()


def limited(folder: Path, **most: int) -> Library:
    made = library(folder, embedder=HashEmbedder())
    made._quota = lambda: Quota(**most)
    return made


def taken(folder: Path) -> dict[str, int]:
    return Collection(folder, "default").taken()


def test_given_a_quota_of_documents_when_more_are_added_then_the_others_are_told_and_not_stored(tmp_path: Path) -> None:
    made = limited(tmp_path, documents=2)

    report = made.add([text("a", "One."), text("b", "Two."), text("c", "Three."), text("a", "One.")], SETTINGS)

    assert [one.name for one in report.added] == ["a", "b"]
    ((name, error),) = report.problems
    assert (name, type(error)) == ("c", QuotaExceeded)
    assert "may have 2 documents, and has 2" in error.problem
    assert made.unfinished() == ()
    assert len(taken(tmp_path)) == 2
    assert [
        len(list((tmp_path / "default" / "sources").iterdir())),
        made.add([text("b", "Two.")], SETTINGS).problems,
    ] == [2, ()]
    made.delete(report.added[0].id)
    assert made.add([text("c", "Three.")], SETTINGS).problems == ()


def test_given_a_quota_of_bytes_when_a_file_is_too_large_then_a_smaller_one_still_fits(tmp_path: Path) -> None:
    made = limited(tmp_path, bytes=20)

    report = made.add([text("a", "x" * 12), text("b", "y" * 9), text("c", "z" * 8)], SETTINGS)

    assert [one.name for one in report.added] == ["a", "c"]
    assert "may have 20 bytes of files, and has 12; this one has 9" in report.problems[0][1].problem
    assert sorted(taken(tmp_path).values()) == [8, 12]


def test_given_files_that_wait_to_be_indexed_when_others_come_then_they_count(tmp_path: Path) -> None:
    made = limited(tmp_path, documents=2)
    made.add([text("a", "One."), text("b", "Two.")], SETTINGS, cancelled=lambda: True)

    assert len(made.unfinished()) == len(taken(tmp_path)) == 2
    assert type(made.add([text("c", "Three.")], SETTINGS).problems[0][1]) is QuotaExceeded
    assert made.resume(SETTINGS).problems == ()


def test_given_the_environment_then_its_quota_holds_for_each_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_QUOTA_DOCUMENTS", "3")
    assert quota_of() == Quota(3, None)
    for wrong in ("0", "-1", "many", "1.5"):
        with pytest.raises(InvalidSetting, match="RAG_QUOTA_BYTES"):
            quotas({"RAG_QUOTA_BYTES": wrong})
