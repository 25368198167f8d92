"""`profiles`: the settings of the domains, and what programs recorded of their work in a collection."""

from __future__ import annotations

import argparse
from statistics import fmean

from rag_core.entrypoints.terminal.common import library_folder
from rag_core.entrypoints.terminal.show import json_text, printable
from rag_core.settings.profiles import profiles
from rag_core.wiring import records


def listed(args: argparse.Namespace) -> int:
    """List the domains with their settings, and the work that was recorded under each."""
    executions = records(library_folder(args), args.collection).executions()
    for domain, profile in profiles().items():
        work = [one.metrics for one in executions if one.profile == domain]
        if args.json:
            figures = [one.model_dump(mode="json") for one in work]
            print(json_text({"domain": domain, "values": profile.values, "help": profile.help, "recorded": figures}))
            continue
        values = ", ".join(f"{name} {value}" for name, value in profile.values.items()) or "no setting is changed"
        print(printable(f"{domain:10} {values}"))
        if work:
            confidence, coverage = fmean(one.confidence for one in work), fmean(one.citation_coverage for one in work)
            print(
                f"{'':10} recorded: {len(work)} executions, mean confidence {confidence:.2f}, citation coverage "
                f"{coverage:.2f},"
                f" unsupported sentences in {sum(one.hallucination_detected for one in work)}"
            )
    return 0
