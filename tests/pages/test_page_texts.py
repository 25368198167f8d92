"""Every word on the screens stands in data/screens, once, so that a translation is a folder and nothing is
forgotten.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from folding import each

from ui.app.texts import LANGUAGE, SCREENS, figure, languages, screen, speaking, spoken, tell
from ui.documents.catalogue import size_in_words
from ui.settings.wording import value_in_words

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py")), *sorted((ROOT / "ui").rglob("*.py"))]
READERS = {"say", "tell", "button", "submit", "download", "badge", "asks_first", "offer_deletion", "segments", "select"}
HEADS = {
    "tables.show": 1,
    "tables.show_rows": 1,
    "tables.heads": 0,
    "segments": 2,
}  # which argument is the beginning of the keys of heads
# arguments of Streamlit's elements that are shown, beside the first positional ones
SHOWN = {"help", "placeholder", "caption", "alt", "body", "label", "title", "text"}
NO_ELEMENT = {
    "st.chat_message",
    "st.Page",
    "st.get_option",
    "st.session_state.pop",
    "st.session_state.get",
    "st.session_state.setdefault",
}


def calls(source: str) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]


def used(source: str) -> tuple[set[str], set[str]]:
    """The keys that a module reads, and the beginnings of those it puts together."""
    whole: set[str] = set()
    beginnings: set[str] = set()
    for call in calls(source):
        if isinstance(call.func, ast.Name) and call.func.id in READERS and call.args:
            for key in parts(call.args[0]):
                if isinstance(key, ast.JoinedStr):
                    beginnings.add(ast.unparse(key.values[0]).strip("'\""))
                elif isinstance(key, ast.Constant):
                    whole |= {str(key.value)} | ({f"{key.value}_sure"} if call.func.id == "offer_deletion" else set())
        if (place := HEADS.get(ast.unparse(call.func))) is not None:
            beginnings.add(str(ast.literal_eval(call.args[place])))
    # keys that are kept in a table before they are read
    whole |= {
        node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant) and is_key(node.value)
    }
    return whole, beginnings


def parts(key: ast.expr) -> list[ast.expr]:
    """What a key may be, whichever way its conditions go."""
    return [*parts(key.body), *parts(key.orelse)] if isinstance(key, ast.IfExp) else [key]


def is_key(value: object) -> bool:
    return isinstance(value, str) and value in screen()


def literals(source: str) -> list[str]:
    """Literal words that a call of a Streamlit element shows."""
    found = []
    for call in calls(source):
        if (
            not (isinstance(call.func, ast.Attribute) and ast.unparse(call.func).startswith("st."))
            or ast.unparse(call.func) in NO_ELEMENT
        ):
            continue
        shown = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg in SHOWN)]
        for node in shown:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"[A-Za-z]{2}", node.value):
                found.append(f"{call.lineno}: {node.value}")
    return found


@each("path", SOURCES, ids=lambda path: path.name)
def test_given_a_page_when_its_code_is_read_then_it_shows_no_word_that_is_not_in_the_texts(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    whole, _ = used(source)

    assert literals(source) == []
    assert sorted(key for key in whole if key not in screen()) == []


def test_given_the_texts_when_compared_with_the_pages_then_none_is_left_over() -> None:
    whole: set[str] = set()
    beginnings: set[str] = set()
    for path in SOURCES:
        here, starts = used(path.read_text(encoding="utf-8"))
        whole |= here
        beginnings |= starts

    for path in SCREENS.rglob("*.yaml"):  # texts that other texts name
        whole |= set(re.findall(r"\{=([\w.-]+)\}", path.read_text(encoding="utf-8")))
    left = [
        key
        for key in screen()
        if key not in whole and not any(start.count(".") and key.startswith(start) for start in beginnings)
    ]

    assert left == []


def test_given_a_number_when_shown_then_it_is_written_as_the_language_does() -> None:
    assert (figure(0.53, ".2f"), figure(0.856, ".0%"), figure(1234.5, ",.1f")) == ("0.53", "86 %", "1,234.5")
    assert tell("answer.confidence", value=86) == "Reported confidence: 86 %."
    for code in sorted(set(languages()) - {LANGUAGE}):
        with speaking(code):
            assert (figure(0.53, ".2f"), figure(0.856, ".1%"), figure(1234.5, ",.1f")) == (
                "0,53",
                "85,6 %",
                "1\u202f234,5",
            )
            assert size_in_words(56_300) == "56,3 KB"
            assert value_in_words("min_top_cosine", 0.53) == "0,53"
            assert "cut by sections" not in spoken("No signs of code, law or research; cut by sections.")
