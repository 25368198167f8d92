"""Reads the locks and compares them with the packages that are installed.

`requirements.lock` names what the product runs on, `requirements-test.lock` what tests and checks need besides. torch
stands in neither: pip picks one of several builds of the one version in `requirements.txt`, and what that build needs
(CUDA libraries, say) belongs to it. What stores in a database, workers of Ray, RapidOCR and models of providers need
has locks of its own under `supply/` (`BESIDES`); each may be installed besides (`make stores`, `make ray`, `make
rapidocr`, `make litellm`), and need not. `supply/peers.lock` names what `make peers` puts into an environment of its
own, which this one is not compared with.

    python -m supply.environment                  # prints how the environment differs from the locks; exits 1 if it
    does python -m supply.environment --remove-extra   # uninstalls what no lock names; setup does this when the lock
    has changed
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PRODUCT, TESTS = "requirements.lock", "requirements-test.lock"
# may be installed besides, and need not
BESIDES = STORES, RAY, RAPIDOCR, LITELLM = (
    "supply/stores.lock",
    "supply/ray.lock",
    "supply/rapidocr.lock",
    "supply/litellm.lock",
)
PEERS = "supply/peers.lock"  # for an environment apart, build/peers
# An environment brings these itself, in any version; the lock may pin one of them all the same.
INSTALLERS = frozenset({"pip", "setuptools", "wheel"})


@dataclass(frozen=True)
class Locked:
    """One package of a lock.

    Args:
        name: in its canonical form (lower case, hyphens).
        version: exact.
        marker: where it is installed, in the words of PEP 508; None for everywhere.
        hashes: SHA-256 in hex of each build that is accepted, at least one.
    """

    name: str
    version: str
    marker: str | None
    hashes: tuple[str, ...]

    def here(self) -> bool:
        """Whether it is installed on this machine and Python."""
        return self.marker is None or Marker(self.marker).evaluate()


@dataclass(frozen=True)
class Difference:
    """How an environment differs from the locks. Empty when it equals them.

    Args:
        missing: `name==version` of what is locked and not installed.
        other: `name version, locked: version`.
        extra: names of what is installed and in no lock.
    """

    missing: tuple[str, ...]
    other: tuple[str, ...]
    extra: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.other or self.extra)


def read_lock(text: str) -> tuple[Locked, ...]:
    """The packages of a lock, in its order.

    Raises:
        ValueError: a line is neither an exact version with hashes, nor an option, nor a comment.
    """
    packages = []
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip() or line.startswith(("#", "--")):
            continue
        found = re.fullmatch(
            r"(?P<name>[a-z0-9-]+)==(?P<version>[^\s;]+)(?: ; "
            r"(?P<marker>.+?))?(?P<hashes>(?:\s+--hash=sha256:[0-9a-f]{64})+)",
            line,
        )
        if found is None:
            raise ValueError(f"not a line of a lock: {line[:80]}")
        hashes = tuple(re.findall(r"sha256:([0-9a-f]{64})", found["hashes"]))
        packages.append(Locked(found["name"], found["version"], found["marker"], hashes))
    return tuple(packages)


def torch_pin(requirements: str) -> str:
    """The version of torch in the text of `requirements.txt`."""
    found = re.search(r"^torch==(\S+)$", requirements, flags=re.MULTILINE)
    if found is None:
        raise ValueError("requirements.txt pins no version of torch")
    return found[1]


def installed() -> dict[str, str]:
    """Canonical name and version of each installed package."""
    return {
        canonicalize_name(each.metadata["Name"]): each.version
        for each in metadata.distributions()
        if each.metadata["Name"]
    }


def torch_needs(present: Iterable[str]) -> frozenset[str]:
    """Names among `present` that the installed torch needs, directly or not."""
    names = frozenset(present)
    found: set[str] = set()
    waiting: list[tuple[str, str]] = [("torch", "")] if "torch" in names else []  # a name and one extra of it
    seen = set(waiting)
    while waiting:
        parent, extra = waiting.pop()
        for line in metadata.requires(parent) or ():
            each = Requirement(line)
            name = canonicalize_name(each.name)
            if name in names and (each.marker is None or each.marker.evaluate({"extra": extra})):
                found.add(name)
                new = {(name, asked) for asked in ("", *each.extras)} - seen
                seen |= new
                waiting += new
    return frozenset(found)


def compare(
    locked: Iterable[Locked],
    torch: str,
    present: Mapping[str, str],
    needed_by_torch: Iterable[str],
    besides: Iterable[Locked] = (),
) -> Difference:
    """How what is `present` differs from what is `locked`.

    Args:
        locked: all of it, of both locks where test tools are installed.
        torch: its version; a build of it (`2.13.0+cpu`) counts as that version.
        present: canonical name and version of what is installed.
        needed_by_torch: what may be there besides, in any version: the build of torch decides.
        besides: what may be there besides, in its version.
    """
    optional = {each.name: each.version for each in besides if each.here() and each.name in present}
    wanted = optional | {each.name: each.version for each in locked if each.here()}
    missing = [
        f"{name}=={version}" for name, version in wanted.items() if name not in present and name not in INSTALLERS
    ]
    other = [
        f"{name} {present[name]}, locked: {version}"
        for name, version in wanted.items()
        if name in present and name not in INSTALLERS and Version(present[name]) != Version(version)
    ]
    if "torch" not in present:
        missing.append(f"torch=={torch}")
    elif Version(present["torch"]).public != Version(torch).public:
        other.append(f"torch {present['torch']}, locked: {torch} in any build")
    extra = set(present) - set(wanted) - INSTALLERS - {"torch"} - set(needed_by_torch)
    return Difference(tuple(sorted(missing)), tuple(sorted(other)), tuple(sorted(extra)))


def difference(*, tests: bool) -> Difference:
    """How this environment differs from the lock of the product, and with `tests` from that of the test tools too."""
    locked = read_lock((ROOT / PRODUCT).read_text(encoding="utf-8"))
    if tests:
        locked += read_lock((ROOT / TESTS).read_text(encoding="utf-8"))
    present = installed()
    torch = torch_pin((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    besides = [each for name in BESIDES for each in read_lock((ROOT / name).read_text(encoding="utf-8"))]
    return compare(locked, torch, present, torch_needs(present), besides)


def main(arguments: list[str]) -> int:
    """Print the difference, or remove what is extra."""
    found = difference(tests=(ROOT / TESTS).exists())  # an installation has neither that lock nor those tools
    if "--remove-extra" in arguments:
        if found.extra:
            print("Removing packages that Plumbline does not use: " + ", ".join(found.extra))
            subprocess.run([sys.executable, "-m", "pip", "uninstall", "--quiet", "--yes", *found.extra], check=True)
        return 0
    for words, names in (
        ("Not installed", found.missing),
        ("Another version", found.other),
        ("In no lock", found.extra),
    ):
        if names:
            print(f"{words}: {'; '.join(names)}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
