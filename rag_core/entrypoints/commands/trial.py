"""`model --trial`: asks the configured language model questions, counts what becomes of its drafts, and writes down what was shown."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from rag_core.domain.trace import several
from rag_core.engine import Engine
from rag_core.entrypoints.terminal.common import add_documents, chosen_settings, labelled_questions, library_for, output, progress_line
from rag_core.entrypoints.terminal.show import printable
from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.trial import spread, summary, to_read, try_model
from rag_core.settings import DATA, Settings
from rag_core.wiring import as_built, configured_models, open_engine

_SAMPLES, _ABOUT_THEM = DATA / "samples", DATA / "questions.jsonl"


def trial(args: argparse.Namespace) -> int:
    """Ask, print the counts, and write every sentence that was shown with its source; 1 where the model answered nothing.

    Raises:
        InvalidInput: no model is configured, or there are no questions.
    """
    settings = chosen_settings(args)
    if not (places := configured_models(settings)):
        raise InvalidInput("No language model is configured.", remedy="Set RAG_MODEL and OPENAI_BASE_URL, or start `make demo-model`.")
    settings = settings.changed(drafter="model", model=settings.model or places[0].model)
    questions = spread(_questions(args), args.count)
    print(printable(f"{settings.model} at {places[0].base_url}: {several(len(questions), 'question')}."))
    with _engine(args, settings) as engine, output(args.out) as file:
        tried, progress = [], progress_line()
        for number, one in enumerate(try_model(engine, questions, settings), 1):
            tried.append(one)
            print(printable("\n".join(to_read(number, one))), file=file, end="\n\n", flush=True)
            if progress:
                progress("questions", number, len(questions))
    print("\n".join(summary(tried)))
    print(f"Read them: every sentence that was shown, with its source, stands in {args.out}.")
    return 0 if not tried or any(one.calls and one.tokens for one in tried) else 1


def _questions(args: argparse.Namespace) -> list[LabelledQuestion]:
    paths = args.questions or [_ABOUT_THEM]
    if args.questions is None and not _ABOUT_THEM.exists():
        raise InvalidInput("The questions about the samples are not installed here.", remedy="Give --questions FILE and --documents PATH.")
    found, _ = labelled_questions(paths)
    wanted = [one for one in found if args.language in ("", one.language)]
    if not wanted:
        names = " and ".join(str(path) for path in paths)
        raise InvalidInput(f"No question in {args.language!r}: {names}.", remedy="Leave --language out, or give another file.")
    return wanted


@contextmanager
def _engine(args: argparse.Namespace, settings: Settings) -> Iterator[Engine]:
    """The library that is named, or one for this call with the documents that are, or with the samples."""
    if args.library is None and not args.documents:
        args.documents = [_SAMPLES]
    with library_for(args) as folder:
        settings = as_built(folder, args.collection, settings)
        engine = open_engine(folder, args.collection, settings)
        if args.documents:
            print("Reading the documents first, half a minute for the samples.")
            add_documents(engine, args.documents, settings, args)
        yield engine
