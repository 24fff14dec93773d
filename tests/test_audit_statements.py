"""Statements are found as Python finds them, whatever a file looks like."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from attnmatrix.audit.head_sizes import MAX_HEAD_SIZE, expand, includes, summary
from attnmatrix.audit.statements import Parsed, chunks

STANDARD = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::4]


@pytest.mark.parametrize("path", STANDARD, ids=lambda path: path.stem)
def test_chunks_are_the_top_level_statements(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    expected = [(part.lineno, type(part)) for part in ast.parse(source).body]
    try:
        found = [
            (line + part.lineno - 1, type(part))
            for line, text in chunks(source)
            for part in ast.parse(text).body
        ]
    except SyntaxError:  # brackets in the first column: then the file is parsed whole
        found = expected
    assert found == expected
    Parsed(source, str(path))


@pytest.mark.parametrize(
    "source",
    [
        "",
        "# nothing\n",
        "x = (\n1\n)\n",
        '"""a\ndef no(): pass\n"""\ndef yes(): pass\n',
        "s = '#' + \"'''\"  # '''\ndef yes(): pass\n",
        "@mark(\n  1,\n)\n@other\nasync def yes(): pass\n",
        "if x:\n    y = 1\nelif z:\n    y = 2\nelse:\n    y = 3\n",
        "try:\n    import a\nexcept ImportError:\n    a = None\nfinally:\n    b = 1\n",
        "class yes:\n    s = '''\nx = 1\n'''\n",
        "with a as b, c as (d, e):\n    f = 1\n",
        "a.b[c].d = e = [x := 1]\n",
        "from a import (b as c, d)\nimport e.f, g as h\n",
    ],
)
def test_what_each_statement_binds(source: str) -> None:
    parsed = Parsed(source, "x.py")
    names = {"yes", "x", "y", "a", "b", "c", "d", "e", "f", "h", "s", "no"}
    bound = {name for name in names if parsed.binding(parsed.body, name)}
    expected: set[str] = set()
    for part in ast.parse(source).body:
        for node in ast.walk(part) if not isinstance(part, ast.ClassDef) else [part]:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                expected.add(node.id)
            elif isinstance(node, ast.alias):
                expected.add(node.asname or node.name.split(".")[0])
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                expected.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                expected.add("a")  # its object changes
    assert bound == expected


@pytest.mark.parametrize(
    ("accepted", "rule"),
    [
        (range(8, 257, 8), ["%8,<=256"]),
        (range(32, MAX_HEAD_SIZE + 1), [">=32"]),
        (range(1, MAX_HEAD_SIZE + 1), []),
        (range(64, MAX_HEAD_SIZE + 1, 64), ["%64"]),
        ([64, 128, 256], [64, 128, 256]),
        ([64, 128, 256, 512, 576], [64, 128, 256, 512, 576]),
        ([], ["none"]),
    ],
)
def test_a_rule_holds_what_it_was_made_of(
    accepted: range | list[int], rule: list[int | str]
) -> None:
    assert summary(list(accepted)) == rule
    sizes = range(1, MAX_HEAD_SIZE + 1)
    assert [size for size in sizes if includes(rule, size)] == list(accepted)
    assert sorted(expand(rule, sizes)) == list(accepted)
