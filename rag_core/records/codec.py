"""Values as JSON and back, by the types that their fields declare.

It knows how values are shaped, and nothing of what they mean.

A row has exactly the fields that its value is built from: one that is missing, unknown or of another type is an error.
Where a value does not stand in its row as it is, because it is a text, a table of `Custom` fields says what does; see
`shapes.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

Write = Callable[[Any, Any], Any]  # (value, context) -> JSON
Read = Callable[[Any, Any], Any]  # (JSON, context) -> value
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Custom:
    """A field with a form of its own: `write` gets the value that has it, `read` the JSON and the fields before."""

    write: Callable[[Any, Any], Any]
    read: Callable[[Any, Row, Any], Any]


class Form(NamedTuple):
    """How the values of a type are written, and read back.

    Reading raises ValueError where the JSON does not fit. `types` are those of plain values, which stand in a row as
    they are.
    """

    write: Write
    read: Read
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

    def form(self, hint: Any) -> Form:
        """The form of a type: a plain one, a tuple, a mapping by text, a choice, a dataclass, or an optional one."""
        if hint not in self._forms:
            self._forms[hint] = self._made(hint)
        return self._forms[hint]

    def _made(self, hint: Any) -> Form:
        origin, args = get_origin(hint), get_args(hint)
        if hint is Any:
            return Form(_as_is, _as_is)
        if hint in _PLAIN:
            return Form(_as_is, partial(_plain, _PLAIN[hint]), _PLAIN[hint])
        if origin is Literal:
            return Form(_as_is, partial(_one_of, args))
        if origin in (Union, UnionType) and NoneType in args and len(args) == 2:
            return _optional(self.form(next(one for one in args if one is not NoneType)))
        if origin is Mapping:
            return _mapping(self.form(args[1]))
        if hint in self._positional:
            hints = get_type_hints(hint)
            return _positional(hint, tuple(hints), _fixed([self.form(one) for one in hints.values()]))
        if origin is tuple:
            return _list(self.form(args[0])) if args[-1] is Ellipsis else _fixed([self.form(one) for one in args])
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            return Form(_enum_value, lambda row, context: hint(row))
        if is_dataclass(hint) and isinstance(hint, type):
            told = {one.name for one in fields(hint) if one.init}
            hints = {name: one for name, one in get_type_hints(hint, localns=self._names).items() if name in told}
            customs = self._customs.get(hint, {})
            rest = {name: self.form(one) for name, one in hints.items() if name not in customs}
            known = {name: custom or _usual(name, self.form(hints[name])) for name, custom in customs.items()}
            return _record(hint, rest, known)
        raise TypeError(f"a record has no form for {hint!r}")


_PLAIN: Mapping[Any, frozenset[type]] = {
    str: frozenset({str}),
    int: frozenset({int}),
    bool: frozenset({bool}),
    float: frozenset({float, int}),
}


def _optional(of: Form) -> Form:
    if of.types:
        types = of.types | {NoneType}
        return Form(_as_is, partial(_plain, types), types)
    write, read = of.write, of.read
    return Form(
        lambda value, context: None if value is None else write(value, context),
        lambda row, context: None if row is None else read(row, context),
    )


def _mapping(of: Form) -> Form:
    write, read = of.write, of.read
    return Form(
        lambda value, context: {key: write(one, context) for key, one in value.items()},
        lambda row, context: {key: read(one, context) for key, one in _plain(_DICT, row, context).items()},
    )


def _list(of: Form) -> Form:
    write, read, types = of.write, of.read, of.types
    if types:
        return Form(lambda value, context: list(value), lambda row, context: _plain_list(types, row))
    return Form(
        lambda value, context: [write(one, context) for one in value],
        lambda row, context: tuple([read(one, context) for one in _plain(_LIST, row, context)]),
    )


def _fixed(of: Sequence[Form]) -> Form:
    if all(form.types == of[0].types for form in of) and of[0].types:
        types, length = of[0].types, len(of)
        return Form(lambda value, context: list(value), lambda row, context: _plain_list(types, row, length))
    return Form(
        lambda value, context: [form.write(one, context) for form, one in zip(of, value, strict=True)],
        lambda row, context: tuple(
            [form.read(one, context) for form, one in zip(of, _plain(_LIST, row, context), strict=True)]
        ),
    )


def _positional(kind: type, names: tuple[str, ...], of: Form) -> Form:
    write, read = of.write, of.read
    values = attrgetter(*names)
    return Form(lambda value, context: write(values(value), context), lambda row, context: kind(*read(row, context)))


def _usual(name: str, of: Form) -> Custom:
    return Custom(
        lambda value, context: of.write(getattr(value, name), context),
        lambda row, found, context: of.read(row, context),
    )


def _record(kind: type, of: Mapping[str, Form], customs: Mapping[str, Custom]) -> Form:
    wanted = {*of, *customs}
    plain = [(name, form.types) for name, form in of.items() if form.types]
    nested = [(name, form.write, form.read) for name, form in of.items() if not form.types]

    def write(value: Any, context: Any) -> Row:
        row = {name: getattr(value, name) for name, _ in plain}
        for name, written, _ in nested:
            row[name] = written(getattr(value, name), context)
        for name, custom in customs.items():
            row[name] = custom.write(value, context)
        return row

    def read(row: Any, context: Any) -> Any:
        if type(row) is not dict or row.keys() != wanted:
            raise ValueError(f"a row of {kind.__name__} has not just the fields {sorted(wanted)}")
        found: Row = {}
        for name, types in plain:
            value = found[name] = row[name]
            if type(value) not in types:
                raise ValueError(f"{kind.__name__}.{name} cannot be of {type(value).__name__}")
        for name, _, again in nested:
            found[name] = again(row[name], context)
        for name, custom in customs.items():
            found[name] = custom.read(row[name], found, context)
        return kind(**found)

    return Form(write, read)


_DICT, _LIST = frozenset({dict}), frozenset({list, tuple})


def _as_is(value: Any, context: Any) -> Any:
    return value


def _enum_value(value: Any, context: Any) -> Any:
    return value.value


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
