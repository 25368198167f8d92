"""The answerability model: a small cross-encoder that reads a question with a passage and says how likely the passage answers it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag_core.adapters.embedding.by_name import trained_on
from rag_core.adapters.embedding.cross_encoder import PairModel, version_of
from rag_core.settings import DATA

FILE = DATA / "models" / "answerability.safetensors"
MAX_TOKENS = 288  # question, passage and special tokens; only the passage is cut
LANGUAGES = trained_on("answerability")


class AnswerModel:
    """An `AnswerabilityModel`, made by `training/answer_model.py`. Safe to call from several threads.

    Args:
        precision: float32, bfloat16 or auto (bfloat16 where the processor has it).
        file: the fine-tuned layers.

    Raises:
        ModelUnavailable: the file, or the package that it shares its word embeddings with, is missing or damaged.
    """

    def __init__(self, precision: str = "auto", file: Path = FILE) -> None:
        self._model = PairModel("answerability", "answerable", MAX_TOKENS, precision, file)
        self.version = version_of(file)
        self.languages = LANGUAGES

    def answers(self, question: str, passages: Sequence[str]) -> list[float]:
        """The log of the odds that each passage holds the answer, in [-10, 10]; the score on top is what is calibrated.

        Raises:
            ModelUnavailable: the model returns something that is not a number.
        """
        return self._model.odds([(question, passage) for passage in passages])
