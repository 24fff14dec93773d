"""Kernel libraries: which distributions ship them, and what this machine has."""

from __future__ import annotations

import re
from importlib import import_module

BUILT_IN = "attnmatrix.generated"
"""The package of the built-in matrix; another repository's is named in its place."""


class Absent:
    """Why a distribution cannot be used: 'not installed' or 'failed to import (why)'."""

    __slots__ = ("reason",)

    def __init__(self, reason: str = "not installed") -> None:
        self.reason = reason

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Absent) and self.reason == other.reason

    def __hash__(self) -> int:
        return hash((Absent, self.reason))

    def __str__(self) -> str:
        return self.reason

    def __repr__(self) -> str:
        return f"Absent({self.reason!r})"


def normalize(distribution: str) -> str:
    """A distribution's name as registries compare it: lower case, runs of -_. as one hyphen."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def known_distributions(matrix: str = BUILT_IN) -> frozenset[str]:
    """Every distribution that ships a kernel library of the matrix, and every engine."""
    libraries = import_module(f"{matrix}.libraries").LIBRARIES
    providers = (name for library in libraries.values() for name in library["providers"])
    return frozenset((*providers, *import_module(f"{matrix}.engines").ENGINES))


def installed_libraries(matrix: str = BUILT_IN) -> dict[str, str | Absent]:
    """The version of each known distribution on this machine, or Absent. Read anew at each call."""
    from importlib import metadata

    found: dict[str, str | Absent] = {}
    for name in sorted(known_distributions(matrix)):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = Absent()
    return found
