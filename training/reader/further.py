"""The reader as it was trained further on 2026-11-29, from what it differs by from the one that is shipped.

    python -m training.reader.further OUT.safetensors [--made NETWORK.safetensors]

It tells answers across languages and on invented documents of companies better, and on contracts of the samples worse,
so it is not shipped (docs/decisions/04-the-reader.md); training may go on from it. `further.safetensors` has each
difference in 4 bits, with a scale for each row; `--made` writes that file from a network.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from rag_core.adapters.embedding.reader import MODEL_FILE

FILE = Path(__file__).with_suffix(".safetensors")
MOST, SHIFT = 7, 8  # the largest whole number of a difference, and what is added so that none is negative


def packed(difference: Tensor) -> tuple[Tensor, Tensor]:
    """Two whole numbers a byte, and the scale of each row."""
    rows = difference.reshape(len(difference), -1)
    scale = rows.abs().amax(1, keepdim=True).clamp(min=1e-12) / MOST
    whole = ((rows / scale).round() + SHIFT).to(torch.uint8).flatten()
    whole = torch.cat([whole, torch.zeros(len(whole) % 2, dtype=torch.uint8)])
    return whole[::2] * 16 + whole[1::2], scale.flatten().to(torch.bfloat16)


def unpacked(pairs: Tensor, scale: Tensor, shape: torch.Size) -> Tensor:
    """The difference again, of this shape."""
    whole = torch.stack([pairs // 16, pairs % 16], 1).flatten()[: shape.numel()].float() - SHIFT
    return (whole.reshape(shape[0], -1) * scale.float()[:, None]).reshape(shape)


def main() -> None:
    """Write the network, or the file that it is made of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--made", type=Path)
    given = parser.parse_args()
    shipped = load_file(MODEL_FILE)
    if given.made:
        made = load_file(given.made)
        differences = {name: packed(made[name].float() - one.float()) for name, one in shipped.items()}
        save_file({f"{name}.{part}": two[part] for name, two in differences.items() for part in (0, 1)}, given.out)
    else:
        kept = load_file(FILE)
        network = {
            name: one.float() + unpacked(kept[f"{name}.0"], kept[f"{name}.1"], one.shape)
            for name, one in shipped.items()
        }
        save_file({name: one.to(torch.bfloat16) for name, one in network.items()}, given.out)


if __name__ == "__main__":
    main()
