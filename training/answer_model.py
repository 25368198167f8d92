"""Fine-tune the embedded MiniLM into the answerability model, and write data/models/answerability.safetensors.

    python -m training.answer_model ROWS.jsonl [--epochs 1.5] [--rate 1e-4] [--drop SOURCE,SOURCE] [--out FILE]

ROWS.jsonl comes from `training.answer_rows`. The network says from its first token whether the passage answers the question, and learns
beside it where the answer begins and ends, which the product does not use. Word embeddings stay as published, so that they need not be
stored again. Deterministic but for the order in which two threads add. On two cores of 2026 about 35 pairs a second, compiled.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from sklearn.metrics import roc_auc_score
from tokenizers import Encoding, Tokenizer
from torch import Tensor, nn
from transformers import BertModel

from rag_core.adapters.answer_model import FILE, MAX_TOKENS, WORDS
from rag_core.adapters.sentence_transformers import embedded_folder
from training.files import SEED, rows

BATCH = 32
LENGTHS = (96, 144, 192, 240, MAX_TOKENS)  # texts are padded to one of these: each is compiled once
SPAN = 0.5  # weight of the two span losses against that of the answer
HEAD_RATE = 5  # times the rate of the network, for layers that begin at random
WARMUP = 0.06
UNKNOWN = -100  # the span of an answer that does not stand in the passage as given


@dataclass(frozen=True)
class Example:
    """Token ids and kinds, the label, the answer's first and last token, and where the pair comes from."""

    ids: list[int]
    kinds: list[int]
    answerable: bool
    span: tuple[int, int]
    source: str
    split: str


class Network(nn.Module):
    """The encoder with a head for the answer and one for its place."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = BertModel.from_pretrained(
            embedded_folder(), add_pooling_layer=False, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
        )
        self.bert.embeddings.requires_grad_(False)
        self.drop, self.answerable, self.span = nn.Dropout(0.1), nn.Linear(384, 1), nn.Linear(384, 2)
        self.encode = self.bert  # what `compiled` replaces

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log odds of shape (batch,), and of each token to begin and to end the answer, shape (batch, length, 2)."""
        with torch.autocast("cpu", torch.bfloat16):
            hidden = self.encode(input_ids=ids, token_type_ids=kinds, attention_mask=mask).last_hidden_state
            answer, places = self.answerable(self.drop(hidden[:, 0])), self.span(hidden)
        allowed = mask.bool() & (kinds.bool() | (torch.arange(ids.shape[1]) == 0))  # the first token stands for "nowhere"
        return answer[:, 0].float(), places.float().masked_fill(~allowed[:, :, None], -1e4)


def examples(path: Path, dropped: Sequence[str]) -> list[Example]:
    """The pairs of a file as tokens; pairs to train on from the `dropped` sources are left out."""
    tokenizer = Tokenizer.from_file(str(embedded_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS, strategy="only_second")
    kept = [row for row in rows(path) if not (row["split"] == "train" and row["source"].split("/")[0] in dropped)]
    encoded = tokenizer.encode_batch([(row["question"], row["passage"]) for row in kept])
    return [
        Example(one.ids, one.type_ids, row["answerable"], _span(row, one), row["source"], row["split"])
        for row, one in zip(kept, encoded, strict=True)
    ]


def _span(row: dict[str, Any], encoded: Encoding) -> tuple[int, int]:
    if not row["answerable"]:
        return 0, 0
    text = row["passage"].lower()
    for answer in filter(None, row["answers"]):
        at = text.find(answer.lower())
        first, last = (encoded.char_to_token(place, 1) for place in (at, at + len(answer) - 1)) if at >= 0 else (None, None)
        if first is not None and last is not None:
            return first, last
    return UNKNOWN, UNKNOWN


def padded(batch: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, kinds and mask of shape (batch, length)."""
    length = next(n for n in LENGTHS if n >= max(len(one.ids) for one in batch))
    ids, kinds, mask = (torch.zeros(len(batch), length, dtype=torch.long) for _ in range(3))
    for row, one in enumerate(batch):
        ids[row, : len(one.ids)], kinds[row, : len(one.ids)] = torch.tensor(one.ids), torch.tensor(one.kinds)
        mask[row, : len(one.ids)] = 1
    return ids, kinds, mask


def batches(train: Sequence[Example]) -> Iterator[list[Example]]:
    """Batches for ever, in a new order each time round; pairs of about one length share a batch."""
    while True:
        order = random.sample(range(len(train)), len(train))
        found = []
        for start in range(0, len(order), BATCH * 40):
            part = sorted(order[start : start + BATCH * 40], key=lambda i: len(train[i].ids))
            found += [part[at : at + BATCH] for at in range(0, len(part) - BATCH + 1, BATCH)]
        random.shuffle(found)
        yield from ([train[i] for i in one] for one in found)


def loss_of(network: Network, batch: Sequence[Example]) -> Tensor:
    """Cross-entropy of the answer, and of its first and last token."""
    answer, places = network(*padded(batch))
    loss = nn.functional.binary_cross_entropy_with_logits(answer, torch.tensor([float(one.answerable) for one in batch]))
    wanted = torch.tensor([one.span for one in batch])
    if (wanted != UNKNOWN).any():
        loss = loss + SPAN / 2 * sum(nn.functional.cross_entropy(places[..., side], wanted[:, side]) for side in (0, 1))
    return loss


def train(network: Network, pairs: Sequence[Example], held: Sequence[Example], epochs: float, rate: float, keep: Path) -> None:
    """Fit in place; say how it goes, and keep what there is every 400 steps."""
    steps, started, total = int(len(pairs) / BATCH * epochs), time.monotonic(), 0.0
    heads = [*network.answerable.parameters(), *network.span.parameters()]
    groups = [{"params": network.bert.encoder.parameters(), "lr": rate}, {"params": heads, "lr": rate * HEAD_RATE}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / (WARMUP * steps)) * (1 - step / steps))
    compiled = torch.compile(network.bert, dynamic=False)
    for step, batch in zip(range(1, steps + 1), batches(pairs), strict=False):
        object.__setattr__(network, "encode", compiled)
        network.train()
        loss = loss_of(network, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad(set_to_none=True)
        total += loss.item()
        if step % 50 == 0:
            _say(f"step {step} of {steps}, loss {total / 50:.3f}, {step * BATCH / (time.monotonic() - started):.0f} pairs/s")
            total = 0.0
        if step % 400 == 0 or step == steps:
            _say(json.dumps(figures(network, held)))
            save(network, keep)


@torch.inference_mode()
def figures(network: Network, held: Sequence[Example]) -> dict[str, float]:
    """AUROC on what was held out, by source; a source ending in "/near" is its own negatives against its answerable pairs."""
    network.eval()
    object.__setattr__(network, "encode", network.bert)
    order = sorted(range(len(held)), key=lambda i: len(held[i].ids))
    scores = np.zeros(len(held))
    for start in range(0, len(order), BATCH):
        part = order[start : start + BATCH]
        scores[part] = network(*padded([held[i] for i in part]))[0].numpy()
    label, source = np.array([one.answerable for one in held]), np.array([one.source for one in held])
    found = {}
    for name in sorted(set(source)):
        of = (source == name) | (label & (source == name.removesuffix("/near")))
        if len(set(label[of])) == 2:
            found[str(name)] = round(float(roc_auc_score(label[of], scores[of])), 4)
    return found


def save(network: Network, path: Path) -> None:
    """The layers that were trained, in bfloat16, by the names that `adapters/bert.py` reads."""
    state = {name.removeprefix("bert."): weight for name, weight in network.state_dict().items() if not name.startswith(("span", "encode"))}
    state = {name: weight.to(torch.bfloat16).contiguous() for name, weight in state.items() if name != WORDS and "position_ids" not in name}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(state, path)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Read the arguments, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--epochs", type=float, default=1.5)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--drop", default="squad2-dev-sv", help="sources that are not trained on, parted by commas")
    parser.add_argument("--out", type=Path, default=FILE)
    given = parser.parse_args()
    random.seed(SEED)
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    found = examples(given.rows, given.drop.split(","))
    pairs = [one for one in found if one.split == "train"]
    held = [one for one in found if one.split == "held"]
    _say(f"{len(pairs)} pairs to train on, {len(held)} held out")
    train(Network(), pairs, held, given.epochs, given.rate, given.out)


if __name__ == "__main__":
    main()
