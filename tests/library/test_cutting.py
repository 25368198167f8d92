"""Progress while a document is cut: told page by page, between the last page read and the first passage embedded."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from library_kit import library
from reading_kit import SMALL, buoys

from rag_core.library.indexing.documents import Cutting


@given(pages=st.lists(st.integers(0, 50), min_size=1, max_size=20), counted=st.lists(st.integers(0, 90), max_size=40))
def test_whatever_is_counted_the_pages_go_up_and_the_last_one_is_told_at_the_end_only(
    pages: list[int], counted: list[int]
) -> None:
    told: list[tuple[str, int, int]] = []
    cutting = Cutting("a.pdf: cutting", pages, lambda *one: told.append(one))

    for chars in counted:
        cutting.counted(["x" * chars])
    before = [done for _, done, _ in told]
    cutting.finished()

    assert before == sorted(set(before))
    assert before[0] == 0
    assert before[-1] < len(pages)
    assert told[-1] == ("a.pdf: cutting", len(pages), len(pages))


def test_given_a_document_that_is_added_then_cutting_has_a_step_before_the_first_batch(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []

    library(tmp_path).add([buoys()], SMALL, progress=lambda *one: told.append(one))

    steps = [step.rpartition(": ")[2] for step, _, _ in told]
    assert list(dict.fromkeys(steps)) == ["cutting", "embedding", "documents"]
    assert [done for step, done, _ in told if step == "buoys: cutting"] == [0, 1]
