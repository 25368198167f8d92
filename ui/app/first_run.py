"""The first start: the sample documents are indexed, once. Who deletes them does not get them back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag_core.domain.ports import Cancel, Progress
from rag_core.engine import Engine
from rag_core.language import LANGUAGES
from rag_core.library.disk.files import storage_problems
from rag_core.library.disk.private import FILE_MODE, make_folder
from rag_core.library.library import AddReport
from rag_core.library.sources import Source, sources_from
from rag_core.settings import DATA, Settings

SAMPLES = DATA / "samples"
MARKER = ".samples-offered"  # in the library's folder
FIRST = "flow-meter-manual.pdf"  # is indexed first: the first example question is about it


def languages() -> tuple[str, ...]:
    """The languages of the samples, the first one's first: those in which greetings are answered."""
    return tuple(code for code, info in LANGUAGES.items() if info.replies)


def is_due(engine: Engine, folder: Path) -> bool:
    """Whether the samples were never offered here, and nothing but samples is in the library."""
    if (folder / MARKER).exists():
        return False
    ids = {f"sha256:{source.digest}" for source in samples()}
    return all(document.id in ids for document in engine.library.snapshot.documents)


def index_samples(engine: Engine, folder: Path, settings: Settings, progress: Progress, cancelled: Cancel) -> AddReport:
    """Add the samples, then leave the marker; when cancelled, too: the user did not want them."""
    report = engine.library.add(samples(), settings, progress=progress, cancelled=cancelled)
    with storage_problems("leaving a note that the samples were offered"):
        make_folder(folder)
        (folder / MARKER).touch(mode=FILE_MODE)
    return report


def samples() -> Sequence[Source]:
    """The sample documents that come with the program."""
    found = [source for source in sources_from([SAMPLES]) if isinstance(source, Source)]
    return sorted(found, key=lambda source: source.name != FIRST)
