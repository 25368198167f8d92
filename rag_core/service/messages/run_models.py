"""The bodies of the API's calls about labelled runs and certificates, as pydantic models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from rag_core.errors import InvalidSetting
from rag_core.evaluation.certify import FIRST, SHIFTED, Request
from rag_core.evaluation.guarantee import Kind, Target
from rag_core.library.stored.bounds import MAX_KEY_CHARS
from rag_core.service.messages.models import Told
from rag_core.service.messages.request_models import Asked, Chosen

Threshold = Annotated[str, Field(max_length=MAX_KEY_CHARS)]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The promise that a certificate is to make.

    Args:
        request: the targets, and the thresholds that are chosen.
        preset: the settings beside them; the run's own without.
        values: single settings over it.
        save_as: the name of a preset that keeps it; empty for none.
    """

    request: Request
    preset: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    save_as: str = ""


class ResumeIn(Asked):
    """How a run goes on."""

    budget_tokens: int | None = Field(default=None, ge=1, le=10**9, description="Stop when a language model has taken so many.")


class CertifyIn(Chosen):
    """The targets of a certificate: at most these shares of errors, all at once with this confidence."""

    targets: dict[Kind, Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]] = Field(
        min_length=1, examples=[{"wrong_answers": 0.05}], description="Kinds: wrong_answers, missed_answers, false_refusals."
    )
    confidence: float = Field(default=0.95, ge=0.5, le=0.999, allow_inf_nan=False)
    first: Threshold = Field(default=SHIFTED, description="The threshold that is chosen.")
    second: Threshold = Field(default="", description="Another one that is chosen with it.")
    by_type: bool = Field(default=False, description="A limit of its own for each type of question.")
    save_as: Annotated[str, Field(max_length=80)] = Field(default="", description="Keep it as a preset of this name, if it is found.")

    def wanted(self) -> Wanted:
        """The same as the service takes it.

        Raises:
            InvalidSetting: thresholds that cannot be chosen.
        """
        targets = tuple(Target(kind, at_most) for kind, at_most in self.targets.items())
        try:
            request = Request(targets, self.confidence, self.first, self.second, self.by_type)
        except ValueError as error:
            raise InvalidSetting(f"This cannot be certified: {error}.", remedy=f"Choose the first from {', '.join(FIRST)}.") from error
        return Wanted(request, self.preset, self.settings, self.save_as.strip())


class Run(Told):
    """A labelled run, and how far it is."""

    run: int
    name: str
    set: str
    done: int
    total: int
    settings_hash: str
    started: str


class Runs(Told):
    """Labelled runs, newest first; `next` goes into `offset`."""

    items: list[Run]
    next: int | None = None


class Certified(Told):
    """A certificate, or what is missing for one. `preset` is the name to ask under, where it was saved."""

    certified: bool
    certificate: dict[str, Any] | None
    missing: dict[str, Any] | None
    preset: str = ""


class CertificateOut(Told):
    """A saved preset with its certificate. `stale` says why it does not hold now: namespace, library, calibration, model, settings."""

    preset: str
    created: str
    holds: bool
    stale: list[str]
    certificate: dict[str, Any]


class Certificates(Told):
    """Saved presets that have a certificate."""

    items: list[CertificateOut]
