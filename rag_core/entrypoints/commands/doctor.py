"""`doctor`: what this machine and the configured language models give; each is tried out, not looked up."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_core.domain.llm_trace import Completion, Limits, Prompt
from rag_core.domain.scanned import RAPIDOCR
from rag_core.entrypoints.commands.terminal import chosen_settings, library_folder, printable
from rag_core.errors import ModelUnavailable, RagError
from rag_core.ingest.limits import DEFAULT_LIMITS
from rag_core.ingest.reading import pdf_process
from rag_core.ingest.reading.ocr_engines import OCR_LANGUAGES, find_tessdata, find_weights, version_of, weights_of
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.library.disk.private import is_open
from rag_core.settings import Settings
from rag_core.settings.login import login, secrets_file
from rag_core.wiring import configured_models, embedder_apart, endpoint_model, require

SETUP = "Run: make setup"
WRITABLE, OTHERS = 0o022, 0o007  # rights on a file: to write, of group and others; any, of others
OTHERS_ASK = "If its accounts are not all your own people's, write others: nothing."
OPEN_NETWORK = (
    "Read files of unknown origin on Linux (x86-64 or aarch64), or forbid this program the network in a firewall."
)
NOBODY_SIGNS_IN = (
    "Nobody signs in: the page is open to every program and user of this machine. It refuses connections of other "
    "machines, whatever address it listens on, and what a proxy hands on. Started with `serve --behind-proxy` it is "
    "open to whoever the proxy lets through; docs/operate.md says how people sign in."
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


def _ok(about: str, found: str) -> Finding:
    return Finding(about, True, found)


def _mend(about: str, found: str, remedy: str) -> Finding:
    return Finding(about, False, found, remedy)


def doctor(args: argparse.Namespace) -> int:
    """Print all findings; 1 where one needs a remedy."""
    settings, folder = chosen_settings(args), library_folder(args)
    checks: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("packages", _packages),
        ("reading PDFs", _reading),
        ("scanned pages", lambda: _scans(settings)),
        ("embedding model", lambda: _embedding(settings)),
        ("language model", lambda: _models(settings)),
        ("library", lambda: _library(folder)),
        ("service", lambda: _service(folder)),
        ("the page", lambda: _page(folder)),
    )
    found = [row for about, check in checks for row in _tried(about, check)]
    if args.json:
        print(json.dumps([asdict(row) for row in found], indent=1))
    else:
        for row in found:
            print(printable(f"{'ok' if row.ok else 'MEND':<5} {row.about:<16} {row.found} {row.remedy}".rstrip()))
    return 0 if all(row.ok for row in found) else 1


def _tried(about: str, check: Callable[[], Iterator[Finding]]) -> list[Finding]:
    try:
        return list(check())
    except RagError as error:
        return [_mend(about, error.problem, error.remedy)]


def _packages() -> Iterator[Finding]:
    yield _ok("Python", f"{platform.python_version()} on {sys.platform}, {platform.machine()}.")
    try:
        from supply.environment import difference
    except ImportError:  # only rag_core was copied: there is no lock to hold against
        return
    differs = difference(tests=False)
    if differs.missing or differs.other:
        found = "; ".join([*(f"{name} is missing" for name in differs.missing), *differs.other])
        yield _mend("packages", f"Not those of the lock: {found}.", SETUP)
    else:
        yield _ok("packages", "All packages of requirements.lock are installed, in their versions.")


def _reading() -> Iterator[Finding]:
    """A small file is read by the real process; what that process said of itself is what is told."""
    text = read_pdf(SMALL_PDF, "doctor.pdf", ocr=False).pages[0].text
    state, most = pdf_process.isolation(), DEFAULT_LIMITS.memory_bytes
    assert state is not None
    if text == WORD:
        yield _ok("reading PDFs", "A small file was read.")
    else:
        yield _mend("reading PDFs", "A small file was read wrongly.", SETUP)
    if state.unblocked:
        yield _mend("its network", f"The process that reads PDFs has a network. {state.unblocked}", OPEN_NETWORK)
    else:
        refused = "The kernel refuses the process that reads PDFs every socket and every file to write (seccomp)."
        yield _ok("its network", refused)
    if state.memory_bytes == most:
        yield _ok("its memory", f"The process that reads PDFs is held to {most >> 20:,} MiB.")
    else:
        remedy = "Read large files of unknown origin on Linux."
        yield _mend("its memory", "The memory of the process that reads PDFs is not limited.", remedy)


def _scans(settings: Settings) -> Iterator[Finding]:
    languages, folder = find_tessdata()
    chosen, installed = settings.ocr and bool(weights_of(settings.ocr_engine)), bool(find_weights())
    by_rapidocr = f" RapidOCR {version_of(RAPIDOCR)} reads Latin script." if chosen else ""
    if installed and not chosen:
        by_rapidocr = " RapidOCR is installed; ocr_engine=rapidocr has it read Latin script."
    if not languages:
        which = "all other scanned pages" if chosen else "scanned pages"
        found = f"No language data of Tesseract were found; {which} cannot be read.{by_rapidocr}"
        packages = "tesseract-ocr tesseract-ocr-ces tesseract-ocr-deu tesseract-ocr-hin"
        yield _mend("scanned pages", found, f"Install Tesseract with its languages (Debian: {packages}).")
        return
    missing = [code for code in OCR_LANGUAGES if code not in languages]
    lacks = f" Not installed: {', '.join(missing)}." if missing else ""
    yield _ok("scanned pages", f"Tesseract reads {', '.join(languages)} ({folder}).{lacks}{by_rapidocr}")


def _embedding(settings: Settings) -> Iterator[Finding]:
    """The model as the page runs it: loading checks the hash of the embedded one's weights."""
    model = embedder_apart(settings.embedding_model, settings.embedding_precision)
    dimensions = model.embed([WORD]).shape[1]
    network = f"It has a network: {model.unblocked}" if model.unblocked else "Its process is refused the network."
    embedded = settings.embedding_model == Settings.model_fields["embedding_model"].default
    checked = " The hash of its weights is the published one." * embedded
    yield _ok("embedding model", f"{model.name} is loaded and gives {dimensions} numbers.{checked} {network}")


def _library(folder: Path) -> Iterator[Finding]:
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        remedy = "Make it writable, or name another with --library."
        yield _mend("library", f"{place} cannot be written to: {error.strerror}.", remedy)
        return
    made = "" if os.path.exists(folder) else ", and will be made"
    yield _ok("library", f"{folder.resolve()} can be written to{made}.")


def _page(folder: Path) -> Iterator[Finding]:
    from rag_core.service.people import People, Right, access_file  # only here: no other row needs them

    known = login(os.environ)
    if known is None:
        yield _ok("the page", NOBODY_SIGNS_IN)
        return
    require("login", "Signing in on the page")
    file = access_file(folder)
    rules = People(file).rules()
    hours = f"a sign-in holds {rules.signed_in_hours:g} hours"
    yield _ok("the page", f"People sign in at {known.provider} and open {known.host}; {hours}.")
    may, remedy = ("ask questions", OTHERS_ASK) if rules.others == "ask" else ("do nothing", "")
    yield Finding("without a role", True, f"Whoever can sign in there, and has no role, may {may}.", remedy)
    if not rules.roles:
        example = "Write who may do what into it: docs/operate.md has an example."
        yield _mend("roles", f"{file} gives nobody a role.", example)
    elif file.stat().st_mode & WRITABLE:
        yield _mend("roles", f"Others than its owner may write to {file}.", f"Run: chmod go-w {file}")
    for name, role in rules.roles.items():
        rights = ", ".join(right.value for right in Right if right in role.may)
        given = f"{len(role.addresses)} addresses, {sum(map(len, role.claims.values()))} values of claims"
        where = "all collections" if role.collections is None else ", ".join(sorted(role.collections))
        yield _ok("role", f"{name} may {rights or 'do nothing'} in {where}: {given}.")
    secrets = secrets_file(os.environ)
    if secrets.stat().st_mode & OTHERS:
        yield _mend("secrets", f"Every user of this machine may read {secrets}.", f"Run: chmod o-rwx {secrets}")


def _service(folder: Path) -> Iterator[Finding]:
    from rag_core.service.tokens import FILE, Tokens  # only here: no other row needs them

    known, now = Tokens(folder).all(), datetime.now(UTC)
    valid = sum(token.is_valid(now) for token in known)
    if not known:
        to = "nobody" if login(os.environ) else "every program of this machine, and no other"
        and_sign = ", and people sign in" if login(os.environ) else ""
        yield _ok("service", f"No token was ever made{and_sign}: the API of `serve` answers {to}.")
    elif is_open(folder / FILE):
        yield _mend("service", f"Others than you may read {FILE}.", f"Run: chmod 600 {folder / FILE}")
    else:
        answers = "the API of `serve` answers nobody without one"
        yield _ok("service", f"{valid} of {len(known)} tokens are valid: {answers}.")


MAX_TOKENS = 500  # for an answer of one word: a model may think before it
_SECONDS = 120.0  # a local model may have to be loaded first


class Ready(BaseModel):
    """The answer that is asked for."""

    model_config = ConfigDict(extra="forbid")
    ready: Literal["yes"]


PROMPT = Prompt("ready", 1, "You are tested.", 'Say that you are ready: "yes".', Ready, max_tokens=MAX_TOKENS)


def _models(settings: Settings) -> Iterator[Finding]:
    """Each endpoint with its key masked, and what works; it is asked for one word, in words and by a schema."""
    for endpoint in configured_models(settings):
        about = f"{endpoint.model} at {endpoint.base_url}, key: {endpoint.masked or 'none'}. {endpoint.warning}".strip()
        try:
            words = _took(endpoint_model(endpoint, "never").complete(PROMPT, Limits(_SECONDS)))
        except ModelUnavailable as error:
            yield _mend("language model", f"{about} {error.problem}", error.remedy)
            continue
        try:
            answer = endpoint_model(endpoint, "always").complete(PROMPT, Limits(_SECONDS))
            schema = f"{_took(answer)}{'' if _fits(answer) else ', but not in the schema; such answers are rejected'}"
        except ModelUnavailable:
            schema = "no; it will be asked without a schema"
        yield _ok("language model", f"{about} Without a schema: {words}. Structured outputs: {schema}.")


def _took(answer: Completion) -> str:
    cut = "" if answer.complete else f", cut off after {MAX_TOKENS} tokens"
    return f"answers in {answer.ms:.0f} ms ({answer.tokens_in} tokens in, {answer.tokens_out} out){cut}"


def _fits(answer: Completion) -> bool:
    try:
        return Ready.model_validate_json(answer.text).ready == "yes"
    except ValidationError:
        return False
