"""The options of `profiles`; the command itself is imported when it runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from rag_core.entrypoints.service_commands import count, later


def add_profiles(
    sub: argparse._SubParsersAction[argparse.ArgumentParser], place: argparse.ArgumentParser, tune: argparse.ArgumentParser, labelled: str
) -> None:
    """Add it. `labelled` says in which forms labelled questions are read."""
    profiles = sub.add_parser("profiles", help="show, change and take back the settings of a domain, such as legal, in a collection")
    what = profiles.add_subparsers(dest="action", required=True, metavar="ACTION")
    listed = what.add_parser("list", parents=[place], help="list the domains with the version in force")
    listed.add_argument("--json", action="store_true", help="as JSON lines")
    listed.set_defaults(run=later("profiles", "listed"))
    show = what.add_parser("show", parents=[place], help="list all versions of a domain's profile with their evidence")
    show.add_argument("domain", metavar="DOMAIN")
    show.add_argument("--json", action="store_true", help="as JSON lines")
    show.set_defaults(run=later("profiles", "show"))
    propose = what.add_parser(
        "propose", parents=[place, tune], help="try changed settings, and keep them as a proposal with what they show",
        epilog="--set names what changes. Without --questions the kept decisions of this domain are judged again, which is possible for "
        "thresholds alone.",
    )  # fmt: skip
    propose.add_argument("domain", metavar="DOMAIN")
    propose.add_argument("--questions", nargs="+", type=Path, metavar="FILE", help=labelled)
    propose.add_argument("--why", default="", metavar="TEXT", help="for whoever decides")
    propose.add_argument("--budget-tokens", type=count, metavar="N", help="stop when a language model has taken so many in one run")
    propose.set_defaults(run=later("profiles", "offer"))
    learn = what.add_parser(
        "learn", parents=[place, tune], help="try usual changes on labelled questions, and propose the best, if one is better",
        epilog="Every other question chooses, the rest are the evidence. Other numbers of passages and other weights are tried; each "
        "measures half of the questions anew.",
    )  # fmt: skip
    learn.add_argument("domain", metavar="DOMAIN")
    learn.add_argument("--questions", nargs="+", type=Path, required=True, metavar="FILE", help=labelled)
    learn.set_defaults(run=later("profiles", "learned"))
    compare = what.add_parser(
        "compare", parents=[place], help="split live questions between two versions, and see what readers' feedback shows",
        epilog="Each asker is always on the same side, and counts once: by the first word. You may look as often as you like. Without "
        "versions it shows what is known; --stop ends it, and questions are asked under the version in force again.",
    )  # fmt: skip
    compare.add_argument("domain", metavar="DOMAIN")
    compare.add_argument("versions", nargs="*", type=int, metavar="VERSION", help="two of them, to begin")
    compare.add_argument("--alpha", type=float, default=0.05, metavar="SHARE", help="rate of false alarms that is allowed (default 0.05)")
    compare.add_argument("--stop", action="store_true", help="stop the one that runs")
    compare.add_argument("--json", action="store_true", help="as JSON lines")
    compare.set_defaults(run=later("profiles", "compare"))
    for name, help in (
        ("use", "put a version in force: accept a proposal, or go back to an earlier version"),
        ("decline", "say no to a proposal; it is kept"),
    ):
        one = what.add_parser(name, parents=[place], help=help)
        one.add_argument("domain", metavar="DOMAIN")
        one.add_argument("version", type=int, metavar="VERSION", help="as `profiles show` has it; 0 is the shipped one")
        one.set_defaults(run=later("profiles", name))
