"""Text of unknown origin never reaches an element that interprets it: by reading the code, and by running the page on
hostile text.
"""

from __future__ import annotations

import ast
from html import escape
from pathlib import Path

import pymupdf
from folding import each
from page_kit import ask, choose_document, settle, texts
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from ui.app import state
from ui.app.texts import say

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py")), *sorted((ROOT / "ui").rglob("*.py"))]
# elements that do not interpret their text; and calls whose first argument is no text that is shown
INERT = {"text", "code", "dataframe", "data_editor", "image"}
NO_LABEL = {
    "container",
    "columns",
    "form",
    "progress",
    "empty",
    "rerun",
    "navigation",
    "set_page_config",
    "altair_chart",
    "line_chart",  # Vega draws text as it is, as in altair_chart
    "bar_chart",
    "feedback",
}
ELEMENTS = (
    {name for name in dir(DeltaGenerator) if not name.startswith("_")} | {"status", "spinner", "dialog"}
) - INERT
# what a label may be made of besides a literal: values that are ours, from the list of settings and presets
OURS = {
    "STYLE",  # a file of ours
    "_table(on)",  # of ui/ask/checks.py, which escapes what comes from documents
    "_links(sources, answer.format)",  # of ui/ask/evidence.py, which escapes what comes from documents
    "_script()",  # of ui/ask/keys.py: a file and texts of ours
    "_arrival(asked)",  # of ui/ask/keys.py: numbers and a text of ours
    "_words_of_field(key, megabytes)",  # of ui/app/elements.py: texts of ours
    "meter(check)",  # of ui/ask/checks.py: numbers alone
    "label",  # _knob's: literals above, or a setting's name
    "screen().get(f'help.preset_{name}', presets()[name].help)",  # files of ours, by a preset's name
    "example[0]",  # of ui/ask/waiting.py
}
HOSTILE = (
    "![x](http://203.0.113.9/a.png) <img src=http://203.0.113.9/b.png> "
    "<script>alert(1)</script> [go](http://203.0.113.9) :red[x] $x$"
)
MARK = "203.0.113.9"


def is_ours(node: ast.expr) -> bool:
    """Whether an expression can only be text of this program: literals, numbers by their format, and the names in
    OURS.
    """
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=values):
            return all(
                isinstance(value, ast.Constant) or (isinstance(value, ast.FormattedValue) and is_safe(value))
                for value in values
            )
        case ast.Call(func=ast.Name(id="say")):  # takes numbers only, and raises on text
            return True
        case ast.IfExp(body=body, orelse=other):
            return is_ours(body) and is_ours(other)
        case ast.List(elts=items):
            return all(map(is_ours, items))
        case ast.ListComp(elt=item):
            return is_ours(item)
        case _:
            return ast.unparse(node) in OURS


def is_safe(value: ast.FormattedValue) -> bool:
    """A format such as `:d` or `:.2f` raises on text; other values must be ours."""
    if ast.unparse(value.value) in OURS:
        return True
    spec = value.format_spec
    inner = spec.values[0] if isinstance(spec, ast.JoinedStr) and len(spec.values) == 1 else None
    return isinstance(inner, ast.Constant) and str(inner.value)[-1:] in ("d", "f", "g")


def labels(source: str) -> list[tuple[int, ast.expr]]:
    """The first argument and the texts of every call to an element that interprets them, on whatever container, with
    its line; of a name that its function puts something into, what is put into it.
    """
    tree = ast.parse(source)
    put = {name: assigned(name) for name in ast.walk(tree) if isinstance(name, ast.FunctionDef)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ELEMENTS:
            first = [] if node.func.attr in NO_LABEL else node.args[:1]
            named = [
                word.value
                for word in node.keywords
                if word.arg in ("label", "body", "help", "text", "caption", "title")
            ]
            around = [one for one in put if one.lineno <= node.lineno <= (one.end_lineno or 0)]
            known = put[max(around, key=lambda one: one.lineno)] if around else {}
            for shown in (*first, *named):
                values = known.get(shown.id, [shown]) if isinstance(shown, ast.Name) else [shown]
                found += [(node.lineno, value) for value in values]
    return found


def assigned(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """Every value that a function assigns to a name, by the name; none of a name that is bound otherwise as well."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        for target in node.targets if isinstance(node, ast.Assign) else []:
            many = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            for name, value in zip(target.elts, node.value.elts, strict=True) if many else [(target, node.value)]:
                if isinstance(name, ast.Name):
                    found.setdefault(name.id, []).append(value)
    bound = [one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    given = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
    return {name: values for name, values in found.items() if bound.count(name) == len(values) and name not in given}


@each("path", SOURCES, ids=lambda path: path.name)
def test_given_a_page_when_its_code_is_read_then_only_text_of_ours_goes_into_elements_that_interpret_it(
    path: Path,
) -> None:
    not_ours = [
        f"{path.name}:{line}: {ast.unparse(node)}"
        for line, node in labels(path.read_text(encoding="utf-8"))
        if not is_ours(node)
    ]

    assert not_ours == []


@each(
    ("code", "ours"),
    [
        ("st.markdown('fixed')", True),
        ("st.caption(f'{n:d} files')", True),
        ("st.caption(f'{name} files')", False),
        ("st.error(error.problem)", False),
        ("st.button(document.name)", False),
        ("st.toggle('x', help=document.title)", False),
        ("st.text(document.name)", True),
        ("st.badge('a' if n else name)", False),
        ("left.markdown(name)", False),
        ("st.tabs([say('x') for key in KEYS])", True),
        ("st.tabs([name for name in names])", False),
        ("st.sidebar.caption(name)", False),
        ("st.progress(0.5, text=name)", False),
        ("st.progress(share)", True),
        ("def f(name):\n    help = say('x')\n    st.toggle('x', help=help)", True),
        ("def f(name):\n    help = name\n    st.toggle('x', help=help)", False),
        ("def f(help):\n    st.toggle('x', help=help)", False),
        ("def f(names):\n    for help in names:\n        st.toggle('x', help=help)", False),
    ],
)
def test_given_a_call_when_read_by_the_rule_above_then_foreign_text_is_seen(code: str, ours: bool) -> None:
    assert all(is_ours(node) for _, node in labels(code)) is ours


def hostile_pdf() -> bytes:
    made = pymupdf.open()
    page = made.new_page()
    page.insert_textbox(
        (50, 50, 545, 790), f"The password of the harbour office is {HOSTILE} and nothing else.", fontsize=9
    )
    made.set_metadata({"title": f"Title {HOSTILE}"})
    return bytes(made.tobytes())


def interpreted(app: AppTest) -> list[str]:
    """Every element that interprets text and holds the hostile mark, on this page."""
    inert = {"text", "code", "arrow_data_frame", "dataframe", "data_editor", "download_button"}
    # options and values are inert, labels and help are not
    chosen = {
        "multiselect",
        "selectbox",
        "text_input",
        "text_area",
    }
    found = []
    for element in all_elements(app._tree):
        proto = getattr(element, "proto", None)
        if proto is None or element.type in inert:
            continue
        shown = f"{proto.label}{proto.help}" if element.type in chosen else str(proto)
        if element.type == "html":
            shown = proto.body.replace(escape(HOSTILE), "")
        if MARK in shown:
            found.append(f"{element.type}: {shown}")
    return found


def all_elements(node: object) -> list:
    children = getattr(node, "children", {})
    return [node] + [found for child in children.values() for found in all_elements(child)]


def test_given_a_hostile_document_when_added_asked_and_listed_then_no_element_interprets_its_text(
    app: AppTest, library: Path
) -> None:
    app.run()
    name = f"{HOSTILE.replace('/', '_')}.pdf"
    files = [(name, hostile_pdf(), "application/pdf"), (f"broken {name}", b"<html>", "application/pdf")]

    app.file_uploader[0].set_value(files).run()
    assert interpreted(app) == []
    settle(app)
    assert interpreted(app) == []
    ask(app, "What is the password of the harbour office?")
    assert MARK in texts(app)
    assert any(MARK in code.value for code in app.code)
    assert interpreted(app) == []

    app.switch_page("pages/documents.py").run()
    hostile = next(document.id for document in state.engine().library.snapshot.documents if document.name == name)
    choose_document(app, hostile)
    assert MARK in texts(app)
    assert interpreted(app) == []


def test_given_hostile_labels_when_uploaded_run_judged_and_compared_then_no_element_interprets_them(
    app: AppTest, library: Path
) -> None:
    settle(app)
    settle(app.switch_page("pages/lab.py"))
    hostile = f'"{HOSTILE}"'
    rows = [
        f"{hostile},yes,{hostile},{hostile},{hostile}",
        f"How long is {HOSTILE}?,no,,{hostile},{hostile}",
        f"x,{hostile},,,",
    ]
    data = "\n".join(["question,answerable,answers,kind,language", *rows]).encode()

    field = next(one for one in app.file_uploader if (one.key or "").startswith("labelled_"))
    field.set_value([(f"{HOSTILE.replace('/', '_')}.csv", data, "text/csv")]).run()
    assert interpreted(app) == []
    next(button for button in app.button if button.label == say("lab_sets.run")).click().run()
    assert interpreted(app) == []
    settle(app)
    for tab in ("sets", "results", "compare", "guarantee"):
        app.session_state["lab_tab"] = say(f"lab.tab_{tab}")
        app.run()
        assert interpreted(app) == []
