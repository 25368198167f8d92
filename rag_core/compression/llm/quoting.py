"""Untrusted text as data in a prompt: lines of JSON between boundary lines that no document can write.

A passage, title, file name or question may say anything, in any characters. Here it becomes a string of JSON on one
line, in which nothing can end the line, close the context, or be taken for a control token of a model's chat template.
Decoded, it is the text again, so that a quote from it can be found on its page.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

import regex

from rag_core.ingest.normalise import normalise

SEPARATOR = "\n---\n"  # between passages
MAX_LABEL_CHARS = 200  # a file name, a title or a section is cut there in a prompt
_BAR = "════"

# What is written as \uXXXX: characters that cannot be seen or that part lines, the bars of a boundary line, and the
# beginning of anything that a chat template may read as a token of its own (<|im_end|>, </s>, [INST]).
_ESCAPED = regex.compile(
    r"[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}═]|<(?=[^\s\d=])|\[(?=/?\p{Lu}{4})", regex.V1
)


def data_line(fields: Mapping[str, object]) -> str:
    """One line of JSON that `json.loads` turns back into exactly these fields."""
    line: str = _ESCAPED.sub(_escape, json.dumps(_encodable(fields), ensure_ascii=False))
    return line


def label(text: str) -> str:
    """A file name, title or section in its reading form, cut after 200 characters."""
    bare = normalise(text[: 4 * MAX_LABEL_CHARS]).text
    return bare if len(bare) <= MAX_LABEL_CHARS else bare[: MAX_LABEL_CHARS - 1] + "…"


def context(lines: Iterable[str]) -> str:
    """Data lines between their boundary lines, which carry a hash of what stands between them: a text cannot hold its
    own hash.
    """
    body = SEPARATOR.join(lines)
    mark = hashlib.sha256(body.encode()).hexdigest()[:8]
    return f"{_BAR} DOCUMENT CONTEXT START {mark} {_BAR}\n{body}\n{_BAR} DOCUMENT CONTEXT END {mark} {_BAR}"


def _escape(match: regex.Match[str]) -> str:
    """The character as JSON writes it in ASCII."""
    return json.dumps(match.group())[1:-1] if ord(match.group()) > 0x7E else f"\\u{ord(match.group()):04x}"


def _encodable(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields, with a question mark for each half of a character: no server could be sent one."""
    return {
        name: value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
        for name, value in fields.items()
    }
