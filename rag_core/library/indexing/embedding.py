"""Makes the vectors and the index terms of passages, within limits on time and memory. It knows no files."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic, sleep

import numpy as np

from rag_core.domain.passages import Passage
from rag_core.domain.ports import Cancel, Embedder, Progress, Vectors
from rag_core.errors import Cancelled, LimitExceeded, ModelTimedOut, ModelUnavailable
from rag_core.ingest.passages.context import embedding_text
from rag_core.language import terms

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
    known: dict[str, Vectors] | None = None,
) -> Vectors:
    """The vectors of passages, each given with its document's title: shape (len(titled), dim), or (0, 0) of none.

    Passages whose embedded text is the same share a vector. The embedder gets `EMBED_BATCH` texts at a time; between,
    `progress` is told (`what`, done, total). What is made goes into `known`, vectors by embedded text.

    Raises:
        Cancelled: the user stopped it.
        LimitExceeded: it took longer than `SECONDS` and its like allow, or the model did not answer.
        ModelUnavailable: the model gave no usable vectors.
    """
    allowed = min(SECONDS + SECONDS_PER_PASSAGE * len(titled), SECONDS_IN_ALL)
    deadline = monotonic() + allowed
    known = {} if known is None else known
    texts = [embedding_text(passage, title) for title, passage in titled]
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    made = len(texts) - len(missing)
    if progress is not None:
        progress(what, made, len(texts))
    for start in range(0, len(missing), EMBED_BATCH):
        if cancelled is not None and cancelled():
            raise Cancelled("Stopped while embedding.", remedy="Resume to index the rest.")
        if monotonic() > deadline:
            raise LimitExceeded(
                f"Embedding took more than the {allowed:,.0f} s allowed for {len(texts):,} passages; {made + start:,} "
                f"were done.",
                remedy="Close other programs or choose a smaller embedding model, then add "
                "the file again; or split it into parts.",
            )
        batch = missing[start : start + EMBED_BATCH]
        try:
            found = embedder.embed(batch)
        except ModelTimedOut as error:
            first = made + start
            problem = f"The embedding model did not finish passages {first + 1:,} to {first + len(batch):,}."
            raise LimitExceeded(f"{problem} {error.problem}", remedy=error.remedy) from error
        dim = len(next(iter(known.values()))) if known else found.shape[-1]
        if found.shape != (len(batch), dim) or not np.isfinite(found).all():
            raise ModelUnavailable(
                f"The embedding model gave vectors of shape {found.shape} for {len(batch)} texts, or some that are not "
                f"finite.",
                remedy="Use another model or precision.",
            )
        known.update(zip(batch, found, strict=True))
        sleep(YIELD_SECONDS)
        if progress is not None:
            progress(what, made + start + len(batch), len(texts))
    return np.array([known[text] for text in texts], dtype=np.float32) if texts else np.empty((0, 0), dtype=np.float32)


def terms_of(name: str, title: str, passages: Sequence[Passage]) -> list[list[str]]:
    """The index terms of each passage of document `name` under its title, as that is embedded.

    Equal terms are one string: most words occur often. Raises LimitExceeded beyond `MAX_TERMS` different ones.
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
