"""The composition root: nothing else outside `adapters` names an adapter."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from rag_core.adapters.act_log import ActLog as ActLog
from rag_core.adapters.act_log import Verified as Verified
from rag_core.adapters.certificate_pdf import Line as Line
from rag_core.adapters.certificate_pdf import Plot as Plot
from rag_core.adapters.certificate_pdf import Sheet as Sheet
from rag_core.adapters.certificate_pdf import require_drawing as require_drawing
from rag_core.adapters.certificate_pdf import to_pdf as to_pdf
from rag_core.adapters.child.process import ProcessAnswerability, ProcessEmbedder, ProcessEntailment
from rag_core.adapters.embedding.by_name import EMBEDDED, EMBEDDED_LANGUAGES, CrossEncoderReranker, precision_here
from rag_core.adapters.embedding.cache import CachedEmbedder
from rag_core.adapters.embedding.choose import load_embedder
from rag_core.adapters.embedding.pair_models import ANSWERABILITY_FILE as MODEL_FILE
from rag_core.adapters.embedding.pair_models import SUPPORT_FILE, SUPPORT_LANGUAGES, AnswerModel, version_of
from rag_core.adapters.entailment.by_name import EMBEDDED as EMBEDDED_ENTAILMENT
from rag_core.adapters.entailment.by_name import NONE as NO_ENTAILMENT
from rag_core.adapters.entailment.by_name import EntailmentOnDemand, declared_languages, load_entailment_model
from rag_core.adapters.index.bm25 import Bm25Store
from rag_core.adapters.index.choose import VECTOR_STORES as VECTOR_STORES
from rag_core.adapters.index.choose import forget as forget_rows
from rag_core.adapters.index.choose import lexical_store, vector_store
from rag_core.adapters.llm.cache import FILE as CACHE_FILE
from rag_core.adapters.llm.cache import ModelCache
from rag_core.adapters.llm.chain import endpoint_model as endpoint_model
from rag_core.adapters.llm.chain import model_chain
from rag_core.adapters.llm.demo import packages as demo_packages
from rag_core.adapters.llm.demo import server as demo_server
from rag_core.adapters.optional import require
from rag_core.adapters.records.store import FILE
from rag_core.adapters.records.store import RecordStore as RecordStore
from rag_core.adapters.tracing import Traces, traces
from rag_core.decision.tools import Tools
from rag_core.domain.acts import Action, Note, permit, require_entry
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import AnswerabilityModel, Cancel, Embedder, EntailmentModel, LanguageModel, Progress
from rag_core.engine import Engine, Watch
from rag_core.errors import InvalidInput, InvalidSetting, LibraryError, QuotaExceeded, StoreMismatch
from rag_core.evaluation.counts import Counts
from rag_core.gating import scores as calibrate
from rag_core.library import dropping
from rag_core.library.erasing import Erased, Mentions
from rag_core.library.joined import JoinedCorpus, joined
from rag_core.library.library import AddReport, Library
from rag_core.library.quota import Quota, taken
from rag_core.library.ready import ReadyCorpus, ready_corpus
from rag_core.library.stored.contents import Contents, contents
from rag_core.library.stored.inbox import Inbox
from rag_core.library.stored.manifest import UNSAID_STORE, Manifest
from rag_core.library.stored.store import Store, collections, create_collection, is_name
from rag_core.settings import Settings
from rag_core.settings.configuration import auditing, most_collections, quotas
from rag_core.settings.endpoints import Endpoint, endpoints, model_environment

_counts: dict[tuple[Path, str], Counts] = {}
_counting = threading.Lock()
_making = threading.Lock()
_starting = threading.Lock()  # two threads that open a library each must not start two children


def embedder(model: str, precision: str) -> Embedder:
    """The embedding model, loaded once a process, whether its precision is chosen by name or by "auto"."""
    return _loaded(model, precision_here(precision))


@lru_cache(maxsize=2)
def _loaded(model: str, precision: str) -> Embedder:
    return load_embedder(model, precision)


def embedder_apart(model: str, precision: str) -> ProcessEmbedder:
    """The same model in a child, one for this process. It comes at once; what is asked of it waits until the model is loaded."""
    with _starting:
        return _apart(model, precision_here(precision))


@lru_cache(maxsize=2)
def _apart(model: str, precision: str) -> ProcessEmbedder:
    return ProcessEmbedder(model, precision)


@lru_cache(maxsize=2)
def reranker(model: str) -> CrossEncoderReranker:
    """A cross-encoder by name or folder, loaded once a process."""
    return CrossEncoderReranker(model)


def answerability_model(settings: Settings, *, apart: bool = False) -> AnswerabilityModel | None:
    """The answerability model, loaded once a process, or in the embedding model's child; None where its file was left out."""
    if not MODEL_FILE.exists():
        return None
    if apart:
        return ProcessAnswerability(embedder_apart(settings.embedding_model, settings.embedding_precision))
    return _answer_model()


@lru_cache(maxsize=1)
def _answer_model() -> AnswerModel:
    return AnswerModel()


def entailment_model(settings: Settings, *, apart: bool = False) -> EntailmentModel | None:
    """The entailment model that the settings name, in this process or in the embedding model's child, loaded when it is first asked.

    None where they name none, or the embedded one's file was left out: claims are then checked by facts and overlap only.

    Raises:
        InvalidSetting: the languages that are declared for it are no codes.
    """
    model, languages = settings.verifier, settings.verifier_languages
    declared_languages(languages)
    if model == NO_ENTAILMENT or (model == EMBEDDED_ENTAILMENT and not SUPPORT_FILE.exists()):
        return None
    child = embedder_apart(settings.embedding_model, settings.embedding_precision) if apart else None
    return _entailment_model(model, precision_here(settings.embedding_precision), languages, child)


@lru_cache(maxsize=2)
def _entailment_model(model: str, precision: str, languages: str, child: ProcessEmbedder | None) -> EntailmentOnDemand:
    load = partial(ProcessEntailment, child) if child else load_entailment_model
    known = (version_of(SUPPORT_FILE), SUPPORT_LANGUAGES) if model == EMBEDDED_ENTAILMENT else ("", None)
    return EntailmentOnDemand(partial(load, model, precision, languages), *known)


def language_model(
    settings: Settings, folder: Path | None = None, collection: str = "default", environment: Mapping[str, str] | None = None
) -> LanguageModel | None:
    """The language models that are configured, in their order, with the one that the settings name first; None where none is.

    Answers are kept beside the collection in `folder`, where there is one and the settings allow it. `environment` is that of the process,
    over the file of secrets, unless another one is given.

    Raises:
        InvalidSetting: what is configured cannot be used; see `rag_core.settings.endpoints.endpoints`.
    """
    places = configured_models(settings, environment)
    if not places:
        return None
    cache = model_cache(folder, collection) if folder and settings.model_cache else None
    return model_chain(places, settings.structured_outputs, cache)


def configured_models(settings: Settings, environment: Mapping[str, str] | None = None) -> tuple[Endpoint, ...]:
    """Where language models are asked, in order, each with its model's name; arguments and errors as in `language_model`.

    Where none is configured, the small model that `demo-model` serves in this folder is the only one, as long as it runs.
    """
    found = endpoints(model_environment(os.environ) if environment is None else environment)
    if not found and environment is None and (small := running_demo_model()) is not None:
        found = (small,)
    places = tuple(replace(place, model=place.model or settings.model) for place in found)
    if places and settings.model:
        places = (replace(places[0], model=settings.model), *places[1:])
    if not all(place.model for place in places):
        raise InvalidSetting("No language model is named.", remedy="Set RAG_MODEL, or the setting `model`.")
    return places


def fetch_demo_model(folder: Path) -> None:
    """Download the small model's packages where they are missing; errors as `adapters.llm.demo.packages.fetch`."""
    demo_packages.fetch(folder)


def demo_model_server(folder: Path) -> AbstractContextManager[Endpoint]:
    """The small model's server, to the end of the block; errors as `adapters.llm.demo.server.serving`."""
    return demo_server.serving(folder)


def running_demo_model() -> Endpoint | None:
    """The small model that runs in this folder; None where none does."""
    return demo_server.running()


@lru_cache(maxsize=8)
def model_cache(folder: Path, collection: str) -> ModelCache:
    """The kept answers of a collection; one in the process for each. Opens nothing until it is used.

    Raises:
        InvalidInput: the collection's name cannot be used.
    """
    return ModelCache(_files(folder, collection).root / CACHE_FILE)


def open_library(folder: Path, collection: str, model: Embedder, new: str = UNSAID_STORE) -> Library:
    """A library on local disk, in the vector store that it was built in; an empty one takes the store `new`. BM25 for words, beside it.

    Raises:
        StoreMismatch: it was built in a store that this version does not know.
        InvalidSetting, MissingDependency: as `adapters.index.choose.vector_store`.
        LibraryError: it cannot be used; see `Library.open`.
    """
    manifest = _manifest(folder, collection)
    name = manifest.vector_store if manifest and manifest.entries else new
    if manifest and manifest.entries and name not in VECTOR_STORES:
        raise StoreMismatch(
            f"The library {collection!r} was built in the vector store {name!r}, which is not known here.",
            remedy="Use the version of Plumbline that built it, or rebuild the library; its documents are kept.",
        )
    forget = partial(_forget, folder, collection)
    return Library.open(
        folder, collection, embedder=model, vectors=vector_store(name), lexical=lexical_store(name), on_delete=forget,
        note=noting(folder, collection), on_erase=partial(_erase, folder, collection), forget_rows=forget_rows,
        quota=partial(quota_of, folder, collection),
    )  # fmt: skip


def quota_of(folder: Path, collection: str) -> Quota:
    """How much a collection may have: its own quota, else what the environment says, also where the file of records cannot be read.

    Raises:
        InvalidSetting: the environment says what is no number.
    """
    try:
        own = records(folder, collection).quota()
    except LibraryError:
        own = None
    return Quota(*quotas(os.environ)) if own is None else own


def _erase(folder: Path, collection: str, documents: Collection[str], version: int, mentions: Mentions) -> Erased:
    """Delete what speaks of documents that are being deleted everywhere; what a language model wrote from them goes by `_forget`."""
    return records(folder, collection).erase(documents, mentions)


def _forget(folder: Path, collection: str, documents: Collection[str], version: int) -> None:
    """Delete what a language model wrote from documents that are being deleted: it may hold their words."""
    records(folder, collection).forget_documents(documents, version)
    model_cache(folder, collection).clear()


def records(folder: Path, collection: str) -> RecordStore:
    """The decisions, labels and feedback of a collection; one store in the process for each. Opens nothing until it is used.

    Raises:
        InvalidInput: the collection's name cannot be used.
        NotAllowed: it is not open to whoever acts.
    """
    require_entry(collection)
    return _records(folder, collection)


@lru_cache(maxsize=8)
def _records(folder: Path, collection: str) -> RecordStore:
    return RecordStore(_files(folder, collection).root / FILE, noting(folder, collection))


def make_collection(folder: Path, name: str) -> None:
    """Make an empty collection, which is noted first; nothing where it is there.

    Raises:
        InvalidInput: the name cannot be used.
        QuotaExceeded: the library has as many collections as it may.
    """
    with _making:  # two at once would both find room for one
        known = collections(folder)
        if is_name(name) and name not in known:
            if len(known) >= (most := most_collections(os.environ)):
                raise QuotaExceeded(
                    f"The library has {len(known):,} collections, and may have {most:,}.",
                    remedy="Use one that is there, or have whoever runs this raise RAG_QUOTA_COLLECTIONS.",
                )
            noting(folder, name)(Action.COLLECTION, ())
        create_collection(folder, name)


def drop_collection(folder: Path, name: str, wait: float) -> bool:
    """Delete a collection with its documents, indexes and records, which is noted first; whether there was one.

    Whoever has it open in this process lets go of it first: see `rag_core.work.dropping`.

    Raises:
        InvalidInput: the name cannot be used.
        NotAllowed: that is not open to whoever acts.
        LibraryError: as `rag_core.library.dropping.drop`.
    """
    root = _files(folder, name).root
    note = noting(folder, name)
    permit(Action.DROP, name)
    if root.is_dir():
        _records(folder, name).close()
        model_cache(folder, name).close()
    with _counting:
        _counts.pop((folder, name), None)
    return dropping.drop(folder, name, forget_rows=forget_rows, note=lambda: note(Action.DROP, ()), wait=wait)


def clear_dropped(folder: Path) -> None:
    """Delete what a killed process left of collections that it was deleting; errors as `rag_core.library.dropping.clear`."""
    dropping.clear(folder, forget_rows)


def noting(folder: Path, collection: str = "") -> Note:
    """The way into the audit log of the library in `folder`; it keeps nothing where the environment says so (`auditing`).

    It raises NotAllowed for an act that is not open to whoever acts: all that is done to a library passes here first.
    """

    def note(action: Action, objects: Sequence[str] = ()) -> None:
        permit(action, collection)
        if auditing(os.environ):
            act_log(folder).note(action, collection, objects)

    return note


def counts(folder: Path, collection: str) -> Counts:
    """The counts of a collection's questions since this process began."""
    with _counting:
        return _counts.setdefault((folder, collection), Counts())


@lru_cache(maxsize=8)
def act_log(folder: Path) -> ActLog:
    """The audit log of the library in `folder`; one in the process for each."""
    return ActLog(folder)


def archived_acts(file: Path) -> ActLog:
    """Lines that `ActLog.prune` put into a file."""
    return ActLog(file.parent, file.name)


def rebuild_library(
    folder: Path,
    collection: str,
    settings: Settings,
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
    *,
    apart: bool = False,
) -> AddReport:
    """Index all documents again from their stored sources, with the model and in the vector store of the settings; see `Library.rebuild`.

    `apart` runs the embedding model in a child process.
    """
    vectors = vector_store(settings.vector_store)  # said before a model is loaded
    model = _embedder(settings, apart)
    _, report = Library.rebuild(
        folder, collection, settings, embedder=model, vectors=vectors, lexical=lexical_store(vectors.name), progress=progress,
        cancelled=cancelled, note=noting(folder, collection), forget_rows=forget_rows,
    )  # fmt: skip
    return report


def _embedder(settings: Settings, apart: bool) -> Embedder:
    return (embedder_apart if apart else embedder)(settings.embedding_model, settings.embedding_precision)


def as_built(folder: Path, collection: str, settings: Settings) -> Settings:
    """The settings with the embedding model, precision and vector store that the library was built with; reads its manifest only.

    Unchanged where the library is empty, or its manifest cannot be read: opening it then says why.
    """
    manifest = _manifest(folder, collection)
    if manifest is None or not manifest.entries:
        return settings
    if manifest.vector_store != settings.vector_store:
        settings = settings.changed(vector_store=manifest.vector_store)
    if manifest.embedder == f"{settings.embedding_model}@{precision_here(settings.embedding_precision)}":
        return settings
    model, _, precision = manifest.embedder.rpartition("@")
    return settings.changed(embedding_model=model, embedding_precision=precision)


def languages(folder: Path, collection: str) -> tuple[str, ...]:
    """The languages of a library's documents, those of most documents first; reads its manifest and opens nothing.

    None where the library is empty, or its manifest cannot be read.
    """
    manifest = _manifest(folder, collection)
    counts = Counter(entry.document.language for entry in manifest.entries) if manifest else Counter()
    return tuple(language for language, _ in counts.most_common())


def sizes(folder: Path, collection: str) -> tuple[int, int]:
    """How many documents the newest version has, and how many bytes its files; reads its manifest and opens nothing."""
    manifest = _manifest(folder, collection)
    return (len(manifest.entries), sum(stamp.size for stamp in manifest.all_files().values())) if manifest else (0, 0)


def room_taken(folder: Path, collection: str) -> tuple[int, int]:
    """The documents and bytes of files that count for a collection's quota; opens no index."""
    files, manifest = _files(folder, collection), _manifest(folder, collection)
    found = taken(files.root, manifest.entries if manifest else (), Inbox(files.root / "inbox.json").rows().values())
    return len(found), sum(found.values())


def contents_of(folder: Path, collection: str) -> Contents | None:
    """The contents of the newest version; reads files only, and opens nothing. None for nothing, or where it cannot be read."""
    return contents(_files(folder, collection))


def calibration_files(folder: Path, collection: str) -> tuple[Path, Path]:
    """Where a library's calibration is looked for: in its own folder, as `calibrate fit` leaves it, then in the one that is shipped."""
    return folder / collection / "calibration.json", calibrate.FILE


def _manifest(folder: Path, collection: str) -> Manifest | None:
    try:
        return _files(folder, collection).manifest()
    except LibraryError:
        return None


def _files(folder: Path, collection: str) -> Store:
    """A library's folder, whatever store its vectors are in: for what stands beside the indexes."""
    return Store(folder, collection, vector_store(UNSAID_STORE), Bm25Store())


def open_engine(folder: Path, collection: str = "default", settings: Settings | None = None, *, apart: bool = False) -> Engine:
    """The engine over the library in `folder`, with the models that the settings name; `apart` runs the embedding model in a child process.

    Raises:
        ModelUnavailable: a model cannot be loaded.
        LibraryError: the library cannot be used.
        InvalidInput: its calibration is damaged.
    """
    s = settings or Settings.load()
    model = _embedder(s, apart)
    tools = _tools(s, model, calibration_files(folder, collection), apart, partial(language_model, folder=folder, collection=collection))
    return Engine(open_library(folder, collection, model, s.vector_store), tools, noting(folder, collection), _watch(folder, collection))


def _watch(folder: Path, collection: str) -> Watch:
    """Whoever is told of each question: the counts, and a collector of traces where the environment names one."""
    counted, traced = counts(folder, collection).watch, _traces()
    if traced is None:
        return counted

    def watch(measurements: Measurements, decision: Decision) -> None:
        counted(measurements, decision)
        traced.watch(measurements, decision)

    return watch


@lru_cache(maxsize=1)
def _traces() -> Traces | None:
    return traces(os.environ)


def ready_tools(settings: Settings, *, apart: bool = False) -> Tools:
    """The models that the settings name, for passages that something else retrieved; loaded once a process, or in a child of it.

    The shipped calibration holds where it fits; answers of a language model are kept nowhere.

    Raises:
        ModelUnavailable: a model cannot be loaded.
    """
    return _ready_tools(settings.embedding_model, precision_here(settings.embedding_precision), apart)


@lru_cache(maxsize=2)
def _ready_tools(model: str, precision: str, apart: bool) -> Tools:
    s = Settings.load().changed(embedding_model=model, embedding_precision=precision)
    return _tools(s, _embedder(s, apart), (calibrate.FILE,), apart, language_model)


def corpus_of(passages: Iterable[object], tools: Tools, cancelled: Cancel | None = None) -> ReadyCorpus:
    """The corpus of passages that something else retrieved, in memory: exact vectors, and BM25 for words. Errors as `ready_corpus`."""
    return ready_corpus(passages, tools.embedder, vector_store(UNSAID_STORE), Bm25Store(), cancelled)


def joined_corpus(folder: Path, collections: Sequence[str], tools: Tools) -> JoinedCorpus:
    """These collections of a library as one corpus, in memory.

    Raises:
        LibraryError: one cannot be used, or was built with another embedding model.
        InvalidInput: one of them has no documents.
    """
    for name in collections:
        if not sizes(folder, name)[0]:
            raise InvalidInput(f"The collection {name!r} has no documents.", remedy="Check its name, or index documents into it first.")
    parts = [open_library(folder, name, tools.embedder).snapshot for name in dict.fromkeys(collections)]
    return joined(parts, vector_store(UNSAID_STORE), Bm25Store())


def _tools(s: Settings, model: Embedder, files: Sequence[Path], apart: bool, llm: Callable[[Settings], LanguageModel | None]) -> Tools:
    """The models and the calibration that measuring needs; `files` are where a calibration is looked for."""
    answers = answerability_model(s, apart=apart)
    return Tools(
        CachedEmbedder(model), calibrate.load(files, calibrate.Identity.of(model, answers)),
        EMBEDDED_LANGUAGES if s.embedding_model == EMBEDDED else None, reranker,
        answerability_model=answers, entailment_model=partial(entailment_model, apart=apart), model=llm,
    )  # fmt: skip


def require_packages(extra: str, what: str) -> None:
    """Raise MissingDependency unless the packages of an extra are there; `what` needs them, as the first words of a sentence."""
    require(extra, what)
