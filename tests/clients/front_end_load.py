"""Asks a served collection with the sample documents as a front end with twenty people does: streamed chats through one
token, at a steady rate, whether or not the earlier ones are answered.

    python -m rag_core index data/samples --collection samples
    python -m rag_core token create web --scope ask --collection samples --people 20
    python -m rag_core serve
    python tests/clients/front_end_load.py http://127.0.0.1:8501 samples TOKEN [QUESTIONS A SECOND [SECONDS [PID]]]

By default 10 questions a second for 300 seconds. No two are the same, so nothing that was read is remembered. With the
service's PID it tells its memory too. It ends with 1 where an answer failed or one in twenty took more than a second.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS = 1.0  # that nineteen of twenty answers may take
QUESTIONS = [json.loads(line)["question"] for line in (ROOT / "data" / "questions.jsonl").read_text().splitlines()]


def megabytes(pid: int) -> float:
    """What a process and its children hold in memory of their own."""
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:  # it ended
        return 0.0
    own = next(int(row.split()[1]) for row in rows if row.startswith("Pss_Anon:")) / 1024
    children = {int(child) for task in tasks for child in (task / "children").read_text().split()}
    return own + sum(map(megabytes, children))


async def run(address: str, model: str, token: str, rate: float, seconds: float, pid: int) -> bool:
    """Ask; whether all went well."""
    took, failed = list[float](), Counter[str]()

    async def ask(client: httpx.AsyncClient, number: int) -> None:
        words = f"{'Please tell me: ' * (number // len(QUESTIONS))}{QUESTIONS[number % len(QUESTIONS)]}"
        body = {"model": model, "stream": True, "messages": [{"role": "user", "content": words}]}
        begun = time.monotonic()
        try:
            reply = await client.post("/v1/chat/completions", json=body)
        except httpx.HTTPError as error:
            failed[type(error).__name__] += 1
            return
        if reply.text.endswith("data: [DONE]\n\n"):
            took.append(time.monotonic() - begun)
        else:
            failed[f"{reply.status_code} {reply.text[-200:]}"] += 1

    headers, limits = {"authorization": f"Bearer {token}"}, httpx.Limits(max_connections=200)
    async with httpx.AsyncClient(base_url=address, headers=headers, limits=limits, timeout=120) as client:
        before, begun = megabytes(pid), time.monotonic()
        async with asyncio.TaskGroup() as tasks:
            for number in range(round(rate * seconds)):
                await asyncio.sleep(max(0.0, begun + number / rate - time.monotonic()))
                tasks.create_task(ask(client, number))
        passed = time.monotonic() - begun
    took.sort()
    middle, most = (took[round(share * (len(took) - 1))] if took else 0.0 for share in (0.5, 0.95))
    memory = f"; memory {before:.0f} to {megabytes(pid):.0f} MB" if pid else ""
    answered = f"{len(took)} answers in {passed:.0f} s, {len(took) / passed:.1f} a second"
    sys.stdout.write(f"{answered}; p50 {middle:.2f} s, p95 {most:.2f} s; failed: {dict(failed)}{memory}\n")
    return bool(took) and not failed and most <= MOST_SECONDS


if __name__ == "__main__":
    address, model, token, rate, seconds, pid = (*sys.argv[1:], *("10", "300", "0")[len(sys.argv) - 4 :])
    sys.exit(not asyncio.run(run(address, model, token, float(rate), float(seconds), int(pid))))
