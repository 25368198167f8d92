"""Embedding by a server that speaks the OpenAI protocol: `openai:text-embedding-3-large` as the embedding model.

Every text of a document leaves the machine for it, so it is never a default. The server is the one of OPENAI_BASE_URL
and OPENAI_API_KEY.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

import httpx2
import numpy as np
import openai

from rag_core.adapters.embedding.by_name import PREFIX, unit_vectors
from rag_core.domain.ports import Embedder, TextKind, Vectors
from rag_core.errors import ModelUnavailable
from rag_core.settings.endpoints import endpoints, model_environment

BATCH = 100  # texts a request
MAX_TOKENS = 8191  # as published for the text-embedding-3 models
SECONDS = httpx2.Timeout(60.0, connect=5.0)  # for a batch of a hundred texts, and to connect; chosen
_BLANK = "."  # servers refuse an empty text


class OpenAIEmbedder:
    """An `Embedder` on a server, by `openai:` and the model's name. The SDK tries twice more where the server is busy.

    `counter` estimates the tokens, since the servers' tokenizers are not at hand: a passage (512) is far from their
    limit (8,191).

    Raises:
        ModelUnavailable: no server is configured.
        InvalidSetting: what is configured cannot be used.
    """

    def __init__(self, model: str, counter: Embedder) -> None:
        self.name, self.max_tokens, self.tokenizer = f"{model}@float32", MAX_TOKENS, counter.tokenizer
        self.count_tokens, self._model = counter.count_tokens, model.removeprefix(PREFIX)
        servers = endpoints(model_environment(os.environ))
        if not servers or not self._model:
            raise ModelUnavailable(
                f"The embedding model {model!r} needs a server and its key.",
                remedy="Set OPENAI_API_KEY, and OPENAI_BASE_URL for a server of your own, or use "
                "the embedded model multilingual-e5-small.",
            )
        http = httpx2.Client(timeout=SECONDS, follow_redirects=False)  # a key goes to no other place
        self._client = openai.OpenAI(
            api_key=servers[0].key or "none", base_url=servers[0].base_url, http_client=http, max_retries=2
        )

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """Unit vectors of shape (len(texts), dim), float32; raises ModelUnavailable where the server gives others."""
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        return unit_vectors(np.concatenate([self._batch(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]))

    @cached_property
    def _dimension(self) -> int:
        return int(self._batch([_BLANK]).shape[1])

    def _batch(self, texts: Sequence[str]) -> Vectors:
        try:
            reply = self._client.embeddings.create(
                model=self._model, input=[text or _BLANK for text in texts], encoding_format="float"
            )
            rows = sorted(reply.data, key=lambda row: row.index)
            vectors = np.array([row.embedding for row in rows], dtype=np.float32)
        except openai.APIStatusError as error:
            raise self._unavailable(f"the server answered {error.status_code}") from None
        except openai.OpenAIError as error:  # not the server's words: they may repeat the text or the key
            raise self._unavailable(type(error).__name__) from None
        except (TypeError, ValueError, AttributeError):
            raise self._unavailable("its answer is no list of vectors") from None
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            raise self._unavailable(f"{len(texts)} texts came back as {len(vectors)} vectors")
        return vectors

    def _unavailable(self, why: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"The embedding model {self._model!r} cannot be used: {why}.",
            remedy="Check OPENAI_BASE_URL, OPENAI_API_KEY and the model's name, or use the "
            "embedded model multilingual-e5-small.",
        )
