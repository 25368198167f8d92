"""Entailment models by name: the embedded one, or a larger one of transformers whose files are on this machine.

A named one is a cross-encoder: it reads a text and a claim as a pair, and has one output, whose value is a logit, or
one of several that is named entailment. Nothing is downloaded, and no code that comes with a model is run
(docs/verifiers.md). No text can write a model's special tokens: an evidence that holds "[SEP]" would else end where it
likes.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rag_core.adapters.embedding.by_name import precision_here, quiet
from rag_core.adapters.embedding.reader import MAX_LOGIT
from rag_core.adapters.embedding.support import SupportModel
from rag_core.adapters.optional import require
from rag_core.domain.ports import EntailmentModel
from rag_core.errors import InvalidSetting, MissingDependency, ModelUnavailable

if TYPE_CHECKING:
    from torch import Tensor

EMBEDDED, NONE = "embedded", "none"  # what the setting may say besides a folder or a name
BATCH = 8  # pairs a forward pass; those of about one length share one, since the shorter ones are padded
MAX_TOKENS = 1024  # a pair, where the model itself has no limit; windows of evidence are far shorter
SUPPORTED = frozenset({"entailment", "entails", "supported", "supports", "consistent"})  # outputs by name, folded
_CODE = re.compile(r"[a-z]{2,3}")  # ISO 639
_HUB_NAME = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)?")


def load_entailment_model(model: str, precision: str = "auto", languages: str = "") -> EntailmentModel:
    """The embedded entailment model, or another by folder or name.

    Args:
        model: "embedded", a folder, or a name at the Hugging Face hub whose files were fetched before.
        precision: float32, bfloat16 or auto (bfloat16 where the processor has it).
        languages: codes that a named model reads, separated by commas.

    Raises:
        ModelUnavailable: it cannot be loaded.
    """
    return SupportModel(precision) if model == EMBEDDED else NamedEntailment(model, precision, languages)


class Tokens(NamedTuple):
    """A pair as token ids, and for each 0 or 1 for the first or the second text."""

    ids: list[int]
    kinds: list[int]


class NamedEntailment:
    """An `EntailmentModel` on a cross-encoder; see `load_entailment_model`. Threads may share it: passes are queued."""

    def __init__(self, model: str, precision: str = "auto", languages: str = "") -> None:
        self.version, self.languages = f"{model}@{precision_here(precision)}", declared_languages(languages)
        folder = model_folder(model)
        try:
            self._model, self._tokenizer, self._yes = _loaded(folder, precision_here(precision))
        except (MissingDependency, ModelUnavailable) as error:
            raise ModelUnavailable(
                f"The verifier {model!r} cannot be used. {error.problem}", remedy=error.remedy
            ) from error
        except Exception as error:  # the libraries raise many kinds; each is the same to the user
            raise ModelUnavailable(
                f"The verifier {model!r} could not be loaded: {type(error).__name__}.",
                remedy="Fetch its files again, or set `verifier` to embedded or none.",
            ) from error
        self._pad = int(self._tokenizer.pad_token_id or 0)
        self._limit = _limit(self._model.config, self._tokenizer)
        self._typed = "token_type_ids" in self._tokenizer.model_input_names
        self._lock = threading.Lock()

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        import torch

        read = [self.tokens(evidence, claim) for evidence, claim in pairs]
        found = torch.zeros(len(pairs))
        order = sorted(range(len(pairs)), key=lambda at: -len(read[at].ids))
        with self._lock, torch.inference_mode():
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                found[rows] = self._odds([read[row] for row in rows]).clamp(-MAX_LOGIT, MAX_LOGIT)
        if not bool(torch.isfinite(found).all()):
            raise ModelUnavailable(
                "The verifier returned something that is not a number.",
                remedy="Choose another one, or another precision.",
            )
        return [float(one) for one in found]

    def tokens(self, evidence: str, claim: str) -> Tokens:
        """Both texts joined; the longer one is cut where they are too long together."""
        made = self._tokenizer(
            evidence,
            claim,
            truncation="longest_first",
            max_length=self._limit,
            split_special_tokens=True,
            return_special_tokens_mask=True,
            return_token_type_ids=True,
        )
        # some tokenizers know their special tokens as words, too
        special, unknown = set(self._tokenizer.all_special_ids), self._tokenizer.unk_token_id
        ours = made["special_tokens_mask"]  # put there by the tokenizer, not by a text
        ids = [unknown if one in special and not ours[at] else one for at, one in enumerate(made["input_ids"])]
        return Tokens(ids, made["token_type_ids"])

    def _odds(self, read: Sequence[Tokens]) -> Tensor:
        """The log odds of the output that says "supported" against all others; of a single one its value."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        ids = pad_sequence([torch.tensor(one.ids) for one in read], batch_first=True, padding_value=self._pad)
        mask = pad_sequence([torch.ones(len(one.ids), dtype=torch.long) for one in read], batch_first=True)
        kinds = pad_sequence([torch.tensor(one.kinds) for one in read], batch_first=True)
        typed = {"token_type_ids": kinds} if self._typed else {}
        logits = self._model(input_ids=ids, attention_mask=mask, **typed).logits.float()
        others = [number for number in range(logits.shape[1]) if number != self._yes]
        yes: Tensor = logits[:, self._yes]
        return yes - logits[:, others].logsumexp(dim=1) if others else yes


class EntailmentOnDemand:
    """An `EntailmentModel` that is loaded when it is first asked, again where that failed."""

    def __init__(self, load: Callable[[], EntailmentModel], version: str, languages: frozenset[str]) -> None:
        self.version, self.languages, self._load = version, languages, load
        self._model: EntailmentModel | None = None
        self._lock = threading.Lock()

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        if not pairs:
            return []
        with self._lock:
            if self._model is None:
                self._model = self._load()
        return self._model.supports(pairs)


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


def _loaded(folder: Path, precision: str) -> tuple[Any, Any, int]:
    """The model in a folder with its tokenizer, and the number of the output that says "supported".

    Raises:
        MissingDependency: transformers is not installed.
        ModelUnavailable: it is no entailment model, or none that can be read without running code of its own.
        Exception: whatever the libraries raise on damaged files.
    """
    require("models", "A verifier by name")
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    quiet()
    if not any(folder.glob("*.safetensors")):
        raise ModelUnavailable(
            "Its weights are not there as safetensors, and reading other formats may run code.",
            remedy="Fetch a version with safetensors.",
        )
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    kind, made = config.get("model_type", ""), str((config.get("architectures") or [""])[0])
    if kind not in CONFIG_MAPPING:
        raise ModelUnavailable(
            f"The verifier's kind {kind!r} needs code that comes with the model, and such code is never run.",
            remedy="Choose a model that transformers reads by itself.",
        )
    if not made.endswith("ForSequenceClassification"):
        raise ModelUnavailable(
            f"A {made or kind} is no classifier of pairs of texts.",
            remedy="Choose a cross-encoder (docs/verifiers.md).",
        )
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    model, told = AutoModelForSequenceClassification.from_pretrained(
        folder,
        dtype=getattr(torch, precision),
        local_files_only=True,
        trust_remote_code=False,
        use_safetensors=True,
        output_loading_info=True,
    )
    if missing := told["missing_keys"]:  # transformers has made them up
        raise ModelUnavailable(
            f"The model's files do not hold all of its weights: {sorted(missing)[0]} is missing.",
            remedy="Choose a model that was trained as a classifier, or fetch its files again.",
        )
    return model.eval(), tokenizer, _output(model.config)


def _output(config: Any) -> int:
    names = [str(config.id2label[number]).casefold() for number in range(config.num_labels)]
    named = [number for number, name in enumerate(names) if name in SUPPORTED]
    if len(names) > 1 and len(named) != 1:
        raise ModelUnavailable(
            f"None, or several, of the model's outputs say that a text supports a claim: {', '.join(names)[:200]}.",
            remedy="Choose a model with one output, or with one that is named entailment.",
        )
    return named[0] if len(names) > 1 else 0


def _limit(config: Any, tokenizer: Any) -> int:
    """Tokens that a pair may have. Models of RoBERTa's kind count places from behind the padding token's number."""
    places = getattr(config, "max_position_embeddings", None) or MAX_TOKENS
    return int(min(tokenizer.model_max_length, places - (config.pad_token_id or 0) - 1, MAX_TOKENS))
