"""The embedded model, multilingual-e5-small, on torch alone: the mean over its tokens' hidden states, as a unit vector.

A text is read as "query: …" or as "passage: …", as the model was trained. Its raw cosines lie between .7 and 1, since
all its vectors share a large part. `CENTRED` of the mean vector of each kind is taken away, so that cosines spread as
those of other sentence encoders do: on XQuAD's training articles in four languages the closest passage of an answerable
question lies at .57 in the median (.40 at the 5th percentile), that of another at .35. The order of passages stays as
good (docs/decisions/03-the-multilingual-model.md).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from rag_core.adapters.embedding.by_name import EMBEDDED, precision_here, unit_vectors
from rag_core.adapters.embedding.e5_file import HEADS, INSTALL, LAYERS, SHA256, e5_file
from rag_core.adapters.embedding.network import Network
from rag_core.domain.ports import TextKind, Vectors
from rag_core.errors import ModelUnavailable
from rag_core.settings import DATA

if TYPE_CHECKING:
    from torch import Tensor

MAX_TOKENS = 512  # as published with the model, special tokens included
# share of the mean vector that is taken away: of 0, .8 and 1 the best two are alike, and 0 leaves no room for
# thresholds
CENTRED = 0.8
# that it was trained on, ISO 639-1
LANGUAGES = frozenset(
    """
    af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy id is it ja
    jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my nb ne nl nn no om or pa pl ps pt ro ru sa sd si sk sl so sq
    sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh
    """.split()
)
MEANS_FILE = DATA / "models" / "e5_means.json"  # the means of 400 questions and 400 passages of MLQA in seven languages


class EmbeddedModel:
    """An `Embedder` on the embedded model. Threads may share it. Raises ModelUnavailable without its package."""

    def __init__(self, precision: str = "auto") -> None:
        self._file = e5_file()
        self.precision = precision_here(precision)
        self.name, self.max_tokens, self.tokenizer = f"{EMBEDDED}@{self.precision}", MAX_TOKENS, SHA256[:12]
        with ThreadPoolExecutor(1) as beside:  # the tokenizer is made outside Python's lock, while torch is imported
            prefixes = beside.submit(self._file.ids, ["query:", "passage:"])
            self._network = published_network(self.precision)
        query, passage = prefixes.result()
        self._prefixes: dict[TextKind, list[int]] = {"query": query, "passage": passage}
        self._means = _means()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return count_tokens(texts)

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """Unit vectors of shape (len(texts), 384), float32; raises ModelUnavailable where they are not numbers."""
        if not texts:
            return np.zeros((0, len(self._means[kind])), dtype=np.float32)
        _, start, end, *_ = self._file.special
        head = [start, *self._prefixes[kind]]
        ids = [[*head, *one[: MAX_TOKENS - len(head) - 1], end] for one in self._file.ids(texts)]
        found = np.stack([row.numpy() for row in self._network.run([(one, [0] * len(one)) for one in ids], _mean)])
        return unit_vectors(unit_vectors(found) - CENTRED * self._means[kind])


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Tokens of each text by the vocabulary alone: its own, two special ones, the prefix. Raises ModelUnavailable."""
    return [len(one) + 4 for one in e5_file().ids(texts)]


@cache
def published_network(precision: str) -> Network:
    """The published layers, loaded once a process."""
    import torch

    file = e5_file()
    try:
        kind = getattr(torch, precision)
        weights = {name: torch.from_numpy(weight).to(kind) for name, weight in file.layers()}
        return Network(weights, lambda ids: torch.from_numpy(file.words(ids)), LAYERS, HEADS, precision)
    except Exception as error:  # the libraries raise many kinds; each is the same to the user
        raise ModelUnavailable(
            f"The embedded model could not be loaded: {type(error).__name__}.", remedy=INSTALL
        ) from error


@cache
def _means() -> dict[TextKind, Vectors]:
    found = json.loads(MEANS_FILE.read_text(encoding="utf-8"))
    return {
        "query": np.array(found["query"], dtype=np.float32),
        "passage": np.array(found["passage"], dtype=np.float32),
    }


def _mean(x: Tensor, lengths: Sequence[int]) -> Sequence[Tensor]:
    """The mean over the tokens of each text, a unit vector each."""
    from rag_core.adapters.embedding.forward import compiled, means

    return list(compiled(means)(x, list(lengths)).float())
