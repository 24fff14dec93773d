"""Text comes out as the same text in Python, Markdown, HTML and JSON, and never as code."""

from __future__ import annotations

import ast
import importlib.util
import json
import random
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import markdown
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from attnmatrix.cli import main
from attnmatrix.codegen import text as output
from tests.sources import BASE, dump

HOSTILE = [
    "He said \"no\", she said 'yes'",
    'ends with a quote"',
    '"""',
    "'''",
    "back\\slash \\n \\x41 \\",
    "\\",
    "{{ 7 * 7 }} {% raw %} {# x #} %}",
    "a | b || c",
    "<script>alert(1)</script>",
    "<!-- comment --> <b>bold</b> &amp; &#60; &lt;script&gt;",
    "`code` ``two`` ```",
    "*a* **b** _c_ __d__ ~~e~~ ^f^ ==g== a_b_c a__b",
    "# heading",
    "- item",
    "+ item",
    "1. first",
    "12) twelfth",
    "> quote",
    "!!! note",
    ": definition",
    "![image](https://example.org/x.png) [link](javascript:alert(1)) [ref][1] [^1]",
    "https://example.org/?a=1&b=2 www.example.org mail@example.org <https://example.org>",
    "$x^2$ \\(y\\) {: .class #id }",
    "naïve Ωmega → ≤ × 漢字カナ한글 🎉 é́",
    "right\u202eto left\u202c and\u2066 isolates\u2069 and\u200b nothing\ufeff",
    "hidden\u00ad and\u00a0no-break and\u3000wide\u2028line",
    "new letters \U00031350 \U0001fae8",
    "%s %(x)s {0} {x!r} f'{x}'",
    "-" * 120,
    "a long text " * 20,
    "wide " + "漢" * 40,
]
PIECES = [*"\"'\\{}%|<>&`*_#~^$[]()!-+.:=@/ \tab1é漢\u202e", "{{", "}}", "```", "<script>", "\\n"]
# No surrogates, which no file can hold, and no control characters, which the reader refuses.
TEXT = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\t\n"))
    | st.text(st.sampled_from("\"'\\{}%|<>&`*_#~^$[]()!-+.:=@/ ab1\n"))
    | st.lists(st.sampled_from([*HOSTILE, *PIECES]), max_size=4).map("".join)
)


def folded(text: str) -> str:
    return " ".join(text.split())


class Page(HTMLParser):
    """The elements of an HTML page, and the text of each of some."""

    def __init__(self, html: str, *wanted: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.found: list[str] = []
        self._wanted = wanted
        self._open = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in self._wanted:
            self._open += 1
            self.found.append("")

    def handle_endtag(self, tag):
        if tag in self._wanted:
            self._open -= 1

    def handle_data(self, data):
        self.text += data
        if self._open:
            self.found[-1] += data

    def handle_comment(self, data):
        self.elements.append(("comment", {"text": data}))

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]


def rendered(text: str, *wanted: str) -> Page:
    return Page(markdown.markdown(text, extensions=["extra", "admonition"]), *wanted)


def table(cell: str) -> Page:
    return rendered(f"| a | b |\n|---|---|\n| {cell} | end |\n| x | y |\n", "td")


TABLE = ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td", "tr", "td", "td"]


@given(TEXT)
@example("a\\")
@example("'\"")
def test_a_python_literal_is_the_text(text):
    literal = output.string(text)
    assert ast.literal_eval(literal) == text
    assert len(literal.splitlines()) == 1
    assert all(char.isprintable() for char in literal)


@given(st.lists(TEXT, max_size=3), st.dictionaries(TEXT, TEXT, max_size=2), st.integers(0, 3))
def test_a_python_collection_is_the_data(texts, mapping, indent):
    for value in (tuple(texts), list(texts), mapping, {"key": (mapping, tuple(texts))}):
        literal = output.assignment("name", value, 4 * indent)
        assert ast.literal_eval(literal.removeprefix("name = ")) == value


@given(TEXT)
def test_a_docstring_is_one_string(text):
    module = ast.parse(f'"""{output.comment(text)}."""\n# {output.comment(text)}\n')
    (statement,) = module.body
    assert isinstance(statement, ast.Expr)
    docstring = ast.literal_eval(statement.value)
    if all(char.isprintable() for char in folded(text)):
        assert docstring == folded(text) + "."


@pytest.mark.parametrize("char", ["\U00031350", "\U0001fae8", "\u202e", "\u200b", "\ufeff", "\xad"])
def test_letters_that_some_pythons_do_not_know_are_escaped(char):
    # U+31350 and U+1FAE8 came with Unicode 15, and Python 3.11 knows Unicode 14: what is written
    # must not depend on the Python that writes it.
    assert output.string(f"a{char}").isascii()


@given(TEXT)
@example("{: #id }")
@example("a  \nb")
def test_markdown_in_a_paragraph_is_the_text(text):
    page = rendered(output.markdown(text) + ".")
    assert page.text.strip() == folded(text) + "."
    assert page.tags == ["p"]


@given(TEXT.filter(str.strip))
def test_markdown_in_a_list_is_the_text(text):
    page = rendered(f"- first\n- {output.markdown(text)}\n- last", "li")
    assert [item.strip() for item in page.found] == ["first", folded(text), "last"]
    assert page.tags == ["ul", "li", "li", "li"]


@given(TEXT)
def test_markdown_in_a_table_is_the_text(text):
    page = table(output.markdown(text))
    assert page.found == [folded(text), "end", "x", "y"]
    assert page.tags == TABLE


@given(TEXT)
def test_code_in_a_paragraph_is_the_text(text):
    page = rendered(f"See {output.code(text)}.", "code")
    assert page.found == [folded(text)]
    assert page.text.strip() == f"See {folded(text)}."
    assert page.tags == ["p", "code"]


@given(TEXT)
def test_code_in_a_table_is_the_text(text):
    page = table(output.code(text))
    assert page.found == [folded(text), "end", "x", "y"]
    assert page.tags == [*TABLE[:8], "code", *TABLE[8:]]


@given(TEXT)
def test_no_template_sign_is_left(text):
    for shown in (output.markdown(text), output.code(text)):
        assert not any(sign in shown for sign in ("{", "}", "<script", "<!--"))
    # Code hosts make links of bare addresses.
    assert not any(sign in output.markdown(text) for sign in ("://", "@"))


# One matrix in which every field that takes text holds one of these.


def random_texts(count: int) -> list[str]:
    chosen = random.Random(44892)
    return ["".join(chosen.choices(PIECES, k=chosen.randint(1, 60))) + "." for _ in range(count)]


TEXTS = [*HOSTILE, "two\nlines\n\nand a third", *random_texts(16)]
SOURCES = [
    "https://example.org/<script>alert(1)</script>",
    'https://example.org/"onclick="alert(1)',
    "https://example.org/a)b](javascript:alert(1))",
    "https://example.org/*a*_b_|c`d`",
    "https://example.org/{{7*7}}",
    "a/b@0123abc x)<script>alert(1)</script>",
    "a/b@0123abc x](javascript:alert(1))",
    "a/b@0123abc {{7*7}}|*_`<b>",
    "a/b@0123abc csrc/__init__.py:1-2",
    "a__b/c_d#12",
    "pkg_x==1.0<script> `<b>`|*_{{7*7}}",
]


def line(text: str) -> str:
    return folded(text)


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """What is generated from the matrix of hostile texts."""
    data = yaml.safe_load(BASE)
    formats, kernels, backends = {}, {}, {}
    for number, text in enumerate(TEXTS):
        source = [SOURCES[number % len(SOURCES)]]
        formats[f"f{number}"] = {
            **data["kv_formats"]["plain"],
            "title": line(text),
            "notes": [text],
            "sources": source,
        }
        row = {
            **data["kernels"]["fastlib.decode"]["rows"][0],
            "kv_formats": [f"f{number}"],
            "notes": [text],
            "sources": source,
        }
        refusal = {**row, "compute_capability": ["10.0"], "refuses": line(text)}
        kernels[f"k{number}"] = {
            **data["kernels"]["fastlib.decode"],
            "title": line(text),
            "notes": [text],
            "rows": [row, refusal],
        }
        alpha = data["backends"]["ALPHA"]
        backends[f"B{number}"] = {
            **alpha,
            "summary": line(text),
            "notes": [text],
            "variants": [
                {
                    **alpha["variants"][0],
                    "kernels": {"decode": f"k{number}"},
                    "kv_cache_dtypes": {"bfloat16": {"format": f"f{number}"}},
                    "compute_capability": ["9.0"],
                    "notes": [text],
                }
            ],
            "differs": [{"engine": "engine==0.33.0", "field": line(text), "reason": text}],
            "sources": source,
        }
    data["kv_formats"], data["kernels"], data["backends"] = formats, kernels, backends
    data["gpus"] = {f"{number} {line(text)}": "9.0" for number, text in enumerate(TEXTS)}
    model = {
        "hub": "example/model",
        "dtype": "bfloat16",
        "mla": True,
        "sparse": False,
        "sink": False,
        "head_size": 128,
        "value_size": 128,
        "query_heads": 16,
        "topk": "none",
        "max_context": "unknown",
        "kv_pools": [{"layers": 1}],
        "notes": TEXTS,
        "sources": SOURCES,
    }
    data["models"] = {"M": model}
    data["engines"] = {
        f"e{number}": {
            "title": line(text),
            "command": line(text),
            "flags": {"dtype": "--dtype"},
            "sources": SOURCES,
        }
        for number, text in enumerate(TEXTS)
    }
    library = data["libraries"]["fastlib"]
    library["title"] = library["homepage"] = line(" ".join(TEXTS[:10]))
    library["providers"]["engine"] = {"ops": line(TEXTS[0])}
    data["priorities"] = [
        {"when": {}, "order": ["B0"], "notes": TEXTS, "sources": SOURCES},
    ]
    root = tmp_path_factory.mktemp("hostile")
    (root / "capabilities.yaml").write_text(dump(data), encoding="utf-8")
    assert main(["gen", "--source", str(root / "capabilities.yaml")]) == 0
    return root


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"hostile_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_modules_hold_the_text(tree):
    for number, text in enumerate(TEXTS):
        backend = load(tree / f"generated/backends/b{number}.py").ENTRY
        assert backend.summary == line(text)
        assert backend.notes == (text,)
        assert backend.differs == (f"engine==0.33.0: {line(text)}: {text}",)
        assert backend.sources == (SOURCES[number % len(SOURCES)],)
        assert text in backend.cells[0].notes
        kv_format = load(tree / f"generated/kv_formats/f{number}.py").ENTRY
        assert (kv_format.title, kv_format.notes) == (line(text), (text,))
        assert load(tree / f"generated/kernels/k{number}.py").ENTRY.title == line(text)
    gpus = load(tree / "generated/gpus.py").GPUS
    assert list(gpus) == [f"{number} {line(text)}" for number, text in enumerate(TEXTS)]
    library = load(tree / "generated/libraries.py").LIBRARIES["fastlib"]
    assert library["title"] == line(" ".join(TEXTS[:10]))
    assert library["providers"]["engine"] == {"ops": line(TEXTS[0])}


def test_generated_modules_do_nothing_but_define(tree):
    for path in tree.rglob("*.py"):
        module = ast.parse(path.read_text(encoding="utf-8"))
        allowed = (ast.Expr, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.ClassDef)
        assert all(isinstance(statement, allowed) for statement in module.body), path
        called = {
            node.func.id if isinstance(node.func, ast.Name) else ast.dump(node.func)
            for node in ast.walk(module)
            if isinstance(node, ast.Call)
        }
        assert called <= {"Cell", "IntSet", "Multiples", "Kernel", "KVFormat", "Part", "Rule"}, path


def test_generated_data_holds_the_text(tree):
    for number, text in enumerate(TEXTS):
        backend = json.loads((tree / f"generated/data/backends/B{number}.json").read_bytes())
        assert (backend["summary"], backend["notes"]) == (line(text), [text])
        kernel = json.loads((tree / f"generated/data/kernels/k{number}.json").read_bytes())
        assert (kernel["title"], kernel["notes"]) == (line(text), [text])
        assert kernel["rows"][1]["refuses"] == line(text)
        kv_format = json.loads((tree / f"generated/data/kv_formats/f{number}.json").read_bytes())
        assert (kv_format["title"], kv_format["notes"]) == (line(text), [text])


def test_generated_pages_show_the_text(tree):
    for number, text in enumerate(TEXTS):
        for page, times in (
            (f"backends/B{number}.md", 4),  # summary, note, and twice where it differs
            (f"kernels/k{number}.md", 4),  # title, refusal, note, and a row's note
            (f"kv-formats/f{number}.md", 2),  # title and note
        ):
            content = (tree / "docs/reference" / page).read_text(encoding="utf-8")
            shown = folded(rendered(content).text)
            assert shown.count(folded(text)) >= times, page


def test_generated_pages_hold_no_code(tree):
    allowed = {"comment", "h1", "h2", "h3", "p", "ul", "li", "a", "code", "img"}
    allowed |= {"table", "thead", "tbody", "tr", "th", "td"}
    for path in tree.rglob("*.md"):
        content = path.read_text(encoding="utf-8")
        assert not any(sign in content for sign in ("<script", "{{", "{%", "{#")), path
        page = rendered(content)
        assert set(page.tags) <= allowed, path
        assert page.tags.count("comment") == 1, path
        for tag, attributes in page.elements:
            known = {"a": {"href"}, "img": {"alt", "src"}}
            assert set(attributes) <= known.get(tag, {"text"}), path
            target = attributes.get("href", attributes.get("src"))
            if target is not None and not target.startswith("https://"):
                assert (path.parent / target).is_file(), (path, target)


def test_generated_pages_show_the_sources(tree):
    for number, source in enumerate(SOURCES):
        for page in (f"backends/B{number}.md", f"kernels/k{number}.md", f"kv-formats/f{number}.md"):
            content = (tree / "docs/reference" / page).read_text(encoding="utf-8")
            listed = rendered(content[content.index("## Sources") :], "li").found
            assert folded(source) in map(folded, listed), page


LINT = "A,B,C4,D1,E,F,I,N,PIE,PT,RET,RUF1,S,SIM,UP,W"


def test_generated_modules_pass_the_formatter_and_the_linter(tree):
    pytest.importorskip("ruff")
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--no-cache", "--config", "line-length = 100"]
    for command in (
        [*ruff, "format", "--check", "--diff", *options, str(tree)],
        [*ruff, "check", "--ignore-noqa", "--select", "F,E9,I,N,D1,UP,B", *options, str(tree)],
        # As another repository may have it: more rules, shorter lines.
        [*ruff, "check", "--isolated", "--no-cache", "--select", LINT, str(tree)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, done.stdout + done.stderr
