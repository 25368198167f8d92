"""Rows of a trace that judge nothing: on passages that something else retrieved, and on an order by the dates of
files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rag_core.decision.checks.row import listed
from rag_core.domain.given import given_of
from rag_core.domain.measurements import Measurements
from rag_core.domain.trace import CheckResult, State, several
from rag_core.language import is_time_sensitive
from rag_core.settings import Mode, Scale

_REST = (
    "only the given passages are known: what their documents say beside them, and "
    "pages that cannot be read, were not looked at"
)
_SHOWN_CHARS = 80  # a longer name is cut


def given_rows(measurements: Measurements) -> tuple[CheckResult, ...]:
    """Two rows where ready passages were judged; none over no passages or a library, or where nothing was looked up."""
    given = given_of(measurements.metadata)
    if not given or not given["count"] or measurements.answer:
        return ()
    return _scores(given["scores"]), CheckResult(
        "rest_of_documents", State.NOT_RUN, Mode.OBSERVE, note=_rest(given, measurements)
    )


def _scores(scores: list[float | None]) -> CheckResult:
    """The scores as given; they are on a scale of somebody else's, so nothing is held against them."""
    known = [score for score in scores if score is not None]
    if len(known) == len(scores):
        found = (
            f"{several(len(known), 'passage')} with scores from {min(known):g} to "
            f"{max(known):g}, as given; their order stands"
        )
        return CheckResult("given_scores", State.PASSED, Mode.OBSERVE, float(known[0]), found=found)
    return CheckResult(
        "given_scores",
        State.NOT_RUN,
        Mode.OBSERVE,
        note=f"{len(known)} of {several(len(scores), 'passage')} came with a score; their order stands",
    )


def _rest(given: Mapping[str, Any], measurements: Measurements) -> str:
    unseen = max(0, given["parts"] - len(measurements.hits)) if measurements.hits else 0
    parts = [_REST]
    if unseen:
        parts.append(f"{unseen} of {given['parts']} are beyond top_k")
    if given["without_page"]:
        parts.append(f"{given['without_page']} came without a page number and are cited as page 1")
    return "; ".join(parts)


def file_date_rows(measurements: Measurements) -> tuple[CheckResult, ...]:
    """One row where the age of documents weighed in the order, and of some of those found only the file's date is
    known; else none.
    """
    if not _weighs_age(measurements):
        return ()
    found = dict.fromkeys(hit.passage.document for hit in measurements.hits)
    library = measurements.library
    names = [library.names.get(document, document)[:_SHOWN_CHARS] for document in found if library.by_file(document)]
    if not names:
        return ()
    said = f"{len(names)} of {len(found)} documents found were weighed by the file date, for want of a better one: "
    found_in_words = f"{said}{listed(names, ', ')}"
    return (
        CheckResult(
            "file_dates", State.PASSED, Mode.OBSERVE, float(len(names)), scale=Scale.COUNT, found=found_in_words
        ),
    )


def _weighs_age(measurements: Measurements) -> bool:
    """Whether the order of the passages was one in which newer documents came first (`rag_core.retrieval.hybrid`)."""
    if not measurements.settings.recency_weight or given_of(measurements.metadata) is not None:
        return False
    return is_time_sensitive(measurements.question, measurements.understanding.language)
