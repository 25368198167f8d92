"""One request of the API with the type of its reply, and what requests are made of.

Names of collections and ids are put into addresses quoted, so that none leads to another address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import TypeAdapter

T = TypeVar("T")
Settings = Mapping[str, bool | int | float | str]
File = tuple[str, bytes]  # name and bytes


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request. `reads` is the type of the reply: a model, `bytes` for a picture, None for nothing."""

    method: str
    path: str
    reads: type[T]
    json: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[File] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def read(self, content: bytes) -> T:
        """The reply.

        Raises:
            ValueError: it has another form.
        """
        if self.reads is bytes:
            return content  # type: ignore[return-value]
        return TypeAdapter(self.reads).validate_json(content or b"null")


def address_in(collection: str, *parts: str | int) -> str:
    """An address below a collection, each part quoted."""
    return "/".join(["/api/collections", *(quote(str(part), safe="") for part in (collection, *parts))])


def given(**values: Any) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def key_header(key: str | None) -> dict[str, str]:
    """The header by which a call that is sent twice is done once."""
    return {"idempotency-key": key} if key is not None else {}
