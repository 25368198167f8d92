"""The files that the campaign damages: the samples (also with nothing packed), what `tests/hostile` writes, and a
folder of yours.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import make
import pymupdf

from tests.campaign import ROOT

COSTLY = {"bomb", "drawn_bomb", "text_bomb", "many_pages"}  # a minute of computing each: their attack is in other tests
COPIES_OF_SAMPLES = 4  # of each sample, for one of each other file: they are what a user has


def write_seeds(folder: Path, more: Path | None) -> list[Path]:
    """Write all of them into `folder`; in an order that does not change."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in (ROOT / "data/samples").glob("*.pdf"):
        data = path.read_bytes()
        for number in range(COPIES_OF_SAMPLES):
            (folder / f"sample{number}-{path.name}").write_bytes(data)
        (folder / f"plain-{path.name}").write_bytes(_unpacked(data))
    for write in make.ALL:
        if write.__name__ not in COSTLY:
            (folder / f"hostile-{write.__name__}.pdf").write_bytes(write())
    for name, data in _others():
        (folder / f"{name}.pdf").write_bytes(data)
    for path in sorted(more.rglob("*.pdf")) if more else ():
        shutil.copyfile(path, folder / f"given-{path.name}")
    return sorted(folder.iterdir())


def _unpacked(data: bytes) -> bytes:
    """The same file with its streams in the clear, so that a changed byte changes what it says."""
    return bytes(pymupdf.open(stream=data).tobytes(expand=255, deflate=False, garbage=0))


def _others() -> Iterator[tuple[str, bytes]]:
    """Hidden text and what asks for memory, where their generators are there."""
    with suppress(ImportError):
        import forms

        for number, (_, form) in enumerate([*forms.hidden_forms(), *forms.visible_forms()]):
            if number % 8 == 0:
                yield f"form-{number}", form.data
    with suppress(ImportError):
        import greedy

        yield "greedy-letters", greedy.letters(4, 2_000)
        yield "greedy-cells", greedy.cells(1)
        yield "greedy-outline", greedy.outline(300)
