"""Values as JSON and back, by the types that their fields declare.

A row has exactly the fields that its value is built from: one that is missing, unknown or of another type is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache, lru_cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from rag_core.domain.documents import Box, Span
from rag_core.domain.llm_trace import LlmTrace

Read = Callable[[Any], Any]  # a row's value; raises ValueError, TypeError or KeyError
_LISTED = (Span, Box)  # whose row is a list of their fields' values: rows of many small values would be mostly names
_PLAIN: Mapping[Any, frozenset[type]] = {
    str: frozenset({str}),
    int: frozenset({int}),  # a bool is one only to isinstance
    bool: frozenset({bool}),
    float: frozenset({float, int}),
}


def to_row(value: Any) -> Any:
    """A value as JSON: a plain one, a tuple, a mapping by text, a choice, settings or a dataclass."""
    kind = type(value)
    if kind in _PLAIN or value is None:
        return value
    if kind in _LISTED:
        return [getattr(value, name) for name in kind.__annotations__]
    if kind is tuple or kind is list:
        return [to_row(one) for one in value]
    if isinstance(value, Mapping):
        return {key: to_row(one) for key, one in value.items()}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return {name: to_row(getattr(value, name)) for name in _names(kind)} if is_dataclass(kind) else value


def _reader(hint: Any) -> Read:
    """Reads rows of a type that `to_row` takes, or of an optional one; raises TypeError for any other."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda row: row
    if hint in _PLAIN:
        return partial(_plain, _PLAIN[hint])
    if origin is not None:
        return _of_parts(origin, args)
    if hint in _LISTED:
        return _fixed(hint, tuple(get_type_hints(hint).values()))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return lambda row: _settled(hint, tuple(row.items()))
    if is_dataclass(hint) and isinstance(hint, type):
        return partial(_record, hint)
    raise TypeError(f"there is no form for {hint!r}")


reader: Callable[[Any], Read] = cache(_reader)


def _of_parts(origin: Any, args: tuple[Any, ...]) -> Read:
    if origin is Literal:
        return partial(_one_of, args)
    if origin in (Union, UnionType) and NoneType in args and len(args) == 2:
        of = reader(next(one for one in args if one is not NoneType))
        return lambda row: None if row is None else of(row)
    if origin is Mapping:
        of = reader(args[1])
        return lambda row: {key: of(one) for key, one in _of_kind(dict, row).items()}
    if origin is tuple:
        return _many(args[0]) if args[-1] is Ellipsis else _fixed(lambda *values: values, args)
    raise TypeError(f"there is no form for {origin!r} of {args!r}")


@lru_cache(maxsize=64)  # many rows have the same settings
def _settled(kind: type[BaseModel], values: tuple[tuple[str, Any], ...]) -> BaseModel:
    return kind(**dict(values))


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if one.init)


@cache
def _readers(kind: type) -> dict[str, Read]:
    hints = get_type_hints(kind, localns={"LlmTrace": LlmTrace})  # a name that is imported for type checkers alone
    return {name: reader(hints[name]) for name in _names(kind)}


def _record(kind: type, row: Any) -> Any:
    of = _readers(kind)
    if type(row) is not dict or row.keys() != of.keys():
        raise ValueError(f"a row of {kind.__name__} has not just the fields {sorted(of)}")
    return kind(**{name: read(row[name]) for name, read in of.items()})


def _plain(types: frozenset[type], row: Any) -> Any:
    if type(row) not in types:
        raise ValueError(f"wanted {sorted(one.__name__ for one in types)}, got {type(row).__name__}")
    return row


def _one_of(allowed: tuple[Any, ...], row: Any) -> Any:
    if row not in allowed:
        raise ValueError(f"wanted one of {allowed}")
    return row


def _of_kind(kind: type, row: Any) -> Any:
    if type(row) is not kind:
        raise ValueError(f"wanted a {kind.__name__}, got {type(row).__name__}")
    return row


def _many(arg: Any) -> Read:
    plain, read = _PLAIN.get(arg), reader(arg)

    def values(row: Any) -> tuple[Any, ...]:
        if type(row) is list and plain is not None and plain.issuperset(map(type, row)):
            return tuple(row)
        return tuple([read(one) for one in _of_kind(list, row)])

    return values


def _fixed(made: Callable[..., Any], hints: tuple[Any, ...]) -> Read:
    """Of a list with just so many values; `made` takes each."""
    readers, plain = [reader(hint) for hint in hints], _PLAIN.get(hints[0]) if len(set(hints)) == 1 else None

    def value(row: Any) -> Any:
        if type(row) is list and plain is not None and len(row) == len(hints) and plain.issuperset(map(type, row)):
            return made(*row)
        return made(*[read(one) for read, one in zip(readers, _of_kind(list, row), strict=True)])

    return value
