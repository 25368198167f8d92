"""The sentences beside an answer or refusal: on scans, on pages that cannot be read, on what stands nowhere, on what
would help; and rows of a trace that judge nothing: on passages that something else retrieved.

They hold words of questions and documents as inert text, cut to a length, and never a word of a language model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rag_core.decision.checks import GATING
from rag_core.domain.claims import Citation
from rag_core.domain.given import given_of
from rag_core.domain.indexing import indexing_of
from rag_core.domain.measurements import AS_OF, CLAUSE, OTHER_VERSIONS, REWRITTEN_BY, SPELLING, UNREAD, Measurements
from rag_core.domain.scanned import Unsure, engines_in_words
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, State, Trace, several
from rag_core.gating.levels import shows_conflicts, unread
from rag_core.grounding.wording import contradiction
from rag_core.language import spoken_of_nowhere
from rag_core.settings import Mode

WHEN_READ = "Ask again when the document is read: the answer may stand on a page that cannot be searched yet."
MAX_WORDS = 5  # words of the question that a suggestion names; chosen
MAX_UNSURE = 8  # words of a scan that a note names; the citations have them all
CLAUSES = {
    "missing": "No clause or page with this number was found.",
    "long": "What has this number is too long to quote. Ask about something in it.",
}
MAX_NAMES, MAX_NAME_CHARS = 3, 40  # that a sentence on what stands nowhere may have; chosen
GATED = frozenset(check.reason for check in GATING)


def nowhere_in_words(measurements: Measurements, reason: Reason) -> str:
    """That no document speaks of something, in words of the question, short; empty where no gate refused."""
    if not measurements.nowhere or reason not in GATED:
        return ""
    names = [_short(name) for name in measurements.nowhere[:MAX_NAMES]]
    return spoken_of_nowhere(names, measurements.library.chosen, measurements.understanding.language)


def document_wanted(measurements: Measurements, reason: Reason) -> tuple[str, ...]:
    """The words that a document to add would have to speak of, without names and numbers; inert and short."""
    words = _unknown(measurements, reason)
    if not words:
        return ()
    return (
        f"Not found in the passages: {', '.join(map(_short, words))}. Add a document that speaks of this, or search "
        f"more sources.",
    )


def _unknown(measurements: Measurements, reason: Reason) -> list[str]:
    """The keywords of a question that a gate refused and that its passages do not hold."""
    if not measurements.hits or measurements.keywords.abstain or reason not in GATED:
        return []
    if measurements.features.get("crossed"):  # the likeliest place says them in another language
        return []
    told = " ".join((*measurements.understanding.entities, *(hit.passage.text for hit in measurements.hits))).casefold()
    return [word for word in measurements.keywords.missing if word.casefold() not in told][:MAX_WORDS]


def _short(word: str) -> str:
    return word if len(word) <= MAX_NAME_CHARS else f"{word[: MAX_NAME_CHARS - 1]}…"


def unreadable(measurements: Measurements) -> str:
    """One sentence about pages of the searched documents that could not be read; empty when all could."""
    pages = sum(len(numbers) for numbers in measurements.library.unreadable.values())
    if not pages:
        return ""
    return f"{pages} of {measurements.library.pages} pages could not be read; the answer may be there."


def not_read(measurements: Measurements) -> str:
    """Sentences about all of the searched documents that could not be read; empty when all could."""
    facts = measurements.library
    names = list(dict.fromkeys(_short(facts.names[document]) for document in facts.partly))
    named = ", ".join(names[:MAX_WORDS]) + "…" * (len(names) > MAX_WORDS)
    parts = f"A part of {named} was not read; the answer may be there." if names else ""
    return " ".join(filter(None, (unreadable(measurements), parts)))


def not_indexed(measurements: Measurements) -> str:
    """One sentence about files that were added and cannot be searched yet; empty where there are none."""
    waiting = measurements.metadata.get(UNREAD, 0) if measurements.library.names else 0  # else the remedy says it
    verb = "is" if waiting == 1 else "are"
    return f"{several(waiting, 'file')} {verb} not indexed yet; the answer may be there." if waiting else ""


def indexing_in_words(measurements: Measurements) -> str:
    """One sentence on searched documents that were still being read; empty where all were there."""
    state = indexing_of(measurements.metadata)
    if state is None:
        return ""
    if state.searched == 1:
        return f"The document is still being read: pages 1 to {state.read} of {state.pages} can be searched so far."
    who = f"{state.documents} of {state.searched} documents {'is' if state.documents == 1 else 'are'}"
    return f"{who} still being read: {state.read} of {state.pages} pages can be searched so far."


def versions_in_words(measurements: Measurements) -> str:
    """The versions of documents that were searched because the question names a day; empty for none."""
    day, others = measurements.metadata.get(AS_OF), measurements.metadata.get(OTHER_VERSIONS)
    if not day:
        return ""
    left = "1 other version of a document was" if others == 1 else f"{others} other versions of documents were"
    return f"Searched as of {day}: {left} left out."


def ask_again(measurements: Measurements) -> tuple[str, ...]:
    """The suggestion of a refusal while documents are being read."""
    return (WHEN_READ,) if indexing_of(measurements.metadata) else ()


def on_contradictions(measurements: Measurements) -> tuple[str, ...]:
    return (
        tuple(f"{contradiction(one, measurements.library)}." for one in measurements.conflicts)
        if shows_conflicts(measurements)
        else ()
    )


def on_unread(measurements: Measurements) -> tuple[str, ...]:
    """The note of an answer on claims that no model has read: silence must not look safe."""
    count, of = unread(measurements), len(measurements.draft.claims)
    said = f"Checked by facts and overlap only: {count} of {of} sentences. The confidence level is medium at most."
    return (said,) if count else ()


def on_scans(citations: Sequence[Citation]) -> tuple[str, ...]:
    """The note on what was read from pictures: no quote of the page itself, and which words may be wrong."""
    scanned = [one for one in citations if one.ocr]
    if not scanned:
        return ()
    words = _listed(scanned)
    unsure = f"; not sure of: {words}" if words else ""
    if any(one.unsure is None for one in scanned):
        unsure += "; how sure it was of each word is not known"
    by = engines_in_words(one.read_by for one in scanned)
    return (_on(scanned, f"read by OCR{by}, and given as the scan was read{unsure}."),)


def on_letters(citations: Sequence[Citation]) -> tuple[str, ...]:
    """The note of an answer on words of which the letters that a file says are not surely those that its page shows."""
    found = [one for one in citations if one.unsure and not one.ocr]
    if not found:
        return ()
    said = "The file has two readings of these words, and may show other letters"
    return (_on(found, f"{said}: {_listed(found)}. Compare them with the page."),)


def _on(citations: Sequence[Citation], said: str) -> str:
    """A note on these sources, with what it does to the level."""
    sources = "".join(f"[{one.id}]" for one in citations)
    capped = " The confidence level is medium at most." if any(one.doubtful for one in citations) else ""
    return f"{sources} {said}{capped}"


def _listed(citations: Sequence[Citation]) -> str:
    """The words of citations that may be wrong, the first ones by name; "" where there are none."""
    words = dict.fromkeys(word_in_words(word) for one in citations for word in one.unsure or ())
    more = f" and {len(words) - MAX_UNSURE} more" if len(words) > MAX_UNSURE else ""
    return f"{', '.join(list(words)[:MAX_UNSURE])}{more}"


def word_in_words(word: Unsure) -> str:
    """A word that OCR may have read wrong, in quotation marks, with the signs to compare it by."""
    alike = f" ({', '.join(word.alike)}?)" if word.alike else ""
    return f"“{_short(word.text)}”{alike}"


def notes_on(measurements: Measurements, trace: Trace, languages: Collection[str]) -> tuple[str, ...]:
    """The notes beside the text; `languages` are those that matter to it: the cited ones, or all that were searched."""
    silent = {"contradictions", *(check.name for check in GATING)}  # a contradiction says so itself
    observed = [c.stage.replace("_", " ") for c in trace.checks if c.stage not in silent and c.mode is not Mode.ENFORCE]
    unknown = [code for code in measurements.library.unknown_languages if code in languages]
    by_words = (
        "Documents in these languages are found by their words only, since the search does not know them by meaning: "
    )
    respelt = measurements.metadata.get(REWRITTEN_BY) == SPELLING
    notes = (
        f"Audits that do not block under these settings: {', '.join(observed)}." if observed else "",
        f"{by_words}{', '.join(unknown)}." if unknown else "",
        f"Searched for: “{measurements.question}”" if respelt else "",
        versions_in_words(measurements),
        CLAUSES.get(str(measurements.metadata.get(CLAUSE)), ""),
        unreadable(measurements),
        indexing_in_words(measurements),
    )
    return tuple(filter(None, notes))


_REST = (
    "only the given passages are known: what their documents say beside them, and "
    "pages that cannot be read, were not looked at"
)


def given_rows(measurements: Measurements) -> tuple[CheckResult, ...]:
    """Two rows where ready passages were judged; none over no passages or a library, or where nothing was looked up."""
    given = given_of(measurements.metadata)
    if not given or not given["count"] or measurements.answer:
        return ()
    return _given_scores(given["scores"]), CheckResult(
        "rest_of_documents", State.NOT_RUN, Mode.OBSERVE, note=_rest(given, measurements)
    )


def _given_scores(scores: list[float | None]) -> CheckResult:
    """The scores as given; they are on a scale of somebody else's, so nothing is held against them."""
    known = [score for score in scores if score is not None]
    if len(known) == len(scores):
        found = (
            f"{several(len(known), 'passage')} with scores from {min(known):g} to "
            f"{max(known):g}, as given; their order stands"
        )
        return CheckResult("given_scores", State.PASSED, Mode.OBSERVE, float(known[0]), found=found)
    return CheckResult(
        "given_scores",
        State.NOT_RUN,
        Mode.OBSERVE,
        note=f"{len(known)} of {several(len(scores), 'passage')} came with a score; their order stands",
    )


def _rest(given: Mapping[str, Any], measurements: Measurements) -> str:
    unseen = max(0, given["parts"] - len(measurements.hits)) if measurements.hits else 0
    parts = [_REST]
    if unseen:
        parts.append(f"{unseen} of {given['parts']} are beyond top_k")
    if given["without_page"]:
        parts.append(f"{given['without_page']} came without a page number and are cited as page 1")
    return "; ".join(parts)
