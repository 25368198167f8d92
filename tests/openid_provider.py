"""An OpenID provider for tests: real HTTP on 127.0.0.1, discovery, the code flow with PKCE and nonce, tokens signed by
RS256.

It refuses what a real one refuses: another client, another address to return to, a code that was used, a proof that
does not fit. Who asks for a `resource` gets an access token for it, signed like the other. Who signs in is chosen on
its page, or by a program with `sign=`. `wrong` makes it lie, to see whether it is believed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT, SECRET = "plumbline", "a secret of the tests"
DISCOVERY = "/.well-known/openid-configuration"
SECRETS = """[auth]
redirect_uri = "{page}oauth2callback"
cookie_secret = "{cookies}"
client_id = "{client}"
client_secret = "{secret}"
server_metadata_url = "{provider}{discovery}"
"""


class Provider(ThreadingHTTPServer):
    """The provider; `people` are the claims of those who can sign in, by subject."""

    daemon_threads = True

    def __init__(self, people: dict[str, dict[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.people, self.redirects = people, set[str]()
        self.key = RSAKey.generate_key(2048, {"kid": "tests"})
        self.codes: dict[str, tuple[str, dict[str, str]]] = {}
        self.wrong: dict[str, Any] = {}  # claims that take the place of the right ones
        self.signed_by: RSAKey = self.key
        self.published: list[Any] = [self.key]  # what stands under /keys
        self.described: dict[str, Any] = {}  # takes the place of what is right in its own document
        self.down = False  # answers nothing but 503 then
        self.read: Counter[str] = Counter()  # how often each address was read
        self.asked: list[dict[str, str]] = []  # what came to /authorize

    @property
    def address(self) -> str:
        """Without a slash at its end."""
        return f"http://127.0.0.1:{self.server_port}"

    def secrets(self, page: str, cookies: str) -> str:
        """The file of secrets of a page at this address, which ends with a slash."""
        self.redirects.add(f"{page}oauth2callback")
        return SECRETS.format(
            page=page, cookies=cookies, client=CLIENT, secret=SECRET, provider=self.address, discovery=DISCOVERY
        )

    def jwks(self) -> Any:
        """Its public keys."""
        return KeySet(self.published).as_dict(private=False)

    def token(self, subject: str, nonce: str) -> str:
        now = int(time.time())
        claims = {"iss": self.address, "sub": subject, "aud": CLIENT, "iat": now, "exp": now + 600, "nonce": nonce}
        claims |= self.people[subject] | self.wrong
        return jwt.encode({"alg": "RS256", "kid": "tests"}, claims, self.signed_by)

    def access_token(self, subject: str, audience: str) -> str:
        """A signed access token (RFC 9068) for a service."""
        now = int(time.time())
        claims = {"iss": self.address, "sub": subject, "aud": audience, "iat": now, "exp": now + 600}
        header = {"alg": "RS256", "kid": "tests", "typ": "at+jwt"}
        return jwt.encode(header, claims | self.people[subject], self.signed_by)


class _Answer(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.server.read[parts.path] += 1
        if self.server.down:
            self._json(503, {})
        elif parts.path == DISCOVERY:
            at = self.server.address
            self._json(
                200,
                {
                    "issuer": at,
                    "authorization_endpoint": f"{at}/authorize",
                    "token_endpoint": f"{at}/token",
                    "jwks_uri": f"{at}/keys",
                    "end_session_endpoint": f"{at}/leave",
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["RS256"],
                    "code_challenge_methods_supported": ["S256"],
                    **self.server.described,
                },
            )
        elif parts.path == "/keys":
            self._json(200, self.server.jwks())
        elif parts.path == "/authorize":
            self._authorize(asked)
        elif parts.path == "/leave" and asked.get("post_logout_redirect_uri") in self.server.redirects:
            self._redirect(asked["post_logout_redirect_uri"])
        elif parts.path == "/favicon.ico":
            self._send(204, b"", "image/png")
        else:
            self._json(404, {})

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["content-length"])).decode()
        form = {name: values[0] for name, values in parse_qs(sent).items()}
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".replace(" ", "%20").encode()).decode()
        plain = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        known = (
            self.headers.get("authorization") in (f"Basic {basic}", f"Basic {plain}")
            or form.get("client_secret") == SECRET
        )
        subject, asked = self.server.codes.pop(form.get("code", ""), ("", {}))
        proof = (
            base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
            .rstrip(b"=")
            .decode()
        )
        fits = subject and proof == asked["code_challenge"] and form.get("redirect_uri") == asked["redirect_uri"]
        if not known:
            self._json(401, {"error": "invalid_client"})
        elif not fits or form.get("grant_type") != "authorization_code":
            self._json(400, {"error": "invalid_grant"})
        else:
            resource, told = asked.get("resource"), {"token_type": "Bearer", "expires_in": 600}
            access = self.server.access_token(subject, resource) if resource else secrets.token_urlsafe()
            self._json(
                200, {"access_token": access, "id_token": self.server.token(subject, asked.get("nonce", "")), **told}
            )

    def _authorize(self, asked: dict[str, str]) -> None:
        self.server.asked.append(asked)
        right = asked.get("client_id") == CLIENT and asked.get("redirect_uri") in self.server.redirects
        if not right or asked.get("response_type") != "code" or "openid" not in asked.get("scope", "").split():
            self._json(400, {"error": "invalid_request"})
        elif asked.get("code_challenge_method") != "S256" or not all(
            asked.get(name) for name in ("code_challenge", "state", *(() if asked.get("resource") else ("nonce",)))
        ):
            self._redirect(
                f"{asked['redirect_uri']}?{urlencode({'error': 'invalid_request', 'state': asked.get('state', '')})}"
            )
        elif asked.get("sign") in self.server.people:
            code = secrets.token_urlsafe()
            self.server.codes[code] = asked["sign"], asked
            self._redirect(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")
        else:
            links = "".join(
                f'<p><a href="?{escape(urlencode({**asked, "sign": subject}))}">{escape(subject)}</a></p>'
                for subject in self.server.people
            )
            self._send(200, f"<!doctype html><title>Who are you?</title>{links}".encode(), "text/html; charset=utf-8")

    def _redirect(self, to: str) -> None:
        self.send_response(302)
        self.send_header("location", to)
        self.send_header("content-length", "0")
        self.end_headers()

    def _json(self, status: int, body: dict[str, Any]) -> None:
        self._send(status, json.dumps(body).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def provider(people: dict[str, dict[str, Any]]) -> Iterator[Provider]:
    """A provider that runs to the end of the block."""
    with Provider(people) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        try:
            yield made
        finally:
            made.shutdown()
