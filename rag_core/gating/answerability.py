"""How well texts bear on a question: what the reader says of each sentence in its place, and how near its vector is to
the question's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rag_core.domain.passages import Place, ReadPlace
from rag_core.domain.ports import AnswerabilityModel, Embedder

Read = Callable[[Sequence[Place]], Sequence[ReadPlace]]
Near = Callable[[Sequence[str]], Sequence[float]]


def nearness(question: str, embedder: Embedder) -> Near:
    """The cosine of each text to a question."""
    return lambda texts: (
        [float(one) for one in embedder.embed(list(texts)) @ embedder.embed([question], "query")[0]] if texts else []
    )


def reader(question: str, answerability_model: AnswerabilityModel | None) -> Read | None:
    """Reads places together with the question; None where nobody reads."""
    if answerability_model is None:
        return None
    asked = question.rstrip("?？ ") + "?"  # it learned from questions that end so; people type them without
    return partial(answerability_model.read, asked)
