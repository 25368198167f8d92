"""A cross-encoder fine-tuned from all-MiniLM-L6-v2: what the support model is trained by.

Pairs of texts go in, one logit a pair comes out of the first token. Word embeddings stay as published, so that they
need not be stored again. Deterministic but for the order in which two threads add. On two cores of 2026 about 35 pairs
of 200 tokens a second, compiled.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import BertModel

from rag_core.adapters.embedding.by_name import precision_here
from rag_core.adapters.embedding.support import minilm_folder

BATCH = 32  # pairs a step; a usual number, not measured
HEAD_RATE = 5  # times the rate of the network, for layers that begin at random
FAST_BFLOAT16 = precision_here("auto") == "bfloat16"  # without it float32 is the quicker one
WARMUP = 0.06  # share of the steps over which the rate rises; a usual value, not measured


@dataclass(frozen=True, kw_only=True)
class Example:
    """Token ids and kinds of a pair, its label, where it comes from, and the split it is in: train or held."""

    ids: list[int]
    kinds: list[int]
    label: bool
    source: str
    split: str


E = TypeVar("E", bound=Example)


class Network(nn.Module):
    """The encoder with one logit on its first token, the layer named `head`; `start` is a file of layers to begin
    with.
    """

    def __init__(self, head: str, start: Path | None = None) -> None:
        super().__init__()
        self.bert = BertModel.from_pretrained(
            minilm_folder(), add_pooling_layer=False, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
        )
        self.bert.embeddings.requires_grad_(False)
        self.head, self.drop, self.answer = head, nn.Dropout(0.1), nn.Linear(384, 1)
        if start is not None:
            layers = load_file(start)
            self.bert.load_state_dict({name: layer.float() for name, layer in layers.items()}, strict=False)
            if f"{head}.weight" in layers:
                self.answer.load_state_dict({part: layers[f"{head}.{part}"].float() for part in ("weight", "bias")})
        self.encode = self.bert  # what `compiled` replaces

    def hidden(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """Hidden states of shape (batch, length, 384)."""
        states: Tensor = self.encode(input_ids=ids, token_type_ids=kinds, attention_mask=mask).last_hidden_state
        return states

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """Log odds of shape (batch,)."""
        with torch.autocast("cpu", torch.bfloat16, enabled=FAST_BFLOAT16):
            found: Tensor = self.answer(self.drop(self.hidden(ids, kinds, mask)[:, 0]))[:, 0].float()
        return found

    def heads(self) -> list[nn.Parameter]:
        """The layers that are trained beside the encoder."""
        return [*self.answer.parameters()]


def tokenizer(most: int) -> Tokenizer:
    """The tokenizer of the embedded model; only the second text is cut, at `most` tokens of both."""
    found = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    found.no_padding()
    found.enable_truncation(most, strategy="only_second")
    return found


def padded(batch: Sequence[Example], lengths: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, kinds and mask of shape (batch, length), the length one of `lengths`: each is compiled once."""
    length = next(n for n in lengths if n >= max(len(one.ids) for one in batch))
    ids, kinds, mask = (torch.zeros(len(batch), length, dtype=torch.long) for _ in range(3))
    for row, one in enumerate(batch):
        ids[row, : len(one.ids)], kinds[row, : len(one.ids)] = torch.tensor(one.ids), torch.tensor(one.kinds)
        mask[row, : len(one.ids)] = 1
    return ids, kinds, mask


def batches(train: Sequence[E]) -> Iterator[list[E]]:
    """Batches for ever, in a new order each time round; pairs of about one length share a batch."""
    while True:
        order = random.sample(range(len(train)), len(train))
        found = []
        for start in range(0, len(order), BATCH * 40):
            part = sorted(order[start : start + BATCH * 40], key=lambda i: len(train[i].ids))
            found += [part[at : at + BATCH] for at in range(0, len(part) - BATCH + 1, BATCH)]
        random.shuffle(found)
        yield from ([train[i] for i in one] for one in found)


def fit(
    network: Network,
    pairs: Sequence[E],
    lengths: Sequence[int],
    loss_of: Callable[[Sequence[E]], Tensor],
    *,
    epochs: float,
    rate: float,
    report: Callable[[], None],
    every: int = 400,
) -> None:
    """Fit in place; `report` is called every so many steps and at the end."""
    steps, started, total = int(len(pairs) / BATCH * epochs), time.monotonic(), 0.0
    groups = [
        {"params": network.bert.encoder.parameters(), "lr": rate},
        {"params": network.heads(), "lr": rate * HEAD_RATE},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / (WARMUP * steps)) * (1 - step / steps)
    )
    # compiling takes minutes for each length; it is worth them where the processor is quick
    encode = torch.compile(network.bert, dynamic=False) if FAST_BFLOAT16 else network.bert
    for step, batch in zip(range(1, steps + 1), batches(pairs), strict=False):
        object.__setattr__(network, "encode", encode)
        network.train()
        loss = loss_of(batch)
        loss.backward()  # type: ignore[no-untyped-call]  # torch gives it no types
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad(set_to_none=True)
        total += loss.item()
        if step % 50 == 0:
            say(
                f"step {step} of {steps}, loss {total / 50:.3f}, {step * BATCH / (time.monotonic() - started):.0f} "
                f"pairs/s"
            )
            total = 0.0
        if step % every == 0 or step == steps:
            report()


@torch.inference_mode()
def scores(network: Network, held: Sequence[Example], lengths: Sequence[int]) -> np.ndarray:
    """Log odds of each pair, shape (len(held),)."""
    network.eval()
    object.__setattr__(network, "encode", network.bert)
    order = sorted(range(len(held)), key=lambda i: len(held[i].ids))
    found = np.zeros(len(held))
    for start in range(0, len(order), BATCH):
        part = order[start : start + BATCH]
        found[part] = network(*padded([held[i] for i in part], lengths)).numpy()
    return found


def auroc_by_source(sources: Sequence[str], labels: Sequence[bool], scores: np.ndarray) -> dict[str, float]:
    """AUROC by source; one that ends in "/near" is its negatives against the supported pairs of the source it is named
    after.
    """
    label, source = np.array(labels), np.array(sources)
    found = {}
    for name in sorted(set(source)):
        of = (source == name) | (label & (source == name.removesuffix("/near")))
        if len(set(label[of])) == 2:
            found[str(name)] = round(float(roc_auc_score(label[of], scores[of])), 4)
    return found


def save(network: Network, path: Path) -> None:
    """The layers that were trained, in bfloat16, by the names that `rag_core/adapters/embedding/support.py` reads."""
    state = {
        name.removeprefix("bert."): weight for name, weight in network.state_dict().items() if name.startswith("bert.")
    }
    state = {name: weight for name, weight in state.items() if not name.startswith("embeddings.word")}
    state |= {f"{network.head}.{name}": weight for name, weight in network.answer.state_dict().items()}
    kept = {
        name: weight.to(torch.bfloat16).contiguous() for name, weight in state.items() if weight.is_floating_point()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(kept, path)


def say(text: str) -> None:
    """One line of progress on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
