"""Reads a YAML file into a checked matrix."""

from __future__ import annotations

from pathlib import Path

from .checks import CHECKS
from .matrix import Matrix
from .problems import InvalidSource
from .source import Source, read_source
from .validate import validate


def load(path: Path | str, *, name: str | None = None) -> Matrix:
    """Reads and checks a YAML file. Raises InvalidSource with every problem, or OSError."""
    return check(read_source(path, name=name))


def check(source: Source) -> Matrix:
    """The matrix of a source. Raises InvalidSource with every problem."""
    matrix = Matrix(source, validate(source))
    problems = [problem for rule in CHECKS for problem in rule(matrix)]
    if problems:
        raise InvalidSource(problems)
    return matrix
