"""The page as one server process: `python -m ui.serve --port 8501`.

`streamlit run app.py` starts the same server, a little slower: here the model's process is started before the slow imports. With the server
begin the loading of the model and, at the first start, the indexing of the samples, before the first browser asks for them. Every response
carries headers by which a browser refuses anything that does not come from here, and pages of other origins are refused (`ui.app.guard`).
"""

from __future__ import annotations

from rag_core.adapters.embedding.process import prepare

if __name__ == "__main__":
    prepare()  # the embedding model takes longest to be there: its process starts before the slow imports of this one

import argparse
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime.pages_manager import PagesManager

from rag_core.errors import RagError
from rag_core.settings.logs import start_logs
from ui import frame
from ui.app import first_run, loading, state, uploads
from ui.app.background import Background
from ui.app.guard import Asgi, Message, OnlyThisPage, Receive, Send

PAGE = Path(__file__).resolve().parent.parent / "app.py"
# 'unsafe-inline' and 'unsafe-eval' are what Streamlit's own scripts and its charts need; nothing may be loaded from or sent to elsewhere
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),  # a page that opens this one in a window cannot send it messages
    (b"cross-origin-resource-policy", b"same-origin"),
)


class SecurityHeaders:
    """Adds HEADERS to every HTTP response; web sockets pass untouched."""

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


@asynccontextmanager
async def warm(_app: object) -> AsyncIterator[dict[str, object]]:
    """Begin with the server what the first page would wait for: loading the model, and at the first start the sample documents.

    Raises:
        InvalidSetting: the environment asks for a log that cannot be kept; then nothing is served.
    """
    start_logs(os.environ)
    Background[None]("beginning").start(lambda _: _begin())
    yield {}


def _begin() -> None:
    with suppress(RagError):  # the page asks for the same and shows what is wrong
        folder = state.library_folder()
        loading.engine(folder, first_run.start_collection(folder), state.base_settings())
        frame.offer_samples()


# Until app.py has called st.navigation once, Streamlit would run a page of pages/ by itself when its address is the first to be opened:
# without the page's configuration and with another navigation.
PagesManager.uses_pages_directory = False

uploads.install()  # before a server is made, which takes Streamlit's store of uploads as it finds it

# How app.py is served, whoever serves it; the headers come first, so that what is refused carries them too.
SERVED: dict[str, Any] = {"lifespan": warm, "middleware": [Middleware(SecurityHeaders), Middleware(OnlyThisPage)]}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve the Plumbline page.")
    parser.add_argument("--port", type=int, default=8501)
    st.App(str(PAGE), **SERVED).run(config={"server.port": parser.parse_args().port})
