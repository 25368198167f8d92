"""The language files, each read once when it is first needed: `LANGUAGES` by code, and what holds in any language.

A new language is a new file in `data/languages`, named after its ISO 639-1 code. What the keys mean stands in
`rag_core.language.schema`.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import regex
from babel import Locale

from rag_core.errors import InvalidSetting
from rag_core.language.schema import AnyLanguage, Grammar, LanguageInfo
from rag_core.language.statement_words import LimitRows

FALLBACK = "en"  # whose phrases and facts stand in for a language without its own

_CORE = Path(__file__).resolve().parents[1]
# inside it in a wheel (setup.py), beside it here
_DATA = _CORE / "data" if (_CORE / "data").is_dir() else _CORE.parent / "data"
_SUFFIX = ".toml"
_REMEDY = (
    "Restore it from the repository, or give it the keys that "
    "rag_core/language/schema.py names, as data/languages/en.toml does."
)

_Section = TypeVar("_Section")


class Languages(Mapping[str, LanguageInfo]):
    """The languages of a folder of files, by code, English first. A file is read when its language is first asked for.

    Raises:
        InvalidSetting: there is no English file; and whenever a file is read, that it is no valid TOML, or has not the
            right keys.
    """

    def __init__(self, folder: Path) -> None:
        self._paths = {
            path.stem: path
            for path in sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: (path.stem != FALLBACK, path.stem))
        }
        self._read: dict[str, LanguageInfo] = {}
        if FALLBACK not in self._paths:
            raise InvalidSetting(
                f"No English language file among the {len(self._paths)} found in data/languages.",
                remedy="Restore the folder data/languages from the repository; English is the fallback of every phrase.",  # noqa: E501
            )

    def __getitem__(self, code: str) -> LanguageInfo:
        if code not in self._read:
            self._read[code] = _info(self._paths[code])
        return self._read[code]

    def __contains__(self, code: object) -> bool:
        return code in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def or_fallback(self, code: str) -> LanguageInfo:
        """The language, or English where it has no file."""
        return self[code if code in self._paths else FALLBACK]

    def name(self, code: str, lang: str = FALLBACK) -> str:
        """The name of a language in another one, in English where that has no file."""
        names: Mapping[str, str] = Locale.parse(lang if lang in self._paths else FALLBACK).languages
        return names.get(code, self[code].name)

    def add(self, path: Path) -> LanguageInfo:
        """Add a language by its file, or read one anew, before the first text is read."""
        self._read[path.stem] = _info(path)
        self._paths[path.stem] = path
        return self._read[path.stem]


def _info(path: Path) -> LanguageInfo:
    table = _table(path)
    words = " ".join(str(table.get(key, "")) for key in ("question_words", "stop_words"))
    return _built(LanguageInfo, table, path.name, "", code=path.stem, function_words=frozenset(words.split()))


@cache
def any_language() -> AnyLanguage:
    """Facts that hold in every language; raises InvalidSetting for a bad `data/any_language.toml`."""
    path = _DATA / f"any_language{_SUFFIX}"
    table = _table(path)
    rows = table.pop("grammars", {})
    grammars = {code: _built(Grammar, row, path.name, f"grammars.{code}") for code, row in rows.items()}
    return _built(AnyLanguage, {**table, "grammars": grammars}, path.name, "")


def grammar(code: str) -> Grammar:
    """How a language is written, as far as is known; of an unknown one the default."""
    return LANGUAGES[code].grammar if code in LANGUAGES else any_language().grammars.get(code, _UNKNOWN)


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise _unusable(path.name, f"{type(problem).__name__}: {problem}") from problem


def _built(section: type[_Section], table: object, name: str, where: str, **given: object) -> _Section:
    """A section of a file with every key read as its type says."""
    place = f"[{where}]" if where else "the first part"
    if not isinstance(table, dict):
        raise _unusable(name, f"{place} must be a table")
    keys = {one.name: one for one in dataclasses.fields(section) if one.name not in given}  # type: ignore[arg-type]
    if unknown := sorted(set(table) - set(keys)):
        raise _unusable(name, f"{place} has unknown keys: {', '.join(unknown)}")
    needed = {
        key
        for key, one in keys.items()
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    }
    if missing := sorted(needed - set(table)):
        raise _unusable(name, f"{place} lacks {', '.join(missing)}")
    return section(**given, **{key: _value(section, key, table[key], name, where) for key in table})


def _value(section: type, key: str, value: object, name: str, where: str) -> object:
    kind, inner = _kinds(section)[key], f"{where}.{key}".lstrip(".")
    reader = getattr(kind, "__metadata__", None)
    if reader is None:  # a section of its own, which may be missing
        return _built(next(one for one in (kind, *get_args(kind)) if isinstance(one, type)), value, name, inner)
    try:
        return reader[0](value)
    except (ValueError, TypeError, AttributeError, regex.error) as problem:
        raise _unusable(name, f"{inner}: {problem}") from problem


@cache
def _kinds(section: type) -> Mapping[str, Any]:
    return get_type_hints(section, include_extras=True)


def _unusable(name: str, problem: str) -> InvalidSetting:
    return InvalidSetting(f"The language file {name} cannot be used: {problem}.", remedy=_REMEDY)


_UNKNOWN = Grammar()
LANGUAGES = Languages(_DATA / "languages")


def limit_words(code: str) -> LimitRows | None:
    """The words of a language that limit a statement or may be left out of one; None where there is no list."""
    return LANGUAGES[code].limits if code in LANGUAGES else None
