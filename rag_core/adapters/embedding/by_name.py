"""Embedding and reranking with sentence-transformers: any model by name or folder.

A model is loaded by name from this machine's files; it is downloaded only where HF_HUB_OFFLINE=0 says so.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rag_core.adapters.optional import require
from rag_core.domain.ports import TextKind, Vectors
from rag_core.errors import ModelUnavailable

# Read by the OpenMP runtime when torch loads it: idle threads sleep instead of spinning. Beside other busy processes a
# batch of twelve sentences took 59 to 140 ms with it and more than 700 ms without.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Read when these libraries are imported, here and in the child: never ask a hub unless the user says so, and tell
# nobody what is used.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.update({"HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", "ORT_DISABLE_TELEMETRY": "1"})

EMBEDDED = "multilingual-e5-small"
BATCH = 16  # texts a forward pass; larger batches were not faster on two cores


def quiet() -> None:
    """Loading draws a progress bar on standard error, in a pipe too; the product shows its own progress."""
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]


@cache
def has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 in hardware (AVX-512 BF16 or AMX)."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def offline() -> bool:
    """Whether no model is downloaded: so it is unless HF_HUB_OFFLINE is switched off."""
    return os.environ["HF_HUB_OFFLINE"].upper() in ("1", "ON", "YES", "TRUE")  # as huggingface_hub reads it


def precision_here(precision: str) -> str:
    """The precision that "auto" stands for on this processor; any other precision is itself."""
    return ("bfloat16" if has_bfloat16() else "float32") if precision == "auto" else precision


def unit_vectors(vectors: Vectors) -> Vectors:
    """Vectors, shape (n, dim), at length 1 in float32: a bfloat16 norm is off by up to 0.4 %.

    Raises ModelUnavailable for NaN.
    """
    if not np.isfinite(vectors).all():
        raise ModelUnavailable("The embedding model returned no numbers.", remedy="Use another model or precision.")
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit


def vocabulary_hash(vocabulary: Mapping[str, int]) -> str:
    """12 hex digits of a tokenizer's tokens with their numbers."""
    rows = sorted((number, token) for token, number in vocabulary.items())
    return hashlib.sha256(repr(rows).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _not_loaded(model: str, error: Exception) -> ModelUnavailable:
    return ModelUnavailable(
        f"The embedding model {model!r} could not be loaded: {type(error).__name__}.",
        remedy="Check the name or folder, or use the embedded model multilingual-e5-small.",
    )


class SentenceTransformerEmbedder:
    """An `Embedder` on a model of sentence-transformers, by name or folder. Threads may share it: passes are queued.

    `precision` is float32, bfloat16 or auto (bfloat16 where the processor has it).

    Raises:
        MissingDependency: sentence-transformers is not installed.
        ModelUnavailable: the model cannot be loaded.
    """

    def __init__(self, model: str, precision: str = "auto") -> None:
        require("models", "An embedding model by name")
        # told at once: what loads it takes seconds to import
        if Path(model).is_absolute() and not Path(model).exists():
            raise _not_loaded(model, FileNotFoundError())
        import torch
        from sentence_transformers import SentenceTransformer

        quiet()
        self.precision = precision_here(precision)
        try:
            self._model = SentenceTransformer(model, device="cpu")
        except Exception as error:  # the library raises many kinds; each is the same to the user
            raise _not_loaded(model, error) from error
        self._model = self._model.to(getattr(torch, self.precision)).eval()
        self.name, self.max_tokens = f"{model}@{self.precision}", int(self._model.max_seq_length or 512)
        self._tokenizer: Any = self._model.tokenizer
        self._lock = threading.Lock()

    @cached_property
    def tokenizer(self) -> str:
        return vocabulary_hash(self._tokenizer.get_vocab())

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        with self._lock:
            encoded = self._tokenizer(list(texts), truncation=False, padding=False, verbose=False)["input_ids"]
        return [len(ids) for ids in encoded]

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """Unit vectors of shape (len(texts), dim), float32; with the prompt "query" where the model has one."""
        if not texts:
            return np.zeros((0, self._model.get_embedding_dimension() or 0), dtype=np.float32)
        with self._lock:
            prompt = kind if self._model.prompts.get(kind) else None
            vectors = self._model.encode(
                list(texts), prompt_name=prompt, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True
            )
        return unit_vectors(np.asarray(vectors, dtype=np.float32))


class CrossEncoderReranker:
    """A `Reranker` on a cross-encoder by name or folder; raises MissingDependency, or ModelUnavailable."""

    def __init__(self, model: str) -> None:
        require("models", "A reranker")
        from sentence_transformers import CrossEncoder

        quiet()
        try:
            self._model = CrossEncoder(model, device="cpu")
        except Exception as error:  # see SentenceTransformerEmbedder
            raise ModelUnavailable(
                f"The reranker {model!r} could not be loaded: {type(error).__name__}.",
                remedy="Check the name or folder, or leave `reranker` empty.",
            ) from error
        self._lock = threading.Lock()

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score in [0, 1] per text: the logistic of the model's output."""
        import torch

        if not texts:
            return []
        with self._lock:
            raw = self._model.predict(
                [(question, text) for text in texts], activation_fn=torch.nn.Sigmoid(), show_progress_bar=False
            )
        scores = np.asarray(raw, dtype=np.float64).reshape(len(texts), -1)[:, 0]
        if not np.isfinite(scores).all():
            raise ModelUnavailable(
                "The reranker returned no numbers.", remedy="Use another one, or leave `reranker` empty."
            )
        return [float(score) for score in np.clip(scores, 0.0, 1.0)]


PREFIX = "openai:"  # begins the names of a server's models
