"""Records of version 1 as records of version 2, so that one codec reads both. Nothing is judged here, and no text is read.

Version 1 was written by hand, part by part. What it did not say yet when a record was stored is what was true then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from rag_core.domain.claims import Conflict
from rag_core.domain.llm_trace import Call
from rag_core.domain.measurements import KeywordMatch, LibraryFacts, Understanding

Row = Mapping[str, Any]

_NAMES = {"signals": "features"}  # names in version 1, and today's
_HIT = ("score", "cosine", "lexical", "dense_rank", "lexical_rank", "rerank")
_CLAIM = ("evidence", "cited", "relevance")
# every draft was an extract when these were not measured yet
_BEFORE = {"support": 1.0, "flags": [], "read": True, "word_for_word": True, "quotes_elsewhere": []}


def upgraded(row: Row) -> dict[str, Any]:
    """The record in version 2.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    kinds = {"understanding": Understanding, "keywords": KeywordMatch}
    kept = {_NAMES.get(name, name): value for name, value in row.items() if name != "generation"}
    return {
        **kept,
        **{name: _filled(kind, row[name]) for name, kind in kinds.items()},
        "library": _library(row["library"]),
        "hits": [_hit(one) for one in row["hits"]],
        "draft": _draft(row["draft"]),
        "conflicts": [_conflict(one) for one in row["conflicts"]],
        "llm_trace": _trace(row.get("generation")),
    }


def _library(row: Row) -> dict[str, Any]:
    """The library's version was called its generation."""
    later = {name: value for name, value in row.items() if name != "generation"}
    return _filled(LibraryFacts, {**later, "version": row["generation"]})


def _hit(row: Row) -> dict[str, Any]:
    """The passage stood beside the scores, or only its id."""
    passage = {name: value for name, value in row.items() if name not in _HIT}
    return {**{name: row[name] for name in _HIT}, "passage": passage if "document" in passage else passage["id"]}


def _draft(row: Row) -> dict[str, Any]:
    """The measurements stood in the claims; citations were a list that named their keys."""
    return {
        "drafter": row["drafter"],
        "claims": [{**{name: one[name] for name in _CLAIM}, "text": [one["text"], one["hash"]]} for one in row["claims"]],
        "audits": [{**_BEFORE, **one["audit"]} for one in row["claims"]],
        "citations": {one["key"]: _citation(one) for one in row["citations"]},
        "text": row["text"],
        "context_chars": row["context_chars"],
        "stored_chars": row["chars"],
    }


def _citation(row: Row) -> dict[str, Any]:
    cited = {name: value for name, value in row.items() if name != "key"}
    return {**cited, "boxes": [[page, box] for page, *box in row["boxes"]]}


def _trace(row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        **row,
        "verdicts": [_judgement(one) for one in row["verdicts"]],
        "expanded": [[_hit(hit) for hit in one] for one in row["expanded"]],
        "attempts": [_attempt(one) for one in row["attempts"]],
    }


def _judgement(row: Row) -> dict[str, Any]:
    sides, conflict = row["sides"], row["conflict"]
    return {
        **row,
        "call": _filled(Call, row["call"]),
        "sides": _draft(sides) if sides else None,
        "conflict": _conflict(conflict) if sides and conflict else None,
    }


def _attempt(row: Row) -> dict[str, Any]:
    verified = row["verification"]
    return {
        **row,
        "call": _filled(Call, row["call"]),
        "draft": _draft(row["draft"]),
        "verification": {**verified, "call": _filled(Call, verified["call"])} if verified else None,
    }


def _filled(kind: type, row: Row) -> dict[str, Any]:
    """With the defaults of fields that came later."""
    later: dict[str, Any] = {}
    for one in fields(kind):
        if one.name in row:
            continue
        if one.default_factory is not MISSING:
            later[one.name] = dict(one.default_factory())
        elif one.default is not MISSING:
            later[one.name] = list(one.default) if isinstance(one.default, tuple) else one.default
    return {**row, **later}


def _conflict(row: Row) -> dict[str, Any]:
    """The statements came later: empty ones, made of no parts."""
    return _filled(Conflict, {"statements": [[], []], **row})
