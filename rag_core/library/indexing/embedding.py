"""Makes the vectors and the index terms of passages, within limits on time and memory. It knows no files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic, sleep

import numpy as np

from rag_core.domain.passages import Passage
from rag_core.domain.ports import Cancel, Embedder, Progress, Vectors
from rag_core.errors import Cancelled, LimitExceeded, ModelTimedOut, ModelUnavailable
from rag_core.ingest.passages.context import embedding_text
from rag_core.language import terms

Made = Callable[[int, Vectors], None]  # (number of the first passage, vectors of shape (n, dim))
# texts between two looks at the cancel flag, and what a question waits for: half a second with the embedded model
EMBED_BATCH = 16
# a lock is not fair: without a pause this thread would take the model again before a question that waits for it
YIELD_SECONDS = 0.001
# different ones of a document; the longest filing tried has about 10,000, and each takes about 300 bytes
MAX_TERMS = 300_000
# Seconds to embed the passages of one file, or of a group of small ones. A passage takes about 0.03 s on two cores
# (0.015 s in bfloat16).
SECONDS = 120.0  # for a model that is still being loaded, and a question in between
SECONDS_PER_PASSAGE = 1.0  # about thirty times the usual
SECONDS_IN_ALL = 7_200.0  # about eight times what the most passages of a file take


def vectors_of(
    embedder: Embedder,
    titled: Sequence[tuple[str, Passage]],
    what: str,
    progress: Progress | None,
    cancelled: Cancel | None,
    *,
    made: Made | None = None,
    batch: int = EMBED_BATCH,
) -> Vectors:
    """The vectors of passages, each given with its document's title: shape (len(titled), dim), or (0, 0) of none.

    Args:
        embedder: gets `batch` texts at a time.
        titled: in the order of the rows.
        what: names the step in `progress`.
        progress: told (what, done, total) at the start, with 0 done, and after each batch.
        cancelled: asked before each batch.
        made: gets the vectors of each batch, with the number of its first passage, before `progress` is told.
        batch: texts that are embedded at once; in float32 a vector depends a little on its company.

    Raises:
        Cancelled: the user stopped it.
        LimitExceeded: it took longer than `SECONDS` and its like allow, or the model did not answer.
        ModelUnavailable: the model gave no usable vectors.
    """
    allowed = min(SECONDS + SECONDS_PER_PASSAGE * len(titled), SECONDS_IN_ALL)
    deadline = monotonic() + allowed
    vectors = np.empty((0, 0), dtype=np.float32)
    if progress is not None:
        progress(what, 0, len(titled))
    for start in range(0, len(titled), batch):
        if cancelled is not None and cancelled():
            raise Cancelled("Stopped while embedding.", remedy="Resume to index the rest.")
        if monotonic() > deadline:
            raise LimitExceeded(
                f"Embedding took more than the {allowed:,.0f} s allowed for {len(titled):,} passages; {start:,} were "
                f"done.",
                remedy="Close other programs or choose a smaller embedding model, then add "
                "the file again; or split it into parts.",
            )
        texts = [embedding_text(passage, title) for title, passage in titled[start : start + batch]]
        try:
            found = embedder.embed(texts)
        except ModelTimedOut as error:
            problem = (
                f"The embedding model did not finish passages {start + 1:,} to {start + len(texts):,}. {error.problem}"
            )
            raise LimitExceeded(problem, remedy=error.remedy) from error
        if not start:
            vectors = np.empty((len(titled), found.shape[1]), dtype=np.float32)
        if found.shape != (len(texts), vectors.shape[1]) or not np.isfinite(found).all():
            raise ModelUnavailable(
                f"The embedding model gave vectors of shape {found.shape} for {len(texts)} texts, or some that are not "
                f"finite.",
                remedy="Use another model or precision.",
            )
        vectors[start : start + len(texts)] = found
        if made is not None:
            made(start, found)
        sleep(YIELD_SECONDS)
        if progress is not None:
            progress(what, min(start + batch, len(titled)), len(titled))
    return vectors


def terms_of(name: str, title: str, passages: Sequence[Passage]) -> list[list[str]]:
    """The index terms of each passage of the document `name`.

    Equal terms are one string: most of a document's words occur often.

    Args:
        name: of the document.
        title: as it is embedded with the passages.
        passages: of the document.

    Raises:
        LimitExceeded: there are more than `MAX_TERMS` different ones.
    """
    known: dict[str, str] = {}
    rows = []
    for passage in passages:
        rows.append([known.setdefault(term, term) for term in terms(embedding_text(passage, title), passage.language)])
        if len(known) > MAX_TERMS:
            raise LimitExceeded(
                f"{name} has more than {MAX_TERMS:,} different words (reached on page {passage.page:,}).",
                remedy="Check that its text is legible; if it is, split the file into parts.",
            )
    return rows
