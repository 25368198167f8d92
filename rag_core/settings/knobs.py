"""The form in which a setting is declared: bounds, step, scale, what changing it costs, and how a check may act.

The declarations themselves stand in `rag_core.settings.settings`, those of a language model in `rag_core.settings.llm`.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from pydantic import Field

from rag_core.settings.scales import Scale, Unit

# a library is searched with what it was built with
AS_BUILT = ("embedding_model", "embedding_precision", "vector_store")
BY_OPERATOR = ("workers",)  # a matter of the machines it runs on: no caller and no visitor changes it


class Mode(StrEnum):
    """The ways in which a check may act: block, only be shown, or not be looked at."""

    ENFORCE = "enforce"
    OBSERVE = "observe"
    OFF = "off"


class Cost(StrEnum):
    """The cost of changing a setting."""

    REPLAY = "replay"  # a judgement: decided again at once from what was measured
    ASK = "ask"  # retrieve or draft again
    INGEST = "ingest"  # read the documents again


class Stage(StrEnum):
    """Where a knob belongs."""

    INGEST = "ingest"
    RETRIEVE = "retrieve"
    GATE = "gate"
    DRAFT = "draft"
    GROUNDING = "audit"  # as published
    OUTPUT = "output"


def number(
    default: float,
    stage: Stage,
    cost: Cost,
    scale: Scale | Unit,
    low: float | None = None,
    high: float | None = None,
    *,
    step: float | None = None,
    stricter: str = "",
) -> Any:
    """Declare a numeric knob; its help is the text below it.

    It goes from `low` to `high`, or over the whole scale, in steps of 1 of a unit and of .01 on a scale. `stricter` is
    "higher", "lower" or "" where neither end is stricter; integers stay integers.
    """
    if isinstance(scale, Scale):
        low, high = scale.low if low is None else low, scale.high if high is None else high
    usual = 0.01 if isinstance(scale, Scale) else 1
    extra: Any = {"step": step or usual, "stage": stage, "cost": cost, "scale": scale, "stricter": stricter}
    return Field(default, ge=low, le=high, json_schema_extra=extra)


def at_least(default: float, stage: Stage, scale: Scale | Unit, *ends: float, step: float | None = None) -> Any:
    """Declare a limit that a check judges by, the stricter the higher; see `number`."""
    return number(default, stage, Cost.REPLAY, scale, *ends, step=step, stricter="higher")


def at_most(default: float, stage: Stage, scale: Scale | Unit, *ends: float, step: float | None = None) -> Any:
    """Declare a limit that a check judges by, the stricter the lower; see `number`."""
    return number(default, stage, Cost.REPLAY, scale, *ends, step=step, stricter="lower")


def choice(default: Any, stage: Stage, cost: Cost, *, switch: str = "") -> Any:
    """Declare a knob with named values, or a switch, which `switch` turns off as in `mode`; the text below helps."""
    return Field(default, json_schema_extra={"stage": stage, "cost": cost, "scale": "choice", "switch": switch})


# environment variables that loosen whole groups of checks
STRICT, VALIDATION = "RAG_STRICT_MODE", "RAG_VALIDATION_ENABLED"


def mode(default: Mode, stage: Stage, name: str = "", *, switch: str = "") -> Any:
    """Declare what the check of a name may do; without a name the text below it is its help, since observing does more.

    `switch` is the environment variable that loosens it where it is set to false; see `configuration`.
    """
    usual = (
        f"Whether the {name} check may block an answer (enforce), is only shown (observe), or is not looked at (off)."
    )
    extra: Any = {"stage": stage, "cost": Cost.REPLAY, "scale": "mode", "switch": switch}
    return Field(default, description=usual if name else None, json_schema_extra=extra)


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting as the page, the command line and the documentation see it; a choice has no range."""

    name: str
    default: Any
    low: float | None
    high: float | None
    options: tuple[str, ...]
    help: str
    stage: Stage
    cost: Cost
    scale: str
    step: float | None = None
    stricter: str = ""
    switch: str = ""

    @property
    def values(self) -> list[Any]:
        """Every value of its slider, the lowest first: exact decimals, or integers; none of a choice."""
        if self.low is None or self.high is None or not self.step:
            return []
        low, step = Decimal(str(self.low)), Decimal(str(self.step))
        count = int((Decimal(str(self.high)) - low) / step) + 1
        return [type(self.default)(low + n * step) for n in range(count)]

    @property
    def is_closed(self) -> bool:
        """Whether it is a number, a switch or an option, and no free text, which names models and servers."""
        return self.low is not None or bool(self.options) or isinstance(self.default, bool)
