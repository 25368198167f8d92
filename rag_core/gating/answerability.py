"""Reads passages together with the question by the answerability model: the log odds that a text holds the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rag_core.domain.passages import Hit
from rag_core.domain.ports import AnswerabilityModel
from rag_core.gating.scores import READ

SURELY = 2.0  # log odds, .88: chosen on 1,840 questions


def read_answers(question: str, language: str, hits: Sequence[Hit], answerability_model: AnswerabilityModel | None) -> list[float]:
    """The log odds that each of the first passages holds the answer; none where nobody reads, or not these languages.

    Where the first one surely does, no other is read: what counts is the best one, and it was the best of all in every such question that
    was looked at (docs/log/2026-11-27-less-is-read.md).
    """
    read, languages = reader(question, language, answerability_model), legible(answerability_model)
    texts = [hit.passage.text for hit in hits[:READ] if hit.passage.language in languages]
    if read is None or not texts:
        return []
    first = list(read(texts[:1]))
    return first if first[0] >= SURELY else first + list(read(texts[1:]) if texts[1:] else ())


def reader(
    question: str, language: str, answerability_model: AnswerabilityModel | None
) -> Callable[[Sequence[str]], Sequence[float]] | None:
    """Reads texts together with the question; None where nobody reads, or not this language."""
    if answerability_model is None or language not in answerability_model.languages:
        return None
    asked = question.rstrip("? ") + "?"  # it learned from questions that end so; people type them without
    return partial(answerability_model.answers, asked)


def legible(answerability_model: AnswerabilityModel | None) -> frozenset[str]:
    """The languages of passages that the answerability model reads, with the unknown one, against which nothing speaks."""
    return frozenset({*answerability_model.languages, "und"}) if answerability_model else frozenset()
