"""The difference of two networks in 4 bits: as it was but for half a step of each row's scale, in any shape."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from training.reader.further import MOST, packed, unpacked


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9))
def test_given_a_difference_when_packed_then_it_is_as_it_was_within_half_a_step(
    rows: int, width: int, seed: int
) -> None:
    made = torch.randn((rows, width), generator=torch.Generator().manual_seed(seed))
    for one in (made, made[:, 0]):
        pairs, scale = packed(one)
        step = one.reshape(len(one), -1).abs().amax(1) / MOST
        off = (unpacked(pairs, scale, one.shape) - one).reshape(len(one), -1).abs().amax(1)
        assert len(pairs) == (one.numel() + 1) // 2
        assert bool((off <= 0.55 * step + 1e-6).all())  # the scale itself is rounded
