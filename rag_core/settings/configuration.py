"""Reads settings from a preset, the environment, a YAML file and the command line. A later source wins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rag_core.errors import InvalidSetting
from rag_core.settings.knobs import STRICT, VALIDATION, Mode
from rag_core.settings.presets import DEFAULT_PRESET
from rag_core.settings.settings import Settings

_SWITCHED = {STRICT: Mode.OFF, VALIDATION: Mode.OBSERVE}  # what the checks of a group do where its variable is false
_KEPT_DAYS, _KEPT_MOST, _REJECTED_DAYS = 90, 5000, 30  # days, questions, days; chosen, and set by RAG_KEEP_*
MOST = 999_999  # that one of these can be set to
# for a library, where the environment says nothing: a token for all of them could make any number
MAX_COLLECTIONS = 200
# questions at once, one for each core of the smallest machine; and before them, some seconds' worth
_QUESTIONS, _WAITING = 2, 40
# each variable with the threshold that it sets and the mode of the gate: whoever sets one there wants it to refuse,
# under any preset
_NUMBERS = {
    "RAG_CONFIDENCE_THRESHOLD": ("max_distance", "distance_mode"),
    "RAG_MIN_DOCUMENTS": ("min_documents", "min_documents_mode"),
}


@dataclass(frozen=True, slots=True)
class Retention:
    """Whether questions are kept, for how many days, how many, and how long rejected drafts' texts."""

    keep: bool = True
    days: int = _KEPT_DAYS
    most: int = _KEPT_MOST
    rejected_days: int = _REJECTED_DAYS


def retention(environment: Mapping[str, str]) -> Retention:
    """How long questions are kept, unless RAG_KEEP_DECISIONS is false; raises InvalidSetting.

    By RAG_KEEP_DAYS, RAG_KEEP_MOST and RAG_KEEP_REJECTED_DAYS.
    """
    keep = _truth("RAG_KEEP_DECISIONS", environment.get("RAG_KEEP_DECISIONS") or "true")
    return Retention(
        keep,
        _amount("RAG_KEEP_DAYS", environment, MOST) or _KEPT_DAYS,
        _amount("RAG_KEEP_MOST", environment, MOST) or _KEPT_MOST,
        _amount("RAG_KEEP_REJECTED_DAYS", environment, MOST) or _REJECTED_DAYS,
    )


def most_collections(environment: Mapping[str, str]) -> int:
    """How many collections a library may have: RAG_QUOTA_COLLECTIONS; raises InvalidSetting."""
    return _amount("RAG_QUOTA_COLLECTIONS", environment) or MAX_COLLECTIONS


def question_places(environment: Mapping[str, str]) -> tuple[int, int]:
    """Questions worked on at once, and waiting: RAG_QUESTIONS and RAG_QUESTIONS_WAITING; raises InvalidSetting."""
    at_once = _amount("RAG_QUESTIONS", environment, MOST) or _QUESTIONS
    return at_once, _amount("RAG_QUESTIONS_WAITING", environment, MOST) or _WAITING


def locked(environment: Mapping[str, str]) -> frozenset[str]:
    """The settings that no caller of the API may change: RAG_LOCKED, names or `all`; raises InvalidSetting."""
    named = frozenset(name for one in environment.get("RAG_LOCKED", "").split(",") if (name := one.strip()))
    known = {knob.name for knob in Settings.knobs()}
    if named == {"all"}:
        return frozenset(known)
    if unknown := named - known:
        problem = f"RAG_LOCKED names no setting: {sorted(unknown)[0]!r}."
        raise InvalidSetting(problem, remedy="Use names of settings, or all.")
    return named


def _amount(name: str, env: Mapping[str, str], most: int | None = None) -> int | None:
    value = env.get(name) or ""
    whole = value.isascii() and value.isdecimal() and 1 <= int(value) <= (most or int(value))
    if value and not whole:
        upto = f"to {most}." if most else "on, or leave it out for no limit."
        raise InvalidSetting(f"{name} cannot be {value!r}.", remedy=f"Use a whole number from 1 {upto}")
    return int(value) if value else None


def webhook(environment: Mapping[str, str]) -> str:
    """The address that is told when watched answers change: RAG_WEBHOOK, or ""; raises InvalidSetting."""
    url = environment.get("RAG_WEBHOOK", "").strip()
    if url and not re.match(r"https?://[^/?#\s]", url):
        raise InvalidSetting("RAG_WEBHOOK is no web address.", remedy="Use one like https://example.org/hooks/answers.")
    return url


def auditing(environment: Mapping[str, str]) -> bool:
    """Whether a library keeps an audit log: RAG_AUDIT, by default true; raises InvalidSetting."""
    return _truth("RAG_AUDIT", environment.get("RAG_AUDIT") or "true")


def load_settings(
    preset: str | None = None,
    config: Path | None = None,
    values: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Settings from all sources; a later one wins: preset, environment, YAML file, `values`.

    Environment: RAG_PRESET names the preset. RAG_STRICT_MODE=false turns the gates and `levels` off.
    RAG_VALIDATION_ENABLED=false lets the optional checks only observe. RAG_CONFIDENCE_THRESHOLD is the largest
    distance, RAG_MIN_DOCUMENTS the least number of passages; each is enforced where it is set, unless strict mode is
    off. RAG_WORKERS says who makes documents of several PDFs. RAG_MODEL names a language model, which then drafts, also
    where the preset names another drafter; a file or `values` win over it. Give `model_environment(os.environ)`, so
    that the model may stand in the file of secrets.

    Raises:
        InvalidSetting: an unknown name, a value out of its range, or a file that cannot be read.
    """
    env = environment or {}
    merged = from_environment(env) | (_read_yaml(config) if config else {}) | dict(values or {})
    named = (preset, merged.pop("preset", None), env.get("RAG_PRESET"), DEFAULT_PRESET)
    return Settings.load(str(next(filter(None, named))), merged)


def from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    """The settings that RAG_MODEL and the other variables ask for."""
    model = env.get("RAG_MODEL", "").strip()
    found: dict[str, Any] = {"drafter": "model", "model": model} if model else {}
    if workers := env.get("RAG_WORKERS", "").strip():
        found["workers"] = workers
    for name, (threshold, gate) in _NUMBERS.items():
        if name in env:
            found |= {threshold: env[name], gate: Mode.ENFORCE}
    for name, wanted in _SWITCHED.items():
        if name in env and not _truth(name, env[name]):
            found |= {
                knob.name: wanted if isinstance(knob.default, Mode) else False
                for knob in Settings.knobs()
                if knob.switch == name
            }
    return found


def parse_value(pair: str) -> tuple[str, Any]:
    """Split "KEY=VALUE" of a command line; numbers and switches are read by the setting's own type."""
    key, equals, value = pair.partition("=")
    if not equals:
        raise InvalidSetting(f"{pair!r} is not KEY=VALUE.", remedy="Write it like top_k=5.")
    return key.strip(), value.strip()


def _truth(name: str, value: str) -> bool:
    known = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if value.strip().casefold() not in known:
        raise InvalidSetting(f"{name} cannot be {value!r}.", remedy="Use true or false.")
    return known[value.strip().casefold()]


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidSetting(
            f"{path} cannot be read as settings: {error}.", remedy="Give a YAML file of `name: value` lines."
        ) from error
    if not isinstance(read, dict):
        raise InvalidSetting(f"{path} holds no settings.", remedy="Give a YAML file of `name: value` lines.")
    return {str(name): value for name, value in read.items()}
