"""The contract of a `LexicalIndex` and its store, run over every adapter, with BM25 written out as the oracle."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_contract_vector import is_pickle

from rag_core.adapters.index.bm25 import K1, B, Bm25Store
from rag_core.adapters.index.choose import VECTOR_STORES
from rag_core.domain.ports import LexicalApart, LexicalIndex, LexicalStore
from rag_core.errors import LibraryDamaged

STORES = {"bm25s": Bm25Store} | {name: row.words for name, row in VECTOR_STORES.items() if row.words is not Bm25Store}

every_store = pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=name, marks=[] if make is Bm25Store else [pytest.mark.stores])
        for name, make in STORES.items()
    ],
)
apart = pytest.mark.parametrize(
    "make",
    [pytest.param(make, id=name, marks=[pytest.mark.stores]) for name, make in STORES.items() if make is not Bm25Store],
)
WORDS = ("notice", "period", "price", "supplier", "ना", "lhuta", "-", "'); DROP TABLE plumbline_words; --", "%s\x00")
rows_of_words = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=12)
ROWS = [
    ["notice", "period"],
    ["price"],
    ["notice", "price", "price"],
    [],
    ["supplier", "notice", "notice", "notice", "period"],
]


def built(make: Callable[[], LexicalStore], rows: list[list[str]]) -> LexicalIndex:
    """An index; of a store in a database one that was saved: from then on it asks that."""
    store = make()
    index = store.build(rows)
    if isinstance(store, LexicalApart):
        with TemporaryDirectory() as folder:
            store.save(index, Path(folder))
    return index


def idf(term: str, rows: list[list[str]]) -> float:
    holding = sum(term in row for row in rows)
    return math.log(1 + (len(rows) - holding + 0.5) / (holding + 0.5))


def bm25(terms: list[str], row: list[str], rows: list[list[str]]) -> float:
    """Lucene's form: no factor (k1 + 1), so that a score never exceeds the sum of the terms' weights."""
    mean = sum(map(len, rows)) / len(rows)
    counts = Counter(row)
    return sum(idf(t, rows) * counts[t] / (counts[t] + K1 * (1 - B + B * len(row) / mean)) for t in terms if counts[t])


@every_store
@given(
    rows=rows_of_words,
    terms=st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=5),
    k=st.integers(1, 15),
    mask=st.integers(0, 4095),
)
def test_given_any_passages_when_searched_then_scores_and_order_are_those_of_bm25(
    make: type[LexicalStore], rows: list[list[str]], terms: list[str], k: int, mask: int
) -> None:
    index = built(make, rows)
    allowed = [row for row in range(len(rows)) if mask >> row & 1]
    expected = [bm25(terms, row, rows) for row in rows]

    assert index.scores(terms, list(range(len(rows)))) == pytest.approx(expected, abs=1e-4)
    for restriction in (None, allowed):
        found = index.search(terms, k, restriction)
        pool = range(len(rows)) if restriction is None else restriction
        assert {row for row, _ in found} <= set(pool)
        assert len(found) == min(k, sum(expected[row] > 0 for row in pool))
        assert all(score == pytest.approx(expected[row], abs=1e-4) and score > 0 for row, score in found)
        assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
        rest = [expected[row] for row in pool if row not in {r for r, _ in found}]
        assert not found or max(rest, default=0.0) <= found[-1][1] + 1e-4


@every_store
@given(rows=rows_of_words, terms=st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=5))
def test_given_any_term_then_its_weight_comes_from_the_whole_collection_and_an_unknown_one_has_the_most(
    make: type[LexicalStore], rows: list[list[str]], terms: list[str]
) -> None:
    index = built(make, rows)

    assert index.idf(terms) == pytest.approx([idf(term, rows) for term in terms])
    assert all(0 <= weight <= index.idf(["unknown"])[0] for weight in index.idf(list(WORDS)))


@every_store
@given(rows=rows_of_words)
def test_given_any_passages_then_the_vocabulary_is_their_terms(make: type[LexicalStore], rows: list[list[str]]) -> None:
    assert set(built(make, rows).vocabulary()) == {term for row in rows for term in row}


@every_store
def test_given_many_equal_passages_then_ties_are_broken_by_row_at_the_cut_too(make: type[LexicalStore]) -> None:
    index = built(make, [["notice", "period"]] * 300)

    assert [row for row, _ in index.search(["notice"], 7, None)] == list(range(7))
    assert [row for row, _ in index.search(["notice"], 3, [250, 20, 30, 20, 299])] == [20, 30, 250]


@every_store
def test_given_a_restriction_then_scores_and_weights_stay_those_of_the_collection(make: type[LexicalStore]) -> None:
    """Searching a selection ranks inside it; word weights come from everything."""
    index = built(make, ROWS)

    everywhere = dict(index.search(["notice", "price"], 10, None))
    assert dict(index.search(["notice", "price"], 10, [1, 2])) == {row: everywhere[row] for row in (1, 2)}
    assert index.search(["notice"], 10, [1, 3]) == []
    assert index.search(["notice"], 10, []) == []


@every_store
def test_given_a_term_twice_in_the_question_then_it_counts_twice(make: type[LexicalStore]) -> None:
    index = built(make, ROWS)

    assert index.scores(["price", "price"], [1])[0] == pytest.approx(2 * index.scores(["price"], [1])[0])


@every_store
@pytest.mark.parametrize("rows", [[], [[]], [[], []]])
def test_given_no_words_at_all_then_nothing_is_found_and_weights_are_finite(
    make: type[LexicalStore], rows: list[list[str]]
) -> None:
    for index in (make().build(rows), built(make, rows)):
        assert index.search(["notice"], 5, None) == []
        assert index.scores(["notice"], range(len(rows))) == [0.0] * len(rows)
        assert index.idf(["notice"])[0] >= 0


@every_store
def test_given_nothing_wanted_or_only_unknown_words_then_nothing_is_found(make: type[LexicalStore]) -> None:
    index = built(make, ROWS)

    assert index.search([], 5, None) == index.search(["unknown"], 5, None) == index.search(["notice"], 0, None) == []
    assert index.search(["", "\x00"], 5, None) == []


@apart
def test_given_an_index_when_saved_and_loaded_then_it_finds_the_same_and_no_file_is_a_pickle(
    make: type[LexicalStore], tmp_path: Path
) -> None:
    store = make()
    index = store.build([*ROWS, ["ना", "lhuta"]])
    store.save(index, tmp_path)

    again = make().load(tmp_path)

    for terms in (["notice", "price"], ["ना"], ["unknown"]):
        assert again.search(terms, 10, None) == index.search(terms, 10, None)
        assert again.idf(terms) == index.idf(terms)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if is_pickle(path.read_bytes())]


@apart
def test_given_a_missing_or_damaged_index_when_loaded_then_it_is_a_typed_problem(
    make: type[LexicalStore], tmp_path: Path
) -> None:
    with pytest.raises(LibraryDamaged, match="word index cannot be read"):
        make().load(tmp_path)
    make().save(make().build(ROWS), tmp_path)
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(LibraryDamaged):
            make().load(tmp_path)
        path.write_bytes(whole)
    assert make().load(tmp_path).search(["price"], 1, None)


@apart
def test_given_the_index_of_another_store_when_saved_then_it_is_refused(
    make: type[LexicalStore], tmp_path: Path
) -> None:
    with pytest.raises(TypeError, match="got str"):
        make().save("index", tmp_path)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
