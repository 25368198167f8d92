"""A certificate as one page: read back by another library, with its fonts, and with names as they stand."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pymupdf
from folding import each

from rag_core.adapters.certificate_pdf import Line, Plot, Sheet, to_pdf

HOSTILE = r"$\frac{1}{0}$ <b>bold</b> ![x](http://evil.example) \LaTeX €ěšč"
STEPS = [n / 100 for n in range(100, -1, -1)]
PLOT = Plot(
    "",
    STEPS,
    [
        Line("answered", STEPS[::-1]),
        Line("wrong", STEPS[::-1], 0.05),
        Line("missed", [None] * 20 + STEPS[20:]),
        Line("refused", STEPS, 0.1),
    ],
    [step > 0.4 for step in STEPS],
    0.41,
)
SHEET = Sheet(
    "Certificate of a threshold",
    HOSTILE,
    [
        ("What is guaranteed", "With a confidence of 95 % at most 5 % of unanswerable questions are answered. " * 3),
        ("What is not", "Else."),
    ],
    [("Labelled set", HOSTILE), ("Questions", "400")],
    [PLOT],
    "Least probability",
    "Share of questions",
    "meets every target",
    "abc",
)


def opened(data: bytes) -> pymupdf.Document:
    return pymupdf.open(stream=data, filetype="pdf")


def test_given_a_certificate_when_printed_then_it_is_one_page_of_a4_with_its_fonts_in_it() -> None:
    document = opened(to_pdf(SHEET))

    assert document.page_count == 1
    assert tuple(round(side) for side in document[0].rect[2:]) == (595, 842)
    fonts = document[0].get_fonts(full=True)
    assert fonts
    assert all(document.extract_font(font[0])[3] for font in fonts)


def test_given_names_that_look_like_formulas_or_markup_then_they_stand_as_they_are() -> None:
    text = " ".join(opened(to_pdf(SHEET))[0].get_text().split())

    assert text.count(r"$\frac{1}{0}$ <b>bold</b>") == 2
    assert "€ěšč" in text
    assert all(
        word in text for word in ("What is guaranteed", "Least probability", "meets every target", "wrong", "400")
    )
    assert not opened(to_pdf(SHEET))[0].get_links()


@each("name", ["x" * 500, "\x00\n\r\t\x1b[31m", "समान्तर श्रेणी 漢字 🎉", "", "‮drawkcab", "\ud800"])
def test_given_any_name_then_a_page_comes_out(name: str) -> None:
    assert opened(to_pdf(replace(SHEET, name=name, facts=[("Set", name)] * 3))).page_count == 1


def test_given_several_plots_then_they_stand_side_by_side_under_their_titles() -> None:
    page = opened(
        to_pdf(replace(SHEET, plots=[replace(PLOT, title=title) for title in ("first$", "second", "third")]))
    )[0]

    at = [page.search_for(title)[0] for title in ("first$", "second", "third")]
    assert at[0].x1 < at[1].x0 < at[2].x0
    assert len({round(place.y0) for place in at}) == 1


def test_given_the_same_certificate_then_the_bytes_are_the_same() -> None:
    assert to_pdf(SHEET) == to_pdf(SHEET)


def test_given_the_adapter_when_imported_then_matplotlib_is_not_loaded_before_a_page_is_drawn() -> None:
    program = "import rag_core.adapters.certificate_pdf, rag_core.wiring, sys; print('matplotlib' in sys.modules)"

    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
        == "False"
    )


def test_given_a_page_that_was_drawn_then_nothing_is_left_in_the_home_folder_or_the_environment(tmp_path: Path) -> None:
    program = """
        import os
        from rag_core.adapters.certificate_pdf import Line, Plot, Sheet, to_pdf
        plot = Plot("", [0.1, 0.2], [Line(name, [0.5, 0.6]) for name in "abcd"], [True, True], 0.1)
        assert to_pdf(Sheet("t", "n", [], [], [plot], "x", "y", "z", "f")).startswith(b"%PDF")
        print(os.environ.get("MPLCONFIGDIR"))
    """
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "tmp").mkdir()
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("MPL", "XDG_"))}
    environment = bare | {"HOME": str(home), "TMPDIR": str(tmp_path / "tmp")}

    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=environment, capture_output=True, text=True, check=True
    )

    assert run.stdout.strip() == "None"
    assert [path for folder in (home, tmp_path / "tmp") for path in folder.iterdir()] == []
