"""The forms in which entailment models read a text with a claim: their input, and the output that says that the text
supports the claim.

    one output       [CLS] text [SEP] claim [SEP]          its logit; a sentence-transformers cross-encoder
    named outputs    the same                              entailment against the others; a model for inference
    two, unnamed     [CLS] text [SEP] claim [SEP] by eos   the second; MiniCheck on RoBERTa and DeBERTa
    T5, generating   predict: text</s>claim</s>            "1" against "0" as its first word; MiniCheck on Flan-T5
    HHEM             <pad> its prompt</s>                  the second output at the first token; HHEM-2.1-Open

Code that comes with a model is never run: a folder is read by the classes of transformers, or not at all. No text can
write a model's special tokens: an evidence that holds "[SEP]" would else end where it likes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rag_core.adapters.embedding.by_name import quiet
from rag_core.adapters.optional import require
from rag_core.errors import ModelUnavailable

if TYPE_CHECKING:
    from torch import Tensor

MAX_TOKENS = 1024  # a pair, where the model itself has no limit; windows of evidence are far shorter
SUPPORTED = frozenset({"entailment", "entails", "supported", "supports", "consistent"})  # outputs by name, folded
HHEM = "HHEMv2"  # its model_type
_PARTS = ("{text1}", "{text2}")  # where the two texts stand in its prompt


class Tokens(NamedTuple):
    """A pair as token ids, and for each 0 or 1 for the first or the second text."""

    ids: list[int]
    kinds: list[int]


class PairForm:
    """A classifier whose tokenizer joins the two texts; the longer one is cut where they are too long together.

    `yes` is the output that says "supported"; the only one's value is a logit by itself.
    """

    def __init__(self, model: Any, tokenizer: Any, yes: int) -> None:
        self.pad = int(tokenizer.pad_token_id or 0)
        self._model, self._tokenizer, self._yes = model, tokenizer, yes
        self._limit = _limit(model.config, tokenizer)
        self._typed = "token_type_ids" in tokenizer.model_input_names

    def tokens(self, evidence: str, claim: str) -> Tokens:
        made = self._tokenizer(
            evidence,
            claim,
            truncation="longest_first",
            max_length=self._limit,
            split_special_tokens=True,
            return_special_tokens_mask=True,
            return_token_type_ids=True,
        )
        ids, inert = made["input_ids"], _inert(made["input_ids"], self._tokenizer)
        ours = made["special_tokens_mask"]  # put there by the tokenizer, not by a text
        return Tokens([ids[at] if ours[at] else inert[at] for at in range(len(ids))], made["token_type_ids"])

    def odds(self, ids: Tensor, mask: Tensor, kinds: Tensor) -> Tensor:
        """Log odds of shape (batch,), for ids, mask and kinds of shape (batch, length)."""
        typed = {"token_type_ids": kinds} if self._typed else {}
        return _log_odds(self._model(input_ids=ids, attention_mask=mask, **typed).logits, self._yes)


class JoinedForm:
    """A model that reads both texts as one, put together here; mostly only the first is cut.

    `start` and `between` are token ids before and between the texts, `lead`, `middle` and `after` words around them.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        start: Sequence[int] = (),
        lead: str = "",
        between: Sequence[int] = (),
        middle: str = "",
        after: str = "",
    ) -> None:
        self.pad = int(tokenizer.pad_token_id or 0)
        self._model, self._tokenizer = model, tokenizer
        self._start, self._between = list(start), list(between)
        self._lead, self._middle, self._after = lead, middle, after
        self._limit = _limit(model.config, tokenizer)

    def tokens(self, evidence: str, claim: str) -> Tokens:
        second = self._said(f"{self._middle}{claim}{self._after}")[: self._limit // 2]
        fixed = len(self._start) + len(self._between) + 1
        first = self._said(f"{self._lead}{evidence}")[: max(0, self._limit - fixed - len(second))]
        ids = [*self._start, *first, *self._between, *second, self._tokenizer.eos_token_id]
        return Tokens(ids, [0] * len(ids))

    def odds(self, ids: Tensor, mask: Tensor, kinds: Tensor) -> Tensor:
        """Log odds of shape (batch,), for ids and mask of shape (batch, length); `kinds` is not looked at."""
        return _log_odds(self._model(input_ids=ids, attention_mask=mask).logits, 1)

    def _said(self, text: str) -> list[int]:
        return _inert(
            self._tokenizer(text, add_special_tokens=False, split_special_tokens=True, verbose=False)["input_ids"],
            self._tokenizer,
        )


class FirstTokenForm(JoinedForm):
    """HHEM: a classifier of tokens, whose say on the first one counts."""

    def odds(self, ids: Tensor, mask: Tensor, kinds: Tensor) -> Tensor:
        return _log_odds(self._model(input_ids=ids, attention_mask=mask).logits[:, 0], 1)


class GeneratingForm(JoinedForm):
    """MiniCheck on T5: the model is asked for one word, which it learned to be "0" or "1"."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__(model, tokenizer, lead="predict: ", between=[tokenizer.eos_token_id])
        self._words = [self._said(word)[0] for word in ("0", "1")]
        if self._words[0] == self._words[1]:
            raise ModelUnavailable(
                'The verifier\'s tokenizer does not tell "0" from "1".', remedy="Fetch its files again."
            )

    def odds(self, ids: Tensor, mask: Tensor, kinds: Tensor) -> Tensor:
        first = ids.new_full((len(ids), 1), self._model.config.decoder_start_token_id)
        logits = self._model(input_ids=ids, attention_mask=mask, decoder_input_ids=first).logits
        return _log_odds(logits[:, 0, self._words], 1)


def load_form(folder: Path, precision: str, foundation: Any) -> PairForm | JoinedForm:
    """The model in a folder, in the form that its configuration tells; `foundation` finds another model's folder.

    Raises:
        MissingDependency: transformers is not installed.
        ModelUnavailable: it is no entailment model, or none that can be read without running code of its own.
        Exception: whatever the libraries raise on damaged files.
    """
    require("models", "A verifier by name")
    from transformers import AutoModelForSeq2SeqLM, AutoModelForSequenceClassification, AutoTokenizer
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    quiet()
    if not any(folder.glob("*.safetensors")):
        raise ModelUnavailable(
            "Its weights are not there as safetensors, and reading other formats may run code.",
            remedy="Fetch a version with safetensors.",
        )
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    kind = config.get("model_type", "")
    if kind == HHEM:
        return _hhem(folder, config, foundation(str(config["foundation"])), precision)
    if kind not in CONFIG_MAPPING:
        raise ModelUnavailable(
            f"The verifier's kind {kind!r} needs code that comes with the model, and such code is never run.",
            remedy="Choose a model that transformers reads by itself; docs/verifiers.md names some.",
        )
    made = str((config.get("architectures") or [""])[0])
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if kind == "t5" and made.endswith("ForConditionalGeneration"):
        return GeneratingForm(_model(AutoModelForSeq2SeqLM, folder, precision), tokenizer)
    if not made.endswith("ForSequenceClassification"):
        raise ModelUnavailable(
            f"A {made or kind} is no classifier of pairs of texts.",
            remedy="Choose a cross-encoder; docs/verifiers.md names some.",
        )
    return _classifier(_model(AutoModelForSequenceClassification, folder, precision), tokenizer)


def _classifier(model: Any, tokenizer: Any) -> PairForm | JoinedForm:
    names = [str(model.config.id2label[number]).casefold() for number in range(model.config.num_labels)]
    named = [number for number, name in enumerate(names) if name in SUPPORTED]
    if len(names) == 1 or len(named) == 1:
        return PairForm(model, tokenizer, named[0] if len(names) > 1 else 0)
    if names == ["label_0", "label_1"] and tokenizer.eos_token_id is not None:
        start = [] if tokenizer.cls_token_id is None else [tokenizer.cls_token_id]
        return JoinedForm(model, tokenizer, start=start, between=[tokenizer.eos_token_id])
    raise ModelUnavailable(
        f"None, or several, of the model's outputs say that a text supports a claim: {', '.join(names)[:200]}.",
        remedy="Choose a model with one output, or with one that is named entailment.",
    )


def _model(kind: Any, folder: Path, precision: str) -> Any:
    """The model, with every weight from its files: transformers would make up those that are missing."""
    import torch

    model, told = kind.from_pretrained(
        folder,
        dtype=getattr(torch, precision),
        local_files_only=True,
        trust_remote_code=False,
        use_safetensors=True,
        output_loading_info=True,
    )
    _require_all(told["missing_keys"])
    return model.eval()


def _hhem(folder: Path, config: dict[str, Any], foundation: Path, precision: str) -> FirstTokenForm:
    """HHEM-2.1-Open, whose classes only wrap T5's: its weights, and the tokenizer of its foundation."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, T5Config, T5ForTokenClassification

    tokenizer = AutoTokenizer.from_pretrained(foundation, local_files_only=True, trust_remote_code=False)
    # its head has two outputs and no name for them
    model = T5ForTokenClassification(T5Config.from_pretrained(foundation, local_files_only=True, num_labels=2))
    weights = {name.removeprefix("t5."): weight for name, weight in load_file(folder / "model.safetensors").items()}
    told = model.load_state_dict(weights, strict=False)
    _require_all(
        [*(name for name in told.missing_keys if not name.endswith("embed_tokens.weight")), *told.unexpected_keys]
    )
    model.tie_weights()
    lead, middle, after = _cut_up(str(config["prompt"]))
    start = [tokenizer.pad_token_id] if lead.startswith(tokenizer.pad_token) else []
    lead = lead.removeprefix(tokenizer.pad_token).lstrip()
    return FirstTokenForm(
        model.to(getattr(torch, precision)).eval(), tokenizer, start=start, lead=lead, middle=middle, after=after
    )


def _cut_up(prompt: str) -> tuple[str, str, str]:
    lead, found, rest = prompt.partition(_PARTS[0])
    middle, also, after = rest.partition(_PARTS[1])
    if not (found and also):
        raise ModelUnavailable("The verifier's prompt has no place for both texts.", remedy="Restore its config.json.")
    return lead, middle, after


def _require_all(missing: Sequence[str]) -> None:
    if missing:
        raise ModelUnavailable(
            f"The model's files do not hold all of its weights: {sorted(missing)[0]} is missing or unknown.",
            remedy="Choose a model that was trained as a classifier, or fetch its files again.",
        )


def _limit(config: Any, tokenizer: Any) -> int:
    """Tokens that a pair may have. Models of RoBERTa's kind count places from behind the padding token's number."""
    places = getattr(config, "max_position_embeddings", None) or MAX_TOKENS
    return int(min(tokenizer.model_max_length, places - (config.pad_token_id or 0) - 1, MAX_TOKENS))


def _inert(ids: Sequence[int], tokenizer: Any) -> list[int]:
    """Token ids of a text, without any that the tokenizer uses for itself: some know theirs as words, too."""
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    return [tokenizer.unk_token_id if one in special else one for one in ids]


def _log_odds(logits: Tensor, yes: int) -> Tensor:
    """The log odds of one output of shape (batch, n) against all the others; of a single one its value."""
    logits = logits.float()
    others = [number for number in range(logits.shape[1]) if number != yes]
    return logits[:, yes] - logits[:, others].logsumexp(dim=1) if others else logits[:, 0]
