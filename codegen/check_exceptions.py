"""Rules about a kernel's exceptions: each names an axis, and what its axes name is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attnmatrix.request import FEATURES
from attnmatrix.spelling import did_you_mean

from .matrix import Matrix
from .problems import Problem
from .schema import KernelException

_WORDS = ("reason", "sources")


def exceptions_lead_somewhere(matrix: Matrix) -> Iterator[Problem]:
    """Every name in an exception must find its entry; one without axes would hide everything."""
    document = matrix.document
    for name, kernel in document.kernels.items():
        library = document.libraries.get(kernel.library)
        providers = library.providers if library else None
        for i, exception in enumerate(kernel.exceptions):
            path = ("kernels", name, "exceptions", i)
            if all(value is None for k, value in dict(exception).items() if k not in _WORDS):
                hint = (
                    "name the axes: kv_formats, dtypes, query_heads, page_sizes, topk, features …"
                )
                message = "this exception is for every combination"
                yield Problem(matrix.source.place(path), "invalid-value", message, hint)
            for kind, axis, number, item, known in _named(exception, document.kv_formats):
                yield from _look(matrix, kind, item, known, (*path, axis, number))
            for item in exception.versions or {} if providers is not None else {}:
                kind = f"provider of {kernel.library}"
                yield from _look(matrix, kind, item, providers or {}, (*path, "versions", item))


def _named(
    exception: KernelException, formats: Iterable[str]
) -> Iterator[tuple[str, str, int, str, Iterable[str]]]:
    for kind, axis, known in (
        ("KV format", "kv_formats", formats),
        ("KV format", "extra_kv_formats", formats),
        ("feature", "features", FEATURES),
    ):
        items = getattr(exception, axis) or ()
        for number, item in enumerate(() if items == "any" else items):
            yield kind, axis, number, item, known


def _look(
    matrix: Matrix, kind: str, name: str, known: Iterable[str], path: tuple[str | int, ...]
) -> Iterator[Problem]:
    if name not in (names := list(known)):
        message = f"there is no {kind} {name!r}{did_you_mean(name, names)}"
        place = matrix.source.place(path, key=isinstance(path[-1], str))
        yield Problem(place, "unknown-name", message, f"known: {', '.join(names)}")
