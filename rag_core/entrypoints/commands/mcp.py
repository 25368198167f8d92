"""`mcp`: the MCP server over standard input and output, for an assistant on this machine that starts it itself."""

from __future__ import annotations

import argparse
import os

from rag_core.entrypoints.terminal.common import library_folder
from rag_core.service.callers.principal import Principal, collections_of, scopes_of
from rag_core.service.service import Service
from rag_core.settings.configuration import load_settings
from rag_core.settings.endpoints import model_environment
from rag_core.wiring import require_packages
from rag_core.work.runner import Runner


def mcp(args: argparse.Namespace) -> int:
    """Serve until standard input ends. Whoever starts it has the rights that the options leave, and needs no token."""
    require_packages("service", "MCP")
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
