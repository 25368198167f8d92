"""Writes the locks: exact versions of all that is installed, with the SHA-256 of every build that is accepted.

`requirements.txt` is kept by hand and names what Plumbline uses itself, `supply/stores.txt` what stores in a database
use, and so for each of `BESIDES`; `supply/peers.txt` names what `make bench` measures beside it, in an environment of
its own. A resolver (uv, in an environment of its own under `build/`) finds what that draws in, for Python 3.11 to 3.14
on Linux and macOS at once.
Versions that stand in a lock stay as long as they fit.

    python -m supply.lock             # make lock
    python -m supply.lock --upgrade   # the newest that fit, of what requirements.txt does not name

Accepted are wheels only, so that no package runs code of its own while it is installed: those for any machine, for
Linux with glibc on x86-64 and aarch64, and for macOS on ARM. torch is resolved and not locked: see
`supply/environment.py`.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
import venv
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

from supply.environment import BESIDES, PEERS, PRODUCT, ROOT, TESTS, Locked, read_lock, torch_pin

WORK = ROOT / "build" / "lock"
PEERS_SOURCE = "supply/peers.txt"
RESOLVER, RESOLVER_LOCK = "uv==0.13.9", "supply/resolver.lock"
TEST_HEADING = "# tests and checks"

# Read instead of what a package says it needs, where that is more than we use of it.
NEEDS = {
    # not onnxruntime, networkx, tabulate, psutil, pymupdf-layout and pymupdf4llm, which a layout model needs that we do
    # not load
    "pymupdf": ("2.0", []),
    # its weights alone are used, by OpenCV: not its program, nor what that needs to fetch other weights and to draw
    "rapidocr": ("3.10.0", ["numpy", "opencv-python-headless"]),
    # it asks for a python-dateutil before 3, which pandas and matplotlib no longer take; Bedrock is asked with theirs
    "botocore": (None, ["jmespath", "python-dateutil", "urllib3"]),
    # not what CUDA builds need: that goes with the build that pip picks
    "torch": (None, ["filelock", "fsspec", "jinja2", "networkx", "setuptools", "sympy", "typing-extensions"]),
}
# Where the product runs, as markers see it. The Python versions are those that the lock was resolved for and whose
# wheels exist.
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NEWEST_GLIBC = 28  # 2.28, of 2018: what torch asks for
OLDEST_MACOS = (14, 0)
MACHINES = (("linux", "Linux", "x86_64"), ("linux", "Linux", "aarch64"), ("darwin", "Darwin", "arm64"))

HEADER = """\
# Written by `make lock` from requirements.txt; not edited by hand.
# Wheels only, each with its SHA-256: one hash where one build serves every machine, else one for each accepted build
# (CPython {first} to {last}; Linux with glibc on x86-64 and aarch64, macOS on ARM).
# torch=={torch} is not here: any build of that version is accepted, by version and without a hash (see SECURITY.md).
--only-binary :all:
--require-hashes
"""


def environments() -> list[dict[str, str]]:
    """Values of markers for every machine and Python that the lock is for."""
    return [
        {
            "python_version": python,
            "python_full_version": f"{python}.1",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "os_name": "posix",
            "sys_platform": platform,
            "platform_system": system,
            "platform_machine": machine,
        }
        for python in PYTHONS
        for platform, system, machine in MACHINES
    ]


def marker_here(marker: str | None) -> str | None:
    """The marker in few words: None where it holds everywhere that the lock is for, "never" where it holds nowhere.

    Raises:
        ValueError: it goes by something other than the operating system, which no package does today.
    """
    values = [marker is None or Marker(marker).evaluate(each) for each in environments()]
    if all(values):
        return None
    if not any(values):
        return "never"
    for short in ('sys_platform == "linux"', 'sys_platform == "darwin"'):
        if values == [Marker(short).evaluate(each) for each in environments()]:
            return short
    raise ValueError(f"a marker that the lock cannot say in short: {marker}")


@cache
def fitting(python: str, machine: str) -> frozenset[Tag]:
    """Tags of the wheels that a Python such as "3.11" installs on a machine of `MACHINES`."""
    numbers = (3, int(python.removeprefix("3.")))
    interpreter = f"cp3{numbers[1]}"
    if machine == "arm64":
        platforms = list(mac_platforms(OLDEST_MACOS, machine))
    else:
        platforms = [f"manylinux_2_{minor}_{machine}" for minor in range(5, NEWEST_GLIBC + 1)]
        platforms += [f"manylinux{year}_{machine}" for year in (1, 2010, 2014)]
    return frozenset(
        [*cpython_tags(numbers, [interpreter], platforms), *compatible_tags(numbers, interpreter, platforms)]
    )


def accepted(files: Mapping[str, str], marker: str | None) -> dict[str, str]:
    """The wheels that are accepted, of `files`: name and SHA-256 of each.

    Raises:
        ValueError: none of them fits a machine and a Python that the marker names.
    """
    tags = {file: parse_wheel_filename(file)[3] for file in files}
    found: set[str] = set()
    for values in environments():
        if marker is not None and not Marker(marker).evaluate(values):
            continue
        python, machine = values["python_version"], values["platform_machine"]
        here = {file for file in files if tags[file] & fitting(python, machine)}
        if not here:
            raise ValueError(f"no wheel for Python {python} on {machine}")
        found |= here
    return {file: files[file] for file in sorted(found)}


def locked_packages(pylock: Mapping[str, Any]) -> tuple[Locked, ...]:
    """The packages of a resolver's `pylock.toml` (PEP 751), by name, without torch.

    Raises:
        ValueError: a package has no wheel that is accepted, or two versions where the lock is for.
    """
    packages: dict[str, Locked] = {}
    for each in pylock["packages"]:
        marker = marker_here(each.get("marker"))
        if each["name"] == "torch" or marker == "never":
            continue
        if each["name"] in packages:
            raise ValueError(f"{each['name']} has two versions; pin one in requirements.txt that fits every Python")
        wheels = {
            wheel.get("name") or wheel["url"].rsplit("/", 1)[1]: wheel["hashes"]["sha256"]
            for wheel in each.get("wheels", ())
        }
        try:
            hashes = accepted(wheels, marker)
        except ValueError as error:
            raise ValueError(f"{each['name']}=={each['version']}: {error}") from None
        packages[each["name"]] = Locked(each["name"], each["version"], marker, tuple(hashes.values()))
    return tuple(packages[name] for name in sorted(packages))


def lock_text(packages: Sequence[Locked], torch: str) -> str:
    """The lock as a file for pip."""
    lines = [HEADER.format(first=PYTHONS[0], last=PYTHONS[-1], torch=torch)]
    for each in packages:
        marker = f" ; {each.marker}" if each.marker else ""
        lines.append(
            f"{each.name}=={each.version}{marker}"
            + "".join(f" \\\n    --hash=sha256:{digest}" for digest in each.hashes)
            + "\n"
        )
    return "".join(lines)


def resolver() -> Path:
    """The resolver's program, installed from its own lock into `build/lock` where it is not yet."""
    (uv,) = _read(RESOLVER_LOCK)
    folder = WORK / f"uv-{uv.version}"
    program = folder / "bin" / "uv"
    if not program.exists():
        venv.create(folder, clear=True, with_pip=True)
        install = [
            folder / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "-r",
            ROOT / RESOLVER_LOCK,
        ]
        subprocess.run(install, check=True)
    return program


def draw_in(source: Path, target: Path, *options: str | Path) -> None:
    """Write to `target` all that the requirements file `source` draws in; what stands in `target` already is kept where
    it fits.
    """
    config = WORK / "uv.toml"
    config.write_text(
        "".join(_needs(name, version, needs) for name, (version, needs) in NEEDS.items()), encoding="utf-8"
    )
    command = [
        resolver(),
        "pip",
        "compile",
        "--quiet",
        "--universal",
        "--python-version",
        PYTHONS[0],
        "--fork-strategy",
        "fewest",
    ]
    command += [
        "--config-file",
        config,
        "--only-binary",
        ":all:",
        "--no-annotate",
        "--no-header",
        "--output-file",
        target,
        *options,
        source,
    ]
    subprocess.run(command, cwd=WORK, check=True, stdout=subprocess.DEVNULL)


def resolve(source: Path, constraints: Path) -> tuple[Locked, ...]:
    """The packages that the requirements file `source` draws in, in the versions of `constraints`."""
    found = WORK / f"pylock.{source.stem}.toml"
    found.unlink(missing_ok=True)
    draw_in(source, found, "--format", "pylock.toml", "--constraints", constraints)
    return locked_packages(tomllib.loads(found.read_text(encoding="utf-8")))


def _needs(name: str, version: str | None, needs: Sequence[str]) -> str:
    only = f'version = "{version}"\n' if version else ""
    return f'[[dependency-metadata]]\nname = "{name}"\n{only}requires-dist = {list(needs)}\n'.replace("'", '"')


def main(arguments: list[str]) -> int:
    """Write the locks."""
    WORK.mkdir(parents=True, exist_ok=True)
    requirements = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    source, product_source, versions = WORK / "all.in", WORK / "product.in", WORK / "versions.txt"
    source.write_text(requirements, encoding="utf-8")
    product_source.write_text(requirements.split(TEST_HEADING)[0], encoding="utf-8")
    kept = (
        []
        if "--upgrade" in arguments
        else [each for name in (PRODUCT, TESTS) if (ROOT / name).exists() for each in _read(name)]
    )
    versions.write_text("".join(f"{each.name}=={each.version}\n" for each in kept), encoding="utf-8")
    draw_in(source, versions)
    everything, product = resolve(source, versions), resolve(product_source, versions)
    names = {each.name for each in product}
    tests = [each for each in everything if each.name not in names]
    own = WORK / "resolver.in"
    own.write_text(RESOLVER, encoding="utf-8")
    known = {each.name for each in everything}
    peers, tool = _peers(torch_pin(requirements), versions), resolve(own, versions)
    besides = [(name, _besides(name, requirements, versions, known)) for name in BESIDES]
    locks = ((PRODUCT, product), (TESTS, tests), *besides, (PEERS, peers), (RESOLVER_LOCK, tool))
    for name, packages in locks:
        (ROOT / name).write_text(lock_text(packages, torch_pin(requirements)), encoding="utf-8")
        print(f"{name}: {len(packages)} packages")
    return 0


def _besides(lock: str, requirements: str, versions: Path, known: Collection[str]) -> list[Locked]:
    """The packages that the source of a lock draws in beside all the rest, in versions that go with it."""
    path = ROOT / lock
    source, kept = WORK / f"{path.stem}.in", WORK / f"{path.stem}-versions.txt"
    source.write_text(requirements + path.with_suffix(".txt").read_text(encoding="utf-8"), encoding="utf-8")
    pinned = _read(lock) if path.exists() and "--upgrade" not in sys.argv else ()
    kept.write_text(
        versions.read_text(encoding="utf-8")
        + "".join(f"{each.name}=={each.version}\n" for each in pinned if each.name not in known),
        encoding="utf-8",
    )
    draw_in(source, kept)
    return [each for each in resolve(source, kept) if each.name not in known]


def _peers(torch: str, versions: Path) -> tuple[Locked, ...]:
    """The packages that `supply/peers.txt` draws in: all of them, in versions of `versions` where these fit."""
    source, kept = WORK / "peers.in", WORK / "peers-versions.txt"
    source.write_text(f"torch=={torch}\n" + (ROOT / PEERS_SOURCE).read_text(encoding="utf-8"), encoding="utf-8")
    pinned = (
        {each.name: each.version for each in _read(PEERS)}
        if (ROOT / PEERS).exists() and "--upgrade" not in sys.argv
        else {}
    )
    ours = dict(
        line.split(";")[0].strip().split("==")
        for line in versions.read_text(encoding="utf-8").splitlines()
        if "==" in line
    )
    kept.write_text("".join(f"{name}=={version}\n" for name, version in (ours | pinned).items()), encoding="utf-8")
    draw_in(source, kept)
    return resolve(source, kept)


def _read(name: str) -> tuple[Locked, ...]:
    return read_lock((ROOT / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
