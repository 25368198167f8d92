"""Findings in words: the flags of a claim's support, and the kinds of facts that its evidence lacks, whose flags are
named after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rag_core.domain.claims import Conflict
from rag_core.domain.documents import DateSource
from rag_core.domain.measurements import LibraryFacts

FLAGS: Mapping[str, str] = {
    "code_absent": "a code is not in the evidence",
    "name_absent": "a name is not in the evidence",
    "not_entailed": "the evidence does not say so",
    "contradicted": "the evidence says otherwise",
    "indicator": "a phrase of knowledge from elsewhere",
    "low_overlap": "few of its words are in the evidence",
    "order": "its evidence is an order to a reader and states nothing",
    "no_evidence": "there is no evidence to compare with",
    "no_words": "it has no words",
}
FACTS: Mapping[str, str] = {
    "number": "number not in the evidence",
    "unit": "unit not in the evidence",
    "date": "date not in the evidence",
    "year": "year not in the evidence",
    "code": "code not in the evidence",
    "name": "name not in the evidence",
    "negation": "negation added or left out",
    "modality": "what must or may be done is not as in the evidence",
    "comparison": "comparison not as in the evidence",
    "quantifier": "quantity word not as in the evidence",
    "operator": "operator not in the evidence",
    "role": "stands for something else in the evidence",
    "markup": "link or markup not in the evidence",
}


_FLAG_OF = {"year": "number_changed", "code": "code_absent", "name": "name_absent"}


def flag_of(kind: str) -> str:
    """The flag that says what a changed fact of this kind means."""
    return _FLAG_OF.get(kind, f"{kind}_changed")


def flags_in_words(flags: Iterable[str]) -> str:
    """The flags as half sentences, parted by commas; empty for none."""
    return ", ".join(FLAGS.get(flag) or FACTS[flag.removesuffix("_changed")] for flag in flags)


def fact_in_words(kind: str, text: str) -> str:
    """A changed fact of a claim: "number not in the evidence: 31"."""
    return f"{FACTS[kind]}: {text}"


def date_in_words(date: str, source: DateSource) -> str:
    """A document's date, ISO, with the word that it is only the file's where it is; empty for none."""
    return f"file date {date}" if date and source is DateSource.FILE else date


def contradiction(conflict: Conflict, library: LibraryFacts) -> str:
    """A conflict in a sentence without full stop: both values, where each stands, and which document is newer, if
    known.

    A date that only the file states is called so. Texts of documents and their names are untrusted.
    """
    names = [library.names.get(document, document) for document in conflict.documents]
    sides = " and ".join(
        f'"{value}" ({", ".join(filter(None, (name, f"page {page}", date_in_words(date, source))))})'
        for value, name, page, date, source in zip(
            conflict.values, names, conflict.pages, conflict.dates, conflict.date_sources, strict=True
        )
    )
    if conflict.documents[0] == conflict.documents[1]:
        return f"The document contradicts itself: {sides}"
    return f"The documents contradict each other: {sides}. {_newer(conflict, names, library)}"


def _newer(conflict: Conflict, names: Sequence[str], library: LibraryFacts) -> str:
    if conflict.newer:
        newer = "Newer by the file date" if conflict.by_file else "Newer"
        alike = f" of {library.dates.get(conflict.newer, '')}" if names[0] == names[1] else ""
        return f"{newer}: {library.names.get(conflict.newer, conflict.newer)}{alike}"
    undated = [name for name, date in zip(names, conflict.dates, strict=True) if not date]
    if undated:
        return f"Which one is newer is not known: no date of {' and '.join(undated)}"
    return "By their dates neither is newer"
