"""The login of the page as the file of secrets says it: what is not enough or not safe is refused, and is never taken
for no login.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import InvalidSetting
from rag_core.settings.login import login

RIGHT = {
    "redirect_uri": "https://docs.example.org/oauth2callback",
    "cookie_secret": "0123456789abcdef0123456789abcdef",
    "client_id": "plumbline",
    "client_secret": "very secret",
    "server_metadata_url": "https://id.example.org/.well-known/openid-configuration",
}
WRONG = (
    {"redirect_uri": "http://docs.example.org/oauth2callback"},
    {"redirect_uri": "https://docs.example.org/"},
    {"cookie_secret": "short"},
    {"server_metadata_url": "http://id.example.org/"},
    {"server_metadata_url": "id.example.org"},
    {"client_secret": ""},
    {"client_id": ""},
)


def written(path: Path, **changed: str) -> dict[str, str]:
    path.write_text(
        "[auth]\n" + "".join(f'{name} = "{value}"\n' for name, value in (RIGHT | changed).items()), encoding="utf-8"
    )
    return {"RAG_SECRETS": str(path)}


def test_given_a_provider_when_the_file_is_read_then_it_says_where_people_sign_in(tmp_path: Path) -> None:
    found = login(written(tmp_path / "secrets.toml"))

    assert (found.host, found.provider, found.client_id) == ("docs.example.org", "id.example.org", "plumbline")
    assert "secret" not in repr(found)
    assert login(written(tmp_path / "secrets.toml", redirect_uri="http://127.0.0.1:8501/oauth2callback")) is not None


def test_given_no_file_or_one_about_models_when_it_is_read_then_nobody_signs_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert login({}) is None
    (tmp_path / "secrets.toml").write_text('OPENAI_API_KEY = "sk-1"', encoding="utf-8")
    assert login({"RAG_SECRETS": "secrets.toml"}) is None


def test_given_what_is_not_enough_or_not_safe_when_it_is_read_then_it_is_an_error_without_a_secret(tmp_path):
    for changed in WRONG:
        with pytest.raises(InvalidSetting) as error:
            login(written(tmp_path / "secrets.toml", **changed))
        assert "very secret" not in str(error.value)
    for text in ("[auth", "auth = 3", "[auth]", "[auth.google]\nclient_id = 'x'", "\udcff"):
        (tmp_path / "secrets.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(InvalidSetting):
            login({"RAG_SECRETS": str(tmp_path / "secrets.toml")})
    with pytest.raises(InvalidSetting):
        login({"RAG_SECRETS": str(tmp_path / "nothing.toml")})
    with pytest.raises(InvalidSetting):
        login({"RAG_SECRETS": str(tmp_path)})
