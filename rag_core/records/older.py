"""Records of versions 2 to 9, each as one of the next version. Nothing is judged here, and no text is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Row = Mapping[str, Any]

# until version 3 answers were not judged by their probability to be right, and levels were cut from answerability
_BEFORE_CORRECTNESS = {"correctness_mode": "off", "main_gate": "answerability"}


def from_2(row: Row) -> dict[str, Any]:
    """The record in version 3: what version 2 did not measure yet is unknown, and decides nothing.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    trace = row["llm_trace"]
    return {
        **row,
        "correctness": None,
        "settings": {**_BEFORE_CORRECTNESS, **row["settings"]},
        "hits": [_hit(one) for one in row["hits"]],
        "llm_trace": trace and {**trace, "expanded": [[_hit(hit) for hit in hits] for hits in trace["expanded"]]},
    }


def _hit(row: Row) -> Row:
    """Passages were not told apart into pieces; one that was described before is an id."""
    return row if isinstance(row["passage"], str) else {**row, "passage": {"pieces": [], **row["passage"]}}


def from_3(row: Row) -> dict[str, Any]:
    """The record in version 4: nobody had looked yet for what stands nowhere, so nothing is said of it.

    Raises:
        KeyError, TypeError: it is not whole.
    """
    return {**row, "nowhere": [], "library": {"chosen": False, **row["library"]}}


def from_4(row: Row) -> dict[str, Any]:
    """The record in version 5: a model could use words of its own wherever the checks passed, and nobody counted them.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    trace = row["llm_trace"]
    return {
        **row,
        "settings": {"rewording": "audited", **row["settings"]},
        "llm_trace": trace and {**trace, "attempts": [{"reworded": None, **one} for one in trace["attempts"]]},
    }


def from_5(row: Row) -> dict[str, Any]:
    """The record in version 6: how sure OCR was of a word was not kept, so nothing is known of citations that it read.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    return _with_drafts(row, _known)


def _with_drafts(row: Row, upgraded: Callable[[Row], Row]) -> dict[str, Any]:
    """The record with each of its drafts changed: the extract, those of a model, and both sides of a contradiction that it saw."""
    trace = row["llm_trace"]
    return {
        **row,
        "draft": upgraded(row["draft"]),
        "llm_trace": trace
        and {
            **trace,
            "attempts": [{**one, "draft": upgraded(one["draft"])} for one in trace["attempts"]],
            "verdicts": [{**one, "sides": one["sides"] and upgraded(one["sides"])} for one in trace["verdicts"]],
        },
    }


def _known(draft: Row) -> dict[str, Any]:
    citations = {key: {**one, "unsure": None if one["ocr"] else [], "doubtful": False} for key, one in draft["citations"].items()}
    return {**draft, "citations": citations}


def from_6(row: Row) -> dict[str, Any]:
    """The record in version 7: it was not kept who stated a date, so that each may be the file's.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    library, trace = row["library"], row["llm_trace"]
    return {
        **row,
        "library": {**library, "date_sources": {id: "file" if date else "" for id, date in library["dates"].items()}},
        "conflicts": [_of_file(one) for one in row["conflicts"]],
        "llm_trace": trace
        and {**trace, "verdicts": [{**one, "conflict": one["conflict"] and _of_file(one["conflict"])} for one in trace["verdicts"]]},
    }


def _of_file(conflict: Row) -> dict[str, Any]:
    return {**conflict, "date_sources": ["file" if date else "" for date in conflict["dates"]]}


def from_7(row: Row) -> dict[str, Any]:
    """The record in version 8: no score was taken of a draft of a language model, so that the extract's stands for it as before.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    trace = row["llm_trace"]
    return {**row, "llm_trace": trace and {**trace, "attempts": [{**one, "correctness": None} for one in trace["attempts"]]}}


def from_8(row: Row) -> dict[str, Any]:
    """The record in version 9: nobody counted the words of a sentence, and none was too long.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    return _with_drafts({**row, "settings": {"sentence_length_mode": "off", **row["settings"]}}, _uncounted)


def _uncounted(draft: Row) -> dict[str, Any]:
    return {**draft, "audits": [{"words": None, **one} for one in draft["audits"]]}


def from_9(row: Row) -> dict[str, Any]:
    """The record in version 10: there was one engine for pictures, and nobody kept which pages it had read.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    return _with_drafts(row, _read_by_somebody)


def _read_by_somebody(draft: Row) -> dict[str, Any]:
    return {**draft, "citations": {key: {"read_by": "", **one} for key, one in draft["citations"].items()}}
