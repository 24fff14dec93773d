"""The second reader: syntax alone, nothing runs. It speaks where a declaration is plain.

Lists of literals, methods that do nothing but return one, inheritance by name. Of anything else it
has no opinion. Where it has one and the first reader's differs, neither is believed.
"""

from __future__ import annotations

import ast

from .capabilities import CAPABILITIES, FURTHER_CAPABILITIES
from .statements import Deferred, absolute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .world import Sources


class _Plain(Exception):
    """The expression is not plain enough."""


class _Capability(tuple):  # type: ignore[type-arg]
    """(major, minor), compared as such."""

    @property
    def major(self) -> int:
        """The first number."""
        return int(self[0])

    @property
    def minor(self) -> int:
        """The second number."""
        return int(self[1])


class StaticReader:
    """Reads declarations of a tree's classes without running them."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._nodes: dict[tuple[str, str], Any] = {}

    def fields(self, path: str) -> dict[str, Any]:
        """What a class plainly declares: field -> value; without those that are not plain."""
        module, _, name = path.rpartition(".")
        try:
            line = self._line(module, name)
        except (_Plain, SyntaxError, RecursionError):
            return {}
        questions = {
            "dtypes": ("supports_dtype", "supported_dtypes"),
            "kv_cache_dtypes": ("supports_kv_cache_dtype", "supported_kv_cache_dtypes"),
            "block_sizes": (None, "get_supported_kernel_block_sizes"),
            "head_sizes": ("supports_head_size", "get_supported_head_sizes"),
            "sink": (None, "supports_sink"),
            "sparse": (None, "is_sparse"),
            "mla": (None, "is_mla"),
            "compute_capabilities": (None, "supports_compute_capability"),
        }
        found: dict[str, Any] = {}
        for field, (method, attribute) in questions.items():
            try:
                if method and self._find(line, method)[1].name != "AttentionBackend":
                    continue  # a rule of its own: the list may not be all
                owner, _, node = self._find(line, attribute)
                found[field] = self._value(owner, node, field)
            except (_Plain, SyntaxError):
                continue
        return found

    def _line(self, module: str, name: str) -> list[tuple[str, ast.ClassDef]]:
        """The class and its bases, nearest first; only plain single inheritance."""
        module, node = self._resolve(module, name)
        if not isinstance(node, ast.ClassDef) or node.keywords or node.decorator_list:
            raise _Plain
        bases = [base for base in node.bases if _name(base) not in ("ABC", "Protocol", "Generic")]
        if not bases:
            return [(module, node)]
        if len(bases) > 1 or not isinstance(bases[0], ast.Name):
            raise _Plain
        return [(module, node), *self._line(module, bases[0].id)]

    def _resolve(self, module: str, name: str) -> tuple[str, ast.AST]:
        """Where a name is defined, through imports, and by what statement."""
        key = (module, name)
        if key not in self._nodes:
            parsed = self._sources.parsed(module)
            statements = parsed.binding(parsed.body, name) if parsed else []
            if len(statements) != 1:
                raise _Plain
            (statement,) = statements
            if isinstance(statement, Deferred):
                assert parsed is not None
                self._nodes[key] = (module, statement.parse(parsed.file))
            elif isinstance(statement, ast.ImportFrom):
                file = self._sources.tree.module_file(module) or ""
                package = module if file.endswith("__init__.py") else module.rpartition(".")[0]
                source = absolute(statement, package)
                self._nodes[key] = self._resolve(source, statement.names[0].name)
            else:
                self._nodes[key] = (module, statement)
        found: tuple[str, ast.AST] = self._nodes[key]
        return found

    def _find(
        self, line: list[tuple[str, ast.ClassDef]], name: str
    ) -> tuple[str, ast.ClassDef, ast.stmt]:
        for module, owner in line:
            found = [part for part in owner.body if name in _bound_names(part)]
            if len(found) > 1:
                raise _Plain
            if found:
                return module, owner, found[0]
            if any(not isinstance(part, _SIMPLE) for part in owner.body):
                raise _Plain  # an `if` in a class body may define it
        raise _Plain

    def _value(self, module: str, node: ast.stmt, field: str) -> Any:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            assert node.value is not None
            return self._evaluate(module, node.value, {})
        if not isinstance(node, ast.FunctionDef):
            raise _Plain
        if any(_name(mark) not in ("classmethod", "staticmethod") for mark in node.decorator_list):
            raise _Plain
        body = [part for part in node.body if not isinstance(part, ast.Expr)]
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            raise _Plain
        if field != "compute_capabilities":
            return self._evaluate(module, body[0].value, {})
        argument = node.args.args[-1].arg
        expression = body[0].value
        return [
            capability
            for capability in (*CAPABILITIES, *FURTHER_CAPABILITIES)
            if self._evaluate(module, expression, {argument: _Capability(capability)})
        ]

    def _evaluate(self, module: str, node: ast.expr, names: dict[str, Any]) -> Any:
        def value(inner: ast.expr) -> Any:
            return self._evaluate(module, inner, names)

        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.List):
            return [value(element) for element in node.elts]
        if isinstance(node, ast.Tuple):
            return tuple(value(element) for element in node.elts)
        if isinstance(node, ast.Name):
            return names[node.id] if node.id in names else self._constant(module, node.id)
        if isinstance(node, ast.Attribute):
            if _name(node.value) == "torch":
                return node.attr
            owner = value(node.value)
            if isinstance(owner, _Capability) and node.attr in ("major", "minor"):
                return getattr(owner, node.attr)
        if isinstance(node, ast.Call) and not node.keywords:
            called, arguments = _name(node.func), [value(argument) for argument in node.args]
            if called == "MultipleOf" and len(arguments) == 1:
                return f"%{arguments[0]}"
            if called == "DeviceCapability" and len(arguments) == 2:
                return _Capability(arguments)
            if called == "list" and len(arguments) == 1 and isinstance(arguments[0], list | tuple):
                return list(arguments[0])
        if isinstance(node, ast.BoolOp):
            values = [value(part) for part in node.values]
            return all(values) if isinstance(node.op, ast.And) else any(values)
        if isinstance(node, ast.Compare):
            return self._compare(
                value(node.left), [value(right) for right in node.comparators], node
            )
        raise _Plain

    def _constant(self, module: str, name: str) -> Any:
        owner, statement = self._resolve(module, name)
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            return self._evaluate(owner, statement.value, {})
        raise _Plain

    def _compare(self, left: Any, rights: list[Any], node: ast.Compare) -> bool:
        for operator, right in zip(node.ops, rights, strict=True):
            test = _OPERATORS.get(type(operator))
            if test is None:
                raise _Plain
            if not test(left, right):
                return False
            left = right
        return True


_SIMPLE = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.Expr, ast.Pass, ast.ClassDef)
_OPERATORS: dict[type, Any] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


def _name(node: ast.expr) -> str:
    """The last name of a dotted expression; empty for another."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return (
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else ""
    )


def _bound_names(part: ast.stmt) -> list[str]:
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        return [part.name]
    targets = part.targets if isinstance(part, ast.Assign) else []
    if isinstance(part, ast.AnnAssign) and part.value is not None:
        targets = [part.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]
