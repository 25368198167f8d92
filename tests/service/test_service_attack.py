"""A token of one collection against everything of another: every route.

What is refused looks the same as what is missing.
"""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from service_kit import SECRET, WARRANTY, Server

from rag_core.entrypoints.http.app import api
from rag_core.entrypoints.http.guards import METADATA, OPEN, entered
from rag_core.library.stored.named import is_name
from rag_core.service.tokens import USED
from rag_core.wiring import act_log

Route = tuple[str, str]
Known = dict[str, Any]

# Routes that are about no collection: each is looked at by itself.
ELSEWHERE: set[Route] = {
    ("POST", "/api/rag/decide"),
    ("POST", "/api/rag/judge"),
    ("GET", "/api/collections"),
    ("GET", "/api/jobs"),
    ("GET", "/metrics"),
    ("GET", "/v1/models"),
}
# What a call has besides its path, where NAME stands for the collection.
BODIES: dict[Route, Any] = {
    ("POST", "/api/rag/index"): {"documents": [{"content": "x y z"}], "namespace": "NAME"},
    ("POST", "/api/rag/query"): {"query": SECRET, "namespace": "NAME"},
    ("POST", "/api/rag/query/events"): {"query": SECRET, "namespace": "NAME"},
    ("POST", "/v1/chat/completions"): {"model": "NAME", "messages": [{"role": "user", "content": SECRET}]},
    ("PUT", "/api/collections/{name}/documents/{id}/metadata"): {"metadata": {}},
    ("POST", "/api/collections/{name}/decisions/{id}/replay"): {},
    ("POST", "/api/collections/{name}/decisions/{id}/feedback"): {"kind": "wrong_answer", "document": "DOCUMENT"},
    ("POST", "/api/collections/{name}/executions"): {
        "prompt_id": "rag_strategy",
        "metrics": {"confidence": 1, "citation_coverage": 1, "hallucination_detected": False},
    },
}
SERVED = [path for path in OPEN if not path.startswith(METADATA)]  # that is there with a login (test_service_programs)
NEEDS = {
    "index": [
        ("POST", "/api/rag/index"),
        ("PUT", "/api/collections/{name}"),
        ("PUT", "/api/collections/{name}/documents/{id}/metadata"),
        ("DELETE", "/api/collections/{name}/documents/{id}"),
        ("DELETE", "/api/collections/{name}/documents/{id}/everywhere"),
        ("DELETE", "/api/collections/{name}"),
    ],
    "label": [("GET", "/api/collections/{name}/feedback")],
    "watch": [("GET", "/metrics")],
}


DOCUMENT, DECISION = (("GET", f"/api/collections/{{name}}/{what}/{{id}}") for what in ("documents", "decisions"))
NOWHERE = "zeta"  # no collection has this name, which is as long as beta's
# as a caller may send them: what is made in their place is another each time
IDS = {"X-Request-ID": "1", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}


def every_route(server: Server) -> dict[Route, Any]:
    """All routes of the app by method and path, those of its parts too."""
    found: dict[Route, Any] = {}
    for one in api(server.service).routes:
        router = getattr(one, "original_router", None)
        inner = router.routes if router else [one]
        found |= {(method, each.path): each for each in inner for method in each.methods - {"HEAD"}}
    return found


def call(client: httpx2.Client, route: Route, name: str, known: Known) -> httpx2.Response:
    method, path = route
    id = known["document" if "/documents" in path else "job" if "/jobs" in path else "decision"]
    body = json.dumps(BODIES.get(route)).replace("NAME", name).replace("DOCUMENT", known["document"])
    asked = {"query_text": SECRET} if path.endswith("{name}/query") else None
    at = path.format(name=name, id=id, page=1, number=1)
    return client.request(method, at, json=json.loads(body), params=asked, headers=IDS)


def seen(answer: httpx2.Response) -> tuple[int, bytes, dict[str, str]]:
    """All that a caller sees but the time, the span and which of two names they asked for."""
    headers = {name: value for name, value in answer.headers.items() if name not in ("date", "traceparent")}
    return answer.status_code, answer.content.replace(NOWHERE.encode(), b"beta"), headers


def attacked(server: Server) -> list[Route]:
    """All routes about a collection, those that are added later too."""
    return sorted(every_route(server).keys() - ELSEWHERE - {("GET", path) for path in (*SERVED, "/api/openapi.json")})


def test_given_every_route_with_a_collection_then_it_enters_it(server):
    """S3-25: collections do not see each other."""
    found = every_route(server)

    assert found.keys() >= ELSEWHERE | BODIES.keys() | {route for needing in NEEDS.values() for route in needing}
    for route in attacked(server):
        if "{name}" in route[1] and route != ("PUT", "/api/collections/{name}"):  # which enters it by `create`
            assert entered in {each.call for each in found[route].dependant.dependencies}, route


def test_given_no_token_or_a_wrong_one_when_any_address_is_asked_for_then_nobody_is_served(server: Server) -> None:
    """Also addresses that are not there: who may not enter learns nothing of them."""
    more = {("GET", "/api/openapi.json"), ("GET", "/api/nowhere"), ("POST", "/mcp")}
    addresses = ELSEWHERE | set(attacked(server)) | more
    wrong = (
        "Bearer plb_00000000_x",
        "Bearer",
        "Basic YTpi",
        f"bearer {server.tokens['admin'][:-1]}",
        f"Bearer {server.tokens['admin']} x",
    )
    with server.client() as client:
        for method, path in addresses:
            filled_in = path.format(name="alpha", id="1", page="1", number="1")
            for headers in ({}, *({"authorization": one} for one in wrong)):
                answer = client.request(method, filled_in, headers=headers)
                assert answer.status_code == 401, (method, path, headers)
                assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get("/api/collections", headers={"X-Browser-ID": "test-browser"}).status_code == 401
        twice = [("authorization", f"Bearer {server.tokens['admin']}")] * 2
        assert client.get("/api/collections", headers=twice).status_code == 401
        assert {client.get(path).status_code for path in SERVED} <= {200, 503}


def test_given_a_token_of_alpha_when_beta_is_asked_for_then_it_looks_as_if_there_were_none(server):
    known = server.known["beta"]
    with server.client("alpha") as client, server.client("beta") as theirs:
        for route in attacked(server):
            refused, missing = call(client, route, "beta", known), call(client, route, NOWHERE, known)
            if route[0] == "GET":
                assert call(theirs, route, "beta", known).status_code in (200, 404), f"the call must be sound: {route}"

            assert refused.status_code == 404, route
            assert seen(refused) == seen(missing), route
            assert b"juniper" not in refused.content, route
            assert b"beta" not in refused.content.replace(b"There is no collection 'beta'.", b""), route


def test_given_ids_of_beta_when_they_are_asked_for_in_alpha_then_there_are_none(server):
    """Numbers of decisions count from 1 in each collection, so beta's are tried beyond alpha's own. Documents of equal
    bytes have equal ids, so only texts that beta alone has.
    """
    theirs = server.known["beta"] | {"decision": 10_000}
    nobodys = {**theirs, "document": "sha256:" + "0" * 64}
    with server.client("alpha") as client:
        for route in attacked(server):
            if "{id}" in route[1] and "{name}" in route[1]:
                refused, missing = call(client, route, "alpha", theirs), call(client, route, "alpha", nobodys)

                assert refused.status_code == 404, route
                assert seen(refused) == seen(missing), route


def test_given_beta_s_ids_in_the_body_when_alpha_is_asked_then_they_are_unknown(server: Server) -> None:
    beta = server.known["beta"]["document"]
    with server.client("alpha") as client:
        for named in (beta, "sha256:" + "0" * 64):
            answer = client.post("/api/rag/query", json={"query": WARRANTY, "namespace": "alpha", "documents": [named]})
            assert answer.status_code == 404
            assert answer.json()["detail"] == f"There is no document {named!r} in the library."
        kept = server.known["alpha"]["decision"]
        told = client.post(
            f"/api/collections/alpha/decisions/{kept}/feedback", json={"kind": "wrong_answer", "document": beta}
        )
        assert told.status_code == 404
        found = client.post("/api/rag/query", json={"query": SECRET, "namespace": "alpha"}).json()
    assert "juniper" not in str(found)


def noted_in(server: Server) -> int:
    """How many acts were noted in the library."""
    return len(list(act_log(server.folder).entries()))


@pytest.mark.parametrize("path", ["/api/rag/query", "/api/rag/query/events"])
def test_given_several_collections_when_one_is_not_the_caller_s_then_there_is_none_and_nothing_is_asked(server, path):
    """S4-4: never over a collection that is not theirs."""
    noted = noted_in(server)
    with server.client("alpha") as client:
        theirs, nobodys = (
            client.post(path, json={"query": SECRET, "collections": ["alpha", name]}, headers=IDS)
            for name in ("beta", NOWHERE)
        )

    assert theirs.status_code == nobodys.status_code == 404
    assert seen(theirs) == seen(nobodys)
    assert "juniper" not in theirs.text
    assert noted_in(server) == noted


def test_given_lists_when_they_are_asked_for_then_each_holds_what_is_the_caller_s(server: Server) -> None:
    with server.client("alpha") as alpha, server.client("beta") as beta, server.client("admin") as admin:
        assert alpha.get("/api/collections").json()["items"] == ["alpha"]
        assert {"alpha", "beta", "default"} <= set(admin.get("/api/collections").json()["items"])
        jobs = {
            name: {one["id"] for one in client.get("/api/jobs").json()["items"]}
            for name, client in (("alpha", alpha), ("beta", beta))
        }
        assert server.known["alpha"]["job"] in jobs["alpha"]
        assert not jobs["alpha"] & jobs["beta"]
        assert jobs["alpha"] | jobs["beta"] <= {one["id"] for one in admin.get("/api/jobs").json()["items"]}


def test_given_a_token_that_only_asks_then_it_sees_its_own_decisions_and_changes_nothing(server: Server) -> None:
    known = server.known["alpha"]
    with server.client("reader") as reader, server.client("alpha") as alpha:
        for scope, needing in NEEDS.items():
            for route in needing:
                answer = reader.request(*route) if route in ELSEWHERE else call(reader, route, "alpha", known)
                assert answer.status_code == 403, route
                assert scope in answer.json()["detail"]
        assert call(reader, DECISION, "alpha", known).status_code == 404
        own = reader.post("/api/rag/query", json={"query": WARRANTY, "namespace": "alpha"}).json()["id"]
        listed = reader.get("/api/collections/alpha/decisions").json()["items"]
        assert (listed[0]["id"], {one["origin"] for one in listed}) == (own, {listed[0]["origin"]})
        assert reader.get(f"/api/collections/alpha/decisions/{own}").json()["answer"]
        assert reader.get(f"/api/jobs/{known['job']}").status_code == 404
        assert own in {one["id"] for one in alpha.get("/api/collections/alpha/decisions").json()["items"]}
        assert call(alpha, DOCUMENT, "alpha", known).status_code == 200, "nothing was deleted"


def test_given_names_that_lead_out_of_the_folder_when_a_collection_is_named_so_then_there_is_none(server):
    names = ["..", ".", "%2e%2e", "..%2f..%2fetc", "a/b", "a\\b", "A", "smlouvy-č", "समझौता", "a%00b", "x" * 65]
    names += ["tokens.json", "%2Ftmp", ""]
    with server.client("admin") as client:
        for name in names:  # the client itself takes dots and slashes away
            assert client.get(f"/api/collections/{name}/documents").status_code in (404, 405), name
            assert client.put(f"/api/collections/{name}").status_code in (404, 405, 422), name
            for path, body in (("query", {"query": "x"}), ("index", {"documents": [{"content": "x"}]})):
                assert client.post(f"/api/rag/{path}", json={**body, "namespace": name}).status_code == 422, name
    outside = {path.name for path in server.folder.parent.iterdir()}
    assert outside == {"library"}
    assert {path.name for path in server.folder.iterdir() if path.is_dir() and not is_name(path.name)} == {USED}


def test_given_a_token_that_is_revoked_when_it_is_used_again_then_it_opens_nothing(server: Server) -> None:
    token, text = server.service.tokens.create("short", ["ask"], ["alpha"])
    with server.client() as client:
        headers = {"authorization": f"Bearer {text}"}
        assert client.get("/api/collections", headers=headers).status_code == 200
        server.service.tokens.revoke(token.id)
        assert client.get("/api/collections", headers=headers).status_code == 401
