"""Pairs of statements in four languages that contradict each other or do not, labelled by hand
(`contradictions.yaml`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from folding import each

from rag_core.compression.conflicts import between_passages
from rag_core.domain.claims import Conflict
from rag_core.domain.documents import Span
from rag_core.domain.measurements import LibraryFacts
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.grounding.contradictions.subject import Asked

PAIRS = yaml.safe_load((Path(__file__).parent / "contradictions.yaml").read_text(encoding="utf-8"))
DATES = {"new": "2026-03-01", "old": "2024-03-01"}


def cases(kind: str) -> list[Any]:
    found = []
    for language, kinds in PAIRS.items():
        for pair in kinds[kind]:
            row = pair if isinstance(pair, dict) else {"one": pair[0], "other": pair[1]}
            found.append((language, row))
    return found


def page(side: Any) -> tuple[str, str, str]:
    """A page's text, the header above its row, and the heading it stands under."""
    if isinstance(side, str):
        return side, "", ""
    return side["row"].replace(" | ", "\t"), side["header"].replace(" | ", "\t"), side.get("section", "")


def conflicts(language: str, pair: dict[str, Any]) -> tuple[Conflict, ...]:
    texts, hits = {}, []
    for document, side in (("new", pair["one"]), ("old", pair["other"])):
        text, header, section = page(side)
        texts[document] = f"{header}\n{text}"
        start = len(header) + 1
        passage = Passage(
            document,
            document,
            text.replace("\t", " "),
            (Span(1, start, start + len(text)),),
            language,
            section,
            PassageKind.TABLE if isinstance(side, dict) else PassageKind.PARAGRAPH,
            header=(Span(1, 0, start - 1),) if header else (),
        )
        hits.append(Hit(passage, 1.0, 0.5, 1.0))
    titles = dict(zip(DATES, pair.get("titles", ("", "")), strict=True))
    facts = LibraryFacts(titles=titles, dates=DATES)
    return between_passages(hits, Asked("", language, facts), lambda document, _: texts[document])


@each(("language", "pair"), cases("contradicting"))
def test_given_a_pair_that_contradicts_then_it_is_found_either_way_with_both_values(
    language: str, pair: dict[str, Any]
) -> None:
    """S4-21: rewordings, other notations and rows of tables, in four languages."""
    (found,) = conflicts(language, pair)
    (turned,) = conflicts(language, {**pair, "one": pair["other"], "other": pair["one"]})

    assert found.values == turned.values[::-1]
    assert found.values[0] != found.values[1]
    for value, side in zip(found.values, (pair["one"], pair["other"]), strict=True):
        assert value
        assert value in (side if isinstance(side, str) else side["row"])


@each(("language", "pair"), cases("not"))
def test_given_a_pair_about_two_things_or_of_one_value_then_nothing_is_said(
    language: str, pair: dict[str, Any]
) -> None:
    """Scope, period, product, condition, range, example, rounding, notation: rather silent than wrong."""
    assert conflicts(language, pair) == ()


def test_given_the_pairs_then_every_language_has_both_kinds() -> None:
    assert set(PAIRS) == {"en", "cs", "de", "hi"}
    assert all(len(kinds[kind]) >= 8 for kinds in PAIRS.values() for kind in ("contradicting", "not"))
