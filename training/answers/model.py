"""Fine-tune the embedded MiniLM into the answerability model, and write data/models/answerability.safetensors.

    python -m training.answers.model [FILE.jsonl ...] [--bench FOLDER] [--mined FILE ...] [--apart FILE ...] [--often FILE]
        [--seconds 530] [--rate 4e-4] [--tokens 65536] [--device cuda] [--temper 0.65] [--out FILE]

The files hold rows as `training.answers.texts` reads them; those of `--mined` come from `training.answers.mined`. The network says from
its first token whether the sentence or the passage answers the question. Beside that it learns to point at the answer's first and last
word, which the product does not ask it for: it reads better for it. What is written is the mean of the last steps' weights, its last layer
made smaller by `--temper`, since a network that has gone through its questions several times is too sure of itself.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from rag_core.adapters.embedding.pair_models import ANSWERABILITY_FILE
from training.answer_rows import labelled
from training.answers.draws import Arrays, Draws, Pair, Tokens, cut
from training.answers.mined import from_row
from training.answers.texts import Runs, Texts
from training.cross_encoder import Network, auroc_by_source, save, say
from training.files import SEED, Row, rows

SPAN = 0.6  # weight of pointing at the answer beside saying whether it is there; chosen
WARMUP = 0.04  # share of the time over which the rate rises; a usual value, not measured
DROP = 0.1  # share of the hidden states that are left out in training, as the published network had it
DECAY, BETAS = 0.01, (0.9, 0.98)  # for AdamW, as is usual for such networks
KEPT = 0.999  # share of the mean of the weights that each step leaves
EVERY = 200  # steps between two lines of progress
HELD = 3000  # held-out questions that are read at the end
NOWHERE = -1e4  # log odds of a token that cannot be the answer's


class Reader(Network):
    """The network with a second head that points at the answer; it is not written."""

    def __init__(self, start: Path | None = None) -> None:
        super().__init__("answerable", start)
        self.point = nn.Linear(384, 2)
        for name, part in self.bert.named_modules():
            if isinstance(part, nn.Dropout) and ".self." not in name:
                part.p = DROP
        for name, parameter in self.bert.embeddings.named_parameters():
            parameter.requires_grad_("word" not in name)

    def both(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log odds of shape (n,), and of each token to be the answer's first and last one, (n, tokens, 2)."""
        with torch.autocast(ids.device.type, torch.bfloat16):
            hidden = self.hidden(ids, kinds, mask)
            odds, points = self.answer(self.drop(hidden[:, 0]))[:, 0], self.point(hidden)
        within = (kinds * mask).bool()[..., None]
        return odds.float(), points.float().masked_fill(~within, NOWHERE)


def loss_of(network: Reader, batch: Arrays, device: str) -> Tensor:
    """Cross-entropy of the answer, and of its first and last token where it stands whole."""
    ids, kinds, mask, first, last, answers = (torch.from_numpy(one).to(device) for one in astuple(batch))
    odds, points = network.both(ids, kinds, mask)
    loss = nn.functional.binary_cross_entropy_with_logits(odds, answers)
    whole = first >= 0
    if whole.any():
        pointed = sum(nn.functional.cross_entropy(points[whole, :, side], to[whole]) for side, to in ((0, first), (1, last)))
        loss = loss + SPAN * whole.float().mean() * pointed / 2
    return loss


def fit(network: Reader, draws: Draws, *, seconds: float, rate: float, tokens: int, device: str) -> None:
    """Fit in place for so long; at the end the network holds the mean of its weights."""
    network.to(device).train()
    moved = [one for one in network.parameters() if one.requires_grad]
    decayed, plain = ([one for one in moved if (one.ndim > 1) is matrix] for matrix in (True, False))
    groups = [{"params": decayed, "weight_decay": DECAY}, {"params": plain, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=rate, betas=BETAS)
    mean = [one.detach().clone() for one in moved]
    started, total = time.monotonic(), 0.0
    for step, batch in enumerate(draws.batches(tokens, random.Random(SEED)), 1):
        done = (time.monotonic() - started) / seconds
        if done >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, done / WARMUP + 1 / EVERY) * (1 - done)
        loss = loss_of(network, Arrays.of(batch), device)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch gives it no types
        nn.utils.clip_grad_norm_(moved, 1.0)
        optimiser.step()
        kept = min(KEPT, step / (step + 10))
        for one, now in zip(mean, moved, strict=True):
            one.mul_(kept).add_(now.detach(), alpha=1 - kept)
        total += loss.item()
        if step % EVERY == 0:
            say(f"step {step}, loss {total / EVERY:.3f}, {done:.0%} of the time")
            total = 0.0
    for one, now in zip(mean, moved, strict=True):
        now.data.copy_(one)


@torch.inference_mode()
def scores(network: Reader, pairs: Sequence[Pair], tokens: int, device: str) -> np.ndarray:
    """Log odds of each pair, shape (len(pairs),)."""
    network.eval()
    places = {id(pair): at for at, pair in enumerate(pairs)}
    found = np.zeros(len(pairs))
    for batch in cut(sorted(pairs, key=lambda pair: len(pair.ids)), tokens, random.Random(SEED)):
        ids, kinds, mask, *_ = (torch.from_numpy(one).to(device) for one in astuple(Arrays.of(batch)))
        found[[places[id(pair)] for pair in batch]] = network.both(ids, kinds, mask)[0].cpu().numpy()
    return found


def bench_rows(folder: Path) -> list[Row]:
    """The rows of the bench's training data that scores are not calibrated on."""
    return [
        {
            "question": pair.question, "context": pair.passage, "answers": list(pair.answers), "answerable": pair.answerable,
            "lang": pair.language, "title": "", "source": pair.source,
        }
        for pair in labelled(folder) if pair.split == "train"
    ]  # fmt: skip


def main() -> None:
    """Read the arguments, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--bench", type=Path, help="the folder of answerability.jsonl")
    parser.add_argument("--mined", type=Path, nargs="*", default=[])
    parser.add_argument("--apart", type=Path, nargs="*", default=[], help="rows of `text` that no context may be taken from")
    parser.add_argument("--often", type=Path, help="JSON: how often a source's questions are drawn, 1 where it is not named")
    parser.add_argument("--seconds", type=float, default=530)
    parser.add_argument("--rate", type=float, default=4e-4)
    parser.add_argument("--tokens", type=int, default=65_536, help="of a batch")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--temper", type=float, default=0.65, help="what the last layer is multiplied by")
    parser.add_argument("--start", type=Path, help="layers to begin with; the published ones without it")
    parser.add_argument("--out", type=Path, default=ANSWERABILITY_FILE)
    given = parser.parse_args()
    torch.manual_seed(SEED)
    apart = Runs(row["text"] for path in given.apart for row in rows(path))
    texts = Texts.of([row for path in given.files for row in rows(path)], apart)
    if given.bench:
        texts = texts.joined(Texts.of(bench_rows(given.bench)))
    read = [from_row(row) for path in given.mined for row in rows(path)]
    often = json.loads(given.often.read_text(encoding="utf-8")) if given.often else {}
    draws, network = Draws(texts, read, Tokens(), often), Reader(given.start)
    say(f"{len(draws.train)} questions to train on, {len(draws.held)} held out")
    fit(network, draws, seconds=given.seconds, rate=given.rate, tokens=given.tokens, device=given.device)
    draw = random.Random(SEED)
    held = [pair for one in draw.sample(draws.held, min(HELD, len(draws.held))) for pair in draws.pairs(one, draw)]
    if held:
        said = scores(network, held, given.tokens, given.device)
        say(json.dumps(auroc_by_source([pair.source for pair in held], [pair.answers for pair in held], said)))
    for part in network.answer.parameters():
        part.data.mul_(given.temper)
    save(network, given.out)


if __name__ == "__main__":
    main()
