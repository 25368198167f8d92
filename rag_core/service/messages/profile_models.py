"""The replies of the API about domain profiles, as pydantic models."""

from __future__ import annotations

from typing import Any

from rag_core.service.messages.models import Told


class ProfileOut(Told):
    """A domain's profile and its settings."""

    domain: str
    title: str
    help: str
    values: dict[str, Any]


class Profiles(Told):
    """The profiles of the domains."""

    items: list[ProfileOut]


class RecordedOut(ProfileOut):
    """A profile, with what programs recorded of their work under it."""

    recorded: dict[str, Any]


class DetectedOut(Told):
    """The domain that a question and the searched documents speak for."""

    domain: str
    why: str
