"""Optional packages, which only a part of the product needs: the extras of pyproject.toml.

Setup installs them all, but for those of stores in a database, Ray, RapidOCR and LiteLLM (`APART`). An installation
that leaves some out answers questions as before; what needs one says which, and the command.
"""

from __future__ import annotations

from importlib.util import find_spec

from rag_core.errors import MissingDependency

# the extra's name, and the modules that it brings
EXTRAS = {
    "models": ("sentence_transformers", "transformers"),
    "service": ("fastapi", "uvicorn", "python_multipart", "mcp", "prometheus_client"),
    "login": ("authlib", "httpx", "jwt"),
    "traces": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "pgvector": ("pgvector", "psycopg"),
    "milvus": ("pymilvus",),
    "ray": ("ray",),
    "s3": ("s3fs",),
    "webdav": ("webdav4",),
    "rapidocr": ("rapidocr", "cv2"),
    "litellm": ("litellm", "google.auth"),
}
APART = {  # not installed by setup
    "pgvector": "supply/stores.lock",
    "milvus": "supply/stores.lock",
    "ray": "supply/ray.lock",
    "rapidocr": "supply/rapidocr.lock",
    "litellm": "supply/litellm.lock",
}
REMEDY = (
    "Run: .venv/bin/python -m pip install --no-deps -r requirements.lock. Where Plumbline is an installed wheel, "
    "install that file again with [models,service,login,traces] after its name."
)
REMEDY_APART = (
    "Run: .venv/bin/python -m pip install --no-deps -r {lock}. "
    "Where Plumbline is an installed wheel, install that file again with [{extra}] after its name."
)


def require(extra: str, what: str) -> None:
    """Raise MissingDependency unless the packages of an extra are there; `what` needs them, such as "A reranker"."""
    for module in EXTRAS[extra]:
        if find_spec(module) is None:
            remedy = REMEDY_APART.format(extra=extra, lock=APART[extra]) if extra in APART else REMEDY
            raise MissingDependency(
                f"{what} needs the package {module.replace('_', '-')}, which is not installed.", remedy=remedy
            )
