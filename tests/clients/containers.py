"""Starts deploy/compose.yaml and asks through its proxy: the page, a token, an index of the samples, a question, MCP.

    TORCH_INDEX=… python tests/clients/containers.py docker compose        # or podman-compose; about four minutes
    python tests/clients/containers.py podman-compose --built              # an image that is there already

It needs /etc/plumbline/environment, which may be empty, ports 80 and 443, and curl. The name is plumbline.localhost,
for which Caddy makes a certificate of its own. The containers are stopped at the end and their volumes stay. It ends
with an error at the first thing that is not as it should be.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME, START_SECONDS = "plumbline.localhost", 180
QUESTION, VALUE = "How often does the flow meter have to be calibrated?", "every 5 years"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}},
}
JSON = ("-H", "content-type: application/json", "-H", "accept: application/json, text/event-stream")


def get(path: str, *options: str, token: str = "") -> tuple[int, str]:
    """Status (0 where nothing answers) and body of a request through the proxy; `options` are curl's."""
    command = ["curl", "-k", "-s", "-w", "\n%{http_code}", "--resolve", f"{NAME}:443:127.0.0.1", *options]
    command += ["-H", f"Authorization: Bearer {token}"] if token else []
    said = subprocess.run([*command, f"https://{NAME}{path}"], capture_output=True, text=True, check=False).stdout
    body, _, status = said.rpartition("\n")
    return int(status), body


def ask(token: str) -> None:
    """What somebody without a token, a program with one, and an assistant get."""
    status, page = get("/")
    assert status == 200, page
    assert "<html" in page.lower()
    assert get("/api/collections")[0] == 401
    files = [part for path in sorted((ROOT / "data/samples").glob("*.pdf")) for part in ("-F", f"files=@{path}")]
    assert get("/api/rag/index", *files, "-F", "namespace=shown", token=token)[0] == 200
    found = json.loads(
        get("/api/rag/query", *JSON, "-d", json.dumps({"query": QUESTION, "namespace": "shown"}), token=token)[1]
    )
    assert found["value"]["text"] == VALUE, found
    status, said = get("/mcp", *JSON, "-d", json.dumps(HELLO), token=token)
    assert (status, "serverInfo" in said) == (200, True), said


def main(compose: list[str], *, built: bool) -> None:
    """Build unless `built`, start, ask, stop."""
    os.environ["NAME"] = NAME
    compose = [*compose, "-f", str(ROOT / "deploy" / "compose.yaml")]
    if not built:
        subprocess.run([*compose, "build"], check=True)
    create = ["run", "--rm", "plumbline", "token", "create", "tests", "--scope", "ask", "--scope", "index"]
    made = subprocess.run([*compose, *create, "--collection", "*"], check=True, capture_output=True, text=True).stdout
    token = next(line.strip() for line in made.splitlines() if line.startswith("plb_"))
    subprocess.run([*compose, "up", "-d"], check=True)
    try:
        deadline = time.monotonic() + START_SECONDS
        while get("/readyz")[0] != 200:
            assert time.monotonic() < deadline, "it did not get ready"
            time.sleep(1)
        ask(token)
    finally:
        subprocess.run([*compose, "down"], check=True)


if __name__ == "__main__":
    main([word for word in sys.argv[1:] if word != "--built"], built="--built" in sys.argv)
