"""Damages the samples in seeded ways, and says of each copy, read by the real child process, what text it lost."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rag_core.errors import RagError
from rag_core.ingest.reading.pdf import PdfContent, read_pdf

SAMPLES = sorted((Path(__file__).resolve().parents[2] / "data/samples").glob("*.pdf"))
STRUCTURE = rb"/(?:Contents|Length|Filter|Kids|Font|ToUnicode|Type|Resources|FlateDecode|W|Encoding)\b|\d+ 0 (?:R|obj)|endobj|endstream|xref"  # noqa: E501


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a copy: `refused` with this problem, or the share of its words that is `lost`, in [0, 1], and the
    `notes` on it.
    """

    number: int
    file: str
    kind: str
    refused: str = ""
    lost: float = 0.0
    notes: tuple[str, ...] = ()


def flip(draw: random.Random, data: bytearray) -> None:
    for _ in range(draw.choice((1, 2, 4, 16, 64))):
        data[draw.randrange(len(data))] = draw.randrange(256)


def flip_in_stream(draw: random.Random, data: bytearray) -> None:
    starts = [match.end() for match in re.finditer(rb"(?<!end)stream\r?\n", data)]
    start = draw.choice(starts)
    for _ in range(draw.choice((1, 3, 9))):
        data[draw.randrange(start, max(data.index(b"endstream", start), start + 1))] = draw.randrange(256)


def cut(draw: random.Random, data: bytearray) -> None:
    size = draw.choice((1, 8, 100, 1000))
    start = draw.randrange(len(data) - size)
    del data[start : start + size]


def insert(draw: random.Random, data: bytearray) -> None:
    start = draw.randrange(len(data))
    data[start:start] = draw.randbytes(draw.choice((1, 8, 100)))


def zero(draw: random.Random, data: bytearray) -> None:
    size = draw.choice((16, 128, 512, 2048))
    start = draw.randrange(len(data) - size)
    data[start : start + size] = bytes(size)


def structure(draw: random.Random, data: bytearray) -> None:
    for match in draw.sample(list(re.finditer(STRUCTURE, bytes(data))), draw.choice((1, 2, 4))):
        data[draw.randrange(match.start(), match.end())] = draw.choice(b"0123456789XYZ /")


def truncate(draw: random.Random, data: bytearray) -> None:
    data[draw.randrange(len(data) // 3, len(data)) :] = b"\nstartxref\n0\n%%EOF\n"


def swap(draw: random.Random, data: bytearray) -> None:
    size = draw.choice((32, 256, 1024))
    a, b = sorted(draw.sample(range(len(data) - size), 2))
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


KINDS = (flip, flip_in_stream, cut, insert, zero, structure, truncate, swap)


def damaged_copies(numbers: Iterable[int]) -> Iterator[Row]:
    """The copies of these numbers, each damaged as its number alone decides, and read."""
    for number in numbers:
        sample, kind = SAMPLES[number % len(SAMPLES)], KINDS[number // len(SAMPLES) % len(KINDS)]
        data = bytearray(sample.read_bytes())
        kind(random.Random(number), data)
        row = Row(number, sample.name, kind.__name__)
        try:
            content = read_pdf(bytes(data), sample.name)
        except RagError as error:
            yield Row(row.number, row.file, row.kind, refused=error.problem)
            continue
        whole, read = _whole(sample), _words(content)
        lost = 1 - (read & whole).total() / whole.total()
        yield Row(row.number, row.file, row.kind, lost=lost, notes=content.problems)


@cache
def _whole(sample: Path) -> Counter[str]:
    content = read_pdf(sample.read_bytes(), sample.name)
    assert not content.problems, sample.name
    return _words(content)


def _words(content: PdfContent) -> Counter[str]:
    return Counter(word for page in content.pages for word in page.text.split())
