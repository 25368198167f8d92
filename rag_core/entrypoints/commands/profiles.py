"""`profiles`: the settings of a domain in a collection, changes that were proposed with evidence, and the person who accepts them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from rag_core.domain.trace import several
from rag_core.entrypoints.terminal.common import chosen_settings, labelled_questions, library_folder, progress_line
from rag_core.entrypoints.terminal.show import json_text, printable
from rag_core.errors import InvalidInput
from rag_core.evaluation.evidence import LABELLED
from rag_core.evaluation.executions import recorded
from rag_core.records.stored import ProfileVersion, VersionState
from rag_core.settings.configuration import load_settings, parse_value
from rag_core.settings.endpoints import model_environment
from rag_core.settings.profiles import named, profiles, require_domain
from rag_core.wiring import RecordStore, as_built, open_engine, records
from rag_core.work.profiles import Standing, learn, propose, propose_by_kept, standings

RATES = ("right", "answered", "false_refusals", "wrong_answers", "missed_answers")
SAID = {
    "better": "More questions end right, by more than chance.",
    "worse": "Fewer questions end right, by more than chance.",
    "chance": "The difference may be chance.",
    "same": "No question is won or lost.",
    "unlabelled": "Nobody knows which of these answers are right: the decisions have no labels.",
}


def listed(args: argparse.Namespace) -> int:
    """List the domains with the version in force."""
    store = _store(args)
    for domain, profile in profiles().items():
        current, waiting = store.profile_in_force(domain), _proposals(store, domain)
        row = {"domain": domain, "version": current.version, "values": dict(current.values), "proposals": waiting, "help": profile.help}
        print(json_text(row) if args.json else printable(f"{named(domain, current.version):14} {_values(current.values)}"))
        if waiting and not args.json:
            print(f"{'':14} proposals: {waiting}; see: python -m rag_core profiles show {domain}")
    return 0


def show(args: argparse.Namespace) -> int:
    """List all versions of a domain's profile with their evidence, and what programs recorded of their work under each."""
    store = _store(args)
    current, done = store.profile_in_force(args.domain).version, store.executions()
    for one in store.profile_versions(args.domain):
        work = recorded(done, named(one.domain, one.version))
        if args.json:
            names = ("version", "values", "why", "evidence", "at", "by", "settled", "settled_by")
            row = {**{name: getattr(one, name) for name in names}, "state": one.state, "in_force": one.version == current}
            print(json_text({**row, "recorded": work.to_json()}))
            continue
        state = "in force" if one.version == current else str(one.state)
        print(printable(f"{named(one.domain, one.version)}  {state}  {_values(one.values)}"))
        for line in described(one):
            print(printable(f"  {line}"))
        if work.executions:
            wrong = work.hallucinations
            print(
                f"  recorded: {work.executions} executions, mean confidence {work.confidence:.2f}, citation coverage"
                f" {work.citation_coverage:.2f}, unsupported sentences in {wrong.k} of {wrong.n}"
            )
    return 0


def offer(args: argparse.Namespace) -> int:
    """Try a change, and keep the proposal with its evidence."""
    values = dict(parse_value(pair) for pair in args.set)
    if not values:
        raise InvalidInput("There is nothing to try.", remedy="Name what changes: --set top_k=20.")
    folder, store = library_folder(args), _store(args)
    settings = as_built(folder, args.collection, load_settings(args.preset, args.config, {}, model_environment(os.environ)))
    if args.questions is None:
        version = propose_by_kept(store, settings, args.domain, values, args.why)
    else:
        questions, _ = labelled_questions(args.questions)
        engine = open_engine(folder, args.collection, settings)
        found, ran = propose(
            engine, store, settings, args.domain, values, args.why, questions, progress_line(), budget_tokens=args.budget_tokens
        )
        if found is None:
            done = several(ran.measured, "question")
            spent = f"Stopped: the budget of {args.budget_tokens} tokens is spent after {done}. Nothing was proposed."
            print(spent, file=sys.stderr)
            return 1
        version = found
    _say(version)
    return 0


def learned(args: argparse.Namespace) -> int:
    """Try usual changes, and keep the best as a proposal, if it is better on the questions that chose it."""
    folder, store = library_folder(args), _store(args)
    settings = as_built(folder, args.collection, chosen_settings(args))
    questions, _ = labelled_questions(args.questions)
    version = learn(open_engine(folder, args.collection, settings), store, settings, args.domain, questions, progress_line())
    if version is None:
        print("No change that was tried ends more questions right. Nothing was proposed.", file=sys.stderr)
        return 0
    _say(version)
    return 0


def _say(version: ProfileVersion) -> None:
    for line in described(version):
        print(printable(line))
    print(
        f"Kept as proposal {named(version.domain, version.version)}. To accept it: python -m rag_core profiles use {version.domain}"
        f" {version.version}",
        file=sys.stderr,
    )


def use(args: argparse.Namespace) -> int:
    """Put a version in force."""
    version = _store(args).put_profile_in_force(args.domain, args.version)
    print(f"Questions of the domain {args.domain} are asked under {named(version.domain, version.version)} now.", file=sys.stderr)
    return 0


def compare(args: argparse.Namespace) -> int:
    """Begin or stop a comparison on live questions, and say what those of the domain show."""
    store = _store(args)
    if len(args.versions) not in (0, 2) or (args.versions and args.stop):
        raise InvalidInput("Two versions are compared.", remedy="Name two, such as: profiles compare legal 0 1.")
    if args.versions:
        require_domain(args.domain)
        a, b = args.versions
        store.begin_comparison(args.domain, a, b, args.alpha)
    if args.stop:
        store.stop_comparison(args.domain)
    found = standings(store, args.domain)
    for one in found:
        for line in [json_text(one.to_json())] if args.json else compared_in_words(one):
            print(printable(line))
    if not found:
        print(f"No versions of {args.domain} were compared.", file=sys.stderr)
    return 0


def compared_in_words(one: Standing) -> Iterator[str]:
    """A comparison and how it stands, for a terminal."""
    row = one.to_json()
    yield f"{named(row['domain'], row['a']['version'])} against {named(row['domain'], row['b']['version'])}, since {row['at']}" + (
        f", stopped {row['stopped']}" if row["stopped"] else ""
    )
    for side in (row["a"], row["b"]):
        share = "none" if side["share"] is None else f"{side['share']:.3f} ({side['low']:.3f} to {side['high']:.3f})"
        yield f"  version {side['version']}: {side['good']} of {side['answers']} readers said it was right  {share}"
    yield f"  p = {row['p']:.3g}, which holds at every look; alpha {row['alpha']:g}"
    if row["better"] is not None:
        yield f"  Version {row['better']} is better, by more than chance (shown with {row['decided_at']} readers). You may stop."
    elif row["decided_at"]:
        yield f"  The two differed by more than chance with {row['decided_at']} readers, and now they are equal."
    elif row["needed"] is None:
        yield "  No difference is shown, and with shares like these none will be soon."
    else:
        yield f"  No difference is shown. If the shares stay as they are, it takes about {row['needed']} more readers."


def decline(args: argparse.Namespace) -> int:
    """Say no to a proposal."""
    version = _store(args).decline_profile(args.domain, args.version)
    print(f"The proposal {named(version.domain, version.version)} is declined.", file=sys.stderr)
    return 0


def described(version: ProfileVersion) -> Iterator[str]:
    """A version's evidence for a terminal."""
    found = version.evidence
    if version.why:
        yield f"why: {version.why}"
    if not found:
        return
    runs = f" (runs {found['before_run']} and {found['after_run']})" if found["kind"] == LABELLED else ""
    yield f"{several(found['questions'], found['kind'] + ' question')}{runs}, before as {named(version.domain, found['from'])}"
    for name in RATES:
        if name in found["before"]:
            yield f"{name.replace('_', ' '):15} {_rate(found['before'][name])}  ->  {_rate(found['after'][name])}"
    if found["kind"] == LABELLED:
        yield f"right only before: {found['only_before']}, only after: {found['only_after']}, p = {found['p']:.3g} (McNemar)"
    yield f"Decided otherwise: {several(found['flipped'], 'question')}. {SAID[found['said']]}"


def _rate(rate: Mapping[str, Any]) -> str:
    if rate["share"] is None:
        return f"{'none':32}"
    return f"{rate['k']:4} of {rate['n']:4}  {rate['share']:.3f} ({rate['low']:.3f} to {rate['high']:.3f})"


def _values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items()) or "no setting is changed"


def _proposals(store: RecordStore, domain: str) -> int:
    return sum(one.state is VersionState.PROPOSED for one in store.profile_versions(domain))


def _store(args: argparse.Namespace) -> RecordStore:
    return records(library_folder(args), args.collection)
