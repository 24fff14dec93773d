"""Kernels: one callable of one library, and the adapter that calls it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Kernel:
    """A kernel of the matrix. `adapter` is 'module:Class' under attnmatrix.kernels, or None."""

    __slots__ = ("name", "title", "library", "adapter", "phase")

    def __init__(
        self, name: str, *, title: str, library: str, adapter: str | None, phase: str
    ) -> None:
        self.name = name
        self.title = title
        self.library = library
        self.adapter = adapter
        self.phase = phase

    def load(self) -> Any:
        """The adapter's class. Imports torch; raises LookupError if the matrix has no adapter."""
        if self.adapter is None:
            raise LookupError(f"{self.name} has no adapter here: call {self.library} itself")
        from importlib import import_module

        module, name = self.adapter.split(":")
        return getattr(import_module(f".kernels.{module}", __package__), name)

    def __repr__(self) -> str:
        return f"<Kernel {self.name}>"
