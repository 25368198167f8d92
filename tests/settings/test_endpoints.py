"""Where a language model is asked: variables over the file of secrets, and a key that is shown nowhere."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from folding import each

from rag_core.errors import InvalidSetting
from rag_core.settings.endpoints import NAMES, OPENAI, Endpoint, endpoints, masked, model_environment

KEY = "sk-proj-0123456789abcdefghijWXYZ"
LOCAL = {"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1", "RAG_MODEL": "qwen3:8b"}
SECOND = {"RAG_FALLBACK_BASE_URL": "http://localhost:8080/v1/"}


def test_given_nothing_then_no_model_is_configured() -> None:
    assert endpoints({}) == ()
    assert endpoints(dict.fromkeys(NAMES, " ")) == ()


def test_given_a_first_and_a_second_server_then_they_come_in_this_order_and_share_the_model_unless_it_is_named():
    first, second = endpoints({**LOCAL, "OPENAI_API_KEY": f" {KEY}\n", **SECOND})
    assert first == Endpoint("http://127.0.0.1:11434/v1", KEY, "qwen3:8b")
    assert second == Endpoint("http://localhost:8080/v1", "", "qwen3:8b")

    named = {"RAG_FALLBACK_MODEL": "small", "RAG_FALLBACK_API_KEY": "other"}
    assert endpoints({**LOCAL, **SECOND, **named})[1] == Endpoint("http://localhost:8080/v1", "other", "small")
    assert endpoints({**SECOND, "RAG_FALLBACK_MODEL": "small"}) == (Endpoint("http://localhost:8080/v1", "", "small"),)


def test_given_a_key_without_an_address_then_it_goes_to_its_maker_and_nowhere_else() -> None:
    assert endpoints({"OPENAI_API_KEY": KEY, "RAG_MODEL": "m"}) == (Endpoint(OPENAI, KEY, "m"),)


@each(
    ("environment", "match"),
    [
        ({"RAG_MODEL": "m"}, "nothing says where it is"),
        ({**LOCAL, "RAG_FALLBACK_MODEL": "m"}, "second language model"),
        ({**LOCAL, "RAG_FALLBACK_API_KEY": KEY}, "second language model"),
        *(
            ({"OPENAI_BASE_URL": url}, "OPENAI_BASE_URL is not the address")
            for url in (
                "localhost:11434",
                "ftp://h/v1",
                "http://",
                "http:///v1",
                "http://h:port/v1",
                "http://h:0/v1",
                "http://h:99999/v1",
                "https://[::1",
                f"https://user:{KEY}@h/v1",
                f"https://{KEY}@h/v1",
                f"https://h/v1?key={KEY}",
                f"https://h/v1#{KEY}",
                "http://h/ v1",
                "http://h\x00/v1",
                f"{KEY}",
                "http://häuser.example/v1",
                "litellm://openai",
                "litellm://bedrock/v1",
            )
        ),
        ({**LOCAL, "OPENAI_API_KEY": f"{KEY} {KEY}"}, "OPENAI_API_KEY holds a character"),
        ({**LOCAL, "OPENAI_API_KEY": f"{KEY}\nX-Header: 1"}, "OPENAI_API_KEY holds a character"),
        ({**LOCAL, **SECOND, "RAG_FALLBACK_API_KEY": f"„{KEY}“"}, "RAG_FALLBACK_API_KEY holds a character"),
    ],
)
def test_given_variables_that_cannot_be_used_then_the_error_names_them_and_holds_no_value(environment, match):
    with pytest.raises(InvalidSetting, match=match) as caught:
        endpoints(environment)
    assert caught.value.remedy
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_given_a_provider_then_it_takes_the_place_of_the_host_and_a_key_of_another_variable() -> None:
    (found,) = endpoints({"OPENAI_BASE_URL": "litellm://bedrock", "RAG_MODEL": "m"})

    assert (found.base_url, found.host, found.key, found.local, found.warning) == (
        "litellm://bedrock",
        "bedrock",
        "",
        False,
        "",
    )


def test_given_a_key_then_no_form_of_the_endpoint_shows_it() -> None:
    endpoint = Endpoint("https://api.example/v1", KEY, "m")

    assert KEY not in f"{endpoint} {endpoint!r} {endpoint.host} {endpoint.masked} {endpoint.warning}"
    assert endpoint == dataclasses.replace(endpoint)
    assert endpoint != dataclasses.replace(endpoint, key="other")
    assert endpoint.masked == "sk-…WXYZ"


@each(
    ("key", "shown"),
    [
        ("", ""),
        ("a", "…"),
        ("sk-0123456789abcdef", "…"),
        ("sk-0123456789abcdefg", "sk-…defg"),
        ("gsk_0123456789abcdefgh", "gsk_…efgh"),
        ("0123456789abcdefghij", "…ghij"),
        ("long-prefix-0123456789ab", "…89ab"),
    ],
)
def test_given_a_key_then_little_of_it_is_shown_and_of_a_short_one_nothing(key: str, shown: str) -> None:
    assert masked(key) == shown


@each(
    ("url", "local"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://LOCALHOST/v1", True),
        ("http://ollama.localhost/v1", True),
        ("http://localhost.example/v1", False),
        ("http://192.168.0.2/v1", False),
        ("http://0.0.0.0/v1", False),
        ("http://127.0.0.1.example/v1", False),
    ],
)
def test_given_an_address_then_only_this_machine_is_local_and_elsewhere_an_open_line_is_warned_of(url, local):
    endpoint, keyless = Endpoint(url, KEY, "m"), Endpoint(url, "", "m")

    assert endpoint.local is local
    assert (endpoint.warning == "") is (keyless.warning == "") is local
    assert endpoint.warning.startswith("" if local else "The key and the passages travel to ")
    assert keyless.warning.startswith("" if local else "Passages travel to ")
    assert Endpoint(url.replace("http:", "https:"), KEY, "m").warning == ""


def test_given_a_file_of_secrets_then_the_environment_wins_also_where_it_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "secrets.toml"
    file.write_text(
        f'OPENAI_API_KEY = "{KEY}"\nRAG_MODEL = "stored"\nPATH = "/stolen"\n[database]\npassword = "x"\n',
        encoding="utf-8",
    )

    found = model_environment({"RAG_MODEL": "mine", "HOME": "/h"}, file)
    assert found == {"OPENAI_API_KEY": KEY, "RAG_MODEL": "mine", "HOME": "/h"}
    assert model_environment({"RAG_MODEL": "", "OPENAI_API_KEY": ""}, file) == {"RAG_MODEL": "", "OPENAI_API_KEY": ""}


def test_given_no_file_of_secrets_then_the_environment_stands(tmp_path: Path) -> None:
    assert model_environment(LOCAL, tmp_path / "none.toml") == LOCAL


@pytest.mark.parametrize(
    "content", [f'OPENAI_API_KEY = "{KEY}', f"OPENAI_API_KEY = {KEY}", "\x00", "ÿ".encode("latin-1")]
)
def test_given_a_file_of_secrets_that_cannot_be_read_then_the_error_quotes_nothing_of_it(tmp_path, content):
    file = tmp_path / "secrets.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(InvalidSetting, match=r"secrets\.toml cannot be read") as caught:
        model_environment({}, file)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    with pytest.raises(InvalidSetting, match="Is a directory"):
        model_environment({}, tmp_path)
