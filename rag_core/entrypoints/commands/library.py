"""The commands that index, ask, judge, list and delete. Progress goes to a terminal alone, so that pipes stay quiet."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rag_core.domain.acts import Action
from rag_core.domain.decision import Decision
from rag_core.domain.trace import several
from rag_core.engine import Engine, decided, measured_on
from rag_core.entrypoints.commands.calibrate import NO_CALIBRATION
from rag_core.entrypoints.commands.terminal import (
    Bad,
    add_documents,
    answer_rows,
    chosen_settings,
    json_text,
    key_values,
    library_folder,
    library_for,
    note_other_store,
    output,
    password,
    printable,
    progress_line,
    read_rows,
    report_problems,
    show_decision,
    show_documents,
    show_settings,
    tell,
)
from rag_core.errors import InvalidInput
from rag_core.grounding.judge import judge_claims
from rag_core.language.detection import load_early
from rag_core.library.ready import document_values
from rag_core.over import decide_over
from rag_core.settings import Cost, Settings
from rag_core.settings.configuration import parse_value
from rag_core.settings.profiles import of_cost, profiles, require_domain
from rag_core.wiring import (
    contents_of,
    embedder,
    entailment_model,
    joined_corpus,
    noting,
    open_engine,
    ready_tools,
    rebuild_library,
    records,
)
from rag_core.work.background import Background

JUDGED = 32  # rows whose claims are read together

_ID = re.compile(r"sha256:[0-9a-f]{64}")  # the id of a document


def index(args: argparse.Namespace) -> int:
    """Add documents; every problem is reported, the other files go on."""
    settings = _cut_as(args.domain, args, chosen_settings(args))
    problems = 0
    if args.rebuild:  # before the library is opened: it may be of another model, or damaged
        problems += report_problems(rebuild_library(library_folder(args), args.collection, settings, progress_line()))
    engine = open_engine(library_folder(args), args.collection, settings)
    if args.rebuild and engine.tools.calibration is None:
        tell(NO_CALIBRATION)
    note_other_store(engine, settings)
    if args.resume:
        word = password(args)
        passwords = {row.id: word for row in engine.library.unfinished()} if word else None
        problems += report_problems(engine.library.resume(settings, passwords=passwords, progress=progress_line()))
    if args.paths:
        problems += add_documents(engine, args.paths, settings, args)
    elif not (args.resume or args.rebuild):
        raise InvalidInput("There is nothing to index.", remedy="Name files or folders, or use --resume or --rebuild.")
    known = len(engine.library.snapshot.documents)
    tell(f"{several(known, 'document')} in collection {args.collection!r}.")
    return 1 if problems else 0


def _cut_as(domain: str | None, args: argparse.Namespace, settings: Settings) -> Settings:
    """The settings with what a domain's profile says of documents; what `--set` names stays."""
    if domain is None:
        return settings
    values = of_cost(require_domain(domain).values, {Cost.INGEST})
    own = {parse_value(pair)[0] for pair in args.set}
    return settings.changed(**{name: value for name, value in values.items() if name not in own})


def ask(args: argparse.Namespace) -> int:
    """Answer one question in words, or a file of them as JSON lines."""
    settings = chosen_settings(args)
    if (args.question is None) == (args.questions is None):
        raise InvalidInput(
            "Give either one question or --questions FILE.", remedy='Try: python -m rag_core ask "What is …?"'
        )
    if args.also and args.domain:
        raise InvalidInput(
            "--also and --domain do not go together.", remedy="Ask one collection, or leave out the domain."
        )
    if args.also and args.documents:
        raise InvalidInput(
            "--also and --documents do not go together.", remedy="Index the documents into a collection first."
        )
    filters, problems = key_values(args.filter), 0
    with library_for(args) as folder:
        asked: Callable[..., Decision]
        values: Mapping[str, Mapping[str, str]]
        if args.also:
            asked, values = _over_all(folder, (args.collection, *args.also), settings)
        else:
            engine = _opened(folder, args.collection, settings)
            note_other_store(engine, settings)
            problems = add_documents(engine, args.documents, settings, args) if args.documents else 0
            asked, values = _asking(engine, args.domain), engine.library.snapshot.values
        if args.question is not None:
            decision = asked(args.question, settings, None, filters)
            _print(decision, values, args)
            return 1 if problems else 0

        def answered(row: dict[str, Any]) -> Decision:
            return asked(row["question"], settings, row.get("documents") or None, filters)

        return 1 if problems + answer_rows(args.questions, answered, args.out) else 0


def _print(decision: Decision, values: Mapping[str, Mapping[str, str]], args: argparse.Namespace) -> None:
    with output(args.out) as out:
        text = json_text(decision.to_json(), indent=2) if args.json else show_decision(decision, values)
        print(text, file=out)


def _opened(folder: Path, collection: str, settings: Settings) -> Engine:
    """The engine; its documents' dictionaries are loaded at the same time as the embedding model."""
    found = contents_of(folder, collection)
    words = Background[None]("loading dictionaries").start(lambda _: load_early(found.languages if found else ()))
    engine = open_engine(folder, collection, settings)
    while not words.wait(1):
        pass
    return engine


def _asking(engine: Engine, domain: str | None) -> Callable[..., Decision]:
    """Asks under the profile of `--domain`, where one is named."""
    if domain is None:
        return engine.ask
    profile = require_domain(domain)

    def asked(
        question: str, settings: Settings, documents: Sequence[str] | None, filters: Mapping[str, str]
    ) -> Decision:
        return engine.ask(question, profile.over(settings), documents, filters, about=profile.about)

    return asked


def _over_all(
    folder: Path, names: Sequence[str], settings: Settings
) -> tuple[Callable[..., Decision], Mapping[str, Mapping[str, str]]]:
    """Asks several collections together, noted in each; and the free metadata of their documents."""
    tools = ready_tools(settings)
    corpus, notes = joined_corpus(folder, names, tools), [noting(folder, name) for name in names]

    def asked(*given: Any) -> Decision:
        for note in notes:
            note(Action.ASK, ())
        return decided(measured_on(corpus, tools, *given))

    return asked, corpus.values


def judge(args: argparse.Namespace) -> int:
    """Check given answers against given contexts, one judgement a line, and say how fast it was."""
    settings = chosen_settings(args)
    rows = read_rows(args.input, ("id", "context", "answer"))
    bad = [row for row in rows if isinstance(row, Bad)]
    good = [row for row in rows if not isinstance(row, Bad)]
    for row in bad:
        tell(str(row))
    model, reads = embedder(settings.embedding_model, settings.embedding_precision), entailment_model(settings)
    if reads is not None:
        reads.supports([("", "")])  # loads it: that it cannot be had is said before a file is written
    claims, progress, started = 0, progress_line(), time.perf_counter()
    with output(args.out) as out:
        for first in range(0, len(good), JUDGED):
            judgements = judge_claims(good[first : first + JUDGED], settings, model, reads)
            out.writelines(json_text(judgement) + "\n" for judgement in judgements)
            out.flush()  # what is judged is kept, whatever comes
            claims += sum(len(judgement["sentences"]) for judgement in judgements)
            if progress:
                progress("rows", min(first + JUDGED, len(good)), len(good))
    seconds = time.perf_counter() - started
    tell(
        f"{several(len(good), 'row')}, {several(claims, 'claim')}: {len(good) / seconds:.1f} rows/s, "
        f"{claims / seconds:.1f} claims/s."
    )
    return 1 if bad else 0


def documents(args: argparse.Namespace) -> int:
    engine = open_engine(library_folder(args), args.collection, chosen_settings(args))
    print(show_documents(engine.library.snapshot.documents, as_json=args.json))
    if unfinished := engine.library.unfinished():
        said = f"{several(len(unfinished), 'file')} {'is' if len(unfinished) == 1 else 'are'} not finished."
        tell(f"{said} Unless somebody is at work on them, run: python -m rag_core index --resume")
    return 0


def delete(args: argparse.Namespace) -> int:
    """Remove documents by id or name, from kept questions and labels too where that is asked for."""
    engine = open_engine(library_folder(args), args.collection, chosen_settings(args))
    problems = 0
    for name in args.names:
        found = [d.id for d in engine.library.snapshot.find(name)]
        if args.everywhere and not found and _ID.fullmatch(name):
            found = [name]  # it may have been deleted before: what is left of it goes
        if not found:
            tell(f"There is no document {name!r}. Run `python -m rag_core documents` to see them.")
            problems += 1
        for document in found:
            if args.everywhere:
                gone = engine.library.erase(document)
                tell(
                    f"Deleted everywhere, with {gone.decisions} kept questions, {gone.results} results of runs, "
                    f"{gone.labels} labels and {gone.feedback} words of readers."
                )
            else:
                engine.library.delete(document)
    return 1 if problems else 0


def settings(args: argparse.Namespace) -> int:
    print(show_settings(chosen_settings(args), as_json=args.json))
    return 0


def decide(args: argparse.Namespace) -> int:
    """Decide one question over a file of passages, in words or as JSON; or each row of a file, as JSON lines."""
    settings = chosen_settings(args)
    one = args.question is not None and args.passages is not None and args.input is None
    many = args.question is None and args.passages is None and args.input is not None
    if one:
        passages = _passages(args.passages)
        decision = decide_over(args.question, passages, settings)
        _print(decision, document_values(passages), args)
        return 0
    if not many:
        raise InvalidInput(
            "Give either a question and --passages FILE, or --input FILE.",
            remedy='Try: python -m rag_core decide "What is …?" --passages retrieved.jsonl',
        )

    def decided(row: dict[str, Any]) -> Decision:
        passages: Any = row.get("passages")  # a row that lacks them is an error, one with none is refused
        return decide_over(row["question"], passages, settings)

    return 1 if answer_rows(args.input, decided, args.out) else 0


def _passages(path: Path) -> list[dict[str, Any]]:
    """The passages of a file; one that cannot be read ends the command."""
    rows: list[dict[str, Any]] = []
    for row in read_rows(path, ("text",)):
        if isinstance(row, Bad):
            raise InvalidInput(
                f"{row}.", remedy='Write one passage a line, such as {"text": …, "document": …, "page": …}.'
            )
        rows.append(row)
    return rows


def listed_profiles(args: argparse.Namespace) -> int:
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
                f"{coverage:.2f}, unsupported sentences in {sum(one.hallucination_detected for one in work)}"
            )
    return 0
