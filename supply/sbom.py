"""The software bill of materials: what is installed here, with versions, hashes, licences and who needs whom, as
CycloneDX 1.6 JSON.

    python -m supply.sbom     # make sbom: writes build/sbom.json, checked against the schema

Packages of the product have the scope `required`, test tools `excluded`, and those of stores in a database and of Ray,
where they are installed, `optional`. A package of one build for all machines has that build's SHA-256. One of several
builds has all that the lock accepts, as properties, since the bill cannot know which one pip took. torch, and what only
its build needs, have no hash: no lock names them.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from importlib import metadata

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rag_core import __version__
from supply.environment import BESIDES, PRODUCT, ROOT, TESTS, Locked, installed, read_lock, torch_needs
from supply.licences import licence_of, rules

FILE = ROOT / "build" / "sbom.json"


def bill() -> Bom:
    """The bill of this environment."""
    locks = {name: read_lock((ROOT / name).read_text(encoding="utf-8")) for name in _SCOPE_OF}
    locked = {each.name: (each, _SCOPE_OF[name]) for name, packages in locks.items() for each in packages}
    present = installed()
    names = {name for name in present if name in locked} | ({"torch"} | torch_needs(present)) & present.keys()
    components = {
        name: _component(name, present[name], *locked.get(name, (None, ComponentScope.REQUIRED)))
        for name in sorted(names)
    }

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = Component(name=project["name"], version=__version__, type=ComponentType.APPLICATION, bom_ref=project["name"])
    own.licenses.add(LicenseFactory().make_from_string(project["license"]))
    bom = Bom(components=components.values())
    bom.metadata.component = own
    asked = {
        canonicalize_name(Requirement(line).name)
        for line in (ROOT / "requirements.txt").read_text().splitlines()
        if "==" in line
    }
    bom.register_dependency(own, [components[name] for name in sorted(asked & components.keys())])
    for name, component in components.items():
        bom.register_dependency(component, [components[needed] for needed in _needs(name, components)])
    return bom


_SCOPE_OF = {
    PRODUCT: ComponentScope.REQUIRED,
    TESTS: ComponentScope.EXCLUDED,
    **dict.fromkeys(BESIDES, ComponentScope.OPTIONAL),
}


def _component(name: str, version: str, locked: Locked | None, scope: ComponentScope) -> Component:
    """One package. `version` is as installed: `2.13.0+cpu` for torch."""
    found = Component(name=name, version=version, type=ComponentType.LIBRARY, scope=scope, bom_ref=f"{name}=={version}")
    found.purl = PackageURL("pypi", name=name, version=version)
    expression = licence_of(name, rules()).expression
    if expression:
        found.licenses.add(LicenseFactory().make_from_string(expression))
    hashes = locked.hashes if locked else ()
    if len(hashes) == 1:
        found.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=hashes[0]))
    else:
        found.properties.update(Property(name="plumbline:accepted-sha256", value=digest) for digest in hashes)
    return found


def _needs(name: str, components: Mapping[str, Component]) -> list[str]:
    """Names of the components that a package says it needs here."""
    requires = (Requirement(line) for line in metadata.requires(name) or ())
    named = {
        canonicalize_name(each.name) for each in requires if each.marker is None or each.marker.evaluate({"extra": ""})
    }
    return sorted(named & components.keys() - {name})


def checked(bom: Bom) -> str:
    """The bill as JSON, which the schema of CycloneDX 1.6 holds for valid.

    Raises:
        ValueError: it does not.
    """
    text = JsonV1Dot6(bom).output_as_string(indent=2)
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if problem is not None:
        raise ValueError(f"the bill of materials is not valid CycloneDX: {problem}")
    return text


def main() -> int:
    """Write the bill."""
    bom = bill()
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(checked(bom), encoding="utf-8")
    print(f"{FILE.relative_to(ROOT)}: {len(bom.components)} packages, CycloneDX 1.6")
    return 0


if __name__ == "__main__":
    sys.exit(main())
