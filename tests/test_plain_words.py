"""The part of plain English that a program can look up: openings of docstrings, comments, numbers without a word."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("rag_core", "ui", "pages", "training", "examples", "reports", "supply")
USUAL = {0, 1, 2}  # numbers that need no word: nothing, one, a pair, and their negatives


def texts() -> Iterator[tuple[str, str]]:
    for path in [ROOT / "app.py", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))]:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def comments(text: str) -> Iterator[tuple[int, str, bool]]:
    """Line, words, and whether it has a line of its own."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string, not token.line[: token.start[1]].strip()


def has_unusual_number(value: ast.expr) -> bool:
    numbers = (one.value for one in ast.walk(value) if isinstance(one, ast.Constant))
    return any(isinstance(number, (int, float)) and number not in USUAL for number in numbers)


def test_given_a_docstring_then_it_opens_with_what_it_is_about() -> None:
    """Neither "What is kept …" nor "Which rows …": somebody who reads quickly takes them for questions."""
    maybe = re.compile(r"[\"'\\]\s*(What|Which)\b")  # a tree costs a hundred times as much as a look
    found = [
        f"{name}: {docstring.splitlines()[0]}"
        for name, text in texts()
        if maybe.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and re.match(r"(What|Which)\b", docstring := ast.get_docstring(node) or "")
    ]
    assert found == []


def test_given_a_comment_then_it_does_not_start_with_of() -> None:
    """What goes on from the line above starts nothing."""
    of = re.compile(r"#:?\s*of\b")
    maybe = [(name, text) for name, text in texts() if of.search(text)]  # tokens cost twenty times as much as a look
    found = []
    for name, text in maybe:
        lines = {line: (said, alone) for line, said, alone in comments(text)}
        goes_on = {line for line, (_, alone) in lines.items() if alone and lines.get(line - 1, ("", False))[1]}
        found += [f"{name}:{line}" for line, (said, _) in lines.items() if of.match(said) and line not in goes_on]
    assert found == []


def test_given_a_number_that_is_a_constant_of_a_module_then_a_comment_says_what_it_is_and_where_it_comes_from() -> None:
    """On its own lines, or on a line above it or above the constants that it stands among."""
    found = []
    for name, text in texts():
        tree = ast.parse(text)
        assigned = [node.value for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign))]
        if not any(value and has_unusual_number(value) for value in assigned):
            continue  # most modules; their comments need not be read
        said = {line: alone for line, _, alone in comments(text)}
        explained, end = False, 0
        for node in tree.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                explained = said.get(node.lineno - 1, False) or (explained and node.lineno == end + 1)
                beside = any(line in said for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))
                if node.value and has_unusual_number(node.value) and not (explained or beside):
                    found.append(f"{name}:{node.lineno}: {ast.unparse(node)[:80]}")
            else:
                explained = False
            end = node.end_lineno or node.lineno
    assert found == []


LEFT = {
    "case": "measurements",
    "cases": "records, or questions",
    "namespace": "collection",
    "generation": "version of a library, or LLM trace",
    "signals": "features",
    "strength": "C",
    "surprise": "negative log-likelihood",
    "likeness": "string similarity",
    "verifier": "entailment model",
    "conclude": "present",
    "audit": "grounding check, claim measurement",
    "audits": "grounding checks, claim measurements",
    "audited": "checked",
    "verdict": "feedback, lost at, yes or no, judgement",
    "verdicts": "answers, judgements",
    "walk": "progress, next LLM step",
    "walks": "LLM outcomes",
    "walked": "judged",
}
# letters, a class of argparse, a published status, published settings, signals of the system, a parameter of tinyhtml5
KEPT = {
    "_cases",
    "Namespace",
    "NEEDS_GENERATION",
    "ll_fz_walk_path",
    "_ended_by_signals",
    "namespace_html_elements",
}
# the reply that a prompt asks a model for: its words are part of the prompt's hash
KEPT_IN = {"rag_core/compression/llm/replies.py": {"verdict", "verdicts"}}


def test_given_a_name_in_the_code_then_it_is_the_word_of_the_field() -> None:
    """One word for one thing; on the left what it is no longer called."""
    parts = re.compile(r"[a-z]+|[A-Z][a-z]*")
    found = []
    for name, text in texts():
        if not any(
            part.lower() in LEFT for word in set(re.findall(r"[^\W\d]+", text)) for part in (word, *parts.findall(word))
        ):
            continue
        ours = re.sub(r"\b(os|ast)\.walk\b", r"\1.path", text)
        for token in tokenize.generate_tokens(io.StringIO(ours).readline):
            pattern = token.string == "case" and re.match(r"\s*case [^=]", token.line)  # the keyword beside `match`
            if token.type == tokenize.NAME and token.string not in KEPT and not pattern:
                words = {
                    part.lower()
                    for part in parts.findall(token.string.lower() if token.string.isupper() else token.string)
                }
                found += [
                    f"{name}:{token.start[0]}: {token.string}: say {LEFT[word]}"
                    for word in words & LEFT.keys() - KEPT_IN.get(name, set())
                ]
    assert found == []


SAID = {
    "by meaning": "dense, or by cosine",
    "by words": "lexical, or by shared words",
    "likeness": "similarity",
    "signals of": "features of",
    "surprise": "negative log-likelihood",
    "turned round": "role swap",
    "added words": "unsupported words",
}


def test_given_a_docstring_then_it_uses_the_words_of_the_field_too() -> None:
    """Those words that can mean nothing else. Screens speak to strangers, and say "by meaning" and "by words"."""
    maybe = re.compile("|".join(rf"\b{word}" for word in SAID))
    found = [
        f"{name}: {match[0]}: say {SAID[match[0]]}"
        for name, text in texts()
        if maybe.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        for match in maybe.finditer(" ".join((ast.get_docstring(node) or "").split()))
    ]
    assert found == []
