"""Make the pairs that the support model is trained on: a claim with the text that it is read against.

    python -m training.support_rows PATH_TO_TRAINING_DATA OUT.jsonl [MUTATIONS.jsonl …]

`grounding.jsonl` is read from PATH_TO_TRAINING_DATA; further files are exports of `training.mutations`. A context of
more words than the model reads is cut down as in the product (`grounding/windows.py`), by common words alone. To a
share of the short ones other texts of the same source are added before or behind, so that the model learns to find its
evidence. Contexts are split whole: one in eight is held out.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from rag_core.grounding.windows import READ_WORDS, readings
from rag_core.language import sentences
from training.files import SEED, Row, rows

HELD = 8  # one context in so many
CROWDED = 0.35  # share of the short contexts that get company
SHORT = 60  # words
ALONE = ("snli-dev", "mutations", "qa/")  # captions of pictures say the same as others; mutations keep their page


@dataclass(frozen=True)
class Pair:
    """A claim, what it is read against, the label, and the split: train or held."""

    evidence: str
    claim: str
    supported: bool
    source: str
    split: str


def split_of(context: str) -> str:
    """`held` for one context in eight, drawn by its hash."""
    return "held" if int(sha256(context.encode()).hexdigest()[:8], 16) % HELD == 0 else "train"


def pairs(files: Sequence[Path]) -> Iterator[Pair]:
    """All pairs of the files, in their order."""
    found = [row for file in files for row in rows(file)]
    company = defaultdict(list)
    for row in found:
        if len(row["context"].split()) <= SHORT:
            company[row["source"], split_of(row["context"])].append(row["context"])
    held = "\n".join(
        sorted({row["context"] for row in found if split_of(row["context"]) == "held" and not _mutated(row)})
    )
    draw = random.Random(SEED)
    for row in found:
        split = "train" if _mutated(row) else split_of(row["context"])
        if split == "train" and row["context"] in held:
            continue  # a mutation of a text that is held out
        texts = readings(row["answer"], row["context"], row["lang"])
        text = texts[0] if split == "held" or draw.random() < 0.6 else draw.choice(texts)
        if _mutated(row):
            text = _near(text, row["answer"], row["lang"], draw)
        if len(text.split()) <= SHORT and not row["source"].startswith(ALONE) and draw.random() < CROWDED:
            text = _crowded(text, company[row["source"], split], draw)
        yield Pair(text, row["answer"].strip(), row["supported"], row["source"], split)


def _mutated(row: Row) -> bool:
    return bool(row["source"].startswith("mutations"))


def _near(text: str, claim: str, lang: str, draw: random.Random) -> str:
    """The sentence that shares most words with the claim, with up to two before and behind it."""
    spans, mine = sentences(text, lang), set(claim.lower().split())
    best = max(range(len(spans)), key=lambda at: len(mine & set(text[slice(*spans[at])].lower().split())), default=0)
    near = spans[max(0, best - draw.randint(0, 2)) : best + 1 + draw.randint(0, 2)]
    return text[near[0][0] : near[-1][1]] if near else text


def _crowded(text: str, others: Sequence[str], draw: random.Random) -> str:
    """The text among one to three others, READ_WORDS words at most."""
    texts = [text]
    for other in draw.sample(others, min(len(others), draw.randint(1, 3))):
        if other != text and sum(len(one.split()) for one in (*texts, other)) <= READ_WORDS:
            texts.append(other)
    draw.shuffle(texts)
    return " ".join(texts)


def main(data: Path, out: Path, more: Sequence[Path]) -> None:
    """Write the pairs, and say how many there are of each source."""
    counts: Counter[tuple[str, str, bool]] = Counter()
    with out.open("w", encoding="utf-8") as lines:
        for pair in pairs([data / "grounding.jsonl", *more]):
            lines.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")
            counts[pair.source.split("/")[0], pair.split, pair.supported] += 1
    for (source, split, supported), count in sorted(counts.items()):
        sys.stdout.write(f"{source} {split} {'supported' if supported else 'unsupported'}: {count}\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(one) for one in sys.argv[3:]])
