"""Reads the first passages together with the question: the log odds that each of their sentences answers it in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rag_core.domain.passages import Place, ReadPlace
from rag_core.domain.ports import AnswerabilityModel

Read = Callable[[Sequence[Place]], Sequence[ReadPlace]]


def pointer(question: str, answerability_model: AnswerabilityModel | None) -> Read | None:
    """The same by who can point at values, whatever the language; None where nobody reads."""
    return reader(question, "und", answerability_model)


def reader(question: str, language: str, answerability_model: AnswerabilityModel | None) -> Read | None:
    """Reads places together with the question; None where nobody reads."""
    if answerability_model is None:
        return None
    asked = question.rstrip("?？ ") + "?"  # it learned from questions that end so; people type them without
    return partial(answerability_model.read, asked, language=language)
