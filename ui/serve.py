"""The page as one server process: `python -m ui.serve --port 8501`.

`streamlit run app.py` starts the same server, a little slower: here the model's process is started before the slow
imports. With the server begin the loading of the model and, at the first start, the indexing of the samples, before the
first browser asks for them. Every response carries headers by which a browser refuses anything that does not come from
here, and pages of other origins are refused (`ui.app.people.guard`).
"""

from __future__ import annotations

from rag_core.adapters.child.process import prepare

if __name__ == "__main__":
    prepare()  # the embedding model takes longest to be there: its process starts before the slow imports of this one

import argparse
import gc
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from streamlit import config
from streamlit.runtime.pages_manager import PagesManager

from rag_core.entrypoints.http.crowds import Crowds
from rag_core.entrypoints.http.origin import SecurityHeaders, is_loopback
from rag_core.errors import InvalidInput, RagError
from rag_core.library.stored.named import collections
from rag_core.settings import Settings
from rag_core.settings.logs import start_logs
from rag_core.wiring import close_files, require
from rag_core.work import loading
from rag_core.work.background import Background
from rag_core.work.handing_in import take_up
from rag_core.work.runner import Runner
from ui import frame
from ui.app import first_run, state
from ui.app.jobs import uploads
from ui.app.people import visitor
from ui.app.people.guard import OnlyThisPage, SignedIn
from ui.documents import original

PAGE = Path(__file__).resolve().parent.parent / "app.py"


@asynccontextmanager
async def warm(_app: object) -> AsyncIterator[dict[str, object]]:
    """Begin with the server what the first page would wait for: loading the model, and at the first start the sample
    documents.

    Raises:
        InvalidSetting: the environment asks for a log that cannot be kept, or for a login that cannot be used; then
            nothing is served.
    """
    start_logs(os.environ)
    if visitor.configured():
        require("login", "Signing in on the page")
    Background[None]("beginning").start(lambda _: _begin())
    try:
        yield {}
    finally:
        close_files()  # here and not at exit alone: a signal ends Streamlit's own server before that


@asynccontextmanager
async def alone(app: object) -> AsyncIterator[dict[str, object]]:
    """As `warm`, for the page without the service, which listens where Streamlit is told to.

    Raises:
        InvalidInput: other machines would reach it, and nobody signs in.
    """
    address = str(st.get_option("server.address") or "every address")
    if not is_loopback(address) and not visitor.configured():
        raise InvalidInput(
            f"The page would listen on {address}, which other machines reach, and nobody signs in.",
            remedy="Start it with --server.address 127.0.0.1, or have people sign in: docs/operate.md.",
        )
    async with warm(app) as state_of:
        folder, names = state.library_folder(), collections(state.library_folder())
        Background[object]("taking up").start(lambda _: take_up(folder, names, state.base_settings(), state.runner()))
        yield state_of


def _begin() -> None:
    with suppress(RagError):  # the page asks for the same and shows what is wrong
        folder = state.library_folder()
        loading.engine(folder, first_run.start_collection(folder), state.base_settings())
        frame.offer_samples()
    # A collection of garbage looked at all that was imported and loaded, a tenth of a second each time. That stays as
    # long as the server does: no collection looks at it again.
    gc.collect()
    gc.freeze()


# Until app.py has called st.navigation once, Streamlit would run a page of pages/ by itself when its address is the
# first to be opened: without the page's configuration and with another navigation.
PagesManager.uses_pages_directory = False

uploads.install()  # before a server is made, which takes Streamlit's store of uploads as it finds it


def guards(*, proxied: bool = False) -> list[Middleware]:
    """The guards before the page, outermost first: the headers, so that what is refused carries them too.

    `proxied` says that a proxy lets others in.
    """
    return [
        Middleware(SecurityHeaders),
        Middleware(Crowds),
        Middleware(OnlyThisPage, proxied=proxied),
        Middleware(SignedIn),
    ]


# How app.py is served, whoever serves it.
# Streamlit gets the login that we checked: of a file of secrets that it cannot read it takes itself for a page without
# one.
SERVED: dict[str, Any] = {
    "lifespan": alone,
    "middleware": guards(),
    "routes": original.ROUTES,
    "secrets": visitor.for_streamlit(),
}


def beside(
    running: Callable[[], AbstractAsyncContextManager[None]], address: str, names: Sequence[str], *, proxied: bool
) -> tuple[st.App, Runner, Settings]:
    """The page for a server that has more than the page: its app, the runner of its jobs, and the settings that it
    starts with.

    Args:
        running: what begins with the server and ends with it, beside the page.
        address: the name under which browsers open the page.
        names: all names that it may be called by.
        proxied: whether a proxy lets others in.
    """

    @asynccontextmanager
    async def both(app: object) -> AsyncIterator[dict[str, object]]:
        async with warm(app), running():
            yield {}

    app = st.App(str(PAGE), **SERVED | {"lifespan": both, "middleware": guards(proxied=proxied)})
    config.set_option("server.allowedHosts", list(names))
    # else Streamlit asks the internet whether a foreign origin is this machine
    config.set_option("browser.serverAddress", address)
    return app, state.runner(), state.base_settings()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve the Plumbline page.")
    parser.add_argument("--port", type=int, default=8501)
    st.App(str(PAGE), **SERVED).run(config={"server.port": parser.parse_args().port})
