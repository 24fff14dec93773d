"""Rules about cases that the YAML names: a kernel's exceptions, and what an engine declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attnmatrix.request import FEATURES
from attnmatrix.spelling import did_you_mean

from .case_schema import Cases
from .matrix import Matrix
from .problems import Problem

Path_ = tuple[str | int, ...]


def exceptions_lead_somewhere(matrix: Matrix) -> Iterator[Problem]:
    """Every name in an exception must find its entry; one without axes would hide everything."""
    for name, kernel in matrix.document.kernels.items():
        for i, exception in enumerate(kernel.exceptions):
            path = ("kernels", name, "exceptions", i)
            yield from _cases(matrix, "exception", exception, name, path)


def declarations_lead_somewhere(matrix: Matrix) -> Iterator[Problem]:
    """What an engine declares is of a kernel that its backend calls, and names its cases."""
    for name, backend in matrix.document.backends.items():
        used = [
            kernel
            for variant in backend.variants
            for kernel in (variant.kernels.decode, variant.kernels.prefill)
            if kernel in matrix.document.kernels
        ]
        for i, difference in enumerate(backend.differs):
            for k, declared in enumerate(difference.declares):
                path = ("backends", name, "differs", i, "declares", k)
                kind = f"kernel of {name}"
                yield from _look(matrix, kind, declared.kernel, used, (*path, "kernel"), value=True)
                yield from _cases(matrix, "declaration", declared, declared.kernel, path)


def _cases(matrix: Matrix, word: str, cases: Cases, kernel: str, path: Path_) -> Iterator[Problem]:
    document = matrix.document
    if not cases.axes:
        hint = "name the axes: kv_formats, dtypes, query_heads, page_sizes, topk, features …"
        message = f"this {word} is for every combination"
        yield Problem(matrix.source.place(path), "invalid-value", message, hint)
    for kind, axis, number, item, known in _named(cases, document.kv_formats):
        yield from _look(matrix, kind, item, known, (*path, axis, number))
    entry = document.kernels.get(kernel)
    library = document.libraries.get(entry.library) if entry else None
    for item in cases.versions or {} if library else {}:
        kind = f"provider of {entry.library if entry else kernel}"
        known = library.providers if library else {}
        yield from _look(matrix, kind, item, known, (*path, "versions", item))


def _named(
    cases: Cases, formats: Iterable[str]
) -> Iterator[tuple[str, str, int, str, Iterable[str]]]:
    for kind, axis, known in (
        ("KV format", "kv_formats", formats),
        ("KV format", "extra_kv_formats", formats),
        ("feature", "features", FEATURES),
    ):
        items = getattr(cases, axis) or ()
        for number, item in enumerate(() if items == "any" else items):
            yield kind, axis, number, item, known


def _look(
    matrix: Matrix,
    kind: str,
    name: str,
    known: Iterable[str],
    path: Path_,
    *,
    value: bool = False,
) -> Iterator[Problem]:
    if name not in (names := list(dict.fromkeys(known))):
        message = f"there is no {kind} {name!r}{did_you_mean(name, names)}"
        place = matrix.source.place(path, key=isinstance(path[-1], str) and not value)
        yield Problem(place, "unknown-name", message, f"known: {', '.join(names) or 'none'}")
