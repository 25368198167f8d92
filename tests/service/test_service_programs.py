"""Programs that come with a token of the company's provider: the same roles as on the page, at the API and at MCP.

The provider, the service and MCP's own client with its sign-in (OAuth 2.1) are real, and speak HTTP on this machine.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

pytest.importorskip("authlib")

from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from openid_provider import CLIENT, SECRET, Provider, provider
from service_kit import ALPHA, WARRANTY, Server, models_here, running
from test_serve_command import free_port

from rag_core.service.limits import Rate
from rag_core.settings.login import login

BACK = "http://127.0.0.1:1/back"  # where MCP's client listens for who comes back
ACCESS = """
audiences: [api://plumbline]
roles:
  readers: {may: [ask], addresses: [ann@example.org, kim@example.org]}
  editors: {may: [ask, upload], addresses: [eda@example.org], collections: [contracts]}
  seers: {may: [ask, records], addresses: [eda@example.org], collections: [plans]}
  keepers: {may: [ask, upload, delete], claims: {groups: [keepers]}}
"""
PEOPLE: dict[str, dict[str, Any]] = {
    "ann": {"email": "ann@example.org", "email_verified": True},
    "kim": {"email": "kim@example.org", "email_verified": True},
    "eda": {"email": "eda@example.org", "email_verified": True},
    "eve": {"email": "ann@example.org", "email_verified": False},
    "max": {"groups": ["keepers"]},
}


@dataclass
class Company:
    """A service, and the provider that its people sign in with."""

    server: Server
    provider: Provider
    resource: str

    def client(self, subject: str, audience: str = "") -> httpx2.Client:
        """A program of somebody's."""
        token = self.provider.access_token(subject, audience or self.resource)
        return httpx2.Client(base_url=self.server.address, headers={"authorization": f"Bearer {token}"}, timeout=900)


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    folder, port = tmp_path_factory.mktemp("company"), free_port()
    library, file = folder / "library", folder / "secrets.toml"
    library.mkdir()
    (library / "access.yaml").write_text(ACCESS, encoding="utf-8")
    with provider(PEOPLE) as authority:
        file.write_text(authority.secrets(f"http://127.0.0.1:{port}/", "c" * 32), encoding="utf-8")
        authority.redirects.add(BACK)
        known = login({"RAG_SECRETS": str(file)})
        with models_here(), running(library, port, login=known) as server:
            made = Company(server, authority, f"http://127.0.0.1:{port}/mcp")
            with made.client("max") as keeper:
                for name in ("contracts", "plans"):
                    sent = {"namespace": name, "documents": [{"content": ALPHA, "metadata": {"title": name}}]}
                    keeper.post("/api/rag/index", json=sent).raise_for_status()
            yield made


def test_given_a_person_of_a_role_when_their_program_asks_then_it_may_what_they_may_on_the_page(company):
    with company.client("ann") as ann, company.client("kim") as kim:
        asked = ann.post("/api/rag/query", json={"query": WARRANTY, "namespace": "contracts"}).raise_for_status().json()
        place = f"/api/collections/contracts/decisions/{asked['id']}"
        assert asked["is_safe"]
        assert ann.get(place).status_code == 200
        assert kim.get(place).status_code == 404  # somebody else's
        assert ann.get("/api/collections").json()["items"] == ["contracts", "default", "plans"]
        refused = ann.post("/api/rag/index", json={"namespace": "contracts", "documents": [{"content": "x"}]})
        assert refused.status_code == 403
        assert "role" in refused.json()["remedy"]
        assert ann.get("/metrics").status_code == 403
    (row,) = [one for one in records(company, "contracts") if str(one.id) == asked["id"]]
    assert row.origin == "user:ann@example.org"  # as the page names what she asks there


def records(company: Company, collection: str) -> Any:
    from rag_core.wiring import records as of

    return of(company.server.folder, collection).decisions(100)


def test_given_rights_in_some_collections_then_each_holds_in_its_own_alone(company: Company) -> None:
    with company.client("eda") as eda, company.client("ann") as ann:
        assert eda.get("/api/collections").json()["items"] == ["contracts", "plans"]
        for name in ("contracts", "plans"):
            ann.post("/api/rag/query", json={"query": WARRANTY, "namespace": name}).raise_for_status()
        seen = {
            name: len(eda.get(f"/api/collections/{name}/decisions").raise_for_status().json()["items"])
            for name in ("contracts", "plans")
        }
        assert seen["contracts"] == 0  # she asked nothing there
        assert seen["plans"] >= 1  # everybody's
        text = {"documents": [{"content": "The deadline is the first of May."}]}
        status = {
            name: eda.post("/api/rag/index", json={"namespace": name, **text}).status_code
            for name in ("contracts", "plans", "default", "another")
        }
        assert status == {"contracts": 200, "plans": 403, "default": 404, "another": 404}
        given = {"question": WARRANTY, "passages": [{"text": ALPHA}]}
        assert eda.post("/api/rag/decide", json=given).status_code == 403  # of no collection: as on the page
        assert ann.post("/api/rag/decide", json=given).status_code == 200


def test_given_the_right_to_delete_or_not_then_it_is_that_of_the_page(company: Company) -> None:
    with company.client("eda") as eda, company.client("max") as keeper:
        sent = {"namespace": "contracts", "documents": [{"content": "The river is 80 km long."}]}
        id = eda.post("/api/rag/index", json=sent).raise_for_status().json()["documents"][0]["id"]
        place = f"/api/collections/contracts/documents/{id}"
        for address in (place, f"{place}/everywhere", "/api/collections/contracts"):
            assert eda.delete(address).status_code == 403, address
        assert keeper.delete(f"{place}/everywhere").is_success
        assert keeper.delete(place).status_code == 404


def test_given_somebody_without_a_role_when_they_come_then_nothing_is_there_for_them(company: Company) -> None:
    with company.client("eve") as eve:  # her provider has not checked the address
        assert eve.get("/api/collections").json()["items"] == []
        assert eve.post("/api/rag/query", json={"query": WARRANTY, "namespace": "contracts"}).status_code == 404
        assert eve.post("/api/rag/decide", json={"question": "x?", "passages": []}).status_code == 403


@pytest.mark.parametrize("audience", [CLIENT, "api://plumbline", ""])
def test_given_a_token_for_us_then_it_is_taken_and_one_for_others_is_not(company: Company, audience: str) -> None:
    with company.client("ann", audience) as ann, company.client("ann", f"{audience}x") as other:
        assert ann.get("/api/collections").status_code == 200
        assert ann.get("/v1/models").status_code == 200
        assert other.get("/api/collections").status_code == 401


def test_given_nobody_or_a_wrong_token_when_they_come_from_this_machine_then_they_are_told_where_to_sign_in(company):
    address = f"{company.server.address}/.well-known/oauth-protected-resource/mcp"
    for headers in ({}, {"authorization": "Bearer abc.def.ghi"}, {"authorization": "Bearer plb_1_2"}):
        for path in ("/api/collections", "/mcp", "/v1/models"):
            answer = httpx2.get(f"{company.server.address}{path}", headers=headers)
            assert answer.status_code == 401, path
            assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{address}"'
            assert answer.headers["content-type"] == "application/problem+json"
    about = httpx2.get(address)
    assert about.status_code == 200
    assert about.json() == {
        "resource": company.resource,
        "authorization_servers": [company.provider.address],  # letter by letter, without a slash
        "scopes_supported": ["openid", "email", "profile"],
        "bearer_methods_supported": ["header"],
    }


def test_given_a_token_of_ours_then_it_opens_what_it_did(company: Company) -> None:
    text = company.server.service.tokens.create("program", ("ask",), ("plans",))[1]
    answer = httpx2.get(f"{company.server.address}/api/collections", headers={"authorization": f"Bearer {text}"})
    assert answer.json()["items"] == ["plans"]


def test_given_a_provider_that_is_down_when_an_unknown_key_comes_then_one_clear_error_refuses(company, monkeypatch):
    keys = company.server.service._keys
    monkeypatch.setattr(keys, "_clock", lambda: time.monotonic() + 10_000)  # its keys are too old
    company.provider.down = True
    buckets = company.server.service.rate._buckets
    buckets.clear()
    try:
        with company.client("ann") as ann:
            answers = [ann.get("/api/collections") for _ in range(3)]
    finally:
        company.provider.down = False
        keys._asked = keys._read = -10_000.0
    for answer in answers:
        assert answer.status_code == 503
        assert answer.json()["kind"] == "ProviderUnavailable"
        assert int(answer.headers["retry-after"]) >= 1
    assert [name[0] for name in buckets] == ["?"]  # such calls count for their address, or nothing would bound them


def test_given_a_name_of_the_provider_in_the_file_of_roles_then_its_tokens_are_taken_at_once(company: Company) -> None:
    file, old = company.server.folder / "access.yaml", company.provider.people["ann"]
    company.provider.people["ann"] = old | {"iss": "https://sts.example.org/tenant/"}
    try:
        with company.client("ann") as ann:
            assert ann.get("/api/collections").status_code == 401
            file.write_text(f"{ACCESS}issuers: ['https://sts.example.org/tenant/']\n", encoding="utf-8")
            assert ann.get("/api/collections").status_code == 200
    finally:
        company.provider.people["ann"] = old
        file.write_text(ACCESS, encoding="utf-8")


def test_given_an_address_that_sends_tokens_without_end_then_they_are_refused_unchecked(company, monkeypatch):
    service, checked = company.server.service, []
    claims = service._keys.claims

    async def counted(*arguments: Any) -> Any:
        checked.append(arguments)
        return await claims(*arguments)

    monkeypatch.setattr(service._keys, "claims", counted)
    monkeypatch.setattr(service, "_checks", Rate(8, lambda: 0.0))
    with company.client("ann") as ann:
        assert [ann.get("/api/collections").status_code for _ in range(4)] == [200, 200, 429, 429]
    assert len(checked) == 2
    text = service.tokens.create("front", ("ask",), ("plans",))[1]  # checked by a look-up
    assert httpx2.get(
        f"{company.server.address}/api/collections", headers={"authorization": f"Bearer {text}"}
    ).is_success


def test_given_a_file_of_roles_that_cannot_be_read_then_nobody_comes_in_and_nothing_of_it_is_told(company):
    file = company.server.folder / "access.yaml"
    file.write_text("roles: {secret_role: {may: [everything]}}", encoding="utf-8")
    try:
        with company.client("ann") as ann:
            answer = ann.get("/api/collections")
    finally:
        file.write_text(ACCESS, encoding="utf-8")
    assert answer.status_code == 503
    assert "secret" not in answer.text


class Kept:
    """What MCP's client keeps: it was registered at the provider by hand."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return OAuthClientInformationFull(
            client_id=CLIENT,
            client_secret=SECRET,
            redirect_uris=[BACK],
            token_endpoint_auth_method="client_secret_post",
        )

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None: ...


@pytest.mark.parametrize(("subject", "collections"), [("ann", ["contracts", "default", "plans"]), ("eve", [])])
def test_given_an_assistant_that_knows_the_address_alone_then_it_asks_for_its_person(company, subject, collections):
    """It finds the provider by the protected-resource metadata, and gets a token for MCP."""
    back: list[str] = []

    async def browser(address: str) -> None:
        async with httpx2.AsyncClient() as at:
            answer = await at.get(f"{address}&sign={subject}")
            assert answer.status_code == 302, (address, answer.text)
            back.append(answer.headers["location"])

    async def returned() -> AuthorizationCodeResult:
        found = parse_qs(urlsplit(back[-1]).query)
        return AuthorizationCodeResult(code=found["code"][0], state=found["state"][0])

    async def walk() -> tuple[Any, Any]:
        about = OAuthClientMetadata(redirect_uris=[BACK], client_name="assistant")
        kept = Kept()
        auth = OAuthClientProvider(company.resource, about, kept, browser, returned)
        async with httpx2.AsyncClient(auth=auth, timeout=900) as http:
            async with Client(streamable_http_client(company.resource, http_client=http)) as client:
                listed = await client.call_tool("list_collections", {})
                asked = await client.call_tool("ask", {"question": WARRANTY, "collection": "contracts"})
                return listed.structured_content, asked

    listed, asked = asyncio.run(walk())
    assert listed["items"] == collections
    assert asked.is_error is (subject == "eve")
    if subject == "ann":
        assert "24 months" in json.dumps(asked.structured_content)
    assert company.provider.asked[-1]["resource"] == company.resource
