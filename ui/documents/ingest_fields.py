"""The settings by which documents are read, as fields of a form: they start from the session's, and change them for this work only."""

from __future__ import annotations

from typing import Any

import streamlit as st

from rag_core.domain.scanned import ENGINES
from rag_core.settings import Knob, Settings
from ui.app.texts import say
from ui.documents.catalogue import strategy_name


def ingest_fields(prefix: str, settings: Settings) -> dict[str, Any]:
    """The fields, and what they say, by the name of the setting. `prefix` tells two forms apart."""
    knobs = {knob.name: knob for knob in Settings.knobs()}
    values: dict[str, Any] = {}
    left, right = st.columns(2)
    with left:
        options = list(knobs["strategy"].options)
        values["strategy"] = st.selectbox(
            say("ingest.strategy"), options, options.index(settings.strategy), format_func=strategy_name, key=f"{prefix}_strategy",
            help=say("ingest.strategy_help"),
        )  # fmt: skip
        values["ocr"] = st.toggle(say("ingest.ocr"), settings.ocr, key=f"{prefix}_ocr", help=say("ingest.ocr_help"))
        engines = list(knobs["ocr_engine"].options)
        values["ocr_engine"] = st.selectbox(
            say("ingest.ocr_engine"), engines, engines.index(settings.ocr_engine), format_func=ENGINES.__getitem__,
            key=f"{prefix}_ocr_engine", help=say("ingest.ocr_engine_help"), disabled=not values["ocr"],
        )  # fmt: skip
        values["keep_hidden"] = st.toggle(
            say("ingest.keep_hidden"), settings.keep_hidden, key=f"{prefix}_keep_hidden", help=say("ingest.keep_hidden_help")
        )
    with right:
        low, high, step = _whole(knobs["passage_tokens"])
        values["passage_tokens"] = st.slider(
            say("ingest.passage_tokens"), low, high, settings.passage_tokens, step, key=f"{prefix}_passage_tokens",
            help=say("ingest.passage_tokens_help"),
        )  # fmt: skip
        low, high, step = _whole(knobs["overlap_tokens"])
        values["overlap_tokens"] = st.slider(
            say("ingest.overlap_tokens"), low, high, settings.overlap_tokens, step, key=f"{prefix}_overlap_tokens",
            help=say("ingest.overlap_tokens_help"),
        )  # fmt: skip
    return values


def _whole(knob: Knob) -> tuple[int, int, int]:
    assert knob.low is not None
    assert knob.high is not None
    return int(knob.low), int(knob.high), int(knob.step or 1)
