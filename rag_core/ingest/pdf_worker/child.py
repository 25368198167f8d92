"""The child's side: one request on stdin, JSON lines on stdout.

It sets its limits and gives up the network before it looks at the file.

Request: one line of JSON (see `rag_core.ingest.reading.pdf`), then exactly `size` bytes of PDF. Answer, one JSON object
a line: `ready` {network, memory} · `open` {count, meta} · `page` {n, …} · `attached` {names} · `commented` {pages} ·
`image` {png} · `sheet` {pdf} · `looked` {script, text} · `recognised` {text, …} · `note` {problem} ·
`failed` {kind, problem, remedy} · `done`.
The parent holds the pipe that the first argument names; when it closes, this process ends.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import base64
import json
import os
import re
import resource
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO

from .failure import Failure, too_much
from .isolation import block, end_with_parent

Emit = Callable[[dict[str, object]], None]

LABEL_RULES, LABEL_CHARS = 1_000, 20  # a file has a rule or two a part; a longer label is no page number
SAVE_AGAIN = "Open it in a PDF viewer, save it again (print to PDF), and add that copy."
TEXT_FORMS = ("xlsx", "pptx")  # whose pages are text
MAX_NAMES, NAME_CHARS = 1_000, 200  # names of attached files; the parent says fewer
CLIP = 17  # MuPDF's number of a paper clip
# MuPDF's numbers of notes, text boxes, drawings, marks and stamps; 1 is a link, 12 blackens
COMMENTS = (0, *range(2, 12), *range(13, 16))
PLACEHOLDER_CHARS = 1_000  # on a page that asks to wait for a form; Adobe's has some 600
# layout: a neural model; 0.3 s of start and 100 MB together with what it runs on
UNWANTED = ("pymupdf.layout", "pymupdf4llm", "onnxruntime", "networkx", "tabulate")
META_CHARS = 2_000  # a title or an author is cut there; the parent keeps fewer, and says so


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # MuPDF, Tesseract and OpenCV print warnings; stdout belongs to the protocol
    os.dup2(nowhere, 2)
    request = json.loads(sys.stdin.buffer.readline())
    set_limits(request)
    unblocked = block(files=True)
    end_with_parent(int(sys.argv[1]))
    data = sys.stdin.buffer.read(request["size"])
    if len(data) < request["size"]:
        return  # the parent is gone

    def emit(event: dict[str, object]) -> None:
        out.write(json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n")
        out.flush()

    emit({"event": "ready", "network": unblocked, "memory": resource.getrlimit(resource.RLIMIT_AS)[0]})
    try:
        serve(request, data, emit)
    except Failure as failure:
        emit({"event": "failed", **dict(zip(("kind", "problem", "remedy"), failure.args, strict=True))})
    except Exception as error:  # MuPDF has no common class for what it raises on a broken file
        kind, problem = "memory" if out_of_memory(error) else "DamagedPdf", "The file is damaged and cannot be read."
        emit({"event": "failed", "kind": kind, "problem": problem, "remedy": SAVE_AGAIN})
    finish(out)


def out_of_memory(error: BaseException) -> bool:
    """Whether `error` comes from the memory limit: Python's own, or MuPDF's word for it ("malloc (… bytes) failed")."""
    return isinstance(error, MemoryError | ImportError) or "alloc" in str(error) or "MemoryError" in str(error)


def finish(out: BinaryIO) -> None:
    """End at once: taking MuPDF down in order costs time and can crash on a broken document that was read well."""
    out.flush()
    os._exit(0)


def import_pymupdf() -> Any:
    """PyMuPDF without the packages that it imports where they are installed: none of them reads a page for us.

    `onnxruntime` opens its maker's telemetry database when it is imported, and looks up the collector's address.
    """
    for unwanted in UNWANTED:
        sys.modules[unwanted] = None  # type: ignore[assignment]  # an import of it raises ImportError, which PyMuPDF expects
    import pymupdf  # here, because it is slow, and limits come first

    # pymupdf4llm set this when it was imported, and with it the boxes of all words were measured
    tools: Any = pymupdf.TOOLS
    tools.unset_quad_corrections(True)
    return pymupdf


def set_limits(request: dict[str, Any]) -> None:
    """Limit memory, CPU time, open files and written files of this process, for good."""

    def limit(what: int, soft: int, hard: int) -> None:
        allowed = resource.getrlimit(what)[1]
        hard = hard if allowed == resource.RLIM_INFINITY else min(hard, allowed)
        resource.setrlimit(what, (min(soft, hard), hard))

    limit(resource.RLIMIT_CORE, 0, 0)
    limit(resource.RLIMIT_FSIZE, 0, 0)
    limit(resource.RLIMIT_NOFILE, 64, 64)
    if sys.platform != "darwin":  # macOS refuses to limit the address space; the wall and CPU limits still hold there
        limit(resource.RLIMIT_AS, request["memory_bytes"], request["memory_bytes"])
    most = request["cpu_seconds"] + request["cpu_seconds_per_page"] * request["pages"] + request["ocr_seconds"]
    limit(resource.RLIMIT_CPU, int(request["cpu_seconds"]), int(most) + 1)


def allow_cpu(seconds: float) -> None:
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (min(int(seconds) + 1, hard), hard))


def serve(request: dict[str, Any], data: bytes, emit: Emit) -> None:
    """Open the file and do what is asked with it; raises Failure where it is refused, and whatever MuPDF raises."""
    if "look" in request or "recognise" in request:
        from .scans.ocr import look, recognise

        emit(look(request["look"], data) if "look" in request else recognise(request["recognise"], data))
        emit({"event": "done"})
        return
    if "sheet" in request:
        import_pymupdf()
        from .render import compose

        emit({"event": "sheet", "pdf": base64.b64encode(compose(data)).decode()})
        emit({"event": "done"})
        return
    if request.get("form") in TEXT_FORMS:
        read_texts(request, data, emit)
        return
    left: Mapping[int, Counter[str]] = {}
    if request.get("form", "pdf") == "pdf":
        document = open_document(request, data)
    else:
        from .formats.documents import opened

        document, left = opened(import_pymupdf(), data, request["form"])
        require_pages(document.page_count, request)
    if "render" in request:
        render(document, request["render"], emit)
    else:
        read_pages(document, request, emit, left)


def open_document(request: dict[str, Any], data: bytes) -> Any:
    """The open document, with its password given, its pages counted and within the limit."""
    document = import_pymupdf().open(stream=data, filetype="pdf")
    if not document.is_pdf:
        raise Failure("NotAPdf", "The file is not a PDF, although it says so.", "Convert it to PDF and add that copy.")
    if document.needs_pass and not (request["password"] and document.authenticate(request["password"])):
        what = (
            "The password does not open this file."
            if request["password"]
            else "The file is encrypted and needs a password."
        )
        raise Failure("PasswordNeeded", what, "Give the password that opens it, or add a copy without one.")
    if document.is_repaired and b"%%EOF" not in data[-2048:]:
        raise Failure(
            "DamagedPdf", "The file ends too early: its last part is missing.", "Download or copy it again, completely."
        )
    count, found = document.page_count, leaves(document, request["pages"])
    if max(count, found) > request["pages"]:
        pages = f"{max(count, found):,}{' or more' if found > count else ''}"
        raise too_much(f"The file has {pages} pages; at most {request['pages']:,} are allowed.")
    if count != found:
        raise Failure("DamagedPdf", f"The file says that it has {count:,} pages, but {found:,} are in it.", SAVE_AGAIN)
    if not count:
        raise Failure("EmptyDocument", "The file has no pages.", "Check that it is the right file.")
    if is_placeholder(document):
        raise Failure(
            "EmptyDocument",
            "The file is an XFA form: it has no pages of its own, only one that asks to wait for them.",
            "Open it in Adobe Reader, print it to a new PDF, and add that.",
        )
    return document


def require_pages(count: int, request: dict[str, Any]) -> None:
    if count > request["pages"]:
        raise too_much(f"The file takes {count:,} pages; at most {request['pages']:,} are allowed.")


def read_texts(request: dict[str, Any], data: bytes, emit: Emit) -> None:
    """Emit the pages of a workbook or a presentation, which are text without a layout; raises Failure."""
    from .formats import sheets, slides

    found = sheets.read(data) if request["form"] == "xlsx" else slides.read(data)
    require_pages(len(found.pages), request)
    if not found.pages:
        raise Failure("EmptyDocument", "The file has no pages.", "Check that it is the right file.")
    emit({"event": "open", "count": len(found.pages), "meta": {"title": found.title[:META_CHARS]}})
    most = request["page_chars"]
    for number, page in enumerate(found.pages, 1):
        if number < request.get("first", 1):
            continue
        cut = f"Only the first {most:,} characters of this page were read." if len(page.text) > most else page.problem
        said = {"source": page.source, "text": page.text[:most], "label": page.label, "problem": cut}
        emit({"event": "page", "n": number, **said, "kinds": page.kinds})
    for problem in found.notes:
        emit({"event": "note", "problem": problem})
    emit({"event": "done"})


def leaves(document: Any, limit: int) -> int:
    """Pages on the page tree, counted without believing any /Count; stops just above `limit`, and at loops."""

    def reference(xref: int, key: str) -> int:
        kind, value = document.xref_get_key(xref, key)
        return int(value.split()[0]) if kind == "xref" else 0

    seen: set[int] = set()
    found = 0
    waiting = [reference(document.pdf_catalog(), "Pages")]
    while waiting and found <= limit:
        node = waiting.pop()
        kind, kids = document.xref_get_key(node, "Kids")
        if kind == "xref":
            kids = document.xref_object(int(kids.split()[0]))
        if kind == "null":
            found += document.xref_get_key(node, "Type")[1] != "/Pages"
        elif node not in seen:
            seen.add(node)
            waiting.extend(int(number) for number in re.findall(r"(\d+) \d+ R", kids))
    return found


def read_pages(document: Any, request: dict[str, Any], emit: Emit, left: Mapping[int, Counter[str]]) -> None:
    """Emit what the document says of itself, then its pages; `left` was left out before they were drawn."""
    from .damage import REPAIRED, forget_complaints, with_damage
    from .glyphs.fonts import Fonts
    from .pages import Layers, read
    from .rows import packed
    from .scans.ocr import Drawer

    emit({"event": "open", "count": document.page_count, "meta": meta(document)})
    allowed = request["cpu_seconds"] + request["cpu_seconds_per_page"] * document.page_count
    allow_cpu(allowed)

    def allow_more(seconds: float) -> None:
        nonlocal allowed
        allowed += seconds
        allow_cpu(allowed)

    drawer = Drawer(request, allow_more)
    fonts, layers, labels = Fonts(), Layers(document, request["password"]), page_labels(document)
    for number in range(request.get("first", 1) - 1, document.page_count):
        forget_complaints()
        try:
            page = with_damage(read(document[number], drawer, fonts, layers))
        except Exception as error:
            if out_of_memory(error):
                raise
            page = {"source": "unreadable", "problem": "This page is damaged and could not be read."}
        if number in left:
            page["kinds"] = left[number] + Counter(page.get("kinds", ()))
        words, lines = page.pop("words", ()), page.pop("lines", ())
        emit({"event": "page", "n": number + 1, "label": labels[number], **page, **packed(words, lines)})
    if names := attached(document):
        emit({"event": "attached", "names": names})
    if pages := commented(document):
        emit({"event": "commented", "pages": pages})
    if document.is_repaired:  # at its opening, or when a broken object was met
        emit({"event": "note", "problem": REPAIRED})
    emit({"event": "done"})


def attached(document: Any) -> list[str]:
    """The names of the files in this one: those of the document, as a portfolio has them, and of paper clips."""
    names = []
    with suppress(Exception):  # MuPDF's, on a broken list: nothing else depends on it
        for place in range(document.embfile_count()):
            about = document.embfile_info(place)
            names.append(about["ufilename"] or about["filename"] or about["name"])
        for number in range(document.page_count):
            clips = (xref for xref, kind, _ in document.page_annot_xrefs(number) if kind == CLIP)
            names += [document.xref_get_key(xref, "FS/UF")[1] for xref in clips]
    return [name[:NAME_CHARS] for name in names[:MAX_NAMES]]


def commented(document: Any) -> list[int]:
    """The numbers of the pages on which somebody put comments with words that the page does not show as its own."""
    pages = []
    with suppress(Exception):  # as above
        for number in range(document.page_count):
            notes = [xref for xref, kind, _ in document.page_annot_xrefs(number) if kind in COMMENTS]
            found = [document.xref_get_key(xref, "Contents") for xref in notes]
            said = ["".join(words.split()) for kind, words in found if kind == "string"]
            shown = "".join(document[number].get_text().split()) if any(said) else ""
            if any(words not in shown for words in said):
                pages.append(number + 1)
    return pages


def is_placeholder(document: Any) -> bool:
    """Whether the one page asks to wait for others: the form itself is XFA, which Adobe's programs alone show."""
    form, _ = document.xref_get_key(document.pdf_catalog(), "AcroForm/XFA")
    if form == "null" or document.page_count > 1 or document.is_form_pdf:
        return False
    return len(document[0].get_text()) < PLACEHOLDER_CHARS


def meta(document: Any) -> dict[str, str]:
    return {key: str(value or "")[:META_CHARS] for key, value in (document.metadata or {}).items()}


def page_labels(document: Any) -> list[str]:
    """The number that the file has each page print; "" for all where it has none, or is broken there."""
    pages = range(document.page_count)
    try:
        rules = sorted(document._get_page_labels())[:LABEL_RULES]  # once: a page would read all of them again
        numbered = import_pymupdf().utils.get_label_pno
        return [" ".join(numbered(page, rules).split())[:LABEL_CHARS] if rules else "" for page in pages]
    except Exception:
        return ["" for _ in pages]


def render(document: Any, request: dict[str, Any], emit: Emit) -> None:
    """Emit one page as a PNG with rectangles marked."""
    from .render import draw

    number = request["number"]
    if not 1 <= number <= document.page_count:
        raise Failure(
            "page", f"There is no page {number}; the file has {document.page_count:,}.", "Ask for a page of the file."
        )
    png = draw(document[number - 1], request)
    emit({"event": "image", "png": base64.b64encode(png).decode("ascii")})
    emit({"event": "done"})


if __name__ == "__main__":
    main()
