"""Limits on what reading one file may cost: time, memory, pages, characters, rows, pixels."""

from __future__ import annotations

from dataclasses import dataclass, fields

# Python and MuPDF alone take about 250 MiB of address space; with less, every file would seem damaged
MIN_MEMORY_BYTES = 300 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one file may cost; a file over a limit is refused, or where one page alone takes too much, costs that
    page.

    The longest of the filings tried (213 pages, 1.9 MB, 853,000 characters, 2 s) stays a factor of 20 below the
    defaults, or more.
    """

    file_bytes: int = 200_000_000  # held in memory by the child
    # address space of the child; text takes about 0.3 GB, that of the process that reads a picture as well
    memory_bytes: int = 2 << 30
    cpu_seconds: float = 30.0  # a 39 KB bomb took 18 s in PyMuPDF's drawing code
    # a page takes about 0.007 s; drawing one to look for hidden text up to about 0.1 s
    cpu_seconds_per_page: float = 0.5
    wall_seconds: float = 900.0  # recognition comes on top
    # recognition in all processes, about 5,000 pages; the pages after that are reported as unreadable
    ocr_seconds: float = 14_400.0
    ocr_seconds_per_page: float = 60.0  # CPU time; a dense page takes 2 to 6 s, a page of noise up to 30 s
    pages: int = 5_000
    page_chars: int = 200_000  # a page is cut there, and says so; a dense page has about 8,000
    page_words: int = 40_000  # the same: 200,000 characters of words of five; a dense page has about 1,500
    chars: int = 16_000_000  # 2,000 dense pages
    words: int = 3_000_000  # the same: a dense page has about 1,500
    rows: int = 200_000  # 2,500 pages of 80 rows; the filing has about 12,000
    pixels: int = 25_000_000  # any picture that is made of a page: A4 at 400 dpi is 15 million

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not 0 < value < float("inf") and not (item.name == "ocr_seconds" and value == 0):
                raise ValueError(f"Limits.{item.name} must be positive and finite, got {value}")
        if self.memory_bytes < MIN_MEMORY_BYTES:
            raise ValueError(f"Limits.memory_bytes must be at least {MIN_MEMORY_BYTES:,}, got {self.memory_bytes:,}")


DEFAULT_LIMITS = Limits()
