"""A sketch says which vectors are likely: nearly all of the nearest are found, their cosines are exact, and small
libraries are as ever.
"""

from __future__ import annotations

import faiss
import numpy as np
import pytest

from rag_core.adapters.index import flat
from rag_core.adapters.index import flat as sketched
from rag_core.adapters.index.flat import FaissStore, SketchIndex, SketchStore
from rag_core.retrieval import segments

DIM, ROWS = 64, 3000


def passages(rows: int = ROWS, seed: int = 1) -> np.ndarray:
    """Unit vectors around a hundred directions, as passages stand around subjects."""
    chance = np.random.default_rng(seed)
    middles = np.random.default_rng(0).standard_normal((100, DIM))
    drawn = middles[chance.integers(0, 100, rows)] + 0.8 * chance.standard_normal((rows, DIM))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def large(monkeypatch):
    """Sketches from 500 rows on, in segments of 2,000 at most, used in libraries of more than 1,000."""
    monkeypatch.setattr(segments, "MIN_ROWS", 100)
    monkeypatch.setattr(flat, "MAX_ROWS", 2000)
    monkeypatch.setattr(sketched, "SKETCHED_ROWS", 500)
    monkeypatch.setattr(sketched, "EXACT_ROWS", 1000)
    monkeypatch.setattr(sketched, "CANDIDATES", 100)


def test_given_a_large_library_then_nearly_all_of_the_nearest_are_found_with_their_exact_cosines(large):
    vectors, questions = passages(), passages(60, 2)
    store, exact = SketchStore(), FaissStore(DIM).build(vectors)
    index = store.build(vectors)
    assert [(len(one), one.sketch is not None) for one in index.segments] == [(2000, True), (1000, True)]
    hit = 0

    for question in questions:
        found, best = index.search(question, 10, None), dict(exact.search(question, ROWS, None))
        assert len(found) == 10
        assert all(best[row] == cosine for row, cosine in found)
        assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
        hit += len({row for row, _ in found} & {row for row, _ in exact.search(question, 10, None)})

    assert 0.98 * 600 <= hit <= 600  # measured: 600
    assert len(index.search(questions[0], 700, None)) == 700, "as many candidates as are wanted, and more"


def test_given_a_selection_or_a_small_library_then_every_vector_is_compared(large, monkeypatch):
    vectors, question = passages(), passages(1, 3)[0]
    index, chosen = SketchStore().build(vectors), list(range(0, ROWS, 3))
    asked = []
    likely = SketchIndex.search
    monkeypatch.setattr(
        "rag_core.adapters.index.flat.FlatSegment.likely", lambda self, query, count: asked.append(count)
    )
    exact = FaissStore(DIM).build(vectors)

    assert likely(index, question, 20, chosen) == exact.search(question, 20, chosen)
    small = SketchStore().build(vectors[:1000])
    assert small.search(question, 20, None) == FaissStore(DIM).build(vectors[:1000]).search(question, 20, None)
    assert asked == []
    assert index.search(question, 20, None) == exact.search(question, 20, None)
    assert asked == [100, 100]


def test_given_a_document_that_comes_or_goes_then_sketches_of_what_stays_are_kept_and_others_made(large):
    vectors, store = passages(), SketchStore()
    before = store.build(vectors)

    after = store.spliced(before, [range(2100), range(2150, ROWS), passages(30, 4)])

    assert after.segments[0] is before.segments[0]
    assert sum(map(len, after.segments)) == ROWS - 20
    for segment in after.segments:
        if segment.sketch is not None:
            made = SketchStore()._segment(segment.index).sketch
            assert np.array_equal(faiss.serialize_index(segment.sketch), faiss.serialize_index(made)), (
                "of its own vectors alone"
            )
    assert store.spliced("index of another store", [range(1)]) is None
    tail = after.segments[-1]
    assert (tail.sketch is None) == (len(tail) < 500)


def test_given_many_vectors_then_a_cosine_has_the_same_bits_however_they_are_parted() -> None:
    """FAISS with several threads compares more than ten thousand in another way; the number of cores must not change a
    decision.
    """
    vectors = np.random.default_rng(5).standard_normal((12_000, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    whole, question = FaissStore().build(vectors), vectors[7]
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(2)

    every = dict(whole.search(question, len(vectors), None))

    part = FaissStore().build(vectors[:700]).search(question, 700, None)
    assert part == sorted(((row, every[row]) for row in range(700)), key=lambda pair: (-pair[1], pair[0]))
    chosen = dict(whole.search(question, 6000, range(0, 12_000, 2)))
    assert chosen == {row: every[row] for row in range(0, 12_000, 2)}
    assert faiss.omp_get_max_threads() == 2
    faiss.omp_set_num_threads(before)
