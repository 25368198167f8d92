"""Values as JSON and back, by the types that their fields declare.

A row has exactly the fields that its value is built from: one that is missing, unknown or of another type is an error.
Where a value does not stand in its row as it is, a table of `Custom` fields says what does; see `shapes.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Custom:
    """A field with a form of its own: `write` gets the value that has it, `read` the JSON and the fields before."""

    write: Callable[[Any, Any], Any]
    read: Callable[[Any, Row, Any], Any]


class Form(NamedTuple):
    """How values of a type are read from JSON, or a ValueError; plain `types` stand in a row as they are."""

    read: Callable[[Any, Any], Any]
    types: frozenset[type] = frozenset()


class Codec:
    """The forms of types, each made when it is first needed.

    Args:
        customs: by type and field, in the order in which they are read, which is behind all others; None for a field
            that only has its place in that order.
        positional: types whose row is a list of their fields' values. Rows of many small values would be mostly names.
        names: types that a module names only where types are checked.
    """

    def __init__(
        self,
        customs: Mapping[type, Mapping[str, Custom | None]],
        positional: Collection[type],
        names: Mapping[str, Any],
    ) -> None:
        self._customs, self._positional, self._names = customs, frozenset(positional), dict(names)
        self._forms: dict[Any, Form] = {}
        self._fields: dict[type, list[tuple[str, Custom | None]]] = {}

    def write(self, value: Any, context: Any) -> Any:
        """A value as JSON: a plain one, a tuple, a mapping by text, a choice or a dataclass."""
        kind = type(value)
        if kind in _PLAIN or value is None:
            return value
        if kind in self._positional:
            return [getattr(value, name) for name in kind.__annotations__]
        if kind is tuple or kind is list:
            return [self.write(one, context) for one in value]
        if isinstance(value, Mapping):
            return {key: self.write(one, context) for key, one in value.items()}
        if isinstance(value, StrEnum):
            return value.value
        if not is_dataclass(kind):
            return value
        if kind not in self._fields:
            customs = self._customs.get(kind, {})
            rest = [(one.name, None) for one in fields(kind) if one.init and one.name not in customs]
            self._fields[kind] = [*rest, *customs.items()]
        return {
            name: custom.write(value, context) if custom else self.write(getattr(value, name), context)
            for name, custom in self._fields[kind]
        }

    def form(self, hint: Any) -> Form:
        """The form of a type, which `write` takes, or of an optional one; raises TypeError for any other."""
        if hint not in self._forms:
            self._forms[hint] = self._made(hint)
        return self._forms[hint]

    def _made(self, hint: Any) -> Form:
        origin, args = get_origin(hint), get_args(hint)
        if hint is Any:
            return Form(lambda row, context: row)
        if hint in _PLAIN:
            return Form(partial(_plain, _PLAIN[hint]), _PLAIN[hint])
        if origin is Literal:
            return Form(partial(_one_of, args))
        if origin in (Union, UnionType) and NoneType in args and len(args) == 2:
            return _optional(self.form(next(one for one in args if one is not NoneType)))
        if origin is Mapping:
            of = self.form(args[1]).read
            return Form(
                lambda row, context: {key: of(one, context) for key, one in _plain(_DICT, row, context).items()}
            )
        if hint in self._positional:
            whole = _fixed([self.form(one) for one in get_type_hints(hint).values()]).read
            return Form(lambda row, context: hint(*whole(row, context)))
        if origin is tuple:
            return _list(self.form(args[0])) if args[-1] is Ellipsis else _fixed([self.form(one) for one in args])
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            return Form(lambda row, context: hint(row))
        if is_dataclass(hint) and isinstance(hint, type):
            told = {one.name for one in fields(hint) if one.init}
            hints = {name: one for name, one in get_type_hints(hint, localns=self._names).items() if name in told}
            customs = self._customs.get(hint, {})
            rest = {name: self.form(one) for name, one in hints.items() if name not in customs}
            own = {name: custom.read if custom else _usual(self.form(hints[name])) for name, custom in customs.items()}
            return _record(hint, rest, own)
        raise TypeError(f"a record has no form for {hint!r}")


_PLAIN: Mapping[Any, frozenset[type]] = {
    str: frozenset({str}),
    int: frozenset({int}),
    bool: frozenset({bool}),
    float: frozenset({float, int}),
}
_DICT, _LIST = frozenset({dict}), frozenset({list, tuple})


def _optional(of: Form) -> Form:
    if of.types:
        types = of.types | {NoneType}
        return Form(partial(_plain, types), types)
    return Form(lambda row, context: None if row is None else of.read(row, context))


def _list(of: Form) -> Form:
    read, types = of.read, of.types
    if types:
        return Form(lambda row, context: _plain_list(types, row))
    return Form(lambda row, context: tuple([read(one, context) for one in _plain(_LIST, row, context)]))


def _fixed(of: Sequence[Form]) -> Form:
    types, length = of[0].types, len(of)
    if types and all(form.types == types for form in of):
        return Form(lambda row, context: _plain_list(types, row, length))
    return Form(
        lambda row, context: tuple(
            [form.read(one, context) for form, one in zip(of, _plain(_LIST, row, context), strict=True)]
        )
    )


def _usual(of: Form) -> Callable[[Any, Row, Any], Any]:
    return lambda row, found, context: of.read(row, context)


def _record(kind: type, of: Mapping[str, Form], own: Mapping[str, Callable[[Any, Row, Any], Any]]) -> Form:
    wanted = {*of, *own}
    plain = [(name, form.types) for name, form in of.items() if form.types]
    nested = [(name, form.read) for name, form in of.items() if not form.types]

    def read(row: Any, context: Any) -> Any:
        if type(row) is not dict or row.keys() != wanted:
            raise ValueError(f"a row of {kind.__name__} has not just the fields {sorted(wanted)}")
        found: Row = {}
        for name, types in plain:
            value = found[name] = row[name]
            if type(value) not in types:
                raise ValueError(f"{kind.__name__}.{name} cannot be of {type(value).__name__}")
        for name, again in nested:
            found[name] = again(row[name], context)
        for name, custom in own.items():
            found[name] = custom(row[name], found, context)
        return kind(**found)

    return Form(read)


def _plain(types: frozenset[type], row: Any, context: Any) -> Any:
    if type(row) not in types:  # a bool is an int to isinstance
        raise ValueError(f"wanted {sorted(one.__name__ for one in types)}, got {type(row).__name__}")
    return row


def _plain_list(types: frozenset[type], row: Any, length: int | None = None) -> tuple[Any, ...]:
    if type(row) not in _LIST or not types.issuperset(map(type, row)) or length not in (None, len(row)):
        raise ValueError(f"wanted a list of {sorted(one.__name__ for one in types)}")
    return tuple(row)


def _one_of(allowed: tuple[Any, ...], row: Any, context: Any) -> Any:
    if row not in allowed:
        raise ValueError(f"wanted one of {allowed}")
    return row
