"""`doctor` and `model`: what this machine and the configured language models give; each is tried out, not looked up."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_core.domain.llm_trace import Completion, Limits, Prompt
from rag_core.domain.scanned import RAPIDOCR
from rag_core.entrypoints.show import printable
from rag_core.entrypoints.terminal import chosen_settings, library_folder
from rag_core.errors import InvalidInput, ModelUnavailable, RagError
from rag_core.ingest.limits import DEFAULT_LIMITS
from rag_core.ingest.reading import pdf_process
from rag_core.ingest.reading.ocr_engines import OCR_LANGUAGES, find_tessdata, find_weights, version_of, weights_of
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.library.disk.private import is_open
from rag_core.settings import Settings
from rag_core.settings.endpoints import Endpoint
from rag_core.settings.login import login, secrets_file
from rag_core.wiring import configured_models, embedder_apart, endpoint_model, require

SETUP = "Run: make setup"
WRITABLE, OTHERS = 0o022, 0o007  # rights on a file: to write, of group and others; any, of others
OTHERS_ASK = "If its accounts are not all your own people's, write others: nothing."
OPEN_NETWORK = (
    "Read files of unknown origin on Linux (x86-64 or aarch64), or forbid this program the network in a firewall."
)
WORD = "Plumbline"
SMALL_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 44>>stream\nBT /F 20 Tf 20 100 Td (" + WORD.encode() + b") Tj ET        \nendstream endobj\n"
    b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R/Size 6>>\n%%EOF"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One row: what was looked at, whether it is as it should be, what was found, and what to do where it is not."""

    about: str
    ok: bool
    found: str
    remedy: str = ""


def doctor(args: argparse.Namespace) -> int:
    """Print all findings; 1 where one needs a remedy."""
    settings = chosen_settings(args)
    checks: tuple[tuple[str, Callable[[], list[Finding]]], ...] = (
        ("packages", _packages),
        ("reading PDFs", _reading),
        ("scanned pages", lambda: _scans(settings)),
        ("embedding model", lambda: _embedding(settings)),
        ("library", lambda: [_library(library_folder(args))]),
        ("service", lambda: [_service(library_folder(args))]),
        ("the page", lambda: _page(library_folder(args))),
    )
    found = [row for about, check in checks for row in _tried(about, check)]
    if args.json:
        print(json.dumps([asdict(row) for row in found], indent=1))
    else:
        for row in found:
            print(
                printable(
                    f"{'ok' if row.ok else 'MEND':<5} {row.about:<16} "
                    f"{row.found}{f' {row.remedy}' if row.remedy else ''}"
                )
            )
    return 0 if all(row.ok for row in found) else 1


def _tried(about: str, check: Callable[[], list[Finding]]) -> list[Finding]:
    try:
        return check()
    except RagError as error:
        return [Finding(about, False, error.problem, error.remedy)]


def _packages() -> list[Finding]:
    python = Finding("Python", True, f"{platform.python_version()} on {sys.platform}, {platform.machine()}.")
    try:
        from supply.environment import difference
    except ImportError:  # only rag_core was copied: there is no lock to hold against
        return [python]
    differs = difference(tests=False)
    if differs.missing or differs.other:
        found = "; ".join([*(f"{name} is missing" for name in differs.missing), *differs.other])
        return [python, Finding("packages", False, f"Not those of the lock: {found}.", SETUP)]
    return [python, Finding("packages", True, "All packages of requirements.lock are installed, in their versions.")]


def _reading() -> list[Finding]:
    """A small file is read by the real process; what that process said of itself is what is told."""
    text = read_pdf(SMALL_PDF, "doctor.pdf", ocr=False).pages[0].text
    state = pdf_process.isolation()
    assert state is not None
    megabytes = DEFAULT_LIMITS.memory_bytes >> 20
    limited = state.memory_bytes == DEFAULT_LIMITS.memory_bytes
    return [
        Finding(
            "reading PDFs",
            text == WORD,
            "A small file was read." if text == WORD else "A small file was read wrongly.",
            SETUP * (text != WORD),
        ),
        Finding("its network", False, f"The process that reads PDFs has a network. {state.unblocked}", OPEN_NETWORK)
        if state.unblocked
        else Finding(
            "its network",
            True,
            "The kernel refuses the process that reads PDFs every socket and every file to write (seccomp).",
        ),
        Finding("its memory", True, f"The process that reads PDFs is held to {megabytes:,} MiB.")
        if limited
        else Finding(
            "its memory",
            False,
            "The memory of the process that reads PDFs is not limited.",
            "Read large files of unknown origin on Linux.",
        ),
    ]


def _scans(settings: Settings) -> list[Finding]:
    languages, folder = find_tessdata()
    chosen, installed = settings.ocr and bool(weights_of(settings.ocr_engine)), bool(find_weights())
    by_rapidocr = f" RapidOCR {version_of(RAPIDOCR)} reads Latin script." if chosen else ""
    if installed and not chosen:
        by_rapidocr = " RapidOCR is installed; ocr_engine=rapidocr has it read Latin script."
    if not languages:
        remedy = (
            "Install Tesseract with its languages (Debian: tesseract-ocr "
            "tesseract-ocr-ces tesseract-ocr-deu tesseract-ocr-hin)."
        )
        which = "all other scanned pages" if chosen else "scanned pages"
        return [
            Finding(
                "scanned pages",
                False,
                f"No language data of Tesseract were found; {which} cannot be read.{by_rapidocr}",
                remedy,
            )
        ]
    missing = [code for code in OCR_LANGUAGES if code not in languages]
    lacks = f" Not installed: {', '.join(missing)}." if missing else ""
    return [Finding("scanned pages", True, f"Tesseract reads {', '.join(languages)} ({folder}).{lacks}{by_rapidocr}")]


def _embedding(settings: Settings) -> list[Finding]:
    """The model as the page runs it: loading checks the hash of the embedded one's weights."""
    model = embedder_apart(settings.embedding_model, settings.embedding_precision)
    dimensions = model.embed([WORD]).shape[1]
    network = f"It has a network: {model.unblocked}" if model.unblocked else "Its process is refused the network."
    checked = (
        " The hash of its weights is the published one."
        if settings.embedding_model == Settings.model_fields["embedding_model"].default
        else ""
    )
    return [
        Finding("embedding model", True, f"{model.name} is loaded and gives {dimensions} numbers.{checked} {network}")
    ]


def _library(folder: Path) -> Finding:
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        return Finding(
            "library",
            False,
            f"{place} cannot be written to: {error.strerror}.",
            "Make it writable, or name another with --library.",
        )
    return Finding(
        "library",
        True,
        f"{folder.resolve()} can be written to{'' if os.path.exists(folder) else ', and will be made'}.",
    )


def _page(folder: Path) -> list[Finding]:
    """Who may open the page, and what they may do there."""
    from rag_core.service.people import People, Right, access_file  # only here: no other row needs them

    known = login(os.environ)
    if known is None:
        return [
            Finding(
                "the page",
                True,
                "Nobody signs in: the page is open to every program and user of this machine. It refuses connections "
                "of other machines, "
                "whatever address it listens on, and what a proxy hands on. Started with `serve --behind-proxy` it is "
                "open to whoever the "
                "proxy lets through; docs/operate.md says how people sign in.",
            )
        ]
    require("login", "Signing in on the page")
    file = access_file(folder)
    rules = People(file).rules()
    others = "ask questions" if rules.others == "ask" else "do nothing"
    found = [
        Finding(
            "the page",
            True,
            f"People sign in at {known.provider} and open {known.host}; a sign-in holds {rules.signed_in_hours:g} "
            f"hours.",
        ),
        Finding(
            "without a role",
            True,
            f"Whoever can sign in there, and has no role, may {others}.",
            OTHERS_ASK * (rules.others == "ask"),
        ),
    ]
    if not rules.roles:
        found.append(
            Finding(
                "roles",
                False,
                f"{file} gives nobody a role.",
                "Write who may do what into it: docs/operate.md has an example.",
            )
        )
    elif file.stat().st_mode & WRITABLE:
        found.append(Finding("roles", False, f"Others than its owner may write to {file}.", f"Run: chmod go-w {file}"))
    for name, role in rules.roles.items():
        rights = ", ".join(right.value for right in Right if right in role.may)
        given = f"{len(role.addresses)} addresses, {sum(map(len, role.claims.values()))} values of claims"
        where = "all collections" if role.collections is None else ", ".join(sorted(role.collections))
        found.append(Finding("role", True, f"{name} may {rights or 'do nothing'} in {where}: {given}."))
    secrets = secrets_file(os.environ)
    if secrets.stat().st_mode & OTHERS:
        found.append(
            Finding("secrets", False, f"Every user of this machine may read {secrets}.", f"Run: chmod o-rwx {secrets}")
        )
    return found


def _service(folder: Path) -> Finding:
    """Who may call the API of `serve`."""
    from rag_core.service.tokens import FILE, Tokens  # only here: no other row needs them

    known, now = Tokens(folder).all(), datetime.now(UTC)
    valid = [token for token in known if token.is_valid(now)]
    if not known and login(os.environ):
        return Finding(
            "service", True, "No token was ever made, and people sign in: the API of `serve` answers nobody."
        )
    if not known:
        return Finding(
            "service",
            True,
            "No token was ever made: the API of `serve` answers every program of this machine, and no other.",
        )
    if is_open(folder / FILE):
        return Finding("service", False, f"Others than you may read {FILE}.", f"Run: chmod 600 {folder / FILE}")
    return Finding(
        "service",
        True,
        f"{len(valid)} of {len(known)} tokens are valid: the API of `serve` answers nobody without one.",
    )


MAX_TOKENS = 500  # for an answer of one word: a model may think before it
_SECONDS = 120.0  # a local model may have to be loaded first


class Ready(BaseModel):
    """The answer that is asked for."""

    model_config = ConfigDict(extra="forbid")
    ready: Literal["yes"]


PROMPT = Prompt("ready", 1, "You are tested.", 'Say that you are ready: "yes".', Ready, max_tokens=MAX_TOKENS)


def model(args: argparse.Namespace) -> int:
    """Name each endpoint with its key masked, and say what works; 1 where one does not answer."""
    found = configured_models(chosen_settings(args))
    if not found:
        raise InvalidInput(
            "No language model is configured; answers are extracts.",
            remedy="Set RAG_MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY (docs/models.md).",
        )
    return 0 if all([_check(number, endpoint) for number, endpoint in enumerate(found, 1)]) else 1


def _check(number: int, endpoint: Endpoint) -> bool:
    print(printable(f"{number}. {endpoint.model} at {endpoint.base_url}, key: {endpoint.masked or 'none'}"))
    if endpoint.warning:
        print(printable(f"   {endpoint.warning}"))
    try:
        words = endpoint_model(endpoint, "never").complete(PROMPT, Limits(_SECONDS))
    except ModelUnavailable as error:
        print(printable(f"   {error}"))
        return False
    print(f"   without a schema: {_took(words)}")
    try:
        schema = endpoint_model(endpoint, "always").complete(PROMPT, Limits(_SECONDS))
    except ModelUnavailable as error:
        print(printable(f"   structured outputs: no; it will be asked without a schema. {error.problem}"))
        return True
    print(
        f"   structured outputs: "
        f"{_took(schema)}{'' if _fits(schema) else ', but not in the schema; such answers are rejected'}"
    )
    return True


def _took(answer: Completion) -> str:
    cut = "" if answer.complete else f", cut off after {MAX_TOKENS} tokens"
    return f"answers in {answer.ms:.0f} ms ({answer.tokens_in} tokens in, {answer.tokens_out} out){cut}"


def _fits(answer: Completion) -> bool:
    try:
        return Ready.model_validate_json(answer.text).ready == "yes"
    except ValidationError:
        return False
