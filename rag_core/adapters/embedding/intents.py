"""Tells small talk, and questions about the documents as such, from questions about what they say: a regression over
the vector of the embedded model, so that every wording and language counts that the model knows.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args

import numpy as np
from safetensors.numpy import load_file

from rag_core.domain.ports import Embedder, Vectors
from rag_core.settings import DATA

Talk = Literal[
    "", "greeting", "thanks", "goodbye", "library", "summary", "author", "date", "pages", "title"
]  # "" is a question about what the documents say
INTENTS: tuple[Talk, ...] = get_args(Talk)
INTENTS_FILE = DATA / "models" / "intents.safetensors"  # by `training.intents`
# probability from which it is none about contents; chosen: of some 14,000 questions of public sets about contents 13
# are taken for one
LEAST = 0.8
MOST_CHARS = 200  # small talk is no longer; chosen


def likeliest(vector: Vectors, weights: Vectors, intercepts: Vectors) -> Talk:
    """The intent of a question's vector, shape (dim,), by weights of shape (intents, dim) and intercepts."""
    odds = weights @ vector + intercepts
    shares = np.exp(odds - odds.max())
    shares /= shares.sum()
    return INTENTS[1 + int(shares[1:].argmax())] if 1 - shares[0] >= LEAST else ""


def talk_of(text: str, embedder: Embedder) -> Talk:
    """The intent of a text by the embedded model, which `embedder` must be; "" of a text too long for small talk."""
    if not text.strip() or len(text) > MOST_CHARS:
        return ""
    fitted = _fitted()
    return likeliest(embedder.embed([text], "query")[0], fitted["weights"], fitted["intercepts"])


@cache
def _fitted() -> dict[str, Vectors]:
    return load_file(INTENTS_FILE)
