"""A memory of what the embedded networks said of a batch, shared by all processes of a run.

Tests of pages give the same batches to the same network again and again. The first time it runs; later the same numbers are
read from a file, bit by bit those of the first time, since a batch is remembered as a whole. What tests count lies above: each call of a
model is still a call. Tests of the models themselves do not use it.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

from rag_core.adapters.embedding.minilm import Head, MiniLm

if TYPE_CHECKING:
    from torch import Tensor

# held here: a test may put others in their place, and means those of the product
_open, _replace = open, os.replace


@pytest.fixture(scope="package", autouse=True)
def remembered_batches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each batch of texts goes through its network once in a run, whichever test or process gives it. A folder of tests imports it."""
    here = tmp_path_factory.getbasetemp()
    folder = (here.parent if "PYTEST_XDIST_WORKER" in os.environ else here) / "batches"
    folder.mkdir(exist_ok=True)
    with remembering(folder):
        yield


@contextmanager
def remembering(folder: Path) -> Iterator[list[int]]:
    """Within the block, batches are read from `folder` where they stand there, and written to it where they do not.

    A batch is known by the tokens of its texts in their order, what is made of it, and all weights of its network.

    Yields:
        How many batches were read, and how many were worked out.
    """
    run_batch = MiniLm._batch
    networks: WeakKeyDictionary[MiniLm, bytes] = WeakKeyDictionary()
    counts = [0, 0]

    def batch(self: MiniLm, encoded: Sequence[Any], head: Head, first_only: bool) -> Tensor:
        import torch

        if self not in networks:
            networks[self] = _digest_of(self)
        texts = [(one.ids, one.type_ids) for one in encoded]
        key = hashlib.blake2b(networks[self] + repr((texts, head.__qualname__, first_only)).encode(), digest_size=20)
        file = folder / key.hexdigest()
        try:
            with _open(file, "rb") as kept:
                found = torch.frombuffer(bytearray(kept.read()), dtype=torch.float32).view(len(texts), -1)
        except FileNotFoundError:
            found = run_batch(self, encoded, head, first_only)
            counts[1] += 1
            begun = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
            with _open(begun, "wb") as kept:
                kept.write(found.numpy().tobytes())
            _replace(begun, file)
        else:
            counts[0] += 1
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MiniLm, "_batch", batch)
        yield counts


def _digest_of(network: MiniLm) -> bytes:
    """From all its weights, its precision and its tokenizer with the length at which it cuts."""
    import torch

    found = hashlib.blake2b(network.tokenizer.to_str().encode("utf-8"), digest_size=20)
    for layer, weight in sorted(network._weights.items()):
        found.update(f"{layer}{weight.dtype}{tuple(weight.shape)}".encode())
        weight = weight.to_dense() if weight.is_mkldnn else weight
        found.update(weight.contiguous().view(torch.uint8).numpy())
    return found.digest()
