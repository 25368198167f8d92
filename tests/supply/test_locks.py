"""The locks: what they hold, how pip takes them, and whether this environment equals them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import packaging
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from supply import environment
from supply.environment import (
    BESIDES,
    LITELLM,
    PEERS,
    PRODUCT,
    RAPIDOCR,
    RAY,
    TESTS,
    Locked,
    compare,
    read_lock,
    torch_needs,
    torch_pin,
)
from supply.lock import NEEDS, PEERS_SOURCE, RESOLVER_LOCK, accepted, lock_text, locked_packages

ROOT = Path(__file__).resolve().parents[2]
LOCKS = (PRODUCT, TESTS, *BESIDES, PEERS, RESOLVER_LOCK)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def direct() -> list[Requirement]:
    return [
        Requirement(line) for line in read("requirements.txt").splitlines() if line.strip() and not line.startswith("#")
    ]


def locked() -> dict[str, Locked]:
    return {each.name: each for name in (PRODUCT, TESTS) for each in read_lock(read(name))}


def test_this_environment_equals_the_locks() -> None:
    found = environment.difference(tests=True)

    assert not found, f"{found}; if the locks are right, run: make setup tools"


def test_every_package_of_requirements_stands_in_the_right_lock_in_its_version() -> None:
    product = {each.name for each in read_lock(read(PRODUCT))}
    wanted = {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in direct()}
    torch = wanted.pop("torch")
    tools = {
        canonicalize_name(Requirement(line).name)
        for line in read("requirements.txt").split("# tests and checks")[1].split()
    }

    assert {name: locked()[name].version if name in locked() else "missing" for name in wanted} == wanted, (
        "run: make lock"
    )
    assert torch == torch_pin(read("requirements.txt"))
    assert product & tools == set()
    assert wanted.keys() - tools <= product


def test_each_package_that_is_named_for_the_product_has_its_reason() -> None:
    files = ("stores", "ray", "rapidocr", "litellm", "folders")
    named = "\n".join(
        [
            read("requirements.txt").split("# tests")[0],
            *(read(f"supply/{name}.txt").split("# tests")[0] for name in files),
        ]
    )
    rows = re.findall(r"^\| ([a-z0-9-]+) \| \S", read("supply/README.md"), re.MULTILINE)

    assert sorted(rows) == sorted(
        canonicalize_name(Requirement(line).name) for line in named.splitlines() if line and not line.startswith("#")
    )


def test_the_locks_hold_all_that_is_needed_and_nothing_else() -> None:
    """Read from what the installed packages say they need: a package too few breaks a fresh setup, one too many is one
    more to trust.
    """
    everything = locked()
    reached = {canonicalize_name(each.name) for each in direct()}
    waiting, unmet = [(each, "") for each in sorted(reached)], {}
    seen = set(waiting)
    while waiting:
        parent, extra = waiting.pop()
        for each in map(Requirement, metadata.requires(parent) or ()):
            name = canonicalize_name(each.name)
            if each.marker is not None and not each.marker.evaluate({"extra": extra}):
                continue
            if parent in NEEDS and name not in NEEDS[parent][1]:
                continue  # said to be needed, and not: the tests run without it
            if name != "torch" and (name not in everything or everything[name].version not in each.specifier):
                unmet[f"{parent} needs {each}"] = everything[name].version if name in everything else "not locked"
            reached.add(name)
            for wanted in {(name, part) for part in ("", *each.extras)} - seen:
                seen.add(wanted)
                waiting.append(wanted)

    assert unmet == {}
    assert {each.name for each in everything.values() if each.here()} - reached == set()


def test_what_may_be_installed_besides_has_locks_that_repeat_nothing_of_setups_and_hold_what_is_named() -> None:
    found: dict[str, Locked] = {}
    for lock in BESIDES:
        besides = {each.name: each for each in read_lock(read(lock))}
        named = [
            Requirement(line)
            for line in read(lock.replace(".lock", ".txt")).splitlines()
            if line.strip() and not line.startswith("#")
        ]

        assert besides.keys() & locked().keys() == set()
        assert all(besides[name] == found[name] for name in besides.keys() & found.keys()), "two builds of a package"
        assert {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in named}.items() <= {
            name: each.version for name, each in besides.items()
        }.items()
        assert Path(lock).stem not in read("requirements.txt").split()
        found |= besides


@pytest.mark.parametrize(
    "lock", [pytest.param(RAY, marks=pytest.mark.ray), pytest.param(LITELLM, marks=pytest.mark.litellm)]
)
def test_ray_and_litellm_need_nothing_that_is_not_locked_and_no_other_version_of_it(lock: str) -> None:
    if find_spec(Path(lock).stem) is None:  # importing it would add a folder of packages to all tests of this process
        pytest.skip("the packages are not installed")
    known = locked() | {each.name: each for each in read_lock(read(lock))}

    for parent in (each.name for each in read_lock(read(lock))):
        for each in map(Requirement, metadata.requires(parent) or ()):
            if parent not in NEEDS and (each.marker is None or each.marker.evaluate({"extra": ""})):
                assert known[canonicalize_name(each.name)].version in each.specifier, f"{parent} needs {each}"


def test_of_rapidocr_only_the_weights_and_what_runs_them_are_locked() -> None:
    """Its own program draws in what fetches other weights, and asks for ONNX Runtime, which has telemetry.

    Nothing of that runs here.
    """
    assert [each.name for each in read_lock(read(RAPIDOCR))] == ["opencv-python-headless", "rapidocr"]
    version, needs = NEEDS["rapidocr"]
    assert {each.name: each.version for each in read_lock(read(RAPIDOCR))}["rapidocr"] == version
    assert set(needs) <= {"opencv-python-headless", *locked()}


def test_peers_have_a_whole_lock_of_their_own_and_what_both_read_and_embed_with_in_our_version() -> None:
    peers = {each.name: each.version for each in read_lock(read(PEERS))}
    named = [Requirement(line) for line in read(PEERS_SOURCE).splitlines() if line.strip() and not line.startswith("#")]
    both = ("pymupdf", "sentence-transformers", "transformers", "tokenizers", "numpy", "faiss-cpu")

    assert {
        canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in named
    }.items() <= peers.items()
    assert {name: peers[name] for name in both} == {name: locked()[name].version for name in both}, (
        "the ratio would be of other libraries"
    )
    assert "torch" not in peers, "make peers installs it in the product's version"
    assert not any("langchain" in each or "llama" in each for each in locked())


def test_packages_that_draw_in_telemetry_or_name_no_licence_are_in_no_lock() -> None:
    kept_out = {"onnxruntime", "pymupdf-layout", "pymupdf4llm", "tabulate", "flatbuffers"}

    assert kept_out & locked().keys() == set()
    for lock in (RAPIDOCR, RAY, LITELLM):
        assert kept_out.isdisjoint(each.name for each in read_lock(read(lock))), lock
    assert "networkx" in torch_needs(environment.installed()), "torch no longer needs networkx: nothing else does"


def test_each_lock_is_wheels_only_with_hashes_and_names_no_host() -> None:
    for name in LOCKS:
        text = read(name)
        assert "\n--only-binary :all:\n--require-hashes\n" in text, name
        assert not re.search(r"https?:|://|index-url|find-links", text), name
        packages = read_lock(text)
        assert packages, name
        assert [each.name for each in packages] == sorted({each.name for each in packages}), name


def test_a_line_that_is_not_exact_or_has_no_hash_is_refused() -> None:
    digest = "--hash=sha256:" + 64 * "a"
    assert read_lock(f"a-b==1.0 \\\n    {digest}\n") == (Locked("a-b", "1.0", None, (64 * "a",)),)
    for line in (f"a>=1.0 {digest}", "a==1.0", "a==1.0 --hash=md5:00", "-r other.txt", f"a @ file:///a.whl {digest}"):
        with pytest.raises(ValueError, match="not a line of a lock"):
            read_lock(line)


def test_an_environment_differs_by_what_is_missing_changed_or_extra() -> None:
    lock = (
        Locked("a", "1.0", None, ("0",)),
        Locked("setuptools", "80", None, ("0",)),
        Locked("mac-only", "1", 'sys_platform == "nowhere"', ("0",)),
    )
    whole = {"a": "1.0", "torch": "2.13.0"}
    cases = {
        "equal": (whole, ((), (), ())),
        "another build of torch": (whole | {"torch": "2.13.0+cu130"}, ((), (), ())),
        "what only torch's build needs": (whole | {"nvidia-nccl": "3"}, ((), (), ())),
        "the installers": (whole | {"pip": "1", "setuptools": "2", "wheel": "3"}, ((), (), ())),
        "the same version in other words": (whole | {"a": "1.0.0"}, ((), (), ())),
        "missing": ({"torch": "2.13.0"}, (("a==1.0",), (), ())),
        "another version": (whole | {"a": "1.1"}, ((), ("a 1.1, locked: 1.0",), ())),
        "a package too many": (whole | {"onnxruntime": "1"}, ((), (), ("onnxruntime",))),
        "what a store needs": (whole | {"store": "3"}, ((), (), ())),
        "another version of what a store needs": (whole | {"store": "4"}, ((), ("store 4, locked: 3",), ())),
        "no torch": ({"a": "1.0"}, (("torch==2.13.0",), (), ())),
        "another torch": (
            whole | {"torch": "2.12.1+cpu"},
            ((), ("torch 2.12.1+cpu, locked: 2.13.0 in any build",), ()),
        ),
    }
    for name, (present, (missing, other, extra)) in cases.items():
        found = compare(lock, "2.13.0", present, {"nvidia-nccl"}, [Locked("store", "3", None, ("0",))])
        assert (found.missing, found.other, found.extra) == (missing, other, extra), name
        assert bool(found) == any((missing, other, extra)), name


def test_what_a_build_of_torch_needs_is_followed_through_its_extras(tmp_path, monkeypatch):
    needs = {
        "torch": [
            'cuda-toolkit[cublas]==13.0; python_version >= "3"',
            'triton==3.7; sys_platform == "nowhere"',
            "filelock",
        ],
        "cuda-toolkit": ['nvidia-cublas==13.1; extra == "cublas"', 'nvidia-nccl==2.29; extra == "nccl"'],
        "nvidia-cublas": ["nvidia-cuda-runtime", "torch"],
    }
    names = [*needs, "nvidia-nccl", "nvidia-cuda-runtime", "triton", "unrelated"]
    for name in names:
        folder = tmp_path / f"{name.replace('-', '_')}-1.dist-info"
        folder.mkdir()
        lines = "".join(f"Requires-Dist: {line}\n" for line in needs.get(name, []))
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n{lines}", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert torch_needs(names) - {"torch"} == {"cuda-toolkit", "nvidia-cublas", "nvidia-cuda-runtime"}
    assert torch_needs(["unrelated"]) == frozenset()


def wheels(*endings: str) -> dict[str, str]:
    return {f"x-1.0-{ending}.whl": ending for ending in endings}


LINUX = ("manylinux_2_17_x86_64.manylinux2014_x86_64", "manylinux_2_28_aarch64")
EVERY = [
    f"cp3{minor}-cp3{minor}-{platform}" for minor in (11, 12, 13, 14) for platform in (*LINUX, "macosx_11_0_arm64")
]


def test_the_builds_for_our_machines_are_accepted_and_no_others() -> None:
    other = [
        "cp314-cp314t-macosx_11_0_arm64",
        "cp311-cp311-win_amd64",
        "cp311-cp311-musllinux_1_2_x86_64",
        "pp311-pypy311_pp73-" + LINUX[0],
    ]
    other += ["cp310-cp310-" + LINUX[0], "cp311-cp311-macosx_11_0_x86_64", "cp312-cp312-manylinux_2_39_x86_64"]

    assert set(accepted(wheels(*EVERY, *other), None).values()) == set(EVERY)
    assert set(accepted(wheels("py3-none-any"), None).values()) == {"py3-none-any"}
    stable = [f"cp39-abi3-{platform}" for platform in (*LINUX, "macosx_10_9_universal2")]
    assert set(accepted(wheels(*stable, "cp39-abi3-win32"), None).values()) == set(stable)


def test_a_package_that_one_of_our_machines_cannot_install_is_not_locked() -> None:
    for lost, problem in ((0, "Python 3.11 on x86_64"), (5, "Python 3.12 on arm64"), (10, "Python 3.14 on aarch64")):
        with pytest.raises(ValueError, match=f"no wheel for {problem}"):
            accepted(wheels(*EVERY[:lost], *EVERY[lost + 1 :]), None)
    assert accepted(wheels(*(each for each in EVERY if "linux" in each)), 'sys_platform == "linux"')


def test_a_resolution_becomes_a_lock_and_is_read_back() -> None:
    def package(name: str, version: str = "1", marker: str | None = None) -> dict[str, object]:
        wheel = {
            "url": f"https://host/{name}-{version}-py3-none-any.whl",
            "hashes": {"sha256": hashlib.sha256(name.encode()).hexdigest()},
        }
        return {"name": name, "version": version, "wheels": [wheel]} | ({"marker": marker} if marker else {})

    windows, everywhere = "sys_platform == 'win32'", "python_full_version >= '3.11' or sys_platform == 'emscripten'"
    linux = "python_full_version >= '3.11' and sys_platform != 'darwin'"
    pylock = {
        "packages": [
            package("b", marker=linux),
            package("a", marker=everywhere),
            package("torch"),
            package("colorama", marker=windows),
        ]
    }
    found = locked_packages(pylock)

    assert [(each.name, each.marker) for each in found] == [("a", None), ("b", 'sys_platform == "linux"')]
    text = lock_text(found, "2.13.0")
    assert read_lock(text) == found
    assert "torch==2.13.0 is not here" in text
    assert "\n--only-binary :all:\n--require-hashes\na==1 " in text
    with pytest.raises(ValueError, match="a has two versions"):
        locked_packages({"packages": [package("a"), package("a", "2")]})
    with pytest.raises(ValueError, match="cannot say in short"):
        locked_packages({"packages": [package("a", marker="python_full_version >= '3.13'")]})
    with pytest.raises(ValueError, match="a==1: no wheel"):
        locked_packages({"packages": [{"name": "a", "version": "1"}]})


def small_wheel(folder: Path, name: str = "grain", version: str = "1.0") -> str:
    """Write a wheel of nothing but its metadata, and return its SHA-256."""
    info = f"{name}-{version}.dist-info"
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def test_setup_takes_torch_alone_from_the_index_of_builds_for_processors_that_somebody_names(tmp_path: Path) -> None:
    """Its line is run by the real pip; only the environment is another, and torch a wheel of nothing."""
    offered = tmp_path / "index" / "torch"
    offered.mkdir(parents=True)
    pin = torch_pin(read("requirements.txt"))
    small_wheel(offered, "torch", f"{pin}+cpu")
    (offered / "index.html").write_text(f'<a href="torch-{pin}%2Bcpu-py3-none-any.whl">torch</a>', encoding="utf-8")
    plan = ["make", "-nB", "setup", f"TORCH_INDEX={offered.parent.as_uri()}"]
    lines = subprocess.run(plan, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    (line,) = [line for line in lines if "--index-url" in line]
    assert "requirements.lock" not in line

    into = f"{sys.executable} -m pip install --target {tmp_path / 'there'} --no-deps"
    line = line.replace(".venv/bin/python -m pip install", into)
    environment = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull, "HOME": str(tmp_path)}
    subprocess.run(["bash", "-c", line], cwd=ROOT, env=environment, check=True, timeout=60)

    assert [path.name for path in (tmp_path / "there").iterdir()] == [f"torch-{pin}+cpu.dist-info"]


def test_setup_installs_the_lock_without_dependencies_and_torch_last() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    lines = subprocess.run(
        [make, "-n", "-B", "tools"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    installs = [
        line.split("disable-pip-version-check ")[1].split(" ||")[0] for line in lines if " pip install " in line
    ]

    assert installs == [
        "--no-deps -r requirements.lock",
        "--only-binary :all: \"$(grep '^torch==' requirements.txt)\"",
        "--no-deps -r requirements-test.lock",
    ]


def test_what_a_lock_no_longer_names_is_uninstalled(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True)
    python = tmp_path / "bin" / "python"
    site = Path(
        subprocess.run(
            [python, "-c", "import site; print(site.getsitepackages()[0])"], capture_output=True, text=True, check=True
        ).stdout.strip()
    )
    shutil.copytree(Path(packaging.__file__).parent, site / "packaging")
    for name in ("leftover", "babel"):
        small_wheel(tmp_path, name)
        zipfile.ZipFile(tmp_path / f"{name}-1.0-py3-none-any.whl").extractall(site)
    run = [python, "-m", "supply.environment"]

    before = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    removed = subprocess.run([*run, "--remove-extra"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    after = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)

    assert removed == "Removing packages that Plumbline does not use: leftover\n"
    assert (before.returncode, "In no lock: leftover" in before.stdout) == (1, True)
    assert (after.returncode, "In no lock" in after.stdout) == (1, False)
    assert "Another version: babel 1.0, locked:" in after.stdout
    assert not (site / "leftover-1.0.dist-info").exists()
    assert (site / "babel-1.0.dist-info").exists()
