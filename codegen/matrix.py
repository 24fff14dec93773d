"""The matrix: a document with the cells that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from attnmatrix.cell import Cell

from .join import join
from .schema import Document
from .source import Source


@dataclass(frozen=True)
class Matrix:
    """Everything that is rendered. Made by `load`, so that it has passed every check."""

    source: Source
    document: Document

    @cached_property
    def cells(self) -> dict[str, tuple[Cell, ...]]:
        """Each backend's cells, in the order of its variants, KV-cache dtypes and rows."""
        return {name: join(self.document, name) for name in self.document.backends}
