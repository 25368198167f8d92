"""Domain profiles: named settings for a field of knowledge, over those of a preset. They may only set what is a setting.

The shipped ones stand in `data/profiles.yaml` and are version 0. A collection may hold later versions, of which one is in force.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import yaml

from rag_core.errors import InvalidSetting
from rag_core.settings.knobs import AS_BUILT, Cost
from rag_core.settings.presets import DATA
from rag_core.settings.settings import Settings

GENERAL = "general"  # the domain of what belongs to no other
AUTO = "auto"  # in the place of a domain: it is detected
SHIPPED = 0  # the version that comes with the program


@dataclass(frozen=True, slots=True)
class Profile:
    """A shipped profile.

    Args:
        values: settings by name.
        kinds: strategies of cutting that speak for the domain.
        keys: names of metadata that do.
        words: of titles and questions, by ISO 639-1 code.
    """

    domain: str
    title: str
    help: str
    values: Mapping[str, Any]
    kinds: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@cache
def profiles() -> Mapping[str, Profile]:
    """The shipped profiles by domain, in the file's order."""
    raw = yaml.safe_load((DATA / "profiles.yaml").read_text(encoding="utf-8"))
    return {
        domain: Profile(
            domain, row["title"], row["help"], allowed(row["values"]), tuple(row.get("kinds", ())), tuple(row.get("keys", ())),
            {language: tuple(words) for language, words in row.get("words", {}).items()},
        )
        for domain, row in raw.items()
    }  # fmt: skip


def require_domain(domain: str) -> Profile:
    """The shipped profile of a domain.

    Raises:
        InvalidSetting: there is no such domain.
    """
    if domain not in profiles():
        raise InvalidSetting(f"There is no domain {domain!r}.", remedy=f"Use one of: {', '.join(profiles())}.")
    return profiles()[domain]


def allowed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as JSON, if a profile may set them: numbers, switches and choices within their ranges.

    Raises:
        InvalidSetting: a name or value that is none, free text, or what a library is built with.
    """
    knobs = {knob.name: knob for knob in Settings.knobs()}
    for name in values:
        if name in knobs and (name in AS_BUILT or not knobs[name].is_closed):
            raise InvalidSetting(f"A profile cannot set {name!r}.", remedy="Whoever runs the service sets it.")
    taken = Settings.load().changed(**values).model_dump(mode="json")
    if unknown := sorted(set(values) - set(knobs)):  # `preset` is a name, not a setting
        raise InvalidSetting(f"A profile cannot set {unknown[0]!r}.", remedy="Run `python -m rag_core settings` to see what can be set.")
    return {name: taken[name] for name in values}


def of_cost(values: Mapping[str, Any], costs: Collection[Cost]) -> dict[str, Any]:
    """Those of the values whose change costs this."""
    return {name: value for name, value in values.items() if Settings.knob(name).cost in costs}


def named(domain: str, version: int) -> str:
    """The name that stands in a decision's metadata, such as `legal@2`."""
    return f"{domain}@{version}"
