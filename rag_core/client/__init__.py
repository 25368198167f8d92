"""A typed client of the HTTP API: `Client`, and `AsyncClient` with the same methods to await.

from rag_core.client import Client

with Client("http://127.0.0.1:8501", token="plb_…") as service:
service.index([{"content": "The warranty period is 24 months."}], collection="contracts")
print(service.query("How long is the warranty period?", collection="contracts").answer)
"""

from rag_core.client.clients import AsyncClient, Client
from rag_core.client.sending import ServiceError

__all__ = ["AsyncClient", "Client", "ServiceError"]
