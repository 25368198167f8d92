"""A question over passages that something else retrieved, or over several collections."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_core.decision.tools import Tools
from rag_core.domain.acts import Action
from rag_core.domain.decision import Decision
from rag_core.domain.given import ReadyPassage
from rag_core.domain.llm_trace import OnStage
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import Cancel
from rag_core.engine import decided, measured_on
from rag_core.settings import Settings
from rag_core.wiring import corpus_of, joined_corpus, noting, ready_tools

Ready = ReadyPassage | Mapping[str, Any] | str


def decide_over(
    question: str,
    passages: Iterable[Ready],
    settings: Settings | None = None,
    *,
    on_stage: OnStage | None = None,
    cancelled: Cancel | None = None,
    on_measured: Callable[[Measurements], None] | None = None,
    tools: Tools | None = None,
) -> Decision:
    """A cited answer from these passages, or a refusal that says why: the gates, drafts and checks of `Engine.ask`,
    with its trace.

    The order of the passages stands (a `reranker` of the settings changes it), and `top_k` of them are looked at.
    Similarities, word scores, keywords, names and the calibrated scores are measured here, as in a library that holds
    just these passages. So no check is left out. A language model is asked nothing where a gate refuses.

    Not measured, and said so in the first rows of the trace, which are `not_run` and judge nothing:

    - `given_scores`: the scores of your retrieval where any is missing. Where all are there they are shown. No
      threshold is held against them, since their scale is not known. How the passages were found, and among how many,
      is in no score.
    - `rest_of_documents`: what the documents say beside these passages. No refusal claims that "no document" speaks of
      a thing, no contradiction is looked for outside, nobody knows of unreadable pages or hidden text, and citations
      have no rectangles on the page.

    Args:
        question: 1 to 2,000 characters.
        passages: 0 to 200, best first: `ReadyPassage`, a mapping with its fields, or the text alone. A passage longer
            than the embedding model reads (256 tokens), or with headings inside, is parted: `chunk_id` is then
            `<id>#1`, `<id>#2` and so on.
        settings: the default preset where they are left out. What they say of ranking is not used.
        on_stage: told what a language model is being asked; called from this thread.
        cancelled: asked between the steps; True ends it with `Cancelled`.
        on_measured: gets everything that was measured before it is judged, for `replay` under other settings.
        tools: the models; where they are left out, those that the settings name, loaded once in this process.

    Raises:
        InvalidInput: the question or a passage cannot be used.
        ModelUnavailable: a model that the settings name cannot be loaded.
        Cancelled: it was stopped.
    """
    s = settings or Settings.load()
    models = tools or ready_tools(s)
    corpus = corpus_of(passages, models, cancelled)
    return decided(measured_on(corpus, models, question, s, on_stage=on_stage, cancelled=cancelled), on_measured)


def ask_over(
    folder: Path,
    collections: Sequence[str],
    question: str,
    settings: Settings | None = None,
    documents: Collection[str] | None = None,
    filters: Mapping[str, str] | None = None,
    *,
    on_stage: OnStage | None = None,
    cancelled: Cancel | None = None,
    on_measured: Callable[[], None] | None = None,
    tools: Tools | None = None,
) -> Decision:
    """A question of several collections of a library, ranked together: a cited answer, or a refusal that says why.

    Nothing of a collection that is not named is looked at. The question is noted in each that is, and kept in none: a
    record belongs to one collection. They are joined in memory anew for each call.

    Args:
        folder: of the library.
        collections: by name; one that is named twice counts once.
        question: 1 to 2,000 characters.
        settings: the default preset where they are left out.
        documents: ids or names of those to search; None for all.
        filters: values that a document's metadata must have.
        on_stage: told what a language model is being asked; called from this thread.
        cancelled: asked between the steps; True ends it with `Cancelled`.
        on_measured: called once everything is measured, before it is decided.
        tools: the models; where they are left out, those that the settings name, loaded once in this process.

    Raises:
        InvalidInput: the question cannot be asked, or a collection has no documents.
        LibraryError: a collection cannot be used, or was built with another embedding model.
        Cancelled: it was stopped.
    """
    s = settings or Settings.load()
    models = tools or ready_tools(s)
    corpus = joined_corpus(folder, collections, models)
    for name in dict.fromkeys(collections):
        noting(folder, name)(Action.ASK, ())
    measured = measured_on(corpus, models, question, s, documents, filters, on_stage=on_stage, cancelled=cancelled)
    return decided(measured, lambda _: on_measured() if on_measured else None)
