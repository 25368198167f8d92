"""A checksum in every row of a SQLite file. SQLite notices a page that makes no sense, but not a changed letter.

Each connection of ours fills the column `checksum` when a row is written, by triggers, and compares it when a row is read through the view
`sound_<table>`, or changed. Triggers and views are temporary: the file itself stays readable to any other program.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence

Tables = Mapping[str, Sequence[str]]  # the columns of each table, without `checksum`


class RowDamaged(Exception):
    """A row does not have its checksum. SQLite hides it behind an error of its own."""


def migration(tables: Tables) -> tuple[str, ...]:
    """Statements that give these tables the column and fill it with what stands there now."""
    columns = [f"ALTER TABLE {table} ADD COLUMN checksum BLOB" for table in tables]
    return (*columns, *(f"UPDATE {table} SET checksum = {_sum(table, names)}" for table, names in tables.items()))


def teach(connection: sqlite3.Connection) -> None:
    """Give the connection the functions that the statements of this module use."""
    connection.create_function("row_sum", -1, _row_sum, deterministic=True)
    connection.create_function("row_sound", 2, _row_sound)


def guard(connection: sqlite3.Connection, tables: Tables) -> None:
    """Have rows of these tables stamped when they are written, and compared when they are changed or read through their views."""
    connection.execute("PRAGMA temp_store = MEMORY")
    for table, names in tables.items():
        columns = ", ".join(names)
        fill = f"BEGIN UPDATE {table} SET checksum = {_sum(table, names, 'NEW.')} WHERE rowid = NEW.rowid; END"
        compare = f"BEGIN SELECT {_sound(table, names, 'OLD.')}; END"
        # The row is looked up once more: where a query asks for `column = ?`, SQLite puts that value in the column's place in the
        # view's own condition, also for rows that have another.
        again = f"SELECT {_sum(table, names, 'again.')} FROM main.{table} again WHERE again.rowid = {table}.rowid"
        for statement in (
            f"CREATE TEMP VIEW sound_{table} AS SELECT {columns} FROM main.{table} WHERE row_sound(checksum, ({again}))",
            f"CREATE TEMP TRIGGER compare_{table} BEFORE UPDATE OF {columns} ON main.{table} {compare}",
            f"CREATE TEMP TRIGGER stamp_{table} AFTER INSERT ON main.{table} {fill}",
            f"CREATE TEMP TRIGGER restamp_{table} AFTER UPDATE OF {columns} ON main.{table} {fill}",
        ):
            connection.execute(statement)


def _sum(table: str, names: Sequence[str], row: str = "") -> str:
    return f"row_sum('{table}', {', '.join(row + name for name in names)})"


def _sound(table: str, names: Sequence[str], row: str = "") -> str:
    return f"row_sound({row}checksum, {_sum(table, names, row)})"


def _row_sum(*values: object) -> bytes:
    """SHA-256 of the values with their types and lengths, the table's name first."""
    total = hashlib.sha256()
    for value in values:
        data = value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else repr(value).encode()
        total.update(f"{type(value).__name__} {len(data)}:".encode() + data)
    return total.digest()


def _row_sound(written: object, found: object) -> int:
    if written != found:
        raise RowDamaged
    return 1
