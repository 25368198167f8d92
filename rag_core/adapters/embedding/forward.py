"""The forward pass of a BERT, in the part of Python that TorchScript compiles. It runs whole without Python's lock.

As Python it asks for that lock after each of some four hundred operations. While another thread runs Python, such as
one that cuts documents, each may wait for 5 ms: a pass of 18 ms took 58 beside a busy thread
(docs/decisions/23-speed.md). The numbers are the same bit by bit. torch calls TorchScript deprecated; what it offers in
its place needs a C++ compiler on the user's machine.
"""

import logging
import threading
import warnings
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from rag_core.adapters.embedding.attention import attend

EPSILON = 1e-12  # in the layer norms, as both published networks have it

Work = Callable[..., Tensor]
Scalars = list[int | float | complex | None]
_log = logging.getLogger(__name__)
_compiling = threading.Lock()
_compiled: dict[Work, Work] = {}


class Linear(NamedTuple):
    """A linear layer."""

    weight: Tensor
    bias: Tensor


class Norm(NamedTuple):
    """A layer norm."""

    weight: Tensor
    bias: Tensor


class Layer(NamedTuple):
    """One layer; `both` makes key and value at once."""

    query: Linear
    both: Linear
    heads: Linear
    after_heads: Norm
    inner: Linear
    outer: Linear
    after_outer: Norm


class Embeddings(NamedTuple):
    """Of first and second texts, and of places in a text."""

    types: Tensor
    places: Tensor
    norm: Norm


def encode(
    embeddings: Embeddings,
    layers: list[Layer],
    words: Tensor,
    kinds: Tensor,
    lengths: list[int],
    heads: int,
    rows: int,
    first_only: bool,
) -> Tensor:
    """Hidden states of shape (tokens, numbers of a token), or (texts, numbers of a token).

    Args:
        embeddings: of the network.
        layers: of the network, with so many `heads`.
        words: embeddings of the tokens of all texts, one text after another, shape (tokens, numbers of a token).
        kinds: of shape (tokens,), 0 for tokens of the first part of a text, 1 for those of the second.
        lengths: tokens of each text.
        heads: of each layer.
        rows: so many the tokens are filled up to.
        first_only: only those of first tokens: the last layer is worked out for these alone, a seventh of the work.
    """
    places = torch.cat([torch.arange(length) for length in lengths])
    bounds: list[tuple[int, int]] = []
    firsts: list[int] = []
    start = 0
    for length in lengths:
        firsts.append(start)
        bounds.append((start, start + length))
        start += length
    x = norm(words + embeddings.types[kinds] + embeddings.places[places], embeddings.norm)
    x = functional.pad(x, [0, 0, 0, rows - words.size(0)])
    laid_out = layers[0].outer.weight.is_mkldnn  # all of them, or none
    for number in range(len(layers)):
        layer = layers[number]
        alone = first_only and number == len(layers) - 1
        asking = x[torch.tensor(firsts)] if alone else x
        query = linear(asking, layer.query, "none", laid_out).view(asking.size(0), heads, -1)
        both = linear(x, layer.both, "none", laid_out).view(x.size(0), 2, heads, -1)
        attended = attend(query, both.select(1, 0), both.select(1, 1), bounds, alone, laid_out)
        x = norm(linear(attended, layer.heads, "none", laid_out) + asking, layer.after_heads)
        inner = linear(x, layer.inner, "gelu", laid_out)
        x = norm(linear(inner, layer.outer, "none", laid_out) + x, layer.after_outer)
    return x if first_only else x[: words.size(0)]


def linear(x: Tensor, layer: Linear, then: str, laid_out: bool) -> Tensor:
    """One linear layer, and "gelu" of it where that comes `then`; `laid_out` as oneDNN multiplies by them."""
    if laid_out:
        no_numbers: Scalars = []
        product: Tensor = torch.ops.mkldnn._linear_pointwise(x, layer.weight, layer.bias, then, no_numbers, "none")
        return product
    found = functional.linear(x, layer.weight, layer.bias)
    return functional.gelu(found) if then == "gelu" else found


def norm(x: Tensor, layer: Norm, epsilon: float = EPSILON) -> Tensor:
    return functional.layer_norm(x, [x.size(-1)], layer.weight, layer.bias, epsilon)


def means(x: Tensor, lengths: list[int]) -> Tensor:
    """Unit vectors of shape (texts, numbers of a token), the mean over the tokens of each text."""
    mean = torch.stack([text.mean(0, dtype=torch.float32) for text in torch.split(x, lengths)])
    return functional.normalize(mean.to(x.dtype), dim=1)


def compiled(function: Work) -> Work:
    """One of these functions as TorchScript, compiled once a process; as it is where torch cannot do that."""
    with _compiling:
        if function not in _compiled:
            _compiled[function] = _scripted(function)
        return _compiled[function]


def _scripted(function: Work) -> Work:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            script: Work = torch.jit.script(function)
    except Exception as error:  # another torch: slower beside other threads, and the same numbers
        _log.info("networks run without TorchScript", exc_info=error)
        return function
    return script
