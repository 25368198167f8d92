"""The process of the small model: llama.cpp's own server on 127.0.0.1, on one thread. Started by its path; imports nothing of Plumbline.

    python -I child.py FOLDER WEIGHTS PORT   # the key is the first line of standard input; it ends when its parent closes that

One thread, since two on two busy cores wait for each other. Every request needs the key: another user of the machine has none.
"""

from __future__ import annotations

import os
import sys

CONTEXT_TOKENS = 8192  # a first prompt has 1,000, one with findings or whole passages a few thousand
HTTP_THREADS = 2  # threads of its HTTP server; it works on one question at a time


def main(folder: str, weights: str, port: str) -> None:
    """Serve until standard input ends."""
    key = sys.stdin.readline().strip()
    sys.path.insert(0, folder)
    import xllamacpp  # its own wheel, unpacked in the folder

    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = {os.path.basename(weights).partition(".")[0]}
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], int(port), [key]
    params.n_ctx, params.n_parallel, params.n_threads_http = CONTEXT_TOKENS, 1, HTTP_THREADS
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads, threads.poll = 1, 0
    params.offline, params.ui, params.verbosity = True, False, 0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # the server's threads end with the process, whatever they are at


if __name__ == "__main__":
    main(*sys.argv[1:])
