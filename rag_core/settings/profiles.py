"""Domain profiles, `data/profiles.yaml`: settings for a field of knowledge, over those of a preset.

They may only set what is a setting, and only where a caller names the domain.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml
from pydantic import TypeAdapter

from rag_core.errors import InvalidSetting
from rag_core.settings.knobs import Cost
from rag_core.settings.presets import DATA
from rag_core.settings.settings import Settings

GENERAL = "general"  # the domain of what belongs to no other
PROFILE = "profile"  # in a decision's metadata
ASKED = frozenset({Cost.REPLAY, Cost.ASK})  # settings of a question; the others are of documents that are added


@dataclass(frozen=True, slots=True)
class Profile:
    """The profile of a domain."""

    domain: str
    title: str
    help: str
    values: Mapping[str, Any]  # settings by name

    @property
    def about(self) -> dict[str, str]:
        return {PROFILE: self.domain}

    def over(self, settings: Settings) -> Settings:
        return settings.changed(**of_cost(self.values, ASKED))


_ADAPTER = TypeAdapter(Profile)


@cache
def profiles() -> Mapping[str, Profile]:
    raw = yaml.safe_load((DATA / "profiles.yaml").read_text(encoding="utf-8"))
    return {domain: _ADAPTER.validate_python({"domain": domain, **row}) for domain, row in raw.items()}


def require_domain(domain: str) -> Profile:
    """The profile of a domain; raises InvalidSetting where there is none."""
    if domain not in profiles():
        raise InvalidSetting(f"There is no domain {domain!r}.", remedy=f"Use one of: {', '.join(profiles())}.")
    return profiles()[domain]


def of_cost(values: Mapping[str, Any], costs: Collection[Cost]) -> dict[str, Any]:
    """Those of the values whose change costs this."""
    return {name: value for name, value in values.items() if Settings.knob(name).cost in costs}
