"""One disagreement between a release and the matrix."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .reading import Reading

MORE, LESS, SPELLING, NEEDLESS = "more", "less", "spelling", "needless"
"""The engine claims more than the matrix; less; the same in other words. NEEDLESS: the matrix
acknowledges a difference that is not there."""


@dataclass(frozen=True)
class Difference:
    """One disagreement. engine and matrix: what each says; message: both, in a sentence.

    acknowledged: the reason that the matrix gives for it, or None. place: the file and line of the
    engine's class.
    """

    backend: str
    field: str
    kind: str
    engine: Any
    matrix: Any
    message: str
    acknowledged: str | None = None
    place: tuple[str, int] | None = None

    @property
    def counts(self) -> bool:
        """Whether it makes the two disagree: it is no mere spelling, and not acknowledged."""
        return self.kind != SPELLING and self.acknowledged is None

    def to_json(self) -> dict[str, Any]:
        """The object under `differences`."""
        return {
            "backend": self.backend,
            "field": self.field,
            "kind": self.kind,
            "engine": self.engine,
            "matrix": self.matrix,
            "message": self.message,
            "acknowledged": self.acknowledged,
            "file": self.place[0] if self.place else None,
            "line": self.place[1] if self.place else None,
        }


def difference(
    reading: Reading, name: str, field: str, kind: str, engine: Any, matrix: Any, message: str
) -> Difference:
    """A difference of a backend, with its place."""
    return Difference(name, field, kind, engine, matrix, message, place=reading.places.get(name))
