"""Kernel libraries: which distributions ship them, and what this machine has."""

from __future__ import annotations

import re
from functools import lru_cache


class Absent:
    """Why a distribution cannot be used: 'not installed' or 'failed to import (why)'."""

    __slots__ = ("reason",)

    def __init__(self, reason: str = "not installed") -> None:
        self.reason = reason

    def __str__(self) -> str:
        return self.reason

    def __repr__(self) -> str:
        return f"Absent({self.reason!r})"


def normalize(distribution: str) -> str:
    """A distribution's name as registries compare it: lower case, runs of -_. as one hyphen."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


@lru_cache(maxsize=1)
def known_distributions() -> frozenset[str]:
    """Every distribution that ships a kernel library of the matrix."""
    from .generated.libraries import LIBRARIES

    return frozenset(name for library in LIBRARIES.values() for name in library["providers"])


def installed_libraries() -> dict[str, str | Absent]:
    """The version of each known distribution on this machine, or Absent. Read anew at each call."""
    from importlib import metadata

    found: dict[str, str | Absent] = {}
    for name in sorted(known_distributions()):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = Absent()
    return found
