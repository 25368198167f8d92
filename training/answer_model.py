"""Fine-tune the embedded MiniLM into the answerability model, and write data/models/answerability.safetensors.

    python -m training.answer_model ROWS.jsonl [--epochs 1.5] [--rate 1e-4] [--drop SOURCE,SOURCE] [--out FILE]

ROWS.jsonl comes from `training.answer_rows`. The network says from its first token whether the passage answers the question, and learns
beside it where the answer begins and ends, which the product does not use.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Encoding
from torch import Tensor, nn

from rag_core.adapters.embedding.pair_models import ANSWERABILITY_FILE, ANSWERABILITY_TOKENS
from training.cross_encoder import Example, Network, auroc_by_source, fit, padded, save, say, scores, tokenizer
from training.files import SEED, rows

LENGTHS = (96, 144, 192, 240, ANSWERABILITY_TOKENS)  # tokens that batches are padded to: few shapes, little padding
SPAN = 0.5  # weight of the two span losses against that of the answer
UNKNOWN = -100  # the span of an answer that does not stand in the passage as given


@dataclass(frozen=True, kw_only=True)
class AnswerExample(Example):
    """A pair with the first and last token of its answer."""

    span: tuple[int, int]


class AnswerNetwork(Network):
    """The encoder with a head for the answer and one for its place."""

    def __init__(self) -> None:
        super().__init__("answerable")
        self.span = nn.Linear(384, 2)

    def with_places(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log odds of shape (batch,), and of each token to begin and to end the answer, shape (batch, length, 2)."""
        with torch.autocast("cpu", torch.bfloat16):
            hidden = self.hidden(ids, kinds, mask)
            answer, places = self.answer(self.drop(hidden[:, 0])), self.span(hidden)
        allowed = mask.bool() & (kinds.bool() | (torch.arange(ids.shape[1]) == 0))  # the first token stands for "nowhere"
        return answer[:, 0].float(), places.float().masked_fill(~allowed[:, :, None], -1e4)

    def heads(self) -> list[nn.Parameter]:
        """The layers that are trained beside the encoder."""
        return [*super().heads(), *self.span.parameters()]


def examples(path: Path, dropped: Sequence[str]) -> list[AnswerExample]:
    """The pairs of a file as tokens; pairs to train on from the `dropped` sources are left out."""
    kept = [row for row in rows(path) if not (row["split"] == "train" and row["source"].split("/")[0] in dropped)]
    encoded = tokenizer(ANSWERABILITY_TOKENS).encode_batch([(row["question"], row["passage"]) for row in kept])
    return [
        AnswerExample(
            ids=one.ids, kinds=one.type_ids, label=row["answerable"], source=row["source"], split=row["split"], span=_span(row, one)
        )
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


def loss_of(network: AnswerNetwork, batch: Sequence[AnswerExample]) -> Tensor:
    """Cross-entropy of the answer, and of its first and last token."""
    answer, places = network.with_places(*padded(batch, LENGTHS))
    loss = nn.functional.binary_cross_entropy_with_logits(answer, torch.tensor([float(one.label) for one in batch]))
    wanted = torch.tensor([one.span for one in batch])
    if (wanted != UNKNOWN).any():
        loss = loss + SPAN / 2 * sum(nn.functional.cross_entropy(places[..., side], wanted[:, side]) for side in (0, 1))
    return loss


def main() -> None:
    """Read the arguments, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--epochs", type=float, default=1.5)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--drop", default="squad2-dev-sv", help="sources that are not trained on, parted by commas")
    parser.add_argument("--out", type=Path, default=ANSWERABILITY_FILE)
    given = parser.parse_args()
    random.seed(SEED)
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    found = examples(given.rows, given.drop.split(","))
    pairs = [one for one in found if one.split == "train"]
    held = [one for one in found if one.split == "held"]
    say(f"{len(pairs)} pairs to train on, {len(held)} held out")
    network = AnswerNetwork()

    def report() -> None:
        say(json.dumps(auroc_by_source(held, scores(network, held, LENGTHS))))
        save(network, given.out)

    fit(network, pairs, LENGTHS, lambda batch: loss_of(network, batch), epochs=given.epochs, rate=given.rate, report=report)


if __name__ == "__main__":
    main()
