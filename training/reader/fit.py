"""Train the reader from multilingual-e5-small, and write data/models/reader.safetensors.

    python -m training.reader.fit FILE.jsonl … [--bench FOLDER] [--undoing FILE.json] [--seconds 4600] [--rate 1.5e-4]
    [--start FILE]

The files hold rows as `training.reader.rows` reads them. The lowest layers and the vocabulary stay as they are
published. Beside each sentence the network learns to judge the whole place, and to point at the value's first and last
token. What is written is the mean of the last weights. Each core works on a batch of its own, in one thread: three
times as fast here as one batch on both. Products are in bfloat16 where the processor has it: with attention written
out, 19 windows a second and core on one that does, 6.9 in float32.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from rag_core.adapters.embedding.by_name import precision_here
from rag_core.adapters.embedding.e5_file import DIM, HEADS, LAYERS, e5_file
from rag_core.adapters.embedding.reader import MODEL_FILE, SHARED_LAYERS
from training.answer_rows import labelled
from training.files import SEED, rows
from training.reader.draws import Draws, Window
from training.reader.rows import Rows

# weights of the place, of the sentences among each other, and of the value, beside each sentence; chosen
WHOLE, AMONG, VALUE = (
    0.4,
    0.5,
    0.35,
)
WARMUP, DECAY, BETAS, HEAD_RATE = 0.04, 0.01, (0.9, 0.98), 4  # as is usual for such networks
TOKENS = 1400  # in a batch of one core
KEPT = 0.995  # share of the mean of the weights that each step leaves
EVERY, HELD = 50, 800  # steps between two lines of progress; held-out questions that are read at the end
NOWHERE = -1e4  # log odds of what cannot be


class Reader(nn.Module):
    """The network with its heads, by the names that `rag_core.adapters.embedding.reader` reads."""

    def __init__(self, start: Path | None = None) -> None:
        super().__init__()
        file = e5_file()
        pieces = file.tensor("emb.word").size // DIM
        config = BertConfig(
            vocab_size=pieces,
            hidden_size=DIM,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            intermediate_size=4 * DIM,
            max_position_embeddings=512,
            layer_norm_eps=1e-12,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        config._attn_implementation = "eager"  # torch's own kernel takes three times as long in bfloat16
        self.bert = BertModel(config, add_pooling_layer=False)
        self.halved = precision_here("auto") == "bfloat16"
        published = {name: torch.from_numpy(weight) for name, weight in file.layers()}
        words = torch.from_numpy(file.words(range(pieces)))
        self.bert.load_state_dict({**published, "embeddings.word_embeddings.weight": words}, strict=False)
        self.unit, self.whole, self.span = nn.Linear(DIM, 2), nn.Linear(DIM, 1), nn.Linear(DIM, 2)
        for head in (self.unit, self.whole, self.span):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)
        if start is not None:
            layers = load_file(start)
            named = {
                name if name.split(".")[0] in ("unit", "whole", "span") else f"bert.{name}": one.float()
                for name, one in layers.items()
            }
            self.load_state_dict(named, strict=False)
        self.bert.embeddings.requires_grad_(False)
        for layer in self.bert.encoder.layer[:SHARED_LAYERS]:
            layer.requires_grad_(False)

    def forward(self, batch: Sequence[Window]) -> tuple[Tensor, Tensor, Tensor]:
        """Log odds of each unit of all windows, of each window, and of each token to begin and end a value, (windows,
        tokens, 2).
        """
        width = max(len(one.ids) for one in batch)
        ids, kinds, mask = (torch.zeros(len(batch), width, dtype=torch.long) for _ in range(3))
        for row, one in enumerate(batch):
            ids[row, : len(one.ids)], mask[row, : len(one.ids)] = torch.tensor(one.ids), 1
            kinds[row, one.text_at : len(one.ids)] = 1
        with torch.autocast("cpu", torch.bfloat16, enabled=self.halved):
            hidden = self.bert(input_ids=ids, token_type_ids=kinds, attention_mask=mask).last_hidden_state.float()
        signs, points = self.unit(hidden), self.span(hidden)
        odds = [
            signs[row, start:end, 0].mean() + signs[row, start:end, 1].logsumexp(0) - math.log(end - start)
            for row, one in enumerate(batch)
            for start, end in one.units
        ]
        within = (kinds * mask).bool()
        within[:, 0] = True  # stands for "there is none"
        return torch.stack(odds), self.whole(hidden[:, 0])[:, 0], points.masked_fill(~within[..., None], NOWHERE)


def loss_of(network: Reader, batch: Sequence[Window]) -> Tensor:
    """The summed loss of a batch."""
    odds, whole, points = network(batch)
    entropy = nn.functional.binary_cross_entropy_with_logits
    answers = torch.tensor([float(any(one.answers)) for one in batch])
    total, at = WHOLE * entropy(whole, answers, reduction="sum"), 0
    for one in batch:
        own, label = odds[at : at + len(one.units)], torch.tensor([float(yes) for yes in one.answers])
        at += len(one.units)
        among = torch.cat([torch.zeros(1), own]).log_softmax(0)  # the first stands for "none of them"
        wanted = torch.cat([1 - label.max().reshape(1), label])
        total = total + entropy(own, label) - AMONG * (wanted / wanted.sum() * among).sum()
    value = torch.tensor([one.value for one in batch])
    whole_ones = value[:, 0] >= 0
    if whole_ones.any():
        pointed = [nn.functional.cross_entropy(points[whole_ones, :, side], value[whole_ones, side]) for side in (0, 1)]
        total = total + VALUE * len(batch) * (pointed[0] + pointed[1]) / 2
    return total


def fit(network: Reader, draws: Draws, weights: Sequence[float], seconds: float, rate: float) -> None:
    """Fit in place for so long; at the end the network holds the mean of its last weights."""
    network.eval()
    moved = [one for one in network.parameters() if one.requires_grad]
    heads = {id(one) for head in (network.unit, network.whole, network.span) for one in head.parameters()}
    groups = [
        {"params": [one for one in moved if id(one) not in heads and one.ndim > 1], "weight_decay": DECAY, "times": 1},
        {"params": [one for one in moved if id(one) not in heads and one.ndim <= 1], "weight_decay": 0.0, "times": 1},
        {"params": [one for one in moved if id(one) in heads], "weight_decay": 0.0, "times": HEAD_RATE},
    ]
    optimiser, mean = torch.optim.AdamW(groups, lr=rate, betas=BETAS), [one.detach().clone() for one in moved]
    cores = os.cpu_count() or 1
    torch.set_num_threads(1)
    batches, started, step, total, read = draws.batches(TOKENS, weights), time.monotonic(), 0, 0.0, 0

    def gradients(batch: Sequence[Window]) -> tuple[float, Sequence[Tensor | None], int]:
        loss = loss_of(network, batch)
        return loss.item(), torch.autograd.grad(loss, moved, allow_unused=True), len(batch)

    with ThreadPoolExecutor(cores, initializer=lambda: torch.set_num_threads(1)) as pool:
        while (done := (time.monotonic() - started) / seconds) < 1:
            found, step = list(pool.map(gradients, [next(batches) for _ in range(cores)])), step + 1
            count = sum(n for *_, n in found)
            for number, one in enumerate(moved):
                parts = [part for _, grads, _ in found if (part := grads[number]) is not None]
                one.grad = torch.stack(parts).sum(0) / count if parts else None
            nn.utils.clip_grad_norm_(moved, 1.0)
            for group in optimiser.param_groups:
                group["lr"] = rate * group["times"] * min(1.0, done / WARMUP + step / 400) * (1 - done)
            optimiser.step()
            kept = min(KEPT, step / (step + 10))
            for average, now in zip(mean, moved, strict=True):
                average.mul_(kept).add_(now.detach(), alpha=1 - kept)
            total, read = total + sum(loss for loss, *_ in found), read + count
            if step % EVERY == 0:
                sys.stderr.write(f"step {step}, loss {total / read:.3f}, {read} questions, {done:.0%} of the time\n")
                total, read = 0.0, 0
    for average, now in zip(mean, moved, strict=True):
        now.data.copy_(average)


@torch.inference_mode()
def report(network: Reader, draws: Draws) -> str:
    """Of held-out questions: how often the likest sentence answers, and how often both ends of the value are met."""
    asked = draws.draw.sample(draws.rows.held, min(HELD, len(draws.rows.held)))
    first, ends = [], []
    for window in (draws.window(one, plain=True) for one in asked):
        if any(window.answers):
            odds, _, points = network([window])
            first.append(window.answers[int(odds.argmax())])
            ends.append(tuple((points[0, 1:].argmax(0) + 1).tolist()) == window.value)
    return (
        f"{len(first)} held-out questions: likest sentence "
        f"{sum(first) / len(first):.3f}, value {sum(ends) / len(ends):.3f}"
    )


def save(network: Reader, path: Path) -> None:
    """The layers that were trained, in bfloat16."""
    shared = ("bert.embeddings.", *(f"bert.encoder.layer.{number}." for number in range(SHARED_LAYERS)))
    kept = {
        name.removeprefix("bert."): one.to(torch.bfloat16).contiguous()
        for name, one in network.state_dict().items()
        if not name.startswith(shared)
    }
    save_file(kept, path)


def main() -> None:
    """Read the arguments, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument(
        "--bench", type=Path, help="the folder of answerability.jsonl; passages that scores are fitted on are left out"
    )
    parser.add_argument("--undoing", type=Path, help="JSON: wordings that take back, by language")
    parser.add_argument(
        "--often",
        type=Path,
        help="JSON: how often questions of a source, or of a language (lang:xx), are drawn; 1 where unnamed",
    )
    parser.add_argument("--seconds", type=float, default=4600)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--start", type=Path, help="layers to begin with; the published ones without it")
    parser.add_argument("--out", type=Path, default=MODEL_FILE)
    given = parser.parse_args()
    torch.manual_seed(SEED)
    found = Rows()
    for path in given.files:
        found.add(rows(path))
    if given.bench:
        found.add(
            {
                "question": one.question,
                "context": one.passage,
                "answers": list(one.answers),
                "answerable": one.answerable,
                "lang": one.language,
                "source": one.source,
            }
            for one in labelled(given.bench)
            if one.split == "train"
        )
    often = json.loads(given.often.read_text(encoding="utf-8")) if given.often else {}
    undoing = json.loads(given.undoing.read_text(encoding="utf-8")) if given.undoing else {}
    draws, network = Draws(found, e5_file(), undoing, random.Random(SEED)), Reader(given.start)
    sys.stderr.write(f"{len(found.train)} questions to train on, {len(found.held)} held out\n")
    weights = found.weights(
        often, {name.removeprefix("lang:"): times for name, times in often.items() if name.startswith("lang:")}
    )
    fit(network, draws, weights, given.seconds, given.rate)
    save(network, given.out)
    sys.stderr.write(report(network, draws) + "\n")


if __name__ == "__main__":
    main()
