"""`profiles`: the settings of the domains, and what programs recorded of their work in a collection."""

from __future__ import annotations

import argparse

from rag_core.entrypoints.terminal.common import library_folder
from rag_core.entrypoints.terminal.show import json_text, printable
from rag_core.evaluation.executions import recorded
from rag_core.settings.profiles import profiles
from rag_core.wiring import records


def listed(args: argparse.Namespace) -> int:
    """List the domains with their settings, and the work that was recorded under each."""
    done = records(library_folder(args), args.collection).executions()
    for domain, profile in profiles().items():
        work = recorded(done, domain)
        if args.json:
            print(json_text({"domain": domain, "values": profile.values, "help": profile.help, "recorded": work.to_json()}))
            continue
        values = ", ".join(f"{name} {value}" for name, value in profile.values.items()) or "no setting is changed"
        print(printable(f"{domain:10} {values}"))
        if work.executions:
            wrong = work.hallucinations
            print(
                f"{'':10} recorded: {work.executions} executions, mean confidence {work.confidence:.2f}, citation coverage"
                f" {work.citation_coverage:.2f}, unsupported sentences in {wrong.k} of {wrong.n}"
            )
    return 0
