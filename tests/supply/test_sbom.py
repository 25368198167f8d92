"""The bill of materials: valid CycloneDX, and exactly what is installed."""

from __future__ import annotations

import json

import pytest

from rag_core import __version__
from supply.environment import BESIDES, INSTALLERS, PRODUCT, ROOT, TESTS, installed, read_lock
from supply.sbom import bill, checked


def test_the_bill_is_valid_and_names_what_is_installed_with_hashes_licences_and_needs() -> None:
    written = json.loads(checked(bill()))
    components = {each["name"]: each for each in written["components"]}
    present = installed()
    product, tools = (
        {each.name: each for each in read_lock((ROOT / name).read_text(encoding="utf-8"))} for name in (PRODUCT, TESTS)
    )
    besides = {each.name: each for name in BESIDES for each in read_lock((ROOT / name).read_text(encoding="utf-8"))}

    assert (written["bomFormat"], written["specVersion"]) == ("CycloneDX", "1.6")
    own = written["metadata"]["component"]
    assert (own["name"], own["version"]) == ("plumbline", __version__)
    assert own["licenses"] == [{"license": {"id": "AGPL-3.0-or-later"}}]
    assert {name: each["version"] for name, each in components.items() if name not in INSTALLERS} == {
        name: version for name, version in present.items() if name not in INSTALLERS
    }
    for name, each in components.items():
        locked = product.get(name) or tools.get(name) or besides.get(name)
        hashes = [row["content"] for row in each.get("hashes", [])] + [
            row["value"] for row in each.get("properties", [])
        ]
        assert sorted(hashes) == sorted(locked.hashes if locked else ()), name
        assert "hashes" not in each or len(hashes) == 1, name
        assert each["scope"] == ("excluded" if name in tools else "optional" if name in besides else "required"), name
        assert each["purl"].startswith(f"pkg:pypi/{name}@"), name
        assert name not in product or each["licenses"], name

    needs = {row["ref"]: row.get("dependsOn", []) for row in written["dependencies"]}
    assert needs.keys() == {each["bom-ref"] for each in components.values()} | {"plumbline"}
    assert components["pymupdf"]["bom-ref"] in needs["plumbline"]
    assert components["pyarrow"]["bom-ref"] not in needs["plumbline"]
    assert components["pyarrow"]["bom-ref"] in needs[components["streamlit"]["bom-ref"]]
    assert components["networkx"]["bom-ref"] in needs[components["torch"]["bom-ref"]]


def test_a_bill_that_the_schema_refuses_is_not_written() -> None:
    broken = bill()
    next(iter(broken.components)).mime_type = "none"

    with pytest.raises(ValueError, match="not valid CycloneDX"):
        checked(broken)
