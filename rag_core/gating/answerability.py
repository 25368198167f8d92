"""Reads passages together with the question by the answerability model: the log odds that a text holds the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rag_core.domain.passages import Hit
from rag_core.domain.ports import AnswerabilityModel
from rag_core.gating.scores import READ

SURELY = 2.0  # log odds, .88: chosen on 1,840 questions

Read = Callable[[Sequence[str]], Sequence[float]]  # texts -> log odds that each holds the answer


class ReadTogether:
    """Reads a question's sentences, and its first passages in the same passes: a pass takes milliseconds whatever is read in it.

    Where the first passage surely answers, no other is read: what counts is the best one, and in nearly every such question that was it
    (docs/log/2026-11-27-less-is-read.md).

    Args:
        read: reads texts together with the question.
        passages: the first passages, best first.
    """

    def __init__(self, read: Read, passages: Sequence[str]) -> None:
        self._read, self._left = read, [passages[:1], passages[1:]]
        self._said: list[float] = []

    def __call__(self, texts: Sequence[str]) -> list[float]:
        """The log odds that each of these sentences holds the answer."""
        ahead = self._next()
        said = list(self._read([*ahead, *texts]))
        self._said += said[: len(ahead)]
        return said[len(ahead) :]

    def passages(self) -> list[float]:
        """The log odds that each passage that is read holds the answer, best first. What was not read with sentences is read now."""
        while ahead := self._next():
            self._said += self._read(ahead)
        return self._said

    def _next(self) -> Sequence[str]:
        sure = bool(self._said) and self._said[0] >= SURELY
        return () if sure or not self._left else self._left.pop(0)


def read_together(question: str, language: str, hits: Sequence[Hit], answerability_model: AnswerabilityModel | None) -> ReadTogether | None:
    """Reads sentences and the first of these passages together with the question; None where nobody reads, or not this language."""
    read, languages = reader(question, language, answerability_model), legible(answerability_model)
    return ReadTogether(read, [hit.passage.text for hit in hits[:READ] if hit.passage.language in languages]) if read else None


def reader(question: str, language: str, answerability_model: AnswerabilityModel | None) -> Read | None:
    """Reads texts together with the question; None where nobody reads, or not this language."""
    if answerability_model is None or language not in answerability_model.languages:
        return None
    asked = question.rstrip("? ") + "?"  # it learned from questions that end so; people type them without
    return partial(answerability_model.answers, asked)


def legible(answerability_model: AnswerabilityModel | None) -> frozenset[str]:
    """The languages of passages that the answerability model reads, with the unknown one, against which nothing speaks."""
    return frozenset({*answerability_model.languages, "und"}) if answerability_model else frozenset()
