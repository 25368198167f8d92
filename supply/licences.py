"""The licence of every package that is installed, and whether Plumbline (AGPL-3.0-or-later) may be used with it.

A licence is what the package says itself: an SPDX expression, or words that have one SPDX id. Where it does not say
which, `licences.yaml` holds what was read in the licence file that it brings, with the reason.

    python -m supply.licences     # make licences: writes docs/licences.md, exits 1 if a licence is unknown or does not
    fit
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from license_expression import ExpressionError, LicenseSymbol, LicenseWithExceptionSymbol, get_spdx_licensing

from supply.environment import BESIDES, PRODUCT, ROOT, TESTS, read_lock

RULES, PAGE = ROOT / "supply" / "licences.yaml", ROOT / "docs" / "licences.md"
SPDX = get_spdx_licensing()
HEAD = """\
# Licences

Plumbline is under AGPL-3.0-or-later, because PyMuPDF is. pip fetches these packages, each under a compatible licence;
`supply/licences.yaml` says which are, and what was read or excepted by hand, and why. `make licences` writes this page.
A wheel may hold libraries of others; its own licence files name them. A CUDA build of torch brings NVIDIA's libraries
under NVIDIA's terms.
"""


@dataclass(frozen=True)
class Licence:
    """The licence of one package.

    Args:
        name, version: of the package; for torch the version without its build.
        expression: SPDX, in its normal form; empty where nothing is known.
        reason: why it was read by hand, or why `excepted` may be used; empty where the package says it and it fits.
        excepted: a licence that is accepted in this package alone; empty for none.
    """

    name: str
    version: str
    expression: str
    reason: str
    excepted: str = ""

    def fits(self, compatible: Iterable[str]) -> bool:
        """Whether a program under AGPL-3.0-or-later may use it."""
        return fits(self.expression, [*compatible, self.excepted])


def rules() -> dict[str, Any]:
    """The content of `licences.yaml`."""
    return dict(yaml.safe_load(RULES.read_text(encoding="utf-8")))


def stated(package: metadata.PackageMetadata, words: Mapping[str, str]) -> str:
    """The SPDX expression that a package's metadata amounts to; empty where it says none, or not which.

    Args:
        package: the metadata.
        words: SPDX id of other wordings.
    """
    classifiers = [
        line.split(" :: ")[-1] for line in package.get_all("Classifier") or [] if line.startswith("License :: ")
    ]
    named = set(classifiers) - {"OSI Approved", "DFSG approved"}
    expression, field = ((package.get_all(name) or [""])[0] for name in ("License-Expression", "License"))
    field = field.strip().split("\n")[0]  # some put the whole text there
    for text in (
        expression,
        words.get(field, field),
        words.get(named.pop()) if len(named) == 1 else None,
    ):
        if (normal := spdx(text)) is not None:
            return normal
    return ""


def spdx(text: str | None) -> str | None:
    """The expression in its normal form; None where it is not one of SPDX."""
    try:
        parsed = SPDX.parse(text, validate=True, strict=True) if text else None
    except ExpressionError:
        return None
    return None if parsed is None else str(parsed)


def fits(expression: str, compatible: Iterable[str]) -> bool:
    """Whether a program under AGPL-3.0-or-later may use what is under this licence: all parts of an AND, one part of an
    OR.
    """
    allowed = frozenset(compatible)

    def holds(part: Any) -> bool:
        if isinstance(part, (LicenseSymbol, LicenseWithExceptionSymbol)):
            return str(part) in allowed
        results = [holds(each) for each in part.args]
        return all(results) if isinstance(part, SPDX.AND) else any(results)

    return bool(expression) and holds(SPDX.parse(expression))


def licence_of(name: str, known: Mapping[str, Any]) -> Licence:
    """The licence of an installed package.

    Raises:
        ValueError: it was read or excepted by hand for another version.
    """
    package = metadata.metadata(name)
    version = package["Version"].partition("+")[0]
    read, exception = known["read"].get(name), known["exceptions"].get(name)
    for row in (read, exception):
        if row and row["version"] != version:
            raise ValueError(
                f"the licence of {name} was read for {row['version']}, installed is {version}: read it again"
            )
    if read:
        return Licence(name, version, spdx(read["licence"]) or "", read["why"])
    said = stated(package, known["words"])
    return (
        Licence(name, version, said, exception["why"], exception["licence"])
        if exception
        else Licence(name, version, said, "")
    )


def tables() -> dict[str, list[Licence]]:
    """Licences of what the locks name here, and torch: of the product, of the test tools, and of what may be installed
    besides.
    """
    known = rules()
    product = [each.name for each in read_lock((ROOT / PRODUCT).read_text(encoding="utf-8")) if each.here()]
    tools = [each.name for each in read_lock((ROOT / TESTS).read_text(encoding="utf-8")) if each.here()]
    lists = (("What Plumbline runs on", [*product, "torch"]), ("What only its tests use", tools))
    besides = dict(row for lock in BESIDES for row in known[Path(lock).stem].items())
    return {title: [licence_of(name, known) for name in sorted(names)] for title, names in lists} | {
        "What else may be installed (`make stores`, `ray`, `rapidocr`, `litellm`)": [
            Licence(name, row["version"], row["licence"], "") for name, row in sorted(besides.items())
        ]
    }


def page(found: Mapping[str, Iterable[Licence]]) -> str:
    """The page in Markdown: for each title, the packages of each licence."""
    parts = [HEAD]
    for title, licences in found.items():
        names: dict[str, list[str]] = {}
        for each in licences:
            names.setdefault(each.expression or "unknown", []).append(each.name)
        parts.append(f"\n## {title}\n\n| Licence (SPDX) | Packages |\n|---|---|\n")
        parts += [f"| {expression} | {', '.join(names[expression])} |\n" for expression in sorted(names)]
    return "".join(parts)


def main() -> int:
    """Write the page, and name what does not fit."""
    found = tables()
    PAGE.write_text(page(found), encoding="utf-8")
    compatible = rules()["compatible"]
    wrong = [each for licences in found.values() for each in licences if not each.fits(compatible)]
    for each in wrong:
        print(
            f"{each.name} {each.version}: {each.expression or 'no licence that can be told'}; see supply/licences.yaml"
        )
    print(f"{PAGE.relative_to(ROOT)}: {sum(map(len, found.values()))} packages, {len(wrong)} that do not fit")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
