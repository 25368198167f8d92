"""A download of the page is noted before it is sent; a picture is not, and what cannot be noted is not sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from rag_core.adapters.act_log import FILE
from rag_core.wiring import act_log
from ui.app.people.guard import NotedDownloads
from ui.serve import guards


async def media(request: Request) -> Response:
    """As Streamlit serves it: a download says that it is an attachment."""
    download = request.path_params["name"].endswith(".json")
    return Response(
        b"the bytes", headers={"Content-Disposition": 'attachment; filename="secret.json"'} if download else {}
    )


def test_given_a_download_when_it_is_asked_for_then_it_is_noted_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_LIBRARY", str(tmp_path))
    with TestClient(NotedDownloads(Starlette(routes=[Route("/media/{name}", media)]))) as client:
        assert client.get("/media/0a1b.png").content == b"the bytes"
        assert not (tmp_path / FILE).exists()
        assert client.get("/media/0a1b.json?title=secret").content == b"the bytes"
        (noted,) = act_log(tmp_path).entries()
        (tmp_path / FILE).unlink()
        (tmp_path / FILE).mkdir()
        refused = client.get("/media/0a1b.json")

    assert (noted.who, noted.action, noted.object) == ("page", "export", "media:0a1b")
    assert (refused.status_code, b"the bytes" in refused.content) == (503, False)
    assert NotedDownloads in [guard.cls for guard in guards()]
