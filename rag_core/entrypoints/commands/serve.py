"""`serve`: the page, the HTTP API and MCP in one process; `mcp`: MCP for an assistant that starts it itself.

Without the page, as in an installed wheel, `serve` has the API and MCP alone.
"""

from __future__ import annotations

import argparse
import importlib
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from ipaddress import ip_network
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from rag_core.entrypoints.commands.terminal import library_folder, tell
from rag_core.entrypoints.http.origin import LOCAL, Asgi, is_loopback
from rag_core.errors import InvalidInput
from rag_core.service.principal import Principal, collections_of, scopes_of
from rag_core.service.service import Service
from rag_core.service.tokens import Tokens
from rag_core.settings import Settings
from rag_core.settings.configuration import load_settings, locked
from rag_core.settings.endpoints import model_environment
from rag_core.settings.login import login
from rag_core.settings.logs import start_logs
from rag_core.wiring import require
from rag_core.work.runner import Runner

if TYPE_CHECKING:
    import uvicorn

    from rag_core.entrypoints.http.app import Front


PAGE = "ui.serve"  # looked up by name: the core never imports the page, which stands above it
LOOPBACK = ("127.0.0.1", "::1")  # where a proxy of this machine, and a health check, come from
ROOT = Path(__file__).resolve().parents[3]  # this file is so many folders below the copy of the repository
END_SECONDS = 20  # that requests have to end when the service stops; the service itself waits for jobs after that
# a connection is kept so long without a whole request: proxies keep theirs for longer and open another
KEEP_ALIVE_SECONDS = 15
MAX_MESSAGE_BYTES = 50_000_000  # that a page sends over its web socket: server.maxMessageSize
MAX_HEADER_BYTES = 32 << 10  # all headers of a request together
BACKLOG = 128  # connections that wait while the models are loaded

Running = Callable[[], AbstractAsyncContextManager[None]]


class Page(NamedTuple):
    """The page as `ui.serve.beside` makes it: its app, and what it shares with the service."""

    app: Asgi
    runner: Runner
    base: Settings


def serve(args: argparse.Namespace) -> int:
    """Serve until a signal; what runs is finished, or listed for the next start."""
    require("service", "The service")
    folder = library_folder(args)
    os.environ["RAG_LIBRARY"] = str(folder)  # the page looks there
    names = (*LOCAL, *args.allow_host, *filter(None, [args.behind_proxy]))
    refuse_unsafe(args, folder)
    if args.verbose:
        os.environ["RAG_LOG"] = os.environ.get("RAG_LOG") or "text"  # the page starts its log by the environment
    start_logs(os.environ)
    with bound(args.host, args.port) as listener:  # before anything is loaded
        app, service = assembled(args, folder, names)
        _say(args, app.has_page, listener.getsockname()[1])
        return run(app, service, args, listener)


def refuse_unsafe(args: argparse.Namespace, folder: Path) -> None:
    """Raise InvalidInput where others than this machine could call without a token, or nobody said that they may."""
    people = login(os.environ)
    if people and args.behind_proxy and people.host != args.behind_proxy:
        raise InvalidInput(
            f"People who sign in are sent back to {people.host!r}, and the page is served as {args.behind_proxy!r}.",
            remedy="Name the same host in redirect_uri of the file of secrets and in --behind-proxy.",
        )
    tokens = [token for token in Tokens(folder).all() if not token.revoked]
    open_to_others = is_open(args)
    if open_to_others and not args.open_to_network:
        raise InvalidInput(
            f"{args.host!r} is an address that other machines reach.",
            remedy="Serve behind a proxy (docs/operate.md): on 127.0.0.1, or with --proxy-address; "
            "or say --open-to-network.",
        )
    if (open_to_others or args.behind_proxy) and not tokens:
        raise InvalidInput(
            "Others would reach the API without a token: there is none.",
            remedy="Make one: python -m rag_core token create NAME --scope ask --collection default.",
        )
    if open_to_others and not args.allow_host:
        raise InvalidInput(
            "Nobody could call the service by a name.", remedy="Name it as its callers do: --allow-host NAME."
        )


def is_open(args: argparse.Namespace) -> bool:
    """Whether other machines than a proxy would be served.

    Raises:
        InvalidInput: the address of a proxy is none, or nobody said under which name the proxy serves.
    """
    try:
        proxies = [ip_network(address) for address in args.proxy_address]
    except ValueError as error:
        raise InvalidInput(
            f"--proxy-address: {error}.", remedy="Name an address, such as 10.0.0.2, or a network, such as 10.0.0.0/24."
        ) from error
    if proxies and not args.behind_proxy:
        raise InvalidInput("--proxy-address is for a service behind a proxy.", remedy="Say --behind-proxy NAME too.")
    return not proxies and not is_loopback(args.host)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; port 0 for a free one."""
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=BACKLOG
        )
    except OSError as error:
        raise InvalidInput(
            f"{host}, port {port}, cannot be listened on: {error.strerror or error}.",
            remedy="Name another port or address.",
        ) from error


def assembled(args: argparse.Namespace, folder: Path, names: tuple[str, ...]) -> tuple[Front, Service]:
    from rag_core.entrypoints.http.app import Front, api, guarded, served
    from rag_core.entrypoints.mcp.server import http_routes, mcp_server

    def running() -> AbstractAsyncContextManager[None]:
        return served(service, mcp.session_manager.run())

    # no TLS here: where other machines reach the page, a proxy must stand before it, also where people sign in
    page = (
        None
        if args.no_page or is_open(args)
        else _page(running, args.behind_proxy or args.host, names, proxied=bool(args.behind_proxy))
    )
    locked(os.environ)  # a name that is no setting ends the start, and not each question
    base = page.base if page else load_settings(environment=model_environment(os.environ))
    runner, people = page.runner if page else Runner(), login(os.environ)
    service = Service(folder, base, runner, args.rate, local=not args.behind_proxy, login=people)
    mcp = mcp_server(service)
    routes = http_routes(mcp, people)  # makes its session manager
    front = Front(guarded(api(service, routes), names, service), page.app if page else None, running)
    return front, service


def run(app: Front, service: Service, args: argparse.Namespace, listener: socket.socket) -> int:
    import uvicorn

    class Server(uvicorn.Server):
        """Tells the service at once that it is to stop, so that its streams end."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            service.stop()
            super().handle_exit(sig, frame)

    server = Server(configured(app, [*LOOPBACK, *args.proxy_address] if args.behind_proxy else []))
    try:
        server.run([listener])
    except KeyboardInterrupt:  # uvicorn hands the signal on when all is closed
        pass
    return 0 if server.started else 1


def configured(app: Asgi, proxies: Sequence[str] = ()) -> uvicorn.Config:
    """How the app is served; where there are `proxies`, addresses or networks, they alone reach it and name callers."""
    import uvicorn
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    from rag_core.entrypoints.http.crowds import Patient
    from rag_core.entrypoints.http.guards import OnlyFrom

    outermost: Any = app  # for uvicorn's types of ASGI
    if proxies:
        outermost = ProxyHeadersMiddleware(outermost, list(proxies))
        outermost = OnlyFrom(outermost, proxies)
    return uvicorn.Config(
        outermost,
        http=Patient,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=END_SECONDS,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        ws_max_size=MAX_MESSAGE_BYTES,
    )


def _page(running: Running, address: str, names: tuple[str, ...], *, proxied: bool) -> Page | None:
    if not (ROOT / "app.py").is_file() or not (ROOT / "ui" / "serve.py").is_file():
        return None
    try:
        found = importlib.import_module(PAGE)
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("ui", "streamlit"):
            return None
        raise
    if Path(str(found.__file__)).parent != ROOT / "ui":  # another package of this name
        return None
    return Page(*found.beside(running, address, names, proxied=proxied))


def _say(args: argparse.Namespace, has_page: bool, port: int) -> None:
    host = f"[{args.host}]" if ":" in args.host else args.host
    address = f"https://{args.behind_proxy}" if args.behind_proxy else f"http://{host}:{port}"
    if has_page:
        tell(f"Serving the page at {address}/, the API at {address}/api.")
        if args.behind_proxy and login(os.environ) is None:
            tell("The page has no login: whoever the proxy lets through may use all of it (docs/operate.md).")
    else:
        tell(f"Serving the API at {address}/api, without the page.")


def mcp(args: argparse.Namespace) -> int:
    """Serve until standard input ends. Whoever starts it has the rights that the options leave, and needs no token."""
    require("service", "MCP")
    from rag_core.entrypoints.mcp.server import mcp_server

    alone = Principal("local", scopes_of(args.scope or ["admin"]), collections_of(args.collection or ["*"]))
    service = Service(
        library_folder(args), load_settings(environment=model_environment(os.environ)), Runner(), local=False
    )
    try:
        mcp_server(service, alone).run("stdio")
    finally:
        service.close()
    return 0
