"""The contract of a `VectorIndex` and its store, run over every row of the table of stores, with brute force in numpy
as the oracle.

A store may look at a part of many vectors only; up to 300 rows every one finds what brute force finds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.adapters.index.choose import VECTOR_STORES
from rag_core.adapters.index.flat import FaissStore
from rag_core.domain.ports import VectorIndex, Vectors, VectorsInDatabase, VectorStore
from rag_core.errors import LibraryDamaged

DIM = 8

every_store = pytest.mark.parametrize(
    "make",
    [
        pytest.param(row.make, id=name, marks=[pytest.mark.stores] if row.extra else [])
        for name, row in VECTOR_STORES.items()
    ],
)
every_database = pytest.mark.parametrize(
    "make",
    [pytest.param(row.make, id=name, marks=[pytest.mark.stores]) for name, row in VECTOR_STORES.items() if row.extra],
)
seeds = st.integers(0, 10_000)


def unit(rows: int, seed: int = 0, *, distinct: int | None = None) -> Vectors:
    """Unit vectors; with `distinct` rows repeat, so that there are exact ties."""
    drawn = np.random.default_rng(seed).standard_normal((distinct or rows, DIM)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn[np.arange(rows) % len(drawn)]


def built(make: Callable[[], VectorStore], vectors: Vectors) -> VectorIndex:
    """An index; of a store in a database one whose vectors were sent there."""
    store = make()
    index = store.build(vectors)
    if isinstance(store, VectorsInDatabase):
        with TemporaryDirectory() as folder:
            store.send(index, Path(folder))
    return index


def brute_force(vectors: Vectors, query: Vectors, k: int, allowed: list[int] | None) -> list[tuple[int, float]]:
    rows = range(len(vectors)) if allowed is None else sorted(set(allowed))
    scored = [(row, float(vectors[row] @ query)) for row in rows]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


@every_store
@given(seed=seeds, rows=st.integers(1, 60), k=st.integers(1, 70), share=st.floats(0, 1), restricted=st.booleans())
def test_the_best_are_those_of_brute_force(
    make: type, seed: int, rows: int, k: int, share: float, restricted: bool
) -> None:
    vectors, query = unit(rows, seed), unit(1, seed + 1)[0]
    allowed = [row for row in range(rows) if np.random.default_rng(row + seed).random() < share] if restricted else None
    found = built(make, vectors).search(query, k, allowed)

    expected = brute_force(vectors, query, k, allowed)
    assert [row for row, _ in found] == [row for row, _ in expected]
    assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in expected], abs=1e-5)
    assert all(-1 <= cosine <= 1 for _, cosine in found)


@every_store
@given(seed=seeds, k=st.integers(1, 300), distinct=st.integers(1, 5), restricted=st.booleans())
def test_given_equal_vectors_then_ties_are_broken_by_row(
    make: type, seed: int, k: int, distinct: int, restricted: bool
) -> None:
    """S3-6: a stable order on ties, whatever k is."""
    vectors = unit(300, seed, distinct=distinct)
    allowed = list(range(299, -1, -3)) if restricted else None
    index = built(make, vectors)

    found = [row for row, _ in index.search(vectors[0], k, allowed)]

    everything = [row for row, _ in index.search(vectors[0], 300, allowed)]
    assert found == everything[:k]
    best = [row for row in range(0, 300, distinct) if allowed is None or row in allowed]
    assert everything[: len(best)] == best


@every_store
@pytest.mark.parametrize("allowed", [[], [2], [4, 0], [3, 3, 3]])
def test_given_a_restriction_then_no_other_row_is_ever_found_and_each_once(make: type, allowed: list[int]) -> None:
    vectors = unit(5)

    found = built(make, vectors).search(vectors[1], 5, allowed)

    assert sorted(row for row, _ in found) == sorted(set(allowed))


@every_store
def test_given_nothing_stored_or_nothing_wanted_then_nothing_is_found(make: type) -> None:
    empty = built(make, np.zeros((0, DIM), dtype=np.float32))

    assert empty.search(unit(1)[0], 5, None) == []
    assert empty.vectors([]).shape == (0, DIM)
    assert built(make, unit(3)).search(unit(1)[0], 0, None) == []


@every_store
def test_given_rows_then_their_vectors_come_back_in_that_order(make: type) -> None:
    vectors = unit(6)
    index = built(make, vectors)

    assert np.array_equal(index.vectors([4, 0, 4]), vectors[[4, 0, 4]])
    assert index.vectors([2]).dtype == np.float32
    assert index.vectors([]).shape == (0, DIM)


@every_store
def test_given_a_vector_and_itself_or_its_opposite_then_the_cosine_stays_in_its_range(make: type) -> None:
    """A float32 product of unit vectors can give 1.0000001."""
    vectors = unit(500, 3)
    index = built(make, vectors)

    cosines = [index.search(sign * row, 1, [n])[0][1] for n, row in enumerate(vectors) for sign in (1, -1)]

    assert max(cosines) <= 1.0
    assert min(cosines) >= -1.0


@every_database
def test_given_an_index_that_was_sent_when_it_is_made_again_then_it_finds_the_same(make: type, tmp_path: Path) -> None:
    """S2-27: the vector store saves and loads."""
    vectors = unit(40, 5)
    store, again = make(), make().build(vectors)
    store.send(index := store.build(vectors), tmp_path)

    make().require(again, tmp_path)

    assert again.search(vectors[7], 40, None) == index.search(vectors[7], 40, None)
    assert np.array_equal(again.vectors(range(40)), vectors)


@every_database
def test_given_an_index_with_pieces_of_another_then_it_finds_as_one_of_all_does(make: type, tmp_path: Path) -> None:
    vectors, store = unit(40, 6), make()
    store.send(first := store.build(vectors[:20]), tmp_path)

    spliced = store.spliced(first, [range(5, 20), vectors[20:], range(2, 3)])
    store.send(spliced, tmp_path)

    expected = np.concatenate([vectors[5:20], vectors[20:], vectors[2:3]])
    assert np.array_equal(spliced.vectors(range(36)), expected)
    assert spliced.search(vectors[7], 36, None) == built(make, expected).search(vectors[7], 36, None)
    store.keep([first], tmp_path)
    make().require(make().build(vectors[:20]), tmp_path)
    with pytest.raises(LibraryDamaged):
        make().require(make().build(expected), tmp_path)


@every_database
def test_given_vectors_never_sent_or_a_file_that_is_cut_then_it_is_damage(make: type, tmp_path: Path) -> None:
    index = make().build(unit(4))
    with pytest.raises(LibraryDamaged, match="vector index cannot be read"):
        make().require(index, tmp_path)
    make().send(make().build(np.zeros((0, DIM), dtype=np.float32)), tmp_path)
    assert list(tmp_path.iterdir()) == []  # nothing is begun for nothing
    make().send(make().build(unit(4)), tmp_path)
    (head,) = (path for path in tmp_path.rglob("*") if path.is_file())
    head.write_bytes(head.read_bytes()[:10])
    with pytest.raises(LibraryDamaged):
        make().require(index, tmp_path)


def test_given_vectors_of_another_length_than_the_default_then_they_are_stored_as_they_are() -> None:
    """S3-5: any dimension."""
    index = FaissStore(384).build(unit(3))

    assert index.vectors([1]).shape == (1, DIM)
    assert FaissStore(384).build(np.zeros((0, 384), dtype=np.float32)).vectors([]).shape == (0, 384)


def test_given_a_row_of_the_table_then_its_store_has_that_name() -> None:
    assert {name: row.make().name for name, row in VECTOR_STORES.items() if not row.extra} == {
        name: name for name, row in VECTOR_STORES.items() if not row.extra
    }
