"""Fine-tune the embedded MiniLM into the answerability model, and write data/models/answerability.safetensors.

    python -m training.answer_model PAIRS.jsonl [--epochs 1] [--rate 1e-4] [--start FILE] [--out FILE] [--minutes N]

PAIRS.jsonl comes from `training.answer_pairs`. The network says from its first token whether the sentence or the passage answers the
question.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from rag_core.adapters.embedding.pair_models import ANSWERABILITY_FILE, ANSWERABILITY_TOKENS
from training.cross_encoder import Example, Network, auroc_by_source, fit, padded, save, say, scores, tokenizer
from training.files import SEED, rows

LENGTHS = (32, 40, 48, 56, 64, 72, 80, 96, 128, 192, 240, ANSWERABILITY_TOKENS)  # tokens that batches are padded to
MIN_TOKENS = 12  # tokens of a text; a pair whose question leaves less is left out
HELD = 1500  # held-out pairs that each report reads


def examples(path: Path, tokens: int) -> list[Example]:
    """The pairs of a file as tokens, each cut at so many, the question never."""
    found = rows(path)
    encoded = tokenizer(ANSWERABILITY_TOKENS).encode_batch([(row["question"], row["text"]) for row in found])
    return [
        Example(
            ids=_cut(one.ids, tokens), kinds=_cut(one.type_ids, tokens), label=row["answers"], split=row["split"],
            source=f"{row['source']} {row['language']} {row['kind']}",
        )
        for row, one in zip(found, encoded, strict=True)
        if sum(one.type_ids[:tokens]) > MIN_TOKENS
    ]  # fmt: skip


def _cut(ids: list[int], tokens: int) -> list[int]:
    """The first ones and the last, which ends a pair."""
    return ids if len(ids) <= tokens else [*ids[: tokens - 1], ids[-1]]


def loss_of(network: Network, batch: Sequence[Example]) -> Tensor:
    """Cross-entropy of the answer."""
    return nn.functional.binary_cross_entropy_with_logits(
        network(*padded(batch, LENGTHS)), torch.tensor([float(one.label) for one in batch])
    )


def main() -> None:
    """Read the arguments, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--start", type=Path, help="layers to begin with; the published ones without it")
    parser.add_argument("--tokens", type=int, default=ANSWERABILITY_TOKENS, help="of a pair; what is longer is cut")
    parser.add_argument("--out", type=Path, default=ANSWERABILITY_FILE)
    given = parser.parse_args()
    random.seed(SEED)
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    found = examples(given.pairs, given.tokens)
    pairs = [one for one in found if one.split == "train"]
    every = [one for one in found if one.split == "held"]
    held = random.Random(SEED).sample(every, min(HELD, len(every)))
    say(f"{len(pairs)} pairs to train on, {len(held)} held out")
    network = Network("answerable", given.start)

    def report() -> None:
        say(json.dumps(auroc_by_source(held, scores(network, held, LENGTHS))))
        save(network, given.out)

    fit(network, pairs, LENGTHS, lambda batch: loss_of(network, batch), epochs=given.epochs, rate=given.rate, report=report, every=400)


if __name__ == "__main__":
    main()
