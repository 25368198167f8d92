"""Fine-tune the embedded MiniLM into the support model, and write data/models/support.safetensors.

    python -m training.support_model ROWS.jsonl [--epochs 2] [--rate 1e-4] [--start FILE] [--out FILE]

ROWS.jsonl comes from `training.support_rows`. The network says from its first token whether the evidence supports the
claim. It begins as the answerability model, which has learned to hold two texts against each other.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from rag_core.adapters.embedding.support import SUPPORT_FILE, SUPPORT_TOKENS
from training.cross_encoder import Example, Network, auroc_by_source, fit, padded, save, say, scores, tokenizer
from training.files import SEED, rows

# tokens that batches are padded to: few shapes, little padding
LENGTHS = (
    32,
    48,
    64,
    96,
    144,
    208,
    256,
    SUPPORT_TOKENS,
)
OFTEN = {  # real answers and long texts are few; short premises and mutations are many
    "begin": 1.5,
    "faithdial": 1.5,
    "q2": 1.5,
    "fool-me-twice": 1.5,
    "fever-symmetric": 1.0,
    "summedits": 2.0,
    "wice": 2.0,
    "mnli": 0.35,
    "snli": 0.2,
    "fever-rte": 0.4,
    "scitail": 0.6,
    "mutations": 0.17,
    "qa/": 0.45,
}


def examples(path: Path) -> list[Example]:
    """The pairs of a file as tokens, claim first."""
    found = rows(path)
    encoded = tokenizer(SUPPORT_TOKENS).encode_batch([(row["claim"][:2000], row["evidence"]) for row in found])
    return [
        Example(ids=one.ids, kinds=one.type_ids, label=row["supported"], source=row["source"], split=row["split"])
        for row, one in zip(found, encoded, strict=True)
    ]


def weighted(pairs: list[Example]) -> list[Example]:
    """Each pair as often as `OFTEN` says for its source."""
    found = []
    for pair in pairs:
        times = next((times for name, times in OFTEN.items() if pair.source.startswith(name)), 1.0)
        found += [pair] * (int(times) + (random.random() < times % 1))
    return found


def main() -> None:
    """Read the arguments, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--epochs", type=float, default=2.0)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--start", type=Path, help="layers to begin with; the published ones without it")
    parser.add_argument("--out", type=Path, default=SUPPORT_FILE)
    given = parser.parse_args()
    random.seed(SEED)
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    found = examples(given.rows)
    pairs, held = (
        weighted([one for one in found if one.split == "train"]),
        [one for one in found if one.split == "held"],
    )
    random.shuffle(held)
    held = held[:2000]
    say(f"{len(pairs)} pairs to train on, {len(held)} held out")
    network = Network("support", given.start)

    def loss(batch: Sequence[Example]) -> torch.Tensor:
        wanted = torch.tensor([float(one.label) for one in batch])
        return nn.functional.binary_cross_entropy_with_logits(network(*padded(batch, LENGTHS)), wanted)

    def report() -> None:
        found = auroc_by_source(
            [one.source for one in held], [one.label for one in held], scores(network, held, LENGTHS)
        )
        say(json.dumps(found))
        save(network, given.out)

    fit(network, pairs, LENGTHS, loss, epochs=given.epochs, rate=given.rate, report=report)


if __name__ == "__main__":
    main()
