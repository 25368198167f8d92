"""Limits that a compression left out, in four languages, and compressions that keep them in their own words."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import HashEmbedder, case, hit, passage
from builders import claim as claim_on
from hypothesis import given
from hypothesis import strategies as st

from rag_core.audit.claims import measure_claims
from rag_core.audit.findings import findings
from rag_core.audit.left_out import left_out
from rag_core.audit.limit_words import limit_words
from rag_core.settings import DATA

ROWS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "left_out.yaml").read_text(encoding="utf-8"))
OMISSIONS, HONEST = ROWS["omissions"], ROWS["honest"]
LANGUAGES = ("en", "cs", "de", "hi")


def wrong(row: list[str]) -> tuple[str, ...]:
    lang, question, evidence, claim = row
    return left_out(claim, evidence, lang, question)


def named(rows: list[list[str]]) -> dict[str, Any]:
    return {"argvalues": rows, "ids": [f"{row[0]}: {row[3]}" for row in rows]}


@pytest.mark.parametrize("row", **named([row for row in OMISSIONS if row[3] not in ROWS["missed"]]))
def test_given_a_sentence_without_its_limit_when_compared_then_the_limit_is_named_in_the_words_of_the_source(row: list[str]) -> None:
    """S0-26: compression must not change what is meant."""
    found = wrong(row)

    assert found
    assert all(part in row[2] for part in found)


@pytest.mark.parametrize("row", **named([row for row in HONEST if row[3] not in ROWS["flagged"]]))
def test_given_a_faithful_compression_when_compared_then_nothing_was_left_out(row: list[str]) -> None:
    assert wrong(row) == ()


def test_given_what_it_gets_wrong_then_it_is_little_and_known() -> None:
    assert [row[3] for row in OMISSIONS if not wrong(row)] == ROWS["missed"]
    assert [row[3] for row in HONEST if wrong(row)] == ROWS["flagged"]
    assert len(ROWS["missed"]) <= 0.1 * len(OMISSIONS)
    assert len(ROWS["flagged"]) <= 0.03 * len(HONEST)


@pytest.mark.parametrize("row", **named([row for row in (*OMISSIONS, *HONEST)]))
def test_given_the_whole_sentence_when_compared_then_nothing_was_left_out(row: list[str]) -> None:
    lang, question, evidence, _ = row

    assert left_out(evidence, evidence, lang, question) == left_out(evidence.rstrip(".।"), evidence, lang) == ()
