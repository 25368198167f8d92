"""Which tokens of a provider count: against a provider that speaks HTTP on this machine, and signs what it is told to.

Tokens are made by joserfc, or byte by byte, and read by PyJWT.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from folding import each

pytest.importorskip("authlib")

from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from openid_provider import CLIENT, DISCOVERY, Provider, provider

from rag_core.adapters.signing_keys import AGAIN_SECONDS, KEEP_SECONDS, SigningKeys
from rag_core.errors import ProviderUnavailable
from rag_core.settings.login import Login, login

# joserfc warns of keys that are too short, and of the name that most providers still have for Ed25519
pytestmark = pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
ANN = {"email": "ann@example.org"}


@pytest.fixture
def authority() -> Iterator[Provider]:
    with provider({"ann": ANN}) as made:
        yield made


@pytest.fixture
def known(authority: Provider, tmp_path: Path) -> Login:
    file = tmp_path / "secrets.toml"
    file.write_text(authority.secrets("https://docs.example.org/", "c" * 32), encoding="utf-8")
    found = login({"RAG_SECRETS": str(file)})
    assert found is not None
    return found


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def claims(authority: Provider, **changed: Any) -> dict[str, Any]:
    now = int(time.time())
    found = {"iss": authority.address, "sub": "ann", "aud": CLIENT, "iat": now, "exp": now + 600} | changed
    return {name: value for name, value in found.items() if value is not None}


def signed(authority: Provider, key: Any = None, header: dict[str, Any] | None = None, **changed: Any) -> str:
    header = {"alg": "RS256", "kid": "tests"} | (header or {})
    return jwt.encode(header, claims(authority, **changed), key or authority.key, algorithms=[header["alg"]])


def by_hand(header: dict[str, Any], body: dict[str, Any], secret: bytes | None = None) -> str:
    """A token that no library would make: with a signature by a shared secret, or with none."""
    parts = [base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=") for one in (header, body)]
    mark = hmac.new(secret, b".".join(parts), hashlib.sha256).digest() if secret is not None else b""
    return b".".join((*parts, base64.urlsafe_b64encode(mark).rstrip(b"="))).decode()


def ask(keys: SigningKeys, token: str) -> dict[str, Any] | None:
    return asyncio.run(keys.claims(token, {CLIENT}))


@pytest.mark.parametrize(
    ("alg", "key"),
    [
        ("RS256", RSAKey.generate_key(2048, {"kid": "one"})),
        ("ES256", ECKey.generate_key("P-256", {"kid": "one", "use": "sig"})),
        ("EdDSA", OKPKey.generate_key("Ed25519", {"kid": "one"})),
    ],
)
def test_given_a_token_signed_by_a_published_key_when_read_then_it_says_who_its_holder_is(authority, known, alg, key):
    authority.published = [key]
    found = ask(SigningKeys(known), signed(authority, key, {"alg": alg, "kid": "one"}, email="ann@example.org"))

    assert (found["sub"], found["email"]) == ("ann", "ann@example.org")
    assert ask(SigningKeys(known), signed(authority, key, {"alg": alg, "kid": "one", "typ": "at+jwt"})) is not None


def test_given_a_token_that_is_forged_when_read_then_it_never_counts(authority: Provider, known: Login) -> None:
    other, small = RSAKey.generate_key(2048, {"kid": "tests"}), RSAKey.generate_key(1024, {"kid": "small"})
    curve = ECKey.generate_key("P-256", {"kid": "curve"})
    secret = RSAKey.generate_key(2048, {"kid": "hidden"})
    hidden = RSAKey.import_key({**secret.as_dict(private=False), "use": "enc"})
    shared = OctKey.import_key("a shared secret of 32 characters!", {"kid": "shared", "alg": "HS256"})
    authority.published = [authority.key, small, curve, hidden]
    public, body = authority.key.as_pem(private=False), claims(authority)
    whole = signed(authority)
    head, payload, mark = whole.split(".")
    forged = {
        "no signature": by_hand({"alg": "none", "kid": "tests"}, body),
        "none by another case": by_hand({"alg": "None", "kid": "tests"}, body),
        "the public key as a secret": by_hand({"alg": "HS256", "kid": "tests"}, body, public),
        "its modulus as a secret": by_hand(
            {"alg": "HS256", "kid": "tests"}, body, authority.key.as_dict()["n"].encode()
        ),
        "no secret at all": by_hand({"alg": "HS256", "kid": "tests"}, body, b""),
        "no algorithm": by_hand({"kid": "tests"}, body),
        "another key of the same name": signed(authority, other),
        "its own key in the header": signed(authority, other, {"jwk": other.as_dict(private=False)}),
        "its own address of keys": signed(authority, other, {"jku": "https://evil.example.org/keys"}),
        "a key for encryption": signed(authority, secret, {"kid": "hidden"}),
        "a key that is too short": signed(authority, small, {"kid": "small"}),
        "a curve under the name of the other": signed(authority, curve, {"alg": "ES256"}),
        "an algorithm that the key is not for": signed(authority, header={"alg": "PS256"}),
        "no name of a key": by_hand({"alg": "RS256"}, body, b"x"),
        "a name that is a number": by_hand({"alg": "RS256", "kid": 7}, body, b"x"),
        "a name that is a list": by_hand({"alg": "RS256", "kid": ["tests"]}, body, b"x"),
        "a notice of leaving": signed(authority, header={"typ": "logout+jwt"}),
        "an extension that must be understood": by_hand(
            {"alg": "RS256", "kid": "tests", "crit": ["b64"], "b64": False}, body
        ),
        "a changed payload": f"{head}.{payload[:-2]}AA.{mark}",
        "another signature": f"{head}.{payload}.{mark[:-4]}AAAA",
        "no signature behind the dot": f"{head}.{payload}.",
        "encrypted": f"{head}.{payload}.{mark}.{mark}.{mark}",
        "no payload": f"{head}..{mark}",
        "no object": by_hand({"alg": "RS256", "kid": "tests"}, [1]),  # type: ignore[arg-type]
        "deep": by_hand({"alg": "RS256", "kid": "tests"}, body) + "[" * 5000,
        "a deep payload": ".".join((head, base64.urlsafe_b64encode(b"[" * 9000).decode(), mark)),
        "nothing": "",
        "dots": "..",
        "no token": "abc",
        "letters of elsewhere": "ä.ö.ü",
        "spaces": f" {whole}",
    }
    keys = SigningKeys(known, Clock())
    assert ask(keys, whole) is not None
    for name, token in forged.items():
        assert ask(keys, token) is None, name
    authority.published = [authority.key.as_dict(private=True), shared]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Provider, "jwks", lambda self: {"keys": [authority.key.as_dict(private=True), shared.as_dict()]})
        careless = SigningKeys(known, Clock())
        assert ask(careless, by_hand({"alg": "HS256", "kid": "shared"}, body, shared.raw_value)) is None
        assert ask(careless, whole) is None  # whoever reads the private key can sign too


def test_given_a_signed_token_when_a_claim_is_not_as_it_must_be_then_it_does_not_count(authority, known):
    now, keys = int(time.time()), SigningKeys(known)
    wrong: dict[str, list[Any]] = {
        "iss": ["https://evil.example.org", f"{authority.address}/", None, 7, [authority.address]],
        "aud": ["another", ["another"], [], None, 7, {CLIENT: 1}, CLIENT.upper()],
        "exp": [now - 120, None, "soon", True, []],
        "nbf": [now + 600, "soon", []],
        "iat": [now + 600, None, "once"],
        "sub": [None, 7],
        "azp": ["another"],  # made for another client, which named this one beside itself
        "events": [{"http://schemas.openid.net/event/backchannel-logout": {}}],
    }
    for name, values in wrong.items():
        for value in values:
            assert ask(keys, signed(authority, **{name: value})) is None, (name, value)
    rights = ({"aud": ["another", CLIENT]}, {"nbf": now - 5}, {"exp": now - 20}, {"iat": now + 20}, {"azp": CLIENT})
    for right in rights:
        assert ask(keys, signed(authority, **right)) is not None, right


def test_given_a_provider_that_calls_itself_otherwise_then_its_keys_count_where_the_name_is_listed(authority, known):
    """As Entra does in tokens of version 1: the keys are those of the address, the name is another one."""
    other = "https://sts.example.org/tenant/"
    authority.described = {"issuer": other}
    with pytest.raises(ProviderUnavailable):
        ask(SigningKeys(known), signed(authority))
    assert ask(SigningKeys(known), signed(authority, iss=other)) is None
    assert asyncio.run(SigningKeys(known).claims(signed(authority, iss=other), {CLIENT}, {other})) is not None

    authority.described = {"issuer": f"{authority.address}/"}  # Auth0 writes it so, and the address cannot
    keys = SigningKeys(known)
    assert ask(keys, signed(authority, iss=f"{authority.address}/")) is not None
    assert ask(keys, signed(authority)) is None

    authority.described = {}
    keys = SigningKeys(known)
    for issuer, counts in ((authority.address, True), (other, True), (f"{other}x", False)):
        found = asyncio.run(keys.claims(signed(authority, iss=issuer), {CLIENT}, {other}))
        assert (found is not None) == counts, issuer


def test_given_somebody_elses_tokens_when_they_come_then_the_provider_is_not_asked(authority, known):
    for issuer in ("https://elsewhere.example.org", None, [authority.address], {}):
        assert ask(SigningKeys(known), signed(authority, header={"kid": "other"}, iss=issuer)) is None
    assert authority.read == {}


def test_given_a_new_key_just_after_another_was_asked_for_then_its_holder_is_told_to_call_again(authority, known):
    clock = Clock()
    keys, new = SigningKeys(known, clock), RSAKey.generate_key(2048, {"kid": "new"})
    assert ask(keys, signed(authority, header={"kid": "stray"})) is None
    authority.published = [authority.key, new]
    clock.now += 1
    for _ in range(3):
        with pytest.raises(ProviderUnavailable):
            ask(keys, signed(authority, new, {"kid": "new"}))
    assert ask(keys, signed(authority)) is not None
    clock.now += AGAIN_SECONDS
    assert ask(keys, signed(authority, new, {"kid": "new"})) is not None
    assert authority.read == {DISCOVERY: 2, "/keys": 2}


def test_given_a_key_that_nobody_knows_then_the_provider_is_asked_once_and_not_for_each_call(authority, known):
    clock = Clock()
    keys, new = SigningKeys(known, clock), RSAKey.generate_key(2048, {"kid": "new"})
    assert ask(keys, signed(authority)) is not None
    for number in range(50):  # made up: all at once cost the provider nothing
        assert ask(keys, signed(authority, header={"kid": f"made up {number}"})) is None
    assert authority.read == {DISCOVERY: 1, "/keys": 1}

    authority.published = [new]
    clock.now += AGAIN_SECONDS
    assert ask(keys, signed(authority, new, {"kid": "new"})) is not None
    assert ask(keys, signed(authority, header={"kid": "made up"})) is None
    assert ask(keys, signed(authority)) is None  # was taken back
    assert authority.read == {DISCOVERY: 2, "/keys": 2}


def test_given_many_calls_at_once_when_no_key_is_known_yet_then_the_provider_is_asked_once(authority, known):
    keys, token = SigningKeys(known), signed(authority)

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(keys.claims(token, {CLIENT}) for _ in range(30)))

    assert all(asyncio.run(all_at_once()))
    assert authority.read["/keys"] == 1


def test_given_a_key_that_the_provider_took_back_when_five_minutes_are_over_then_it_opens_nothing(authority, known):
    clock = Clock()
    keys, token = SigningKeys(known, clock), signed(authority)
    assert ask(keys, token) is not None
    authority.published = [RSAKey.generate_key(2048, {"kid": "new"})]
    clock.now += KEEP_SECONDS - 1
    assert ask(keys, token) is not None
    clock.now += 1
    assert ask(keys, token) is None


def test_given_a_provider_that_is_down_when_its_keys_are_needed_then_all_are_refused_until_it_is_back(authority, known):
    clock = Clock()
    keys, token = SigningKeys(known, clock), signed(authority)
    authority.down = True
    for _ in range(5):
        with pytest.raises(ProviderUnavailable, match="cannot be asked for its keys"):
            ask(keys, token)
    assert authority.read == {DISCOVERY: 1}  # not for each call

    authority.down = False
    clock.now += AGAIN_SECONDS
    assert ask(keys, token) is not None
    authority.down = True
    clock.now += AGAIN_SECONDS
    assert ask(keys, token) is not None  # its keys are known
    with pytest.raises(ProviderUnavailable):
        ask(keys, signed(authority, header={"kid": "new"}))
    clock.now += KEEP_SECONDS
    with pytest.raises(ProviderUnavailable):  # and too old now
        ask(keys, token)


@pytest.mark.parametrize(
    "said",
    [
        {"keys": []},
        {"keys": [{"kty": "RSA", "kid": "tests"}]},
        {"keys": [{"kty": "RSA", "kid": "tests", "n": 5, "e": []}]},
        {"keys": "none"},
        {"keys": [7]},
        ["keys"],
        {},
    ],
)
def test_given_a_provider_whose_keys_are_none_when_read_then_nobody_is_let_in(authority, known, monkeypatch, said):
    monkeypatch.setattr(Provider, "jwks", lambda self: said)
    with pytest.raises(ProviderUnavailable):
        ask(SigningKeys(known), signed(authority))


@each("at", ["http://keys.example.org/keys", "file:///etc/passwd", "", 7, None])
def test_given_a_provider_that_names_no_private_address_of_its_keys_then_it_is_not_asked(authority, known, at):
    authority.described = {"jwks_uri": at}
    authority.read.clear()
    with pytest.raises(ProviderUnavailable):
        ask(SigningKeys(known), signed(authority))
    assert authority.read == {DISCOVERY: 1}
