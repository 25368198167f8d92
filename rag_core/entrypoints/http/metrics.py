"""`/metrics`: the service in figures, as Prometheus reads them. Names of collections are in it, and no text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fastapi.responses import Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from rag_core import __version__
from rag_core.decision.summary import Histogram
from rag_core.entrypoints.http.guards import Caller, TheService
from rag_core.entrypoints.http.observed import DURATIONS, REQUESTS
from rag_core.records.stored import FeedbackState
from rag_core.service.principal import Principal
from rag_core.service.service import Service
from rag_core.wiring import contents_of, counts, records

COLLECTION = ["collection"]


class Figures(Collector):
    """The figures of a service, and of these of its collections."""

    def __init__(self, service: Service, names: Sequence[str]) -> None:
        self._service, self._names = service, names

    def collect(self) -> Iterator[Metric]:
        """The figures of the service, then of the collections."""
        service = self._service
        yield _gauge("build_info", "The version that runs.", ["version"], {(__version__,): 1})
        yield _gauge("ready", "Whether questions can be answered.", [], {(): int(service.problem() is None)})
        lanes, (running, waiting) = (service.questions, service.looks, service.files), service.jobs.waiting()
        taken = {(lane.name,): lane.places.taken for lane in lanes}
        most = {(lane.name,): lane.places.most for lane in lanes}
        yield _gauge("queue_calls", "Calls that are worked on or wait, by kind.", ["queue"], taken)
        yield _gauge("queue_limit", "Calls that fit; more get status 503.", ["queue"], most)
        yield _gauge(
            "jobs", "Jobs of programs that run or wait.", ["state"], {("running",): running, ("waiting",): waiting}
        )
        yield _gauge("streams", "Open streams.", [], {(): service.streams.taken})
        yield from self._collections()

    def _collections(self) -> Iterator[Metric]:
        folder = self._service.folder
        all = {name: counts(folder, name).now() for name in self._names}
        questions = CounterMetricFamily(
            "plumbline_questions",
            "Questions that were decided, by status and first reason.",
            labels=[*COLLECTION, "status", "reason"],
        )
        for name, one in all.items():
            for (status, reason), count in one.questions.items():
                questions.add_metric([name, status, reason], count)
        yield questions
        for field, metric, about in (
            ("claims", "draft_claims", "Sentences of drafts that were checked."),
            ("cited", "draft_claims_cited", "Of these, those with a source that holds the quote."),
            ("drafts", "drafts", "Drafts that the grounding checks were run on."),
            ("failed", "drafts_failed", "Of these, those that the checks rejected."),
        ):
            family = CounterMetricFamily(f"plumbline_{metric}", about, labels=COLLECTION)
            for name, one in all.items():
                family.add_metric([name], getattr(one, field))
            yield family
        for field, metric, about in (
            ("retrieval", "retrieval_seconds", "Seconds of a search."),
            ("model", "model_seconds", "Seconds of language models, by question."),
            ("correctness", "correctness", "Probability that the best answer is right, by question."),
        ):
            yield _histograms(metric, about, {name: getattr(one, field) for name, one in all.items()})
        size = {(name,): contents_of(folder, name) for name in self._names}
        for field, metric in (("documents", "documents"), ("bytes", "library_bytes")):
            values = {name: getattr(one, field) if one else 0 for name, one in size.items()}
            yield _gauge(metric, f"{field.capitalize()} of the newest version.", COLLECTION, values)
        said = Counter(
            (name, one.kind.value)
            for name in self._names
            for state in FeedbackState
            for one in records(folder, name).feedback(state)
        )
        pinned = Counter((name, one.change.value) for name in self._names for one in records(folder, name).pins())
        yield _gauge("pinned_answers", "Answers that are watched, by their state.", [*COLLECTION, "state"], pinned)
        yield _gauge("feedback", "What readers said, as far as it is kept.", [*COLLECTION, "kind"], said)


async def metrics(caller: Caller, service: TheService) -> Response:
    """The figures; needs the scope watch."""
    return Response(await service.looks.run(lambda: _latest(service, caller)), media_type=CONTENT_TYPE_PLAIN_1_0_0)


def _latest(service: Service, caller: Principal) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=registry)
    for one in (REQUESTS, DURATIONS, Figures(service, service.watched(caller))):
        registry.register(one)
    return generate_latest(registry)


def _gauge(name: str, about: str, labels: list[str], values: Mapping[Any, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"plumbline_{name}", about, labels=labels)
    for key, value in values.items():
        family.add_metric(list(key), value)
    return family


def _histograms(name: str, about: str, values: dict[str, Histogram]) -> HistogramMetricFamily:
    family = HistogramMetricFamily(f"plumbline_{name}", about, labels=COLLECTION)
    for collection, one in values.items():
        running, groups = 0, []
        for end, count in zip((*map(str, one.ends), "+Inf"), one.counts, strict=True):
            running += count
            groups.append((end, float(running)))
        family.add_metric([collection], groups, one.sum)
    return family
