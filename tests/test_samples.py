"""The sample documents: they are what their texts say, in every script, and making them again changes nothing."""

from __future__ import annotations

import html
import importlib.util
import re
import sys
import unicodedata
from pathlib import Path
from types import ModuleType

import pytest
from folding import each

from rag_core.ingest.reading.pdf import read_pdf

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = sorted((ROOT / "data" / "samples").glob("*.pdf"))


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_samples", ROOT / "examples" / "make_samples.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_samples"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def words(text: str) -> list[str]:
    """The text's words, ligatures and white space apart, without the marks of a list."""
    return unicodedata.normalize("NFKC", text).replace("•", " ").split()


def masked(text: str) -> str:
    """The text without its numbers, and without the plural that a number asks for."""
    return re.sub(r"\d[\d,]* days?|\d[\d,]*", "#", text)


def test_given_the_sample_texts_when_listed_then_each_has_its_pdf(maker: ModuleType) -> None:
    assert [path.stem for path in sorted(maker.TEXTS.glob("*.html"))] == [path.stem for path in SAMPLES]
    assert len(SAMPLES) >= 7


@each("pdf", SAMPLES, ids=lambda path: path.stem)
def test_given_a_sample_text_when_made_again_then_the_bytes_are_those_in_the_repository(
    pdf: Path, maker: ModuleType
) -> None:
    sample = maker.Sample.read(maker.TEXTS / f"{pdf.stem}.html")

    made = maker.render(sample)

    assert made == pdf.read_bytes()
    assert len(made) <= 60_000


@each("pdf", SAMPLES, ids=lambda path: path.stem)
def test_given_a_sample_when_read_then_every_word_of_its_text_comes_out_in_order(pdf: Path, maker: ModuleType) -> None:
    sample = maker.Sample.read(maker.TEXTS / f"{pdf.stem}.html")

    content = read_pdf(pdf.read_bytes(), pdf.name)

    assert (content.metadata.title, content.metadata.date) == (sample.title, sample.date)
    for page, source in zip(content.pages, sample.pages, strict=True):
        body = page.text.rsplit(sample.title, 1)[0]  # without the footer
        assert words(body) == words(html.unescape(re.sub(r"<[^>]+>", " ", source)))
        assert page.hidden_chars == 0


def test_given_the_two_policies_when_compared_then_sentences_differ_in_their_value_alone(maker: ModuleType) -> None:
    """S4-21: sources that contradict each other, the newer one known by its date."""
    newer, older = (
        maker.Sample.read(maker.TEXTS / f"{name}.html") for name in ("company-policies", "company-policies-2024")
    )
    # after the day in force
    lines = ("".join(sample.pages).partition("</p>")[2].splitlines() for sample in (newer, older))

    changed = [(now, before) for now, before in zip(*lines, strict=True) if now != before]

    assert newer.date > older.date
    assert len(changed) >= 8
    for now, before in changed:
        assert masked(now) == masked(before)


def test_given_the_hindi_sample_when_read_then_a_word_s_box_stands_where_the_word_is(maker: ModuleType) -> None:
    # glyphs that jump back, as in "कीजिए", once tore the word and its box in two
    page = read_pdf((ROOT / "data" / "samples" / "samantar-shreni.pdf").read_bytes(), "hi").pages[0]

    boxes = [box for box in page.words if page.text[box.start : box.end].startswith("कीजिए")]

    assert len(boxes) == 1
    assert 20 < boxes[0].x1 - boxes[0].x0 < 45
    assert boxes[0].y1 - boxes[0].y0 < 25
