"""How fast our embedding is beside sentence-transformers as it comes, over the same texts, and how near its vectors
are.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from rag_core.adapters.embedding.by_name import unit_vectors
from rag_core.adapters.embedding.embedded import CENTRED, _means
from rag_core.domain.ports import Embedder, Vectors
from rag_core.library.indexing.embedding import EMBED_BATCH
from tests.bench.peers.turns import ROUNDS, Figure
from tests.bench.published import embedded_folder

TEXTS = 320  # a minute at most on two busy cores; chosen
TIMES_AS_FAST, COSINE = 3.0, 0.999  # over sentence-transformers' defaults; of the issue that asked for them


def figures(texts: Sequence[str], model: Embedder) -> list[Figure]:
    """Our time over that of its defaults (float32, 32 texts at a time, padded), by processor time, and 1 less the least
    cosine.

    Texts are embedded as indexing does it, so many at a time. By turns: the median of `ROUNDS` ratios counts.
    """
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(embedded_folder()), device="cpu")
    chosen = list(texts[:TEXTS])

    def ours() -> Vectors:
        return np.concatenate([model.embed(chosen[at : at + EMBED_BATCH]) for at in range(0, len(chosen), EMBED_BATCH)])

    def theirs() -> Vectors:
        found = np.asarray(plain.encode(chosen, prompt_name="passage", show_progress_bar=False), dtype=np.float32)
        return unit_vectors(found - CENTRED * _means()["passage"])

    clock, processor, cosine = [], [], 1.0
    for _ in range(ROUNDS):
        load = os.getloadavg()[0]
        (mine, my_clock, my_processor), (other, its_clock, its_processor) = _timed(ours), _timed(theirs)
        clock.append(my_clock / its_clock)
        processor.append(my_processor / its_processor)
        cosine = min(cosine, float((mine * other).sum(axis=1).min()))
        print(
            f"  {len(chosen)} texts: ours {my_clock:.1f} s, processor time {my_processor:.1f} s; "
            f"sentence-transformers {its_clock:.1f} s and {its_processor:.1f} s; load {load:.1f}"
        )
    print(
        f"  {model.name} is {1 / statistics.median(clock):.1f} times as fast as its defaults; least cosine {cosine:.5f}"
    )
    return [
        ("embedding, processor time / sentence-transformers", statistics.median(processor), 1 / TIMES_AS_FAST, "x"),
        ("embedding, 1 - least cosine to sentence-transformers", 1 - cosine, 1 - COSINE, ""),
    ]


def _timed(embed: Callable[[], Vectors]) -> tuple[Vectors, float, float]:
    """The vectors, seconds, and processor seconds of this process."""
    started, before = time.perf_counter(), time.process_time()
    vectors = embed()
    return vectors, time.perf_counter() - started, time.process_time() - before
