"""Who signed in and what they may do: by addresses that the provider has checked, and by claims.

In doubt nobody, and nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from rag_core.domain.acts import Action
from rag_core.errors import InvalidSetting
from rag_core.service.people import People, Right, access_file

NOW = 1_800_000_000.0
HOUR = 3600
ACCESS = """
signed_in_hours: 8
roles:
  editors: {may: [ask, upload], addresses: ["Eda@Example.org", "*@team.example.org"]}
  keepers: {may: [records], claims: {groups: [keepers], realm_access.roles: [boss]}}
"""


def claims(**more: Any) -> dict[str, Any]:
    return {
        "sub": "1",
        "aud": "plumbline",
        "iat": NOW - HOUR,
        "email": "eda@example.org",
        "email_verified": True,
        **more,
    }


@pytest.fixture
def people(tmp_path: Path) -> People:
    (tmp_path / "access.yaml").write_text(ACCESS, encoding="utf-8")
    return People(tmp_path / "access.yaml", lambda: NOW)


def roles(people: People, **more: Any) -> tuple[str, ...] | None:
    found = people.person(claims(**more), "plumbline")
    return found and found.roles


def test_given_an_address_when_the_provider_has_checked_it_then_it_gives_its_role(people: People) -> None:
    assert roles(people) == ("editors",)
    assert roles(people, email="EDA@example.org") == ("editors",)
    assert roles(people, email="x@team.example.org", email_verified="true") == ("editors",)
    for other in (
        "x@example.org",
        "x@evil-team.example.org",
        "team.example.org",
        "x@y@team.example.org",
        "eda@example.org.evil.org",
        3,
        None,
    ):
        assert roles(people, email=other) == (), other
    for verified in (False, "false", None, 1, "yes", ""):
        assert roles(people, email_verified=verified) == (), verified


def test_given_roles_that_name_collections_then_each_right_holds_in_its_own(tmp_path: Path) -> None:
    file = tmp_path / "access.yaml"
    file.write_text(
        "roles:\n  all: {may: [ask], addresses: [a@x.org]}\n"
        "  one: {may: [ask, records], addresses: [a@x.org, b@x.org], collections: [alpha]}\n"
        "  two: {may: [ask, upload], addresses: [b@x.org], collections: [alpha, beta]}\n",
        encoding="utf-8",
    )
    people = People(file, lambda: NOW)
    first, second = (people.person(claims(email=f"{name}@x.org"), "plumbline") for name in "ab")
    assert (first.rights, dict(first.within)) == ({Right.ASK}, {"alpha": {Right.ASK, Right.RECORDS}})
    assert (second.rights, second.may_ask) == (frozenset(), True)
    assert second.rights_in("beta") == {Right.ASK, Right.UPLOAD}
    for collection, sees, adds in (("alpha", True, True), ("beta", False, True), ("gamma", False, False)):
        assert second.actor.is_open(Action.SEE, collection) is sees
        assert second.actor.is_open(Action.INDEX, collection) is adds
        assert second.actor.may_enter(collection) is adds
        assert first.actor.may_enter(collection)
    for wrong in ("[]", "[Alpha]", "['../a']", "alpha", "['']"):
        file.write_text(f"roles:\n  one: {{may: [ask], collections: {wrong}}}\n", encoding="utf-8")
        with pytest.raises(InvalidSetting):
            People(file, lambda: NOW).rules()


def test_given_a_claim_when_a_value_of_it_is_listed_then_it_gives_its_role(people: People) -> None:
    assert roles(people, email=None, groups=["a", "keepers"]) == ("keepers",)
    assert roles(people, groups="keepers") == ("editors", "keepers")
    assert roles(people, email=None, realm_access={"roles": ["boss"]}) == ("keepers",)
    for groups in ("keeper", ["Keepers"], {"keepers": 1}, [["keepers"]], None, 7):
        assert roles(people, email=None, groups=groups) == (), groups
    both = people.person(claims(groups=["keepers"]), "plumbline")
    assert both.rights == {Right.ASK, Right.UPLOAD, Right.RECORDS}


def test_given_a_token_that_is_old_or_for_another_when_it_comes_then_it_is_nobody(people: People) -> None:
    assert roles(people, iat=NOW - 8 * HOUR + 1) == ("editors",)
    for wrong in (
        {"iat": NOW - 8 * HOUR},
        {"iat": NOW + 600},
        {"iat": None},
        {"iat": True},
        {"iat": "now"},
        {"iat": float("nan")},
        {"aud": "another"},
        {"aud": ["a", "b"]},
        {"aud": None},
        {"sub": ""},
        {"sub": None},
        {"sub": "1\nuser:ann@example.org"},
        {"sub": "1\x00"},
        {"sub": "1\u202e"},
    ):
        assert roles(people, **wrong) is None, wrong
    assert roles(people, aud=["another", "plumbline"]) == ("editors",)


def test_given_somebody_without_a_role_when_they_come_then_they_may_do_what_the_file_says_of_others(people):
    found = people.person(claims(email="x@example.org"), "plumbline")
    assert (found.rights, found.name) == (frozenset(), "user:x@example.org")

    people.path.write_text("others: ask", encoding="utf-8")
    found = people.person(claims(email="x@example.org", email_verified=False, name="A [b](c)"), "plumbline")
    assert (found.rights, found.name, found.shown) == ({Right.ASK}, "sub:1", "A [b](c)")

    odd = people.person(claims(email="eda@example.org\nx", sub="7"), "plumbline")
    assert odd.name == "sub:7"

    people.path.unlink()
    found = people.person(claims(), "plumbline")
    assert found.actor.may == frozenset()


def test_given_a_provider_that_says_nothing_of_addresses_when_they_are_vouched_for_then_they_count(people):
    unsaid = {name: value for name, value in claims().items() if name != "email_verified"}
    assert people.person(unsaid, "plumbline").roles == ()  # type: ignore[union-attr]
    people.path.write_text("addresses_checked: true\n" + ACCESS, encoding="utf-8")
    assert people.person(unsaid, "plumbline").roles == ("editors",)  # type: ignore[union-attr]
    assert roles(people, email_verified=False) == ()


def test_given_a_file_that_is_changed_when_somebody_comes_then_the_new_one_holds(people: People) -> None:
    assert roles(people) == ("editors",)
    people.path.write_text("roles: {}", encoding="utf-8")
    assert roles(people) == ()
    for text in (
        "roles: [",
        "roles: {a: {}}",
        "roles: {a: {may: [fly]}}",
        "other: ask",
        "others: all",
        "- 1",
        "\x00",
        "signed_in_hours: 0",
    ):
        people.path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidSetting):
            people.rules()
        with pytest.raises(InvalidSetting):
            people.rules()


def test_given_a_name_in_the_environment_when_the_rules_are_looked_for_then_they_are_there(tmp_path: Path) -> None:
    assert access_file(tmp_path, {}) == tmp_path / "access.yaml"
    assert access_file(tmp_path, {"RAG_ACCESS": f"{os.sep}etc{os.sep}x"}) == Path("/etc/x")
