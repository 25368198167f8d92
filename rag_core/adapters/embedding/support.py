"""The support model: a small cross-encoder that reads a claim together with a text. English. Its card stands in data/models/README.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag_core.adapters.embedding.pairs import PairModel
from rag_core.adapters.embedding.reader import version_of
from rag_core.settings import DATA

SUPPORT_FILE = DATA / "models" / "support.safetensors"
SUPPORT_TOKENS = 320  # claim, evidence and special tokens; only the evidence is cut
SUPPORT_LANGUAGES = frozenset({"en"})  # that it was trained on


class SupportModel:
    """An `EntailmentModel`: how likely a text supports a claim. Safe to call from several threads; for the rest see `PairModel`."""

    def __init__(self, precision: str = "auto", file: Path = SUPPORT_FILE) -> None:
        self._pairs = PairModel("support", "support", SUPPORT_TOKENS, precision, file)
        self.version, self.languages = version_of(file), SUPPORT_LANGUAGES

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (evidence, claim) the log of the odds that the evidence supports the claim, in [-10, 10]; uncalibrated."""
        return self._pairs.log_odds([(claim, evidence) for evidence, claim in pairs])
