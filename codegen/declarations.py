"""What engines declare that the matrix does not, held against the records of probes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from attnmatrix.evidence import Record
from attnmatrix.standings import excepted_of
from attnmatrix.versions import names_release

from .case_schema import Declared, Difference
from .evidence import File
from .plain import plain

if TYPE_CHECKING:
    from .matrix import Matrix

_FAILED = ("refused", "wrong", "crashed")


class Seen(NamedTuple):
    """The records of one file that fall under what an engine declares: numbers in the file."""

    file: File
    numbers: list[int]
    records: list[Record]

    @property
    def outcomes(self) -> Counter[str]:
        """How many came out in each way."""
        return Counter(record.outcome for record in self.records)


class Held(NamedTuple):
    """One declaration and the records that speak of it. `path` is its place in the YAML file."""

    path: tuple[str | int, ...]
    backend: str
    difference: Difference
    declared: Declared
    seen: list[Seen]

    @property
    def refuted(self) -> list[Seen]:
        """The files that show otherwise: no case right of what is said to run, or one right of
        what is said not to. Mixed outcomes decide nothing, for an axis may be left out."""
        return [seen for seen in self.seen if self._says(seen) is False]

    @property
    def confirmed(self) -> list[Seen]:
        """The files that bear the engine out."""
        return [seen for seen in self.seen if self._says(seen)]

    def _says(self, seen: Seen) -> bool | None:
        outcomes = seen.outcomes
        right, failed = outcomes["right"], sum(outcomes[name] for name in _FAILED)
        if not right and not failed:
            return None
        if self.declared.runs:
            return None if right and failed else bool(right)
        return not right


def held(matrix: Matrix) -> Iterator[Held]:
    """Every declaration under `differs`, in the order of the YAML file."""
    for name, backend in matrix.document.backends.items():
        for i, difference in enumerate(backend.differs):
            for k, declared in enumerate(difference.declares):
                path = ("backends", name, "differs", i, "declares", k)
                seen = list(_seen(matrix, difference.engine, declared))
                yield Held(path, name, difference, declared, seen)


def _seen(matrix: Matrix, engine: str, declared: Declared) -> Iterator[Seen]:
    cases = {key: plain(value) for key, value in declared.axes.items()}
    for probed in matrix.probed:
        evidence = probed.file.evidence
        if probed.kernel != declared.kernel or not _speaks(engine, evidence.provider, cases):
            continue
        under = excepted_of(
            [cases],
            evidence.capability,
            evidence.provider,
            [record.case for record in probed.records],
        )
        numbers = [i for i, place in enumerate(under) if place is not None]
        if numbers:
            records = [probed.records[i] for i in numbers]
            yield Seen(probed.file, [probed.first + i for i in numbers], records)


def _speaks(engine: str, provider: tuple[str, str], cases: Mapping[str, Any]) -> bool:
    """Whether a record made with this library speaks of the engine's release."""
    return names_release(engine, *provider) or provider[0] in cases.get("versions", {})
