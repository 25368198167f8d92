"""The bodies of the routes about visits, as pydantic models."""

from __future__ import annotations

from pydantic import Field

from rag_core.service.messages.models import Told


class VisitOut(Told):
    """A visit: the token that is sent as X-Browser-ID, the visitor's own collection, and when it ends by itself."""

    id: str
    collection: str = Field(serialization_alias="namespace", validation_alias="namespace")
    ends_after_minutes: float = Field(description="Minutes after the visitor's last call. Then the collection is deleted.")
