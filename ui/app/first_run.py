"""The first start: the sample documents are indexed, once, in a collection of their own.

Who deletes them does not get them back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from rag_core.domain.ports import Cancel, Progress
from rag_core.engine import Engine
from rag_core.library.disk.files import storage_problems
from rag_core.library.disk.private import FILE_MODE, make_folder
from rag_core.library.library import AddReport
from rag_core.library.stored.named import collections, is_begun
from rag_core.library.stored.sources import Source, sources_from
from rag_core.settings import DATA, Settings
from ui.app.asked import COLLECTION

SAMPLES = DATA / "samples"
SAMPLES_COLLECTION = "samples"  # so that no question about one's own documents is answered from them
MARKER = ".samples-offered"  # in the library's folder
FIRST = "flow-meter-manual.pdf"  # is indexed first: the first example question is about it


def is_due(folder: Path) -> bool:
    """Whether the samples were never offered in this library, and nothing else is in it."""
    others = (name for name in collections(folder) if name != SAMPLES_COLLECTION)
    return not (folder / MARKER).exists() and not any(is_begun(folder, name) for name in others)


def start_collection(folder: Path) -> str:
    """The collection that every page begins with: the samples until somebody adds documents of their own."""
    samples_there = is_due(folder) or is_begun(folder, SAMPLES_COLLECTION)
    return SAMPLES_COLLECTION if samples_there and not is_begun(folder, COLLECTION) else COLLECTION


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


@cache
def sample_ids() -> Mapping[str, str]:
    """The ids that the sample documents have in a library, by their names. Another file of such a name is no sample."""
    return {source.name: f"sha256:{source.digest}" for source in samples()}
