"""Parts of the texts on threads of their own: each works alone, and no number depends on how many there are."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rag_core.adapters.embedding import embedded, network
from rag_core.adapters.embedding.cores import Cores, even_parts
from rag_core.adapters.embedding.embedded import EmbeddedModel, published_network
from rag_core.adapters.embedding.reader import ReaderModel
from rag_core.adapters.embedding.support import SupportModel
from rag_core.domain.passages import Place, ReadPlace

TEXTS = [f"The notice period of contract {number} is {number} days. " * (1 + number % 4) for number in range(9)]
WAIT_SECONDS = 60.0


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Torch uses two threads, as on two cores; the tests give it one."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def numbers_of(places: Sequence[ReadPlace]) -> list[float]:
    """All that is said of places."""
    return [
        number
        for place in places
        for number in (place.log_odds, *(one for unit in place.units for one in (unit.log_odds, unit.sure)))
    ]


def threads_of_torch() -> int:
    """What torch says in a thread, and after it has worked there."""
    first = torch.get_num_threads()
    torch.rand(200, 200) @ torch.rand(200, 200)
    assert torch.get_num_threads() == first
    return first


@pytest.mark.usefixtures("two_threads")
def test_given_threads_for_cores_then_torch_works_alone_in_each_and_as_before_elsewhere() -> None:
    shared, together = Cores(3), threading.Barrier(3)

    def threads(_: int) -> tuple[int, int]:
        together.wait(WAIT_SECONDS)  # so each of the parts is in a thread of its own
        return threading.get_ident(), threads_of_torch()

    found = shared.each(threads, [0, 1, 2])

    assert [number for _, number in found] == [1, 1, 1]
    assert len({thread for thread, _ in found}) == 3
    later: list[int] = []
    thread = threading.Thread(target=lambda: later.append(threads_of_torch()))
    thread.start()
    thread.join()
    assert (threads_of_torch(), later) == (2, [2])


def test_given_work_that_fails_then_that_is_raised_and_the_threads_go_on() -> None:
    shared = Cores(2)

    with pytest.raises(ZeroDivisionError):
        shared.each(lambda part: 1 // part, [1, 0, 2])
    assert shared.each(lambda part: part * 2, [3, 1, 2]) == [6, 2, 4]
    assert shared.each(lambda part: part, []) == []


def test_given_a_main_thread_that_has_ended_then_who_asks_works_alone() -> None:
    shared = Cores(2)
    shared._pool.shutdown()

    found = shared.each(lambda part: (part, threading.get_ident()), [3, 1, 2])

    assert found == [(part, threading.get_ident()) for part in (3, 1, 2)]


def test_given_a_thread_that_cannot_be_started_then_the_others_end(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def second_fails(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", second_fails)
        with pytest.raises(RuntimeError, match="can't start"):
            Cores(3)

    started[0].join(WAIT_SECONDS)
    assert not started[0].is_alive()


@pytest.mark.parametrize(("precision", "apart"), [("float32", 1e-5), ("bfloat16", 0.0)])
def test_given_any_number_of_cores_then_each_number_is_the_same(precision, apart, monkeypatch):
    """Bit by bit in bfloat16; float32 sums in an order that depends on the rows of a product."""
    embedder, reads, supports = EmbeddedModel(precision), ReaderModel(precision), SupportModel(precision)
    places = [Place(text[:40], (text, text[::2])) for text in TEXTS[:5]]
    vectors, said, odds = [], [], []
    for count in (1, 2, 3):
        shared = Cores(count)
        monkeypatch.setattr(network, "cores", lambda shared=shared: shared)
        vectors.append(embedder.embed(TEXTS))
        said.append(numbers_of(reads._read("What is the notice period?", places)))
        odds.append(supports._read([(text, "What is the notice period?") for text in TEXTS]))

    for at in (1, 2):
        assert np.abs(vectors[at] - vectors[0]).max() <= apart
        assert said[at] == pytest.approx(said[0], rel=0, abs=apart)
        assert odds[at] == pytest.approx(odds[0], rel=0, abs=apart)


def test_given_a_torch_that_cannot_lay_weights_out_then_vectors_differ_in_the_last_digits_only(monkeypatch):
    laid_out = EmbeddedModel("bfloat16")

    def refused(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(torch.ops.mkldnn, "_reorder_linear_weight", refused)
    monkeypatch.setattr(embedded, "published_network", published_network.__wrapped__)  # loaded anew
    plain = EmbeddedModel("bfloat16")

    assert not any(weight.is_mkldnn for weight in plain._network._weights.values())
    assert (plain.embed(TEXTS) * laid_out.embed(TEXTS)).sum(axis=1).min() > 0.9999


@given(sizes=st.lists(st.integers(1, 300)), count=st.integers(1, 5), most=st.integers(1, 16))
def test_given_any_sizes_then_each_member_is_in_one_part_and_the_parts_are_about_equal(sizes, count, most):
    parts = even_parts(sizes, count, most)

    assert sorted(member for part in parts for member in part) == list(range(len(sizes)))
    assert all(parts)
    assert len(parts) == len(sizes) or (
        len(parts) % count == 0 and len(sizes) <= most * len(parts) < len(sizes) + most * count
    )
    filled = [sum(sizes[member] for member in part) for part in parts]
    assert max(filled, default=0) - min(filled, default=0) <= max(sizes, default=0)
