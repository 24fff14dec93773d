"""A release against the matrix, field by field."""

from __future__ import annotations

from ..backend import Backend
from ..intset import IntSet
from ..libraries import known_distributions
from ..request import Request
from ..verdict import SUPPORTED, UNKNOWN, Verdict
from .capabilities import CAPABILITY_TEXTS, FURTHER_TEXTS
from .difference import LESS, MORE, SPELLING, Difference, difference
from .head_sizes import MAX_HEAD_SIZE, expand, includes, summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .reading import Reading

NO_GPU = "none"
"""Stands for a compute capability on a platform that has none."""

BLOCK_SIZES = (1, 8, 16, 32, 48, 64, 96, 128, 160, 192, 256, 320, 512, 1024)
"""Block sizes, in tokens, that are tried on both sides."""


class Matrix:
    """One backend of the matrix, asked about with the versions that the release brings."""

    def __init__(self, backend: type[Backend], reading: Reading) -> None:
        self.backend = backend
        known = known_distributions(backend.matrix())
        self._libraries = {name: v for name, v in reading.pins.items() if name in known}
        if reading.version and reading.engine in known:
            self._libraries[reading.engine] = reading.version

    def verdict(self, **fields: Any) -> Verdict:
        """The verdict on a combination."""
        return self.backend.judge(Request(libraries=self._libraries, **fields))

    def takes(self, **fields: Any) -> bool | None:
        """Whether it is supported; None where the matrix itself does not know."""
        status = self.verdict(**fields).status
        return None if status == UNKNOWN else bool(status == SUPPORTED)

    def spelled_otherwise(self, names: set[str]) -> Callable[[str], bool]:
        """Tests whether a KV-cache dtype means what one of these means, too."""

        def meaning(name: str) -> set[tuple[str, str]]:
            cells = [cell for cell in self.backend.cells if name in cell.spellings]
            return {(cell.kv_cache_dtype, gpu) for cell in cells for gpu in cell.compute_capability}

        known = {pair for name in names for pair in meaning(name)}
        return lambda name: bool(meaning(name)) and meaning(name) <= known


def compare_fields(
    reading: Reading, name: str, matrix: Matrix, explained: dict[str, set[Any]]
) -> Iterator[Difference]:
    """A field is compared over all GPUs at once, block sizes GPU by GPU.

    explained: takes the values of each axis that a difference names.
    """
    backend = matrix.backend
    row = reading.declared[name]
    accepted = row["compute_capabilities"]
    if accepted is None and reading.platforms[name] == "cuda":
        return
    explained["compute_capability"] = set()
    if reading.platforms[name] == "cuda":
        gpus = [capability for capability in accepted if capability in CAPABILITY_TEXTS]
        both = {*accepted, *reading.further_capabilities.get(name, ())}
        asked = [*CAPABILITY_TEXTS, *FURTHER_TEXTS]
        yield from _set(
            *(reading, name, "compute_capabilities", both, asked),
            *(lambda gpu: matrix.takes(compute_capability=gpu), explained["compute_capability"]),
        )
        shared = [gpu for gpu in gpus if matrix.takes(compute_capability=gpu)]
        if not shared:
            return  # there is no GPU on which the rest could agree
    else:  # a compute capability means nothing there
        shared = [NO_GPU]
    for field, axis in (("dtypes", "dtype"), ("kv_cache_dtypes", "kv_cache_dtype")):
        cells = [reading.at(name, field, gpu) for gpu in shared]
        explained[axis] = set()
        if None in cells:
            continue
        engine = {value for cell in cells for value in cell}
        listed = backend.supported_dtypes if axis == "dtype" else backend.supported_kv_cache_dtypes

        def takes(value: Any, axis: str = axis) -> bool | None:
            return matrix.takes(**{axis: value})

        candidates = [*dict.fromkeys([*(v for cell in cells for v in cell), *listed])]
        spelled = matrix.spelled_otherwise(engine) if axis == "kv_cache_dtype" else None
        yield from _set(reading, name, field, engine, candidates, takes, explained[axis], spelled)
    yield from _head_sizes(reading, name, matrix, shared, explained)
    yield from _block_sizes(reading, name, matrix, shared)
    for field in ("sink", "sparse", "mla"):
        answers = {reading.at(name, field, gpu) for gpu in shared}
        if None in answers or not answers:
            continue
        says = matrix.takes(sink=True) if field == "sink" else getattr(backend, field)
        if says is not None and (True in answers) != says:
            kind = MORE if True in answers else LESS
            message = f"{field}: {reading.engine} says {True in answers}, the matrix {says}"
            yield difference(reading, name, field, kind, True in answers, says, message)


def _set(
    reading: Reading,
    name: str,
    field: str,
    engine: set[Any],
    candidates: Iterable[Any],
    takes: Callable[[Any], bool | None],
    explained: set[Any],
    spelled: Callable[[Any], bool] | None = None,
) -> Iterator[Difference]:
    answers = {value: takes(value) for value in candidates}
    more = [value for value, answer in answers.items() if value in engine and answer is False]
    less = [value for value, answer in answers.items() if value not in engine and answer]
    other = [value for value in less if spelled is not None and spelled(value)]
    less = [value for value in less if value not in other]
    explained.update(more, less, other)
    shown_engine = [value for value in answers if value in engine]
    shown_matrix = [value for value, answer in answers.items() if answer]
    words = {MORE: "claims more than the matrix", LESS: "claims less than the matrix"}
    words[SPELLING] = "has no other name for"
    for kind, values in ((MORE, more), (LESS, less), (SPELLING, other)):
        if values:
            shown = summary(values) if field == "head_sizes" else values
            text = ", ".join(map(str, shown))
            message = f"{field}: {reading.engine} {words[kind]}: {text}"
            yield difference(reading, name, field, kind, shown_engine, shown_matrix, message)


def _head_sizes(
    reading: Reading, name: str, matrix: Matrix, gpus: list[str], explained: dict[str, set[Any]]
) -> Iterator[Difference]:
    explained["head_size"] = set()
    cells = [reading.at(name, "head_sizes", gpu) for gpu in gpus]
    if None in cells:
        return
    claimed = matrix.backend.head_sizes
    if claimed and [] in cells:
        message = f"head_sizes: {reading.engine} claims more than the matrix: any size"
        yield difference(reading, name, "head_sizes", MORE, [], list(claimed), message)
        return
    rules = any(isinstance(size, str) for cell in cells for size in cell)
    if rules or isinstance(claimed, IntSet):
        samples = list(range(1, MAX_HEAD_SIZE + 1))
    else:
        samples = sorted({*claimed, *(n for cell in cells for n in expand(cell, ()))})
    samples = samples or [64, 128, 576]
    engine = {size for cell in cells for size in samples if includes(cell, size)}
    yield from _set(
        *(reading, name, "head_sizes", engine, samples),
        *(lambda size: matrix.takes(head_size=size), explained["head_size"]),
    )


def _block_sizes(
    reading: Reading, name: str, matrix: Matrix, gpus: list[str]
) -> Iterator[Difference]:
    """Block sizes by GPU. An engine's 64 may stand for its multiples: then it is a spelling."""
    for gpu in gpus:
        cell = reading.at(name, "block_sizes", gpu)
        if cell is None:
            continue
        bases = [int(str(size).lstrip("%")) for size in cell]
        exact = {n for n in BLOCK_SIZES if n in cell or any(_is_multiple(n, s) for s in cell)}
        loose = {n for n in BLOCK_SIZES if any(n % base == 0 for base in bases)}
        there = {} if gpu == NO_GPU else {"compute_capability": gpu}
        answers = {n: matrix.takes(block_size=n, **there) for n in BLOCK_SIZES}
        takes = {n for n, answer in answers.items() if answer}
        doubtful = {n for n, answer in answers.items() if answer is None}
        more, less = exact - takes - doubtful, takes - loose
        kinds = [(MORE, more), (LESS, less)]
        if not more and not less and takes - exact:
            kinds = [(SPELLING, takes - exact)]
        for kind, values in kinds:
            if values:
                text = ", ".join(str(n) for n in sorted(values))
                words = {
                    MORE: "claims more than the matrix",
                    LESS: "claims less than the matrix",
                    SPELLING: "names a size where the matrix names its multiples",
                }[kind]
                message = f"block_sizes on {gpu}: {reading.engine} {words}: {text} tokens"
                yield difference(reading, name, "block_sizes", kind, cell, sorted(takes), message)


def _is_multiple(number: int, size: int | str) -> bool:
    return isinstance(size, str) and number % int(size.lstrip("%")) == 0
