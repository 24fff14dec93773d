"""Where a release and the matrix disagree: by field, then by combination.

A field is compared over all GPUs at once: what the engine names on some GPU that it accepts, and
what the matrix takes on some GPU. What then still differs is compared one combination at a time.
"""

from __future__ import annotations

from dataclasses import replace

from ..backend import Backend
from ..libraries import BUILT_IN
from ..registry import backend_names, get_backend
from ..versions import names_release
from .combinations import compare_combinations
from .difference import LESS, MORE, NEEDLESS, SPELLING, Difference, difference
from .fields import Matrix, compare_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .reading import Reading


def compare(reading: Reading, matrix: str = BUILT_IN) -> list[Difference]:
    """Every difference between a release and the matrix, backend by backend.

    matrix: the package of another matrix's generated modules.
    """
    known = backend_names(matrix)
    found: list[Difference] = []
    for name in sorted({*reading.declared, *known}):
        if all(cell is None for cell in reading.declared.get(name, {"": True}).values()):
            continue  # its class is not in the release: there is nothing to compare
        if name not in known:
            message = f"{reading.engine} has it, the matrix does not"
            found.append(difference(reading, name, "backend", MORE, True, False, message))
            continue
        backend = get_backend(name, matrix)
        if name in reading.declared:
            found += _acknowledge(reading, backend, _compare(reading, name, backend))
        elif any(source.startswith(f"{reading.engine}==") for source in backend.sources):
            message = f"the matrix has it, {reading.engine} {reading.version} does not"
            missing = [difference(reading, name, "backend", LESS, False, True, message)]
            found += _acknowledge(reading, backend, missing)
    return found


def _compare(reading: Reading, name: str, backend: type[Backend]) -> list[Difference]:
    asked = Matrix(backend, reading)
    explained: dict[str, set[Any]] = {}
    found = list(compare_fields(reading, name, asked, explained))
    return [*found, *compare_combinations(reading, name, asked, explained)]


def _acknowledge(
    reading: Reading, backend: type[Backend], differences: list[Difference]
) -> list[Difference]:
    """The differences, those acknowledged marked so, and an error for each needless one."""
    found = list(differences)
    for engine, field, reason in (text.split(": ", 2) for text in backend.differs):
        if not names_release(engine, reading.engine, reading.version):
            continue
        meant = [i for i, d in enumerate(found) if d.field == field and d.kind != SPELLING]
        rows = reading.combinations.get(backend.name, ())
        if any(row["reasons"] is None for row in rows):
            meant = meant or [-1]  # it may be about what cannot be known; then it is no error
        for index in meant if meant != [-1] else []:
            found[index] = replace(found[index], acknowledged=reason)
        if not meant and reading.declared.get(backend.name, {}).get(field, True) is not None:
            message = f"{field}: the matrix acknowledges a difference that is not there: {reason}"
            found.append(difference(reading, backend.name, field, NEEDLESS, None, reason, message))
    return found
