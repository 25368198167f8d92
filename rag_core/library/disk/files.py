"""Writes files so that a kill at any moment leaves the old one or the new one. Reads them so that a changed byte is noticed.

A JSON object whose checksum stands nowhere else carries its own (`seal`).
Knows nothing about documents. Nothing here is pickle: JSON, gzip and NumPy's own array format only.
"""

from __future__ import annotations

import ctypes
import gzip
import hashlib
import io
import json
import os
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rag_core.domain.ports import Vectors
from rag_core.errors import LibraryDamaged, LibraryError, RagError
from rag_core.library.disk.private import FILE_MODE, USUAL_MODE, make_folder, write

CHECKSUM = "checksum"  # the key of a sealed object
NPY_HEADER_BYTES = 128  # before the numbers of `pack_vectors`: NumPy pads to a multiple of 64
HASHED_BYTES = 1 << 23  # 8 MiB a block: after each one this thread waits for its turn, 5 ms where another one works; chosen
MANY = 32  # files: waiting for one took 4 ms on a busy disk, for the whole filesystem about as long as for ten
_LIBC = ctypes.CDLL(None, use_errno=True)  # for syncfs, which Linux has and Python does not offer


class Stamp(NamedTuple):
    """The stamp of a file: SHA-256 of its bytes as hex digits, and its size in bytes."""

    sha256: str
    size: int


def stamp(data: bytes) -> Stamp:
    """The stamp of these bytes."""
    return Stamp(hashlib.sha256(data).hexdigest(), len(data))


def stamp_file(path: Path) -> Stamp:
    """The stamp of a file, read in large blocks."""
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        hashed, block = hashlib.sha256(), memoryview(bytearray(max(1, min(size, HASHED_BYTES))))
        while count := file.readinto(block):
            hashed.update(block[:count])
        return Stamp(hashed.hexdigest(), size)


def identity(path: Path) -> tuple[int, int, int]:
    """The number, size and time of writing of a file. Names of one file have the same, and a name that another file got has another."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def damaged(path: Path, why: str) -> LibraryDamaged:
    """The error for a stored file that is not what the manifest says. Names the file by its last three parts."""
    return LibraryDamaged(
        f"The library's file {'/'.join(path.parts[-3:])} {why}.",
        remedy="Restore it from a backup or rebuild the library from its stored sources; failing that, delete its folder and index again.",
    )


def read_verified(path: Path | str, expected: Stamp) -> bytes:
    """The bytes of a file. Where there are thousands, a path as a text saves a quarter of the time.

    Raises:
        LibraryDamaged: it is missing, cannot be read, or differs from its stamp.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            data = file.read()
    except FileNotFoundError as error:
        raise damaged(Path(path), "is missing") from error
    except OSError as error:
        raise damaged(Path(path), f"cannot be read ({error.strerror})") from error
    if stamp(data) != expected:
        raise damaged(Path(path), "was changed or cut short")
    return data


def verify_file(path: Path, expected: Stamp) -> None:
    """Compare a file with its stamp, without holding it in memory.

    Raises:
        LibraryDamaged: it is missing, cannot be read, or differs from its stamp.
    """
    try:
        actual = stamp_file(path)
    except OSError as error:
        raise damaged(path, f"cannot be read ({error.strerror})") from error
    if actual != expected:
        raise damaged(path, "was changed or cut short")


def nothing() -> None:
    """Nothing is done."""


def write_atomically(path: Path, data: bytes, *, private: bool = True, last: Callable[[], None] = nothing) -> None:
    """Replace `path`: whoever reads it, also after a power cut, finds the old bytes or the new ones.

    A file that is not `private`, because a user named its place, gets the usual mode there; see `rag_core.library.disk.private`.
    `last` is called when nothing more has to be written; where it raises, the old bytes stay.
    """
    if private:
        make_folder(path.parent)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        write(draft, data, FILE_MODE if private else USUAL_MODE)
        sync([draft])
        last()
        os.replace(draft, path)
    except (OSError, RagError):
        with suppress(OSError):
            draft.unlink()
        raise
    sync([path.parent])


def sync(paths: Collection[Path]) -> None:
    """Wait until these files and folders, which are on one filesystem, are on the disk.

    Raises:
        OSError: the disk could not take them.
    """
    whole = len(paths) > MANY and hasattr(_LIBC, "syncfs")
    for path in list(paths)[:1] if whole else paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if not whole:
                os.fsync(descriptor)
            elif _LIBC.syncfs(descriptor):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        finally:
            os.close(descriptor)


def names_in(folder: Path) -> list[str]:
    """The names of what is in a folder; nothing where there is none."""
    return os.listdir(folder) if folder.is_dir() else []


def children(folder: Path) -> list[Path]:
    """The contents of a folder; nothing where there is none."""
    return list(folder.iterdir()) if folder.is_dir() else []


def pack(value: Any) -> bytes:
    """JSON in gzip; equal values give equal bytes."""
    return pack_parts([json.dumps(value, ensure_ascii=False, separators=(",", ":"))])


def pack_parts(parts: Iterable[str]) -> bytes:
    """The texts, one after the other, in gzip; equal texts give equal bytes, whatever their parts."""
    buffer = io.BytesIO()
    with gzip.GzipFile("", "wb", compresslevel=5, fileobj=buffer, mtime=0) as file:
        for part in parts:
            file.write(part.encode())
    return buffer.getvalue()


def unpack(data: bytes, path: Path) -> Any:
    """The value that `pack` was given.

    Raises:
        LibraryDamaged: the bytes are not packed JSON. `path` is for the message.
    """
    try:
        return json.loads(gzip.decompress(data))
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise damaged(path, "is not packed JSON") from error


def pack_vectors(vectors: Vectors) -> bytes:
    """NumPy's array format, float32."""
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(vectors, dtype=np.float32), allow_pickle=False)
    return buffer.getvalue()


def vectors_in(size: int, dim: int) -> int:
    """How many vectors of `dim` numbers a file of `pack_vectors` of this size holds; 0 where that cannot be told."""
    count, rest = divmod(size - NPY_HEADER_BYTES, 4 * dim) if dim > 0 else (0, 0)
    return count if not rest and count > 0 else 0


def unpack_vectors(data: bytes, path: Path) -> Vectors:
    """The vectors that `pack_vectors` was given.

    Raises:
        LibraryDamaged: the bytes are not a two-dimensional float32 array.
    """
    try:
        array: Any = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        raise damaged(path, "is not an array") from error
    if array.ndim != 2 or array.dtype != np.float32:
        raise damaged(path, "does not hold vectors")
    vectors: Vectors = array
    return vectors


@contextmanager
def storage_problems(doing: str) -> Iterator[None]:
    """Turn what the disk or the permissions refuse into an error with a remedy. What was published before stays as it was.

    Raises:
        LibraryError: an OSError inside the block.
    """
    try:
        yield
    except OSError as error:
        raise LibraryError(
            f"The library could not be written while {doing}: {error.strerror or error}.",
            remedy="Free disk space or allow writing to the library folder, then resume; what was indexed before is unharmed.",
        ) from error


def stamps_to_json(stamps: Mapping[str, Stamp]) -> dict[str, list[Any]]:
    """{name: [sha256, size]}."""
    return {name: list(value) for name, value in stamps.items()}


def stamps_from_json(rows: Mapping[str, Any]) -> dict[str, Stamp]:
    """The stamps that `stamps_to_json` was given."""
    return {name: Stamp(str(sha256), int(size)) for name, (sha256, size) in rows.items()}


def seal(row: Mapping[str, Any]) -> dict[str, Any]:
    """The object with its checksum. How it is written later (spaces, order of keys) makes no difference."""
    return {**row, CHECKSUM: _checksum(row)}


def unseal(row: Any) -> dict[str, Any]:
    """The value that `seal` was given.

    Raises:
        ValueError: it is no object, has no checksum, or another one.
    """
    if not isinstance(row, dict):
        raise ValueError("not an object")
    rest = {name: value for name, value in row.items() if name != CHECKSUM}
    if row.get(CHECKSUM) != _checksum(rest):
        raise ValueError("its checksum does not fit")
    return rest


def _checksum(row: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(row, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
