"""Two small cross-encoders of ours, each of which reads two texts together: the answerability model and the support model.

Both are fine-tuned from the embedded MiniLM (`minilm.py`) and end in one number, the log odds of a yes. Their cards stand in
data/models/README.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.adapters.embedding.by_name import trained_on
from rag_core.adapters.embedding.minilm import MiniLm
from rag_core.adapters.embedding.recent import Recent
from rag_core.errors import ModelUnavailable
from rag_core.settings import DATA

if TYPE_CHECKING:
    from torch import Tensor

MAX_LOGIT = 10.0  # log odds
ANSWERABILITY_FILE, SUPPORT_FILE = (DATA / "models" / f"{name}.safetensors" for name in ("answerability", "support"))
ANSWERABILITY_TOKENS = 288  # question, passage and special tokens; only the passage is cut
REMEMBERED = 1 << 14  # pairs of texts, those of some 400 questions; about 3 MB, since a digest stands for the texts
DIGEST_BYTES = 16  # two pairs of texts with one digest do not come up
SUPPORT_TOKENS = 320  # claim, evidence and special tokens; only the evidence is cut
ANSWERABILITY_LANGUAGES, SUPPORT_LANGUAGES = trained_on("answerability"), trained_on("support")


class AnswerModel:
    """An `AnswerabilityModel`: how likely a passage answers a question. Safe to call from several threads.

    `training/answer_model.py` made it.

    Args:
        precision: float32, bfloat16 or auto (bfloat16 where the processor has it).
        file: the fine-tuned layers.

    Raises:
        ModelUnavailable: the file, or the package that it shares its word embeddings with, is missing or damaged.
    """

    def __init__(self, precision: str = "auto", file: Path = ANSWERABILITY_FILE) -> None:
        self._pairs = _PairReader("answerability", "answerable", precision, ANSWERABILITY_TOKENS, file)
        self.version = version_of(file)
        self.languages = ANSWERABILITY_LANGUAGES

    def answers(self, question: str, passages: Sequence[str]) -> list[float]:
        """The log of the odds that each passage holds the answer, in [-10, 10]; the score on top is what is calibrated.

        Raises:
            ModelUnavailable: the model returns something that is not a number.
        """
        return self._pairs.log_odds([(question, passage) for passage in passages])


class SupportModel:
    """An `EntailmentModel`: how likely a text supports a claim. Safe to call from several threads.

    `training/support_model.py` made it. Arguments and errors as in `AnswerModel`.
    """

    def __init__(self, precision: str = "auto", file: Path = SUPPORT_FILE) -> None:
        self._pairs = _PairReader("support", "support", precision, SUPPORT_TOKENS, file)
        self.version = version_of(file)
        self.languages = SUPPORT_LANGUAGES

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (evidence, claim) the log of the odds that the evidence supports the claim, in [-10, 10]; uncalibrated.

        Raises:
            ModelUnavailable: the model returns something that is not a number.
        """
        return self._pairs.log_odds([(claim, evidence) for evidence, claim in pairs])


class _PairReader:
    """A network with one number at its end, and what it said last.

    Args:
        name: what it is called in errors.
        layer: its last layer.
    """

    def __init__(self, name: str, layer: str, precision: str, max_tokens: int, file: Path) -> None:
        self._name, self._layer = name, layer
        self._model = MiniLm(name, precision, max_tokens, file)
        self._recent = Recent[bytes, float](REMEMBERED)

    def log_odds(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The log odds of each pair of texts, in [-10, 10], as the network's last layer says them."""
        keys = [_digest(*pair) for pair in pairs]
        texts = dict(zip(keys, pairs, strict=True))
        return self._recent.values(keys, lambda missing: self._read([texts[one] for one in missing]))

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        import torch

        found = self._model.run(pairs, 1, self._head, first_only=True)
        if not bool(torch.isfinite(found).all()):
            raise ModelUnavailable(f"The {self._name} model returned something that is not a number.", remedy="Restore data/models.")
        return [float(one) for one in found[:, 0]]

    def _head(self, x: Tensor, lengths: Sequence[int]) -> Tensor:
        """From the first token of each text, shape (texts, 1)."""
        return self._model.linear(x, self._layer).float().clamp(-MAX_LOGIT, MAX_LOGIT)


def _digest(first: str, second: str) -> bytes:
    """It stands for a pair of texts: no text of a deleted document is kept, and a passage takes no more memory than a line."""
    found = blake2b(len(first).to_bytes(8), digest_size=DIGEST_BYTES)
    found.update(first.encode("utf-8", "surrogatepass"))
    found.update(second.encode("utf-8", "surrogatepass"))
    return found.digest()


@cache
def version_of(file: Path) -> str:
    """12 hex digits of the SHA-256 of a model's file."""
    return sha256(file.read_bytes()).hexdigest()[:12]
