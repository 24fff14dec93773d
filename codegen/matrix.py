"""The matrix: a checked document, with its names resolved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from attnmatrix.cell import Cell

from .problems import InvalidSource
from .schema import MODEL_DTYPE, Backend, Document, Stored, Variant
from .source import Source, read_source
from .validate import validate


@dataclass(frozen=True)
class Matrix:
    """Everything that is rendered. Made by `load`, so that it has passed every check."""

    source: Source
    document: Document

    @cached_property
    def cells(self) -> dict[str, tuple[Cell, ...]]:
        """Each backend's cells, in the order of its variants, KV-cache dtypes and rows."""
        from .join import join

        return {name: join(self.document, name) for name in self.document.backends}


def load(path: Path | str, *, name: str | None = None) -> Matrix:
    """Reads and checks a YAML file. Raises InvalidSource with every problem, or OSError."""
    return check(read_source(path, name=name))


def check(source: Source) -> Matrix:
    """The matrix of a source. Raises InvalidSource with every problem."""
    from .checks import CHECKS

    matrix = Matrix(source, validate(source))
    problems = [problem for rule in CHECKS for problem in rule(matrix)]
    if problems:
        raise InvalidSource(problems)
    return matrix


def resolve(variant: Variant, name: str) -> str | None:
    """Follows aliases from a KV-cache dtype to the one with a format of its own, or MODEL_DTYPE.

    None where they lead nowhere or in a circle.
    """
    seen = set()
    while name not in seen:
        seen.add(name)
        if name == MODEL_DTYPE:
            return name
        target = variant.kv_cache_dtypes.get(name)
        if isinstance(target, Stored):
            return name
        if target is None:
            return None
        name = target
    return None


def claimed_dtypes(backend: Backend, variant: Variant) -> list[str]:
    """The model dtypes that a variant claims."""
    return variant.dtypes or backend.dtypes
