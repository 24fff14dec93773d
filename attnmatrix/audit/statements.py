"""The top-level statements of a module, found without parsing more than is asked for."""

from __future__ import annotations
import __future__

import ast
import copy
import re
import types
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

UNKNOWN = "attnmatrix_unknown"
"""The name of `Unknown` in code that is made to tolerate it."""

_ANNOTATIONS = __future__.annotations.compiler_flag  # unevaluated: they would run much for nothing


class Deferred:
    """A class or function that is parsed when it is asked for, if ever."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def parse(self, file: str) -> ast.stmt:
        """Its statement; lines count from its own first."""
        (statement,) = ast.parse(self.text, file).body
        return statement


Statement = ast.stmt | Deferred
"""A statement at the top level of a module."""


class Parsed:
    """A module's statements, by the names that they bind or change; shared by all worlds."""

    def __init__(self, source: str, file: str) -> None:
        self.file = file
        self.body: list[Statement] = []
        self._code: dict[int, types.CodeType] = {}
        self._lines: dict[int, int] = {}
        self._index: dict[int, dict[str, list[Statement]]] = {}
        names = self._index[id(self.body)] = {}
        try:
            parts = list(self._parts(source))
        except SyntaxError:  # its layout is not the usual; or it is no Python, which this will say
            parts = [(part.lineno, part, True) for part in _one_name_each(ast.parse(source).body)]
        for line, part, walrus in parts:
            self.body.append(part)
            self._lines[id(part)] = line
            bound = [part.name] if isinstance(part, Deferred) else _bound(part, walrus)
            for name in dict.fromkeys(bound):
                names.setdefault(name, []).append(part)

    def _parts(self, source: str) -> Iterator[tuple[int, Statement, bool]]:
        """Each statement with its line, and whether its text may bind names by `:=`."""
        for line, text in chunks(source):
            found = _DEFINITION.match(text)
            if found:
                yield line, Deferred(found[1], text), False
                continue
            for part in _one_name_each(ast.parse(text, self.file).body):
                yield line + part.lineno - 1, part, ":=" in text  # seldom; to look for it costs

    def binding(self, body: Sequence[Statement], name: str) -> list[Statement]:
        """Statements of a body that bind or change a name, in order."""
        index = self._index.get(id(body))
        if index is None:
            index = self._index[id(body)] = {}
            for statement in body:
                assert isinstance(statement, ast.stmt)
                for bound in dict.fromkeys(_bound(statement, True)):
                    index.setdefault(bound, []).append(statement)
        return index.get(name, [])

    def line(self, statement: Statement) -> int:
        """The line of the file in which a top-level statement begins, counted from 1."""
        return self._lines[id(statement)]

    def code(self, node: Statement | ast.expr) -> types.CodeType:
        """The compiled statement or expression."""
        found = self._code.get(id(node))
        if found is None:
            if isinstance(node, Deferred):
                found = self._compile(node.text, "exec")
            elif isinstance(node, ast.expr):
                found = self._compile(ast.Expression(node), "eval")
            else:
                found = self._compile(ast.Module([node], []), "exec")
            self._code[id(node)] = found
        return found

    def tolerant_code(self, node: Deferred) -> types.CodeType | None:
        """A class whose assignments of something unknown leave a stand-in; None if no class."""
        statement = node.parse(self.file)
        if not isinstance(statement, ast.ClassDef):
            return None
        for index, part in enumerate(statement.body):
            if isinstance(part, ast.Assign | ast.AnnAssign) and part.value is not None:
                statement.body[index] = _tolerant(part)
        return self._compile(ast.fix_missing_locations(ast.Module([statement], [])), "exec")

    def _compile(self, source: Any, mode: str) -> types.CodeType:
        code: types.CodeType = compile(
            source, self.file, mode, flags=_ANNOTATIONS, dont_inherit=True
        )
        return code


_STRINGS = re.compile(
    r'''"""(?:[^\\]|\\.)*?"""|\'{3}(?:[^\\]|\\.)*?\'{3}|'''
    r""""(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|#[^\n]*""",
    re.DOTALL,
)
_DEFINITION = re.compile(r"(?:@[^\0]*?\n)?(?:class|(?:async )?def) (\w+)")
_START = re.compile(r"^(?![\s#)\]}]|(?:elif|else|except|finally)\b)", re.MULTILINE)


def chunks(source: str) -> Iterator[tuple[int, str]]:
    """The text of each top-level statement with its first line's number, without parsing.

    Statements begin in the first column, outside strings; a bracket's lines are indented.
    """
    starts = [found.start() for found in _START.finditer(source)]
    spans = [found.span() for found in _STRINGS.finditer(source) if "\n" in found[0]]
    kept: list[int] = []
    span = 0
    after_decorator = False
    for start in starts:
        while span < len(spans) and spans[span][1] <= start:
            span += 1
        if (span < len(spans) and spans[span][0] < start) or start == len(source):
            continue
        if not after_decorator:
            kept.append(start)
        after_decorator = source[start] == "@"
    line, before = 1, 0
    for start, end in pairwise([*kept, len(source)]):
        line += source.count("\n", before, start)
        before = start
        yield line, source[start:end]


def _tolerant(part: ast.stmt) -> ast.stmt:
    (attempt,) = ast.parse(f"try: pass\nexcept {UNKNOWN} as {UNKNOWN}_found: pass").body
    assert isinstance(attempt, ast.Try)
    target = part.targets[0] if isinstance(part, ast.Assign) else part.target  # type: ignore[attr-defined]
    instead = ast.parse(f"x = {UNKNOWN}_stand_in({UNKNOWN}_found)").body[0]
    assert isinstance(instead, ast.Assign)
    instead.targets = [target]
    attempt.body, attempt.handlers[0].body = [part], [instead]
    return attempt


def _one_name_each(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements, with each import of several names cut into imports of one."""
    found: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.ImportFrom | ast.Import) and len(statement.names) > 1:
            for alias in statement.names:
                part = copy.copy(statement)
                part.names = [alias]
                found.append(part)
            continue
        if isinstance(statement, ast.If):
            statement.body = _one_name_each(statement.body)
            statement.orelse = _one_name_each(statement.orelse)
        found.append(statement)
    return found


def _bound(statement: ast.stmt, walrus: bool) -> Iterator[str]:
    """Names that a statement binds at module level, or whose value it changes."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield alias.asname or (
                alias.name if isinstance(statement, ast.ImportFrom) else alias.name.split(".")[0]
            )
    elif isinstance(statement, ast.AnnAssign) and statement.value is None:
        return
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from _targets(target)
        if walrus:
            yield from _walrus(statement.value)
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        yield from _targets(statement.target)
    elif isinstance(statement, ast.Expr):
        if isinstance(statement.value, ast.Call) and isinstance(
            statement.value.func, ast.Attribute
        ):
            yield from _targets(statement.value.func)  # x.append(…) changes x
        if walrus:
            yield from _walrus(statement.value)
    elif isinstance(statement, ast.Delete):
        for target in statement.targets:
            yield from _targets(target)
    else:
        for field in ("target", "items"):
            for item in _as_list(getattr(statement, field, None)):
                bound = item.optional_vars if isinstance(item, ast.withitem) else item
                if bound is not None:
                    yield from _targets(bound)
        for field in ("test", "iter", "subject"):
            if walrus and (expression := getattr(statement, field, None)) is not None:
                yield from _walrus(expression)
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            for inner in _as_list(getattr(statement, field, None)):
                parts = (
                    inner.body if isinstance(inner, ast.ExceptHandler | ast.match_case) else [inner]
                )
                for part in parts:
                    yield from _bound(part, walrus)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _targets(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Tuple | ast.List):
        for element in node.elts:
            yield from _targets(element)
        return
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _walrus(node: ast.expr) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.NamedExpr):
            yield from _targets(inner.target)


def absolute(statement: ast.ImportFrom, package: str) -> str:
    """The dotted name of the module that a `from … import` names."""
    if not statement.level:
        return statement.module or ""
    parts = package.split(".")[: len(package.split(".")) - statement.level + 1]
    return ".".join([*parts, *([statement.module] if statement.module else [])])
