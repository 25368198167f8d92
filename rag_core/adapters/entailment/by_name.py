"""Entailment models by name: the embedded one, or a larger one of transformers whose files are on this machine.

Nothing is downloaded, and no code that comes with a model is run. What a model may be is said in `verifier_forms` and
docs/verifiers.md.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from rag_core.adapters.embedding.by_name import precision_here
from rag_core.adapters.embedding.reader import MAX_LOGIT
from rag_core.adapters.embedding.support import SupportModel
from rag_core.adapters.entailment.forms import load_form
from rag_core.domain.ports import EntailmentModel
from rag_core.errors import InvalidSetting, MissingDependency, ModelUnavailable

EMBEDDED, NONE = "embedded", "none"  # what the setting may say besides a folder or a name
BATCH = 8  # pairs a forward pass; those of about one length share one, since the shorter ones are padded
_CODE = re.compile(r"[a-z]{2,3}")  # ISO 639
_HUB_NAME = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)?")
_FRONT_MATTER = re.compile(r"---\s*\n(.*?)\n---", re.DOTALL)


def load_entailment_model(model: str, precision: str = "auto", languages: str = "") -> EntailmentModel:
    """The embedded entailment model, or another by folder or name.

    Args:
        model: "embedded", a folder, or a name at the Hugging Face hub whose files were fetched before.
        precision: float32, bfloat16 or auto (bfloat16 where the processor has it).
        languages: codes that a named model reads, separated by commas; empty takes those of its model card.

    Raises:
        ModelUnavailable: it cannot be loaded.
    """
    return SupportModel(precision) if model == EMBEDDED else NamedEntailment(model, precision, languages)


class NamedEntailment:
    """A `EntailmentModel` on a model of transformers; see `load_entailment_model`. Threads may share it: passes are
    queued.

    A card that names no language, or "multilingual" alone, leaves it none: then claims are checked by facts and overlap
    only, and the verdict says so.
    """

    def __init__(self, model: str, precision: str = "auto", languages: str = "") -> None:
        declared = declared_languages(languages)
        folder = model_folder(model)
        self.version = f"{model}@{precision_here(precision)}"
        self.languages = declared or card_languages(folder)
        try:
            self._form = load_form(folder, precision_here(precision), model_folder)
        except (MissingDependency, ModelUnavailable) as error:
            raise ModelUnavailable(
                f"The verifier {model!r} cannot be used. {error.problem}", remedy=error.remedy
            ) from error
        except Exception as error:  # the libraries raise many kinds; each is the same to the user
            raise ModelUnavailable(
                f"The verifier {model!r} could not be loaded: {type(error).__name__}.",
                remedy="Fetch its files again, or set `verifier` to embedded or none.",
            ) from error
        self._lock = threading.Lock()

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        import torch

        read = [self._form.tokens(evidence, claim) for evidence, claim in pairs]
        found = torch.zeros(len(pairs))
        order = sorted(range(len(pairs)), key=lambda at: -len(read[at].ids))
        with self._lock, torch.inference_mode():
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                longest = len(read[rows[0]].ids)
                ids = torch.tensor([read[row].ids + [self._form.pad] * (longest - len(read[row].ids)) for row in rows])
                kinds = torch.tensor([read[row].kinds + [0] * (longest - len(read[row].kinds)) for row in rows])
                mask = torch.tensor([[1] * len(read[row].ids) + [0] * (longest - len(read[row].ids)) for row in rows])
                found[rows] = self._form.odds(ids, mask, kinds).clamp(-MAX_LOGIT, MAX_LOGIT)
        if not bool(torch.isfinite(found).all()):
            raise ModelUnavailable(
                "The verifier returned something that is not a number.",
                remedy="Choose another one, or another precision.",
            )
        return [float(one) for one in found]


class EntailmentOnDemand:
    """A `EntailmentModel` that is loaded when it is first needed, again where that failed.

    `version` and `languages` are given where they are known beforehand; else asking for them loads the model.
    """

    def __init__(
        self, load: Callable[[], EntailmentModel], version: str = "", languages: frozenset[str] | None = None
    ) -> None:
        self._load, self._version, self._languages = load, version, languages
        self._model: EntailmentModel | None = None
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        return self._version or self._loaded().version

    @property
    def languages(self) -> frozenset[str]:
        return self._loaded().languages if self._languages is None else self._languages

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return self._loaded().supports(pairs) if pairs else []

    def _loaded(self) -> EntailmentModel:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model


def model_folder(model: str) -> Path:
    """Where a model's files are: the folder itself, or what was fetched from the hub under this name."""
    if Path(model).is_dir():
        return Path(model)
    if not _HUB_NAME.fullmatch(model):
        raise ModelUnavailable(
            f"The verifier {model!r} is neither a folder nor a model's name.",
            remedy="Set `verifier` to embedded, none, a folder or a name.",
        )
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(model, local_files_only=True))
    except Exception as error:  # the library raises many kinds; each is the same to the user
        raise ModelUnavailable(
            f"The model {model!r} is not on this machine, and nothing is downloaded for you.",
            remedy=f"Fetch it once with `hf download {model}` where there is a network, or set "
            f"`verifier` to embedded, none or a folder.",
        ) from error


def declared_languages(text: str) -> frozenset[str]:
    """The codes in a list such as "en, cs"; none in an empty one."""
    codes = [code.strip() for code in text.split(",") if code.strip()]
    if wrong := [code for code in codes if not _CODE.fullmatch(code)]:
        raise InvalidSetting(
            f"{wrong[0]!r} is not the code of a language.", remedy="Write verifier_languages like this: en, cs."
        )
    return frozenset(codes)


def card_languages(folder: Path) -> frozenset[str]:
    """The languages that a model's card names by code; none where there is no card, or it names none."""
    try:
        found = _FRONT_MATTER.match((folder / "README.md").read_text(encoding="utf-8"))
        # texts only: Norwegian, "no", is no False
        front = yaml.load(found[1], Loader=yaml.BaseLoader) if found else None
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return frozenset()
    named = front.get("language", []) if isinstance(front, dict) else []
    codes = {str(one).casefold().partition("-")[0] for one in ([named] if isinstance(named, str) else named)}
    return frozenset(code for code in codes if _CODE.fullmatch(code))
