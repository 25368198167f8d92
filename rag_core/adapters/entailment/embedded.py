"""The embedded entailment model: a small cross-encoder that reads a claim with a text and says how likely the text supports it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag_core.adapters.embedding.by_name import trained_on
from rag_core.adapters.embedding.cross_encoder import PairModel, version_of
from rag_core.settings import DATA

FILE = DATA / "models" / "support.safetensors"
MAX_TOKENS = 320  # claim, evidence and special tokens; only the evidence is cut
LANGUAGES = trained_on("support")


class SupportModel:
    """A `EntailmentModel`, made by `training/support_model.py`. Safe to call from several threads.

    Args:
        precision: float32, bfloat16 or auto (bfloat16 where the processor has it).
        file: the fine-tuned layers.

    Raises:
        ModelUnavailable: the file, or the package that it shares its word embeddings with, is missing or damaged.
    """

    def __init__(self, precision: str = "auto", file: Path = FILE) -> None:
        self._model = PairModel("support", "support", MAX_TOKENS, precision, file)
        self.version = version_of(file)
        self.languages = LANGUAGES

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (evidence, claim) the log of the odds that the evidence supports the claim, in [-10, 10]; uncalibrated.

        Raises:
            ModelUnavailable: the model returns something that is not a number.
        """
        return self._model.odds([(claim, evidence) for evidence, claim in pairs])
