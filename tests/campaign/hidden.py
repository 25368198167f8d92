"""Part 4: text that nobody can see, in all forms that are known, read by the real child process; and text that looks
odd and must stay.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from rag_core.errors import RagError
from rag_core.ingest.reading.pdf import read_pdf
from tests.campaign.table import Table

PART = "Hidden text"


def forms() -> Iterator[tuple[str, bool, bytes, str, str]]:
    """(name, whether it hides something, file, hidden words, words that show)."""
    import forms as known

    from tests.campaign import own_forms as own

    for module in (known, own):
        where = "" if module is known else "own: "
        for name, form in module.hidden_forms():
            yield where + name, True, form.data, form.hidden, form.seen
        for name, form in module.visible_forms():
            yield where + name, False, form.data, "", form.seen


def disputed() -> Iterator[str]:
    """The names of forms about which viewers disagree; they are read, as our own picture of the page shows them."""
    from tests.campaign import own_forms as own

    for name, form in own.disputed_forms():
        if set(form.hidden.split()) <= {
            word for page in read_pdf(form.data, "form.pdf").pages for word in page.text.split()
        }:
            yield name


def run(table: Table) -> None:
    """Count what was caught, missed, and hidden without need."""
    missed, alarms, lost = [], [], []
    hiding = honest = 0
    slowest = 0.0
    for name, hides, data, hidden, seen in forms():
        started = time.monotonic()
        try:
            pages = read_pdf(data, "form.pdf").pages
        except RagError as error:
            lost.append(f"{name}: refused: {error.problem}")
            continue
        slowest = max(slowest, time.monotonic() - started)
        words = {word for page in pages for word in page.text.split()}
        gone = set(seen.split()) - words
        if hides:
            hiding += 1
            if found := words & set(hidden.split()):
                missed.append(f"{name}: {' '.join(sorted(found))} was read")
            if gone:
                lost.append(f"{name}: {' '.join(sorted(gone))} shows, and was not read")
        else:
            honest += 1
            if gone or any(page.hidden_chars for page in pages):
                alarms.append(
                    f"{name}: {' '.join(sorted(gone))} shows; {sum(page.hidden_chars for page in pages)} characters "
                    f"called hidden"
                )
    table.count(PART, "forms that hide text", hiding)
    table.count(PART, "caught", hiding - len(missed))
    table.zero(PART, "missed: hidden words were read", missed)
    table.zero(PART, "words lost that show beside the hidden ones", lost)
    table.count(PART, "honest forms that must stay", honest)
    table.zero(PART, "false alarms: words that show were called hidden", alarms)
    table.count(PART, "forms that our picture of the page shows, and other viewers hide", len(list(disputed())))
    table.count(PART, "longest reading of a form, seconds", slowest)
