"""Files that are handed in on disk: the same bytes, the same document, and nothing left behind."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from library_kit import SETTINGS, library, pdf

from rag_core.library.disk.private import BLOCK_BYTES, HeldFile, blocks_of
from rag_core.library.stored.sources import Source


@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES, 3 * BLOCK_BYTES + 17])
def test_given_bytes_held_on_disk_then_they_come_back_and_no_name_is_left(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)

    held = HeldFile((data[start : start + 1000] for start in range(0, size, 1000)), tmp_path)

    assert [b"".join(held.blocks()), b"".join(held.blocks()), held.size] == [data, data, size]
    assert max(map(len, held.blocks()), default=0) <= BLOCK_BYTES
    assert list(tmp_path.iterdir()) == []
    assert Source("a", held, "pdf").digest == Source("a", data, "pdf").digest
    assert Source("a", held, "text", id="x").digest == Source("a", data, "text", id="x").digest


def test_given_a_file_that_nobody_holds_any_more_when_looked_for_then_its_descriptor_is_closed(tmp_path: Path) -> None:
    held = HeldFile([b"words"], tmp_path)
    descriptor = held._descriptor
    assert os.fstat(descriptor).st_size == 5
    assert os.fstat(descriptor).st_mode & 0o077 == 0

    del held
    gc.collect()

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_given_a_pdf_on_disk_when_added_then_it_is_the_document_that_its_bytes_are(tmp_path: Path) -> None:
    data, opened = pdf("Cats sleep all day."), library(tmp_path / "library")

    first = opened.add([Source("cats.pdf", HeldFile([data], tmp_path), "pdf")], SETTINGS)
    again = opened.add([Source("more.pdf", data, "pdf")], SETTINGS)

    assert [document.id for document in again.unchanged] == [document.id for document in first.added]
    assert opened.source(first.added[0].id) == b"".join(blocks_of(data))
