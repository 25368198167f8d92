"""Citations: whether the quote behind one really stands on its page, and how citations are written in an answer.

Here a quote is compared with the raw text of its page, character by character. `rag_core.grounding.quotes` finds a
model's quote in the passage that it cites.
Three notations are read from a model's answer, `[1]`, `[Source 1]` and `[source:chunk_id]`; the setting
`citation_format` chooses the one that is shown. This module knows nothing about what a claim means.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from rag_core.domain.claims import Citation, Claim, Evidence
from rag_core.domain.documents import Span
from rag_core.domain.ports import PageText

_NO_VALUES: Mapping[str, str] = MappingProxyType({})


def is_cited(claim: Claim) -> bool:
    """Whether a claim names at least one source, real or not."""
    return bool(claim.cited or claim.evidence)


def quote_stands(evidence: Evidence, page_text: PageText) -> bool:
    """Whether the quote is the raw text at its first span, and all its spans lie on their pages."""
    first, *others = [_at(evidence.document, span, page_text) for span in evidence.spans] or [""]
    return bool(first.strip()) and evidence.quote == first and all(text.strip() for text in others)


def evidence_text(evidence: Evidence, page_text: PageText) -> str:
    """The raw text at all its spans, one after another."""
    return "\n".join(_at(evidence.document, span, page_text) for span in evidence.spans)


def fabricated(claim: Claim, retrieved_ids: Collection[str]) -> tuple[str, ...]:
    """The passage ids that a claim names and that were not retrieved, each once, in order."""
    named = (*claim.cited, *(evidence.passage for evidence in claim.evidence))
    return tuple(dict.fromkeys(ref for ref in named if ref not in retrieved_ids))


def source_line(citation: Citation, values: Mapping[str, str] = _NO_VALUES) -> str:
    """A source as a reader knows it: "NCERT Mathematics, Class 10, Page 95"; `values` are free metadata."""
    subject, level, chapter = labels(values)
    title = citation.title
    parts = [f"{title} {subject}" if subject and subject.casefold() not in title.casefold() else title]
    if level:
        parts.append(level)
    if chapter:
        parts.append(
            f"{chapter} ({citation.heading})" if citation.heading and citation.heading not in chapter else chapter
        )
    elif citation.heading:
        parts.append(citation.heading)
    return ", ".join([*parts, f"Page {citation.page_in_words}"])


def heading_line(heading: Citation) -> str:
    """A heading of an outline, and where it stands: "5 Expenses, Company Policies, page 2"."""
    return f"{heading.excerpt}, {heading.title}, page {heading.page_in_words}"


def labels(values: Mapping[str, str]) -> tuple[str, str, str]:
    """Subject, class and chapter of a document, as a reader names them; empty where its free metadata has none."""
    known = {key.strip().casefold(): value.strip() for key, value in values.items()}
    level = known.get("class") or known.get("class_number") or ""
    return known.get("subject", ""), _labelled("Class", level), _labelled("Chapter", known.get("chapter", ""))


def sources_list(
    citations: Iterable[Citation], values: Mapping[str, Mapping[str, str]] = MappingProxyType({})
) -> list[str]:
    """One line per cited source, in order, equal lines once; `values` are free metadata by document id."""
    return list(
        dict.fromkeys(source_line(citation, values.get(citation.document_id, _NO_VALUES)) for citation in citations)
    )


def _labelled(label: str, value: str) -> str:
    return value if not value or value.casefold().startswith(label.casefold()) else f"{label} {value}"


def _at(document: str, span: Span, page_text: PageText) -> str:
    text = page_text(document, span.page)
    return text[span.start : span.end] if span.end <= len(text) else ""
