"""Says what a rebuild of a library changed: documents, passages, the embedding model, and which calibration no longer
fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_core.errors import InvalidInput
from rag_core.gating import scores as calibrate
from rag_core.gating.scores import Identity
from rag_core.library.stored.collection import Contents

_UNKNOWN = "unknown"


def what_changed(before: Contents | None, after: Contents | None) -> str:
    """One line each for documents, passages and model: as they were, and as they are."""
    rows = (
        ("Documents", *(str(one.documents) if one else _UNKNOWN for one in (before, after))),
        ("Passages", *(str(one.passages) if one and one.passages is not None else _UNKNOWN for one in (before, after))),
        ("Embedding model", *(one.embedder if one else _UNKNOWN for one in (before, after))),
    )
    return "\n".join(
        f"{name}: {was} before, {now} now." if was != now else f"{name}: {now}, as before." for name, was, now in rows
    )


def calibrations_in_words(files: Sequence[Path], now: Identity) -> str:
    """The calibrations that fit what measures now, and what differs in the others.

    Args:
        files: where one is looked for, the first that fits is in force.
        now: what measures after the rebuild.
    """
    rows = list(_fits(files, now))
    lines = [
        f"The calibration {id} fits."
        if not differs
        else f"The calibration {id} no longer fits: it was made with another {differs}."
        for id, differs in rows
    ]
    if all(differs for _, differs in rows):
        lines.append(
            "No calibration is in force: presets on a probability refuse every question. Fit one (python -m rag_core "
            "calibrate fit "
            "--help), or take a preset that goes by similarity, such as --preset relevance-guard."
        )
    return "\n".join(lines)


def _fits(files: Sequence[Path], now: Identity) -> Iterator[tuple[str, str]]:
    """Each calibration's id, with the names of what differs."""
    for path in files:
        if path.exists():
            try:
                found = calibrate.read(path)
            except InvalidInput:
                yield path.name, "form: it cannot be read"
                continue
            then, here = found.identity.to_json(), now.to_json()
            yield found.id, " and ".join(name for name, value in here.items() if then.get(name, "") != value)
