"""The licences of what is installed: told by the packages or read by hand, compatible, and listed."""

from __future__ import annotations

import re
from email.message import Message
from importlib import metadata

import pytest

from supply.environment import BESIDES, PRODUCT, ROOT, TESTS, installed, read_lock
from supply.licences import PAGE, Licence, fits, licence_of, page, rules, spdx, stated, tables


def test_every_installed_package_has_a_licence_that_fits_ours() -> None:
    compatible = rules()["compatible"]

    wrong = [each for licences in tables().values() for each in licences if not each.fits(compatible)]

    assert not wrong, f"read their licences, then supply/licences.yaml: {wrong}"


def test_the_page_of_licences_is_current() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = {
        name
        for names in re.findall(r"^\| \S.* \| ([a-z0-9, -]+) \|$", text, flags=re.MULTILINE)
        for name in names.split(", ")
    }
    expected = [line for line in page(tables()).splitlines() if line not in text.splitlines()]

    assert not expected, f"run: make licences; it would add {expected}"
    assert rows == {
        each.name
        for name in (PRODUCT, TESTS, *BESIDES)
        for each in read_lock((ROOT / name).read_text(encoding="utf-8"))
    } | {"torch"}


def test_the_licences_of_what_may_be_installed_besides_are_those_of_its_lock_and_where_it_is_installed_what_it_says():
    known = rules()

    for lock in BESIDES:
        part = (ROOT / lock).stem
        assert {name: row["version"] for name, row in known[part].items()} == {
            each.name: each.version for each in read_lock((ROOT / lock).read_text(encoding="utf-8"))
        }
        for name in known[part].keys() & installed().keys():
            row = known[part][name]
            assert stated(metadata.metadata(name), known["words"]) == ("" if "why" in row else row["licence"]), name


def test_the_rules_are_spdx_and_each_row_read_by_hand_is_needed() -> None:
    known = rules()
    readable = [*known["compatible"], *known["words"].values(), *(row["licence"] for row in known["read"].values())]
    assert [text for text in readable if spdx(text) != text] == []
    for name, row in known["read"].items():
        assert row["why"], name
        said = stated(metadata.metadata(name), known["words"])
        assert said == "" or (name == "pystemmer" and said != row["licence"]), (
            f"{name} says {said} itself: drop its row"
        )
    for name, row in known["exceptions"].items():
        found = licence_of(name, known)
        assert row["why"], name
        assert row["licence"] not in known["compatible"], name
        assert not fits(found.expression, known["compatible"]), f"{name} fits without an exception: drop its row"


def test_what_was_read_for_another_version_is_read_again() -> None:
    known = rules()
    for table in ("read", "exceptions"):
        name = next(iter(known[table]))
        changed = known | {table: {**known[table], name: known[table][name] | {"version": "0"}}}
        with pytest.raises(ValueError, match=f"the licence of {name} was read for 0, installed is"):
            licence_of(name, changed)


def test_a_licence_fits_when_all_its_parts_or_one_alternative_do() -> None:
    compatible = ("MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception")
    cases = {
        "MIT": True,
        "MIT AND Apache-2.0": True,
        "MIT AND GPL-2.0-only": False,
        "MIT OR GPL-2.0-only": True,
        "(MIT OR GPL-2.0-only) AND SSPL-1.0": False,
        "Apache-2.0 WITH LLVM-exception": True,
        "MIT WITH LLVM-exception": False,
        "GPL-2.0-only": False,
        "LicenseRef-Proprietary": False,
        "": False,
    }
    assert {text: fits(text, compatible) for text in cases} == cases
    assert Licence("a", "1", "MIT AND CNRI-Python", "why", "CNRI-Python").fits(compatible)
    assert not Licence("a", "1", "MIT AND CNRI-Python", "").fits(compatible)


def test_a_licence_is_told_by_the_package_in_one_of_three_ways_or_not_at_all() -> None:
    words = {"MIT License": "MIT", "Apache Software License": "Apache-2.0"}
    said = {
        "MIT OR Apache-2.0": [("License-Expression", "MIT OR Apache-2.0"), ("License", "BSD")],
        "BSD-3-Clause": [("License", "BSD-3-Clause"), ("Classifier", "License :: OSI Approved :: BSD License")],
        "MIT": [("License", "MIT License\n\nPermission is hereby granted ...")],
        "Apache-2.0": [
            ("Classifier", "License :: OSI Approved :: Apache Software License"),
            ("Classifier", "Topic :: MIT License"),
        ],
    }
    unclear = {
        "nothing": [],
        "BSD, which": [("License", "BSD"), ("Classifier", "License :: OSI Approved :: BSD License")],
        "a second classifier that is unclear": [
            ("Classifier", "License :: OSI Approved :: MIT License"),
            ("Classifier", "License :: OSI Approved :: BSD License"),
        ],
        "two classifiers": [
            ("Classifier", "License :: OSI Approved :: MIT License"),
            ("Classifier", "License :: OSI Approved :: Apache Software License"),
        ],
        "a sentence": [("License", "free for good people")],
        "an unknown id": [("License-Expression", "LicenseRef-Ours")],
    }
    for expected, lines in [*said.items(), *(("", lines) for lines in unclear.values())]:
        package = Message()
        for header, value in lines:
            package[header] = value
        assert stated(package, words) == expected, lines  # type: ignore[arg-type]
