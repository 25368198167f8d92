"""A memory of what the embedded networks said of a batch, shared by all processes of a run.

Tests of pages, of the service and of attacks give the same batches to the same network again and again. The first time
it runs; later the same numbers are read from a file, bit by bit those of the first time, since a batch is remembered as
a whole. What tests count lies above: each call of a model is still a call. Tests of the models themselves do not use it
(tests/conftest.py names the folders that do).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

from rag_core.adapters.embedding.network import Head, Network, Tokens

if TYPE_CHECKING:
    from torch import Tensor

# held here: a test may put others in their place, and means those of the product
_open, _replace = open, os.replace
SOME = 64  # words of a vocabulary, by which it is known
# of a whole process: reading all weights takes a third of a second
_digests: WeakKeyDictionary[Network, bytes] = WeakKeyDictionary()


@contextmanager
def remembering(folder: Path) -> Iterator[list[int]]:
    """Within the block, batches are read from `folder` where they stand there, and written to it where they do not.

    A batch is known by the tokens of its texts in their order, what is made of it, and all weights of its network.

    Yields:
        How many batches were read, and how many were worked out.
    """
    run_batch = Network._batch
    counts = [0, 0]

    def batch(self: Network, texts: Sequence[Tokens], head: Head, first_only: bool) -> Sequence[Tensor]:
        if self not in _digests:
            _digests[self] = _digest_of(self)
        tokens = [(list(ids), list(kinds)) for ids, kinds in texts]
        key = hashlib.blake2b(_digests[self] + repr((tokens, head.__qualname__, first_only)).encode(), digest_size=20)
        file = folder / key.hexdigest()
        try:
            with _open(file, "rb") as kept:
                found = _parted(kept.read())
        except FileNotFoundError:
            found = run_batch(self, texts, head, first_only)
            counts[1] += 1
            begun = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
            with _open(begun, "wb") as kept:
                kept.write(_joined(found))
            _replace(begun, file)
        else:
            counts[0] += 1
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Network, "_batch", batch)
        yield counts


def _joined(tensors: Sequence[Tensor]) -> bytes:
    """Their shapes in a line, and the numbers of all, float32."""
    assert {str(one.dtype) for one in tensors} == {"torch.float32"}
    shapes = json.dumps([list(one.shape) for one in tensors]).encode()
    return b"\n".join([shapes, b"".join(one.contiguous().numpy().tobytes() for one in tensors)])


def _parted(kept: bytes) -> list[Tensor]:
    import torch

    line, _, numbers = kept.partition(b"\n")
    shapes = [tuple(shape) for shape in json.loads(line)]
    rows = torch.split(
        torch.frombuffer(bytearray(numbers), dtype=torch.float32), [math.prod(shape) for shape in shapes]
    )
    return [row.view(shape) for row, shape in zip(rows, shapes, strict=True)]


def _digest_of(network: Network) -> bytes:
    """From all its weights, those that it shares with another, its precision, and the first words of its vocabulary."""
    import torch

    found = hashlib.blake2b(digest_size=20)
    for weight in _weights_of(
        [network._words(range(SOME)), network._embeddings, network._layers, sorted(network._weights.items())]
    ):
        found.update(f"{weight.dtype}{tuple(weight.shape)}".encode())
        weight = weight.to_dense() if weight.is_mkldnn else weight
        found.update(weight.contiguous().view(-1).view(torch.uint8).numpy())
    return found.digest()


def _weights_of(part: Any) -> Iterator[Tensor]:
    if isinstance(part, (tuple, list)):
        for one in part:
            yield from _weights_of(one)
    elif not isinstance(part, str):
        yield part
