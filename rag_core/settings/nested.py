"""Reads settings that stand in sections, `retrieval: {top_k: 10}`, as a file for another engine may have them, and
files of variables.

A section's setting becomes one of ours. What Plumbline has no choice for is not taken over without a word: a warning
names it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rag_core.errors import InvalidSetting
from rag_core.settings.knobs import Mode

ENV_FILE = Path(".env")  # in the folder that a command is run in
FROM_FILE = frozenset(
    {"RAG_PRESET", "RAG_STRICT_MODE", "RAG_VALIDATION_ENABLED", "RAG_CONFIDENCE_THRESHOLD", "RAG_MIN_DOCUMENTS"}
)
logger = logging.getLogger("rag_core.settings")
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)")
_VALUE = re.compile(r"""'([^']*)'|"([^"]*)"|((?:[^\s#]|\s+(?![\s#])|(?<=\S)#)*)""")
_OPENAI_EMBEDDING = "text-embedding-"  # how OpenAI's names of embedding models begin

Ours = dict[str, Any]


def _enforced(knob: str) -> Callable[[Any], Ours]:
    return lambda on: {knob: Mode.ENFORCE if on else Mode.OFF}


def _embedding(name: Any) -> Ours:
    return {"embedding_model": f"openai:{name}" if str(name).startswith(_OPENAI_EMBEDDING) else name}


# what a setting in a section means here: the setting of ours, what it makes of ours, or why it is not one
_MEANINGS: Mapping[str, str | Callable[[Any], Ours | str]] = MappingProxyType(
    {
        "chunking.strategy": lambda name: {"strategy": "auto" if name == "semantic" else name},
        "chunking.max_chunk_size": "passage_tokens",
        "chunking.overlap": "overlap_tokens",
        "chunking.respect_boundaries": lambda on: (
            {} if on else "passages always end where a sentence, row or clause does"
        ),
        "embedding.model": _embedding,
        "embedding.dimension": lambda _: "a vector has as many numbers as its model gives",
        "embedding.batch_size": lambda _: "the number of texts in a request is fixed",
        "retrieval.top_k": "top_k",
        "retrieval.hybrid_search.semantic_weight": "semantic_weight",
        "retrieval.hybrid_search.keyword_weight": lambda weight: {"semantic_weight": round(1 - float(weight), 6)},
        "retrieval.reranking.enabled": lambda on: {} if on else {"reranker": ""},
        "retrieval.reranking.model": "reranker",
        "generation.model": lambda name: {"model": name, "drafter": "model"},
        "generation.temperature": "temperature",
        "generation.max_tokens": "max_tokens",
        "generation.citation_format": "citation_format",
        "validation.sufficiency_check": _enforced("sufficiency_mode"),
        "validation.anti_hallucination_audit": _enforced("verification_mode"),
        "validation.min_confidence": "min_sufficiency",
        "validation.max_retries": "max_retries",
        "vector_db.provider": lambda _: "vectors are kept in the library's own store, see vector_store",
        "vector_db.index_name": lambda _: "a library is a folder, and its collections have names",
        "vector_db.metric": lambda name: {} if name == "cosine" else "vectors are compared by their cosine",
    }
)
SECTIONS = frozenset(name.partition(".")[0] for name in _MEANINGS)


def flattened(read: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by our names, from a file whose sections may nest; InvalidSetting for names unknown or at odds."""
    found = {name: value for name, value in read.items() if name not in SECTIONS or not isinstance(value, Mapping)}
    off = [name for name, value in _leaves(read) if name == "retrieval.reranking.enabled" and not value]
    for name, value in _leaves(read):
        if name not in _MEANINGS:
            raise InvalidSetting(
                f"There is no setting {name!r}.", remedy=f"The sections have these: {', '.join(_MEANINGS)}."
            )
        if off and name == "retrieval.reranking.model":
            continue
        try:
            meaning = _MEANINGS[name]
            meant = {meaning: value} if isinstance(meaning, str) else meaning(value)
        except (TypeError, ValueError) as error:
            raise InvalidSetting(f"{name} cannot be {value!r}.", remedy="Give a number.") from error
        if isinstance(meant, str):
            logger.warning("%s is not used: %s.", name, meant)
            continue
        for ours, one in meant.items():
            if ours in found and found[ours] != one:
                raise InvalidSetting(
                    f"{name} contradicts another line on {ours}.", remedy="Leave one of them out; weights sum to 1."
                )
            found[ours] = one
    return found


def _leaves(read: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The settings in sections with their path, `retrieval.top_k`."""
    for name, value in read.items():
        path = f"{above}.{name}" if above else str(name)
        if isinstance(value, Mapping) and (above or name in SECTIONS):
            yield from _leaves(value, path)
        elif above:
            yield path, value


def with_env_file(environment: Mapping[str, str], file: Path = ENV_FILE) -> Mapping[str, str]:
    """The environment over the variables of a file of `NAME=value` lines; a variable that is set but empty wins too.

    Comments, quotes and a leading `export` are read as a shell reads them; nothing is expanded or run. Only `FROM_FILE`
    is taken: a folder that came from somebody else must not send a key or a document anywhere.

    Raises:
        InvalidSetting: the file cannot be read; the message holds no line of it, which may be a key.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return environment
    except (OSError, UnicodeDecodeError):
        raise InvalidSetting(f"{file} cannot be read.", remedy="Write lines of NAME=value into it.") from None
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if (pair := _LINE.fullmatch(line)) is None:
            raise InvalidSetting(f"Line {number} of {file} is not NAME=value.", remedy="Put # before a comment.")
        value = _VALUE.match(pair[2])
        if pair[1] in FROM_FILE and value is not None:
            found[pair[1]] = next((part for part in value.groups() if part is not None), "").strip()
    return found | dict(environment)
