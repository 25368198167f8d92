"""Every call of the API: its request, and the type that its reply is read as. Who sends it, and how, is elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel

from rag_core.client.call import Call, File, Settings, address_in, given, key_header
from rag_core.service.messages import models, profile_models, request_models, run_models, visit_models


def index(
    documents: Iterable[Mapping[str, Any] | request_models.TextIn], collection: str = "default", *, preset: str | None = None,
    settings: Settings | None = None, domain: str | None = None, wait: float = 60.0, key: str | None = None,
) -> Call[models.IndexOut]:  # fmt: skip
    """Add texts `{content, metadata?, id?, language?}`; `key` makes sending it twice the same as once."""
    rows = [one.model_dump() if isinstance(one, BaseModel) else dict(one) for one in documents]
    body = given(documents=rows, collection=collection, preset=preset, settings=settings, domain=domain)
    headers = key_header(key)
    return Call("POST", "/api/rag/index", models.IndexOut, body, {"wait": wait}, headers=headers)


def index_files(
    files: Sequence[File], collection: str = "default", *, metadata: str = "{}", password: str = "", domain: str = "",
    wait: float = 60.0, key: str | None = None,
) -> Call[models.IndexOut]:  # fmt: skip
    """Add PDFs, .txt or .md files; `metadata` is a JSON object for all of them."""
    form = {"namespace": collection, "metadata": metadata, **given(password=password or None, domain=domain or None)}
    headers = key_header(key)
    return Call("POST", "/api/rag/index", models.IndexOut, params={"wait": wait}, form=form, files=tuple(files), headers=headers)


def query(
    question: str, collection: str | Sequence[str] = "default", *, top_k: int | None = None, preset: str | None = None,
    settings: Settings | None = None, documents: Sequence[str] | None = None, filters: Mapping[str, str] | None = None,
    domain: str | None = None, session: str = "",
) -> Call[models.Decision]:  # fmt: skip
    """Ask a question of a collection, or of several together, under a domain's profile where one is named; `auto` detects it."""
    asked = {"collection": collection} if isinstance(collection, str) else {"collections": list(collection)}
    body = given(query=question, top_k=top_k, preset=preset, settings=settings, **asked)
    body |= given(documents=documents, filters=filters, domain=domain, session=session or None)
    return Call("POST", "/api/rag/query", models.Decision, body)


def decide(
    question: str, passages: Iterable[Mapping[str, Any]], *, preset: str | None = None, settings: Settings | None = None
) -> Call[models.Decision]:
    """Decide over passages of a retrieval of your own, best first."""
    body = given(question=question, passages=[dict(one) for one in passages], preset=preset, settings=settings)
    return Call("POST", "/api/rag/decide", models.Decision, body)


def judge(context: str, answer: str, language: str = "") -> Call[models.Judgement]:
    """Hold an answer against a context, sentence by sentence."""
    return Call("POST", "/api/rag/judge", models.Judgement, {"context": context, "answer": answer, "language": language})


def confidence(question: str, collection: str = "default") -> Call[models.Confidence]:
    """Ask a question for its confidence metadata."""
    return Call("GET", address_in(collection, "query"), models.Confidence, params={"query_text": question})


def collections() -> Call[models.Collections]:
    """List the collections that the token reaches."""
    return Call("GET", "/api/collections", models.Collections)


def create(collection: str) -> Call[models.Collections]:
    """Make a collection."""
    return Call("PUT", address_in(collection), models.Collections)


def drop(collection: str) -> Call[None]:
    """Delete a collection with everything in it and all that was kept about it."""
    return Call("DELETE", address_in(collection), type(None))


def begin_visit() -> Call[visit_models.VisitOut]:
    """Begin a visit of a shared demo; its id makes a client that is this visitor."""
    return Call("POST", "/api/visits", visit_models.VisitOut)


def end_visit() -> Call[None]:
    """End the visit that this client is, with its collection."""
    return Call("DELETE", "/api/visits", type(None))


def quota(collection: str = "default") -> Call[models.QuotaOut]:
    """Show how much a collection has, and the most that it may have."""
    return Call("GET", address_in(collection, "quota"), models.QuotaOut)


def set_quota(collection: str = "default", *, documents: int | None = None, bytes: int | None = None) -> Call[models.QuotaOut]:
    """Say how much a collection may have; what is left out has no limit."""
    return Call("PUT", address_in(collection, "quota"), models.QuotaOut, given(documents=documents, bytes=bytes))


def documents(collection: str = "default", *, limit: int = request_models.PAGE_ITEMS, offset: int = 0) -> Call[models.Documents]:
    """List documents."""
    return Call("GET", address_in(collection, "documents"), models.Documents, params={"limit": limit, "offset": offset})


def document(id: str, collection: str = "default") -> Call[models.Document]:
    """Show a document."""
    return Call("GET", address_in(collection, "documents", id), models.Document)


def describe(id: str, metadata: Settings, collection: str = "default") -> Call[models.Document]:
    """Replace a document's metadata."""
    return Call("PUT", address_in(collection, "documents", id, "metadata"), models.Document, {"metadata": dict(metadata)})


def delete(id: str, collection: str = "default") -> Call[None]:
    """Delete a document."""
    return Call("DELETE", address_in(collection, "documents", id), type(None))


def erase(id: str, collection: str = "default") -> Call[models.Erased]:
    """Delete a document everywhere."""
    return Call("DELETE", address_in(collection, "documents", id, "everywhere"), models.Erased)


def page(id: str, number: int, collection: str = "default") -> Call[models.Page]:
    """Show the raw text of a page."""
    return Call("GET", address_in(collection, "documents", id, "pages", number), models.Page)


def page_image(id: str, number: int, collection: str = "default") -> Call[bytes]:
    """Show a page as PNG."""
    return Call("GET", address_in(collection, "documents", id, "pages", number, "image"), bytes)


def decisions(collection: str = "default", *, limit: int = request_models.PAGE_ITEMS, before: int | None = None) -> Call[models.KeptList]:
    """List kept decisions, newest first."""
    return Call("GET", address_in(collection, "decisions"), models.KeptList, params=given(limit=limit, before=before))


def decision(id: str, collection: str = "default") -> Call[models.Decision]:
    """Show a kept decision."""
    return Call("GET", address_in(collection, "decisions", id), models.Decision)


def replay(id: str, collection: str = "default", *, preset: str | None = None, settings: Settings | None = None) -> Call[models.Decision]:
    """Decide a kept question under other settings."""
    return Call("POST", address_in(collection, "decisions", id, "replay"), models.Decision, given(preset=preset, settings=settings))


def evidence(id: str, number: int = 1, collection: str = "default") -> Call[bytes]:
    """Show the page of a source as PNG, with the cited words marked."""
    return Call("GET", address_in(collection, "decisions", id, "evidence", number), bytes)


def feedback(
    id: str,
    kind: str,
    collection: str = "default",
    *,
    comment: str = "",
    document: str = "",
    page: int = 0,
    key: str | None = None,
) -> Call[models.Said]:
    """Say whether a decision was right: helpful, wrong_answer or wrong_refusal."""
    body = {"kind": kind, "comment": comment, "document": document, "page": page}
    return Call("POST", address_in(collection, "decisions", id, "feedback"), models.Said, body, headers=key_header(key))


def open_feedback(collection: str = "default", *, limit: int | None = None, offset: int = 0) -> Call[models.FeedbackList]:
    """List everybody's open feedback."""
    return Call("GET", address_in(collection, "feedback"), models.FeedbackList, params=given(limit=limit, offset=offset))


def run(
    name: str, questions: Sequence[Mapping[str, Any]], collection: str = "default", *, preset: str | None = None,
    settings: Settings | None = None, budget_tokens: int | None = None, key: str | None = None,
) -> Call[models.Job]:  # fmt: skip
    """Measure labelled questions as a job."""
    rows = [dict(one) for one in questions]
    body = given(name=name, questions=rows, preset=preset, settings=settings, budget_tokens=budget_tokens)
    return Call("POST", address_in(collection, "runs"), models.Job, body, headers=key_header(key))


def report(number: int, collection: str = "default") -> Call[dict[str, Any]]:
    """Show the figures of a labelled run."""
    return Call("GET", address_in(collection, "runs", number), dict[str, Any])


def runs(collection: str = "default", *, limit: int | None = None, offset: int = 0) -> Call[run_models.Runs]:
    """List the labelled runs, newest first."""
    return Call("GET", address_in(collection, "runs"), run_models.Runs, params=given(limit=limit, offset=offset))


def resume(number: int, collection: str = "default", *, budget_tokens: int | None = None) -> Call[models.Job]:
    """Go on with a run that was stopped, as a job."""
    return Call("POST", address_in(collection, "runs", number, "resume"), models.Job, given(budget_tokens=budget_tokens))


def export_run(number: int, collection: str = "default", *, what: str = "decisions") -> Call[bytes]:
    """Take a run away as JSON lines: labels, failing or decisions."""
    return Call("GET", address_in(collection, "runs", number, "export"), bytes, params={"what": what})


def certify(
    number: int, targets: Mapping[str, float], collection: str = "default", *, confidence: float = 0.95, first: str | None = None,
    second: str = "", by_type: bool = False, preset: str | None = None, settings: Settings | None = None, save_as: str = "",
) -> Call[run_models.Certified]:  # fmt: skip
    """Choose a threshold on a run's questions that keeps the targets, such as {"wrong_answers": 0.05}, with its certificate."""
    body = given(targets=dict(targets), confidence=confidence, first=first, preset=preset, settings=settings)
    body |= {"second": second, "by_type": by_type, "save_as": save_as}
    return Call("POST", address_in(collection, "runs", number, "certificate"), run_models.Certified, body)


def certificates(collection: str = "default") -> Call[run_models.Certificates]:
    """List the saved presets that have a certificate, and whether each still holds."""
    return Call("GET", address_in(collection, "certificates"), run_models.Certificates)


def labels(set: str, collection: str = "default") -> Call[bytes]:
    """Take a labelled set away as JSON lines."""
    return Call("GET", address_in(collection, "labels"), bytes, params={"set": set})


def export(collection: str = "default", *, limit: int = request_models.MAX_PAGE_ITEMS, before: int | None = None) -> Call[bytes]:
    """Take kept decisions away as JSON lines, newest first."""
    return Call("GET", address_in(collection, "export"), bytes, params=given(limit=limit, before=before))


def jobs(*, limit: int | None = None, offset: int = 0) -> Call[models.Jobs]:
    """List your jobs."""
    return Call("GET", "/api/jobs", models.Jobs, params=given(limit=limit, offset=offset))


def job(id: str) -> Call[models.Job]:
    """Show how far a job is."""
    return Call("GET", f"/api/jobs/{quote(id, safe='')}", models.Job)


def stop(id: str) -> Call[models.Job]:
    """Stop a job."""
    return Call("DELETE", f"/api/jobs/{quote(id, safe='')}", models.Job)


def profiles(collection: str = "default") -> Call[profile_models.Profiles]:
    """List the domain profiles with the version in force."""
    return Call("GET", address_in(collection, "profiles"), profile_models.Profiles)


def domain(question: str, collection: str = "default") -> Call[profile_models.DetectedOut]:
    """Say which domain would be detected for a question, and why."""
    return Call("GET", address_in(collection, "domain"), profile_models.DetectedOut, params={"query_text": question})


def record_execution(
    prompt_id: str, confidence: float, citation_coverage: float, hallucination_detected: bool, collection: str = "default", *,
    outcome: str = "answered", feedback: str | None = None, decision: str = "", profile: str = "", key: str | None = None,
) -> Call[models.Said]:  # fmt: skip
    """Record how a piece of work with a prompt or a profile went."""
    body = given(
        prompt_id=prompt_id, confidence=confidence, citation_coverage=citation_coverage, hallucination_detected=hallucination_detected,
        outcome=outcome, feedback=feedback, decision=decision, profile=profile,
    )  # fmt: skip
    return Call("POST", address_in(collection, "executions"), models.Said, body, headers=key_header(key))


def metrics() -> Call[bytes]:
    """The figures of the service, as Prometheus reads them."""
    return Call("GET", "/metrics", bytes)
