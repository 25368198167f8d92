"""The domain profiles: the numbers of the sources, only settings that exist, and nothing without a word of the
caller.
"""

from __future__ import annotations

from typing import Any

import pytest

from rag_core.errors import InvalidSetting
from rag_core.settings import Cost, Settings
from rag_core.settings.profiles import GENERAL, of_cost, profiles, require_domain

VALUES: dict[str, dict[str, Any]] = {
    "general": {},
    "legal": {"top_k": 15, "strategy": "legal"},
    "code": {"semantic_weight": 0.3, "strategy": "code"},
    "medical": {"recency_weight": 1.0, "recency_half_life_days": 365},
    "textbook": {"top_k": 3, "citation_format": "[Source {id}]"},
}


def test_given_the_profiles_then_they_are_the_rules_of_the_sources() -> None:
    """S3-26: legal 15 passages, code weighs words 0.7, a medical document of today counts twice."""
    assert {domain: dict(one.values) for domain, one in profiles().items()} == VALUES
    assert all(one.title and one.help.endswith(".") for one in profiles().values())
    for one in profiles().values():
        taken = Settings.load().changed(**one.values).model_dump(mode="json")
        assert {name: taken[name] for name in one.values} == one.values, one.domain


def test_given_a_profile_then_its_settings_of_documents_stand_apart() -> None:
    assert of_cost(profiles()["legal"].values, {Cost.INGEST}) == {"strategy": "legal"}
    assert of_cost(profiles()["legal"].values, {Cost.ASK, Cost.REPLAY}) == {"top_k": 15}


def test_given_an_unknown_domain_then_the_error_names_the_known_ones() -> None:
    assert require_domain(GENERAL).values == {}
    with pytest.raises(InvalidSetting) as caught:
        require_domain("law")
    assert "legal" in caught.value.remedy
    assert Settings.load().top_k == 10, "what holds without a domain stays"
