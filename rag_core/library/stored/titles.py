"""A collection's title: its name as a person wrote it.

Folders, addresses, roles and programs use the name that is made from it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection
from pathlib import Path

from rag_core.errors import InvalidInput
from rag_core.library.disk.files import storage_problems, write_atomically
from rag_core.library.stored.sources import clean

FILE = "title.txt"  # in the collection's folder
MAX_CHARS = 80  # a title stands in a field above the page
NAME_CHARS = 56  # a number has room behind them in a name
HASH_DIGITS = 8  # tell titles without a Latin letter apart
# moves a cursor, or shows nothing
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_OTHER = re.compile(r"[^a-z0-9]+")
# do not decompose
_PLAIN = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


def title_of(folder: Path, name: str) -> str:
    """The title of a collection, untrusted text in one line; its name where it has none that can be read."""
    try:
        with (folder / name / FILE).open("rb") as file:
            return cleaned(file.read(MAX_CHARS * 4).decode("utf-8"))  # UTF-8 takes four bytes at most
    except (OSError, ValueError, InvalidInput):
        return name


def keep_title(folder: Path, name: str, title: str) -> None:
    """Write the title of a collection that is there, unless it is the name; raises as `cleaned`, or LibraryError."""
    title = cleaned(title)
    if title != name:
        with storage_problems("naming a collection"):
            write_atomically(folder / name / FILE, title.encode())


def cleaned(title: str) -> str:
    """A title in one line, of visible characters; raises InvalidInput where it is empty or beyond `MAX_CHARS`."""
    found = " ".join(_UNSEEN.sub(" ", clean(unicodedata.normalize("NFC", title))).split())
    if not found or len(found) > MAX_CHARS:
        raise InvalidInput(
            f"{found[:MAX_CHARS]!r} cannot name a collection.", remedy=f"Use 1 to {MAX_CHARS} characters."
        )
    return found


def name_for(title: str, taken: Collection[str]) -> str:
    """A name for a new collection of this title: its letters and digits without accents, numbered if taken."""
    letters = unicodedata.normalize("NFKD", title.casefold()).translate(_PLAIN)
    kept = "".join(char for char in letters if not unicodedata.combining(char))
    base = _OTHER.sub("-", kept).strip("-")[:NAME_CHARS].strip("-")
    if not re.search("[a-z]", base):  # another script; digits alone would tell nobody anything
        base = "-".join(filter(None, ("collection", base, hashlib.sha256(title.encode()).hexdigest()[:HASH_DIGITS])))
    names = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
