"""Reads a PDF into pages, and draws its pages, in a child process. Nothing of an untrusted PDF is parsed in this one.

This module decides what may be asked, and turns the child's JSON into the domain's values or into typed errors;
`pdf_process` runs the child, `pdf_worker` is the child.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import regex

from rag_core import errors
from rag_core.domain.documents import Box, Metadata, Page, PageSource
from rag_core.domain.ports import Cancel, Progress
from rag_core.domain.scanned import ENGINES, TESSERACT
from rag_core.errors import DamagedPdf, EmptyDocument, IngestError, InvalidInput, LimitExceeded, NotAPdf
from rag_core.ingest.layout import received
from rag_core.ingest.limits import DEFAULT_LIMITS, Limits
from rag_core.ingest.reading import pdf_process
from rag_core.ingest.reading.ocr_engines import find_tessdata, weights_of
from rag_core.ingest.reading.pdf_facts import FORM_NAMES, FORMS, clean_title, foreign_format, has_form, iso_date
from rag_core.ingest.reading.pdf_findings import HIDDEN_KINDS, attached_files, commented, hidden_text, page_problems
from rag_core.ingest.reading.pdf_process import Event, page_events
from rag_core.ingest.reading.recognition import Kept, Recognition, counting
from rag_core.ingest.reading.text import TEXT_SUFFIXES

# the number of a page, or the name and cells of a sheet: "iv", "A-2", "12/3", "Prices A1:D40"; it cannot be markup
_LABEL = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N} .–/-]{0,30}(?: [A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})?")
SIGHT_BYTES = 4096  # from which another format is told
MAX_STATED_CHARS = 300  # a title or an author, as in `bounds`; the longest of 67 files had 109 and 57
SAVE_AGAIN = "Open it in a PDF viewer, save it again (print to PDF), and add that copy."


@dataclass(frozen=True, slots=True)
class PdfContent:
    """The contents of a PDF, and what it states of itself: a title, an author, an ISO date as far as stated.

    `problems` are sentences for the user. All strings are untrusted.
    """

    pages: tuple[Page, ...]
    metadata: Metadata
    problems: tuple[str, ...] = ()


def read_pdf(
    data: bytes | BinaryIO,
    name: str,
    *,
    password: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    ocr: bool = True,
    ocr_engine: str = TESSERACT,
    form: str = "pdf",
    begun: Callable[[Metadata, int], None] = lambda stated, count: None,
    keep: Callable[[Page], Page] = lambda page: page,
    recognised: Kept | None = None,
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
) -> PdfContent:
    """Read all pages of a PDF.

    Args:
        data: the file, or where it is read from, in blocks.
        name: what progress is reported under; it is neither opened nor passed on.
        password: opens an encrypted file; it goes through a pipe to the child and nowhere else.
        limits: how much the file may cost.
        ocr: read pages that are pictures, where Tesseract's language data, or RapidOCR, are installed.
        ocr_engine: that reads them, of `rag_core.domain.scanned.ENGINES`; Tesseract reads what RapidOCR cannot.
        form: pdf, html or docx, whose text is laid out as pages, or xlsx or pptx, whose pages are text; see
            `rag_core.ingest.reading.pdf_facts.form_of`.
        begun: told what the file says of itself and how many pages it has, before the first one comes.
        keep: given each page as it comes; what it returns is kept in memory as the page.
        recognised: what was read of pictures before, and where that of this reading is put.
        progress: told (name, page, pages) after each page.
        cancelled: asked about ten times a second; reading stops within a second of it saying so.

    Raises:
        NotAPdf, PasswordNeeded, DamagedPdf, EmptyDocument, LimitExceeded: the file cannot be read, with what to do. A
        page that ends
            the reader is reported as unreadable, and the others are read (`rag_core.ingest.reading.pdf_process`).
        MissingDependency: pages are to be read by RapidOCR, and it is not installed.
        Cancelled: `cancelled` said so.
    """
    _refuse_at_sight(data, limits, form)
    languages, tessdata = find_tessdata()
    request = {**_request(limits, password), "form": form, "ocr": ocr, "weights": weights_of(ocr_engine) if ocr else ""}
    request |= {"languages": "+".join(languages), "tessdata": tessdata}
    pages: list[Page] = []
    opened: Event = {"count": 0, "meta": {}}
    notes: list[str] = []
    kinds: dict[str, list[tuple[int, int]]] = {}
    keep = counting(keep, limits)
    with closing(_events(request, data, limits, recognised, cancelled)) as events:
        for event in events:
            with _checked():
                match event["event"]:
                    case "open":
                        opened = event
                        begun(_content(opened, (), (), ()).metadata, int(opened["count"]))
                    case "page":
                        page = _page(event)
                        for kind, chars in event.get("kinds", {}).items():
                            kinds.setdefault(HIDDEN_KINDS[kind], []).append((page.number, int(chars)))
                    case "note" | "attached" | "commented":
                        notes.append(_finding(event))
                    case _:
                        raise _failure(event, limits)
                count = int(opened["count"])
            if event["event"] == "page":
                pages.append(keep(page))
                if progress is not None:
                    progress(name, len(pages), count)
    if not any(page.width or page.source is not PageSource.UNREADABLE for page in pages):
        raise DamagedPdf("None of the file's pages could be read.", remedy=SAVE_AGAIN)
    if all(page.source is PageSource.EMPTY for page in pages):
        raise EmptyDocument(
            f"All pages of the file are blank ({len(pages):,}).", remedy="Check that it is the right file."
        )
    with _checked():
        return _content(opened, pages, notes, hidden_text(kinds))


def _events(
    request: Mapping[str, object],
    data: bytes | BinaryIO,
    limits: Limits,
    recognised: Kept | None,
    cancelled: Cancel | None,
) -> Generator[Event, None, None]:
    """The child's events, with what was read of the pages that are pictures."""
    most = pdf_process.PAGE_LINE_BYTES + limits.pixels * 4 // 3  # a picture in base64
    with Recognition(request, limits, recognised, cancelled) as recognition, _checked():
        yield from recognition.in_order(page_events(request, data, limits, max_line_bytes=most, cancelled=cancelled))


def render_page(
    data: bytes,
    number: int,
    boxes: Sequence[Box] = (),
    *,
    doubted: Sequence[Box] = (),
    password: str | None = None,
    dpi: float = 110.0,
    max_pixels: int = 4_000_000,
    part: Box | None = None,
    limits: Limits = DEFAULT_LIMITS,
    form: str = "pdf",
) -> bytes:
    """Page `number` (from 1), or a `part` of it, as a PNG with exactly `boxes` marked in yellow, and `doubted` in
    orange.

    `dpi` is lowered where it would have more than `max_pixels`. Raises InvalidInput where there is no such page, or as
    `read_pdf`.
    """
    _refuse_at_sight(data, limits, form)
    render: dict[str, object] = {"number": number, "dpi": dpi, "pixels": min(max_pixels, limits.pixels), "part": part}
    render |= {"boxes": list(boxes), "doubted": list(doubted)}
    request, picture = {**_request(limits, password), "form": form, "render": render}, b""
    for event in pdf_process.events(request, data, wall_seconds=limits.wall_seconds):
        if event["event"] != "image":
            raise _failure(event, limits)
        with _checked():
            picture = base64.b64decode(event["png"], validate=True)
    return picture


def compose_sheet(blocks: Sequence[Mapping[str, object]], *, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """A PDF of blocks, see `pdf_worker.render.compose`; an IngestError where it takes too much, or cannot be set."""
    request, sheet = {**_request(limits, None), "sheet": True}, b""
    for event in pdf_process.events(request, json.dumps(list(blocks)).encode(), wall_seconds=limits.wall_seconds):
        try:
            sheet = base64.b64decode(event["pdf"], validate=True)
        except (KeyError, TypeError, binascii.Error):
            raise IngestError("The sheet could not be printed.", remedy="Export it as Markdown.") from None
    return sheet


def _refuse_at_sight(data: bytes | BinaryIO, limits: Limits, form: str) -> None:
    size = pdf_process.size_of(data)
    if not size:
        raise EmptyDocument("The file is empty (0 bytes).", remedy="Check that it was copied or downloaded completely.")
    if size > limits.file_bytes:
        raise LimitExceeded(
            f"The file has {size:,} bytes; at most {limits.file_bytes:,} are allowed.",
            remedy="Split it into parts, or leave out its pictures.",
        )
    start = data if isinstance(data, bytes) else data.read(SIGHT_BYTES)
    if not has_form(form, start):
        foreign, kinds = foreign_format(start), ", ".join((*FORMS, *TEXT_SUFFIXES))
        what = f"it looks like {foreign}" if foreign else "it does not begin like one"
        raise NotAPdf(
            f"The file is not {FORM_NAMES[form]}: {what}.",
            remedy=f"Print it to PDF, or save it as one of these kinds: {kinds}. Add that copy.",
        )


def _finding(event: Event) -> str:
    match event["event"]:
        case "attached":
            return attached_files(list(map(str, event["names"])))
        case "commented":
            return commented(sorted(map(int, event["pages"])))
    return str(event["problem"])


def _request(limits: Limits, password: str | None) -> dict[str, Any]:
    return {**asdict(limits), "password": password or ""}


def _failure(event: Mapping[str, Any], limits: Limits) -> errors.RagError:
    kind, problem, remedy = (str(event.get(key, "")) for key in ("kind", "problem", "remedy"))
    if kind == "memory":
        return pdf_process.too_much_memory(limits.memory_bytes)
    if kind == "page":
        return InvalidInput(problem, remedy=remedy)
    known = getattr(errors, kind, None)
    if isinstance(known, type) and issubclass(known, IngestError):
        return known(problem, remedy=remedy)
    return pdf_process.nonsense()


@contextmanager
def _checked() -> Iterator[None]:
    """Whatever the child sent that does not fit is one typed error: a hostile file may have taken the child over."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise pdf_process.nonsense() from error


def _page(event: Event) -> Page:
    """The page; one that could not be read, or is text, has no layout."""
    text = str(event.get("text", ""))
    words, lines = received(event.get("words", ""), event.get("lines", ""), event.get("cells", ""), len(text))
    return Page(
        number=int(event["n"]),
        text=text,
        source=PageSource(event["source"]),
        lines=lines,
        words=words,
        width=float(event.get("w", 0.0)),
        height=float(event.get("h", 0.0)),
        hidden_chars=sum(int(chars) for kind, chars in event.get("kinds", {}).items() if kind != "struck"),
        problem=str(event["problem"]),
        read_by=_engine(event),
        label=label if _LABEL.fullmatch(label := str(event.get("label", ""))) and label != str(event["n"]) else "",
    )


def _engine(event: Event) -> str:
    engine = event.get("engine", "")
    if engine not in ("", *ENGINES):
        raise ValueError("no engine of ours")
    return str(engine)


def _content(opened: Event, pages: Sequence[Page], notes: Iterable[str], hidden: Iterable[str]) -> PdfContent:
    meta = {key: str(value or "") for key, value in opened["meta"].items()}
    stated = {"title": clean_title(meta.get("title", "")), "author": " ".join(meta.get("author", "").split())}
    long = [
        f"The file states a {what} of more than {MAX_STATED_CHARS} characters; its first ones are kept."
        for what, text in stated.items()
        if len(text) > MAX_STATED_CHARS
    ]
    title, author = (text[:MAX_STATED_CHARS] for text in stated.values())
    date = iso_date(meta.get("creationDate", "")) or iso_date(meta.get("modDate", ""))
    about = Metadata(title, date, values={"author": author} if author else {})
    return PdfContent(tuple(pages), about, (*notes, *long, *page_problems(pages), *hidden))
