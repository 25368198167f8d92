"""The row of a trace that says so where the order of passages rests on dates that only the files state. It judges nothing."""

from __future__ import annotations

from rag_core.decision.checks.row import listed
from rag_core.domain.given import given_of
from rag_core.domain.measurements import Measurements
from rag_core.domain.trace import CheckResult, State
from rag_core.language import is_time_sensitive
from rag_core.settings import Mode, Scale

_SHOWN_CHARS = 80  # a longer name is cut


def file_date_rows(measurements: Measurements) -> tuple[CheckResult, ...]:
    """One row where the age of documents weighed in the order, and of some of those found only the file's date is known; else none."""
    if not _weighs_age(measurements):
        return ()
    found = dict.fromkeys(hit.passage.document for hit in measurements.hits)
    library = measurements.library
    names = [library.names.get(document, document)[:_SHOWN_CHARS] for document in found if library.by_file(document)]
    if not names:
        return ()
    said = f"{len(names)} of {len(found)} documents found were weighed by the file date, for want of a better one: "
    found_in_words = f"{said}{listed(names, ', ')}"
    return (CheckResult("file_dates", State.PASSED, Mode.OBSERVE, float(len(names)), scale=Scale.COUNT, found=found_in_words),)


def _weighs_age(measurements: Measurements) -> bool:
    """Whether the order of the passages was one in which newer documents came first (`rag_core.retrieval.hybrid`)."""
    if not measurements.settings.recency_weight or given_of(measurements.metadata) is not None:
        return False
    return is_time_sensitive(measurements.question, measurements.understanding.language)
