"""`python -m tests.campaign`: all parts, counted into one table, printed and written to build/campaign.md.

Exits with 1 where something that must be zero is not. The same seeds give the same attacks; how a kill hits differs
with the machine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.campaign import ROOT
from tests.campaign.table import Table

PARTS = ("pdfs", "kills", "damage", "hidden", "memory", "properties")


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaign", description="Attacks the product and counts what came of it."
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"which of {', '.join(PARTS)} (default: all)")
    parser.add_argument(
        "--pdfs", type=int, default=10_000, metavar="N", help="damaged and crafted PDFs (default: %(default)s)"
    )
    parser.add_argument("--kills", type=int, default=200, metavar="K", help="kills (default: %(default)s)")
    parser.add_argument(
        "--positions", type=int, default=6, metavar="N", help="changed bytes in each stored file (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=13, help="what the random choices start from (default: %(default)s)"
    )
    parser.add_argument("--seeds", type=Path, metavar="FOLDER", help="further PDFs to damage")
    parser.add_argument(
        "--workers", type=int, default=2, metavar="N", help="PDFs or tests at once (default: %(default)s)"
    )
    parser.add_argument(
        "--minutes", type=float, default=1_440, help="for each of the parts pdfs, kills, damage (default: a day)"
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build/campaign.md", metavar="FILE", help="the table (default: %(default)s)"
    )
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    return chosen


def run(part: str, table: Table, chosen: argparse.Namespace) -> None:
    """One part."""
    from tests.campaign import damage, hidden, kills, memory, pdfs, properties

    seconds = chosen.minutes * 60
    if part == "pdfs":
        pdfs.run(table, count=chosen.pdfs, seed=chosen.seed, more=chosen.seeds, workers=chosen.workers, seconds=seconds)
    elif part == "kills":
        kills.run(table, kills=chosen.kills, seed=chosen.seed, seconds=seconds)
    elif part == "damage":
        damage.run(table, positions=chosen.positions, seed=chosen.seed, seconds=seconds)
    elif part == "properties":
        properties.run(table, workers=chosen.workers)
    else:
        {"hidden": hidden.run, "memory": memory.run}[part](table)


def main() -> int:
    """Run the parts; a part that fails itself does not end the others."""
    chosen, table = options(), Table()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    heading = f"# Campaign of {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {commit or 'unknown'}"
    (ROOT / "build").mkdir(exist_ok=True)
    for part in PARTS:
        if chosen.parts and part not in chosen.parts:
            continue
        started = time.monotonic()
        try:
            run(part, table, chosen)
        except Exception as error:
            table.zero(part, "the program of the campaign failed", [repr(error)])
        print(f"{part}: {time.monotonic() - started:.0f} s", flush=True)
        chosen.out.write_text(table.markdown(heading), encoding="utf-8")  # what is known so far, whatever comes
    print(table.markdown(heading))
    return 1 if table.failures else 0


if __name__ == "__main__":
    sys.exit(main())
