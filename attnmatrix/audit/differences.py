"""Where a release and the matrix disagree: by field, then by combination.

A field is compared over all GPUs at once: what the engine names on some GPU that it accepts, and
what the matrix takes on some GPU. What then still differs is compared one combination at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..backend import Backend
from ..registry import backend_names, get_backend
from ..request import Request
from ..verdict import SUPPORTED, UNKNOWN
from ..versions import Specifier, parse_version
from .questions import CAPABILITIES, FURTHER_CAPABILITIES, expand, holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .reading import Reading

MORE, LESS, SPELLING, NEEDLESS = "more", "less", "spelling", "needless"
"""The engine claims more than the matrix; less; the same in other words. NEEDLESS: the matrix
acknowledges a difference that is not there."""

BLOCK_SIZES = (1, 8, 16, 32, 48, 64, 96, 128, 160, 192, 256, 320, 512, 1024)
"""Block sizes, in tokens, that are tried on both sides."""

_CAPABILITIES = tuple("{}.{}".format(*capability) for capability in CAPABILITIES)
_FURTHER = tuple("{}.{}".format(*capability) for capability in FURTHER_CAPABILITIES)
_FIELD_OF = {"head_size": "head_sizes", "kv_cache_dtype": "kv_cache_dtypes", "dtype": "dtypes"}
_FIELD_OF |= {"compute_capability": "compute_capabilities", "block_size": "block_sizes"}


@dataclass(frozen=True)
class Difference:
    """One disagreement. engine and matrix: what each says; message: both, in a sentence.

    acknowledged: the reason that the matrix gives for it, or None. place: the engine's (file, line).
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


def compare(reading: Reading) -> list[Difference]:
    """Every difference between a release and the matrix, backend by backend."""
    known = backend_names()
    found: list[Difference] = []
    for name in sorted({*reading.declared, *known}):
        if all(cell is None for cell in reading.declared.get(name, {"": True}).values()):
            continue  # its class is not in the release: there is nothing to compare
        if name not in known:
            message = f"{reading.engine} has it, the matrix does not"
            found.append(_difference(reading, name, "backend", MORE, True, False, message))
            continue
        backend = get_backend(name)
        if name in reading.declared:
            found += _acknowledge(reading, backend, list(_compare(reading, name, backend)))
        elif any(source.startswith(f"{reading.engine}==") for source in backend.sources):
            message = f"the matrix has it, {reading.engine} {reading.version} does not"
            missing = [_difference(reading, name, "backend", LESS, False, True, message)]
            found += _acknowledge(reading, backend, missing)
    return found


def _compare(reading: Reading, name: str, backend: type[Backend]) -> Iterator[Difference]:
    matrix = _Matrix(backend, reading)
    row = reading.declared[name]
    accepted = row["compute_capabilities"]
    if accepted is None and reading.platforms[name] == "cuda":
        return
    explained: dict[str, set[Any]] = {"compute_capability": set()}
    if reading.platforms[name] == "cuda":
        gpus = [capability for capability in accepted if capability in _CAPABILITIES]
        both = {*accepted, *reading.further_capabilities.get(name, ())}
        asked = [*_CAPABILITIES, *_FURTHER]
        yield from _set(
            *(reading, name, "compute_capabilities", both, asked),
            *(lambda gpu: matrix.takes(compute_capability=gpu), explained["compute_capability"]),
        )
        shared = [gpu for gpu in gpus if matrix.takes(compute_capability=gpu)]
    else:  # a compute capability means nothing there
        gpus, shared = ["none"], []
    for field, axis in (("dtypes", "dtype"), ("kv_cache_dtypes", "kv_cache_dtype")):
        cells = [reading.at(name, field, gpu) for gpu in shared or gpus]
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
    yield from _head_sizes(reading, name, matrix, shared or gpus, explained)
    yield from _block_sizes(reading, name, matrix, shared)
    for field in ("sink", "sparse", "mla"):
        answers = {reading.at(name, field, gpu) for gpu in shared or gpus}
        if None in answers or not answers:
            continue
        says = matrix.takes(sink=True) if field == "sink" else getattr(backend, field)
        if says is not None and (True in answers) != says:
            kind = MORE if True in answers else LESS
            message = f"{field}: {reading.engine} says {True in answers}, the matrix {says}"
            yield _difference(reading, name, field, kind, True in answers, says, message)
    yield from _combinations(reading, name, matrix, explained)


class _Matrix:
    """One backend of the matrix, asked about with the versions that the release brings."""

    def __init__(self, backend: type[Backend], reading: Reading) -> None:
        self.backend = backend
        self._libraries = {reading.engine: reading.version} if reading.version else {}

    def verdict(self, **fields: Any) -> Any:
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
            text = ", ".join(map(str, values))
            message = f"{field}: {reading.engine} {words[kind]}: {text}"
            yield _difference(reading, name, field, kind, shown_engine, shown_matrix, message)


def _head_sizes(
    reading: Reading, name: str, matrix: _Matrix, gpus: list[str], explained: dict[str, set[Any]]
) -> Iterator[Difference]:
    explained["head_size"] = set()
    cells = [reading.at(name, "head_sizes", gpu) for gpu in gpus]
    if None in cells:
        return
    listed = matrix.backend.head_sizes
    samples = sorted({*listed, *(n for cell in cells for n in expand(cell, ()))} or {64, 128, 576})
    if listed and [] in cells:
        message = f"head_sizes: {reading.engine} claims more than the matrix: any size"
        yield _difference(reading, name, "head_sizes", MORE, [], list(listed), message)
        return
    engine = {size for cell in cells for size in samples if _holds(cell, size)}
    yield from _set(
        *(reading, name, "head_sizes", engine, samples),
        *(lambda size: matrix.takes(head_size=size), explained["head_size"]),
    )


def _holds(cell: list[int | str], size: int) -> bool:
    return not cell or any(
        item == size if isinstance(item, int) else item != "none" and holds(item, size)
        for item in cell
    )


def _block_sizes(
    reading: Reading, name: str, matrix: _Matrix, gpus: list[str]
) -> Iterator[Difference]:
    """Block sizes by GPU. An engine's 64 may stand for its multiples: then it is a spelling."""
    for gpu in gpus:
        cell = reading.at(name, "block_sizes", gpu)
        if cell is None:
            continue
        bases = [int(str(size).lstrip("%")) for size in cell]
        exact = {n for n in BLOCK_SIZES if n in cell or any(_is_multiple(n, s) for s in cell)}
        loose = {n for n in BLOCK_SIZES if any(n % base == 0 for base in bases)}
        answers = {n: matrix.takes(compute_capability=gpu, block_size=n) for n in BLOCK_SIZES}
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
                yield _difference(
                    reading, name, "block_sizes", kind, cell, sorted(takes), message
                )


def _is_multiple(number: int, size: int | str) -> bool:
    return isinstance(size, str) and number % int(size.lstrip("%")) == 0


def _combinations(
    reading: Reading, name: str, matrix: _Matrix, explained: dict[str, set[Any]]
) -> Iterator[Difference]:
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in reading.combinations.get(name, ()):
        axes = {axis: row[axis] for axis in ("compute_capability", "dtype", "kv_cache_dtype")}
        axes["head_size"] = row["head_size"]
        if row["reasons"] is None or any(axes[axis] in explained.get(axis, ()) for axis in axes):
            continue
        spelling = row["kv_cache_dtype"]
        if spelling in ("float16", "bfloat16") and spelling != row["dtype"]:
            continue  # an engine refuses these elsewhere: such a cache follows the model's dtype
        verdict = matrix.verdict(**axes)
        accepts = not row["reasons"]
        if verdict.status == UNKNOWN or accepts == (verdict.status == SUPPORTED):
            continue
        if accepts:
            reason = verdict.reasons[0]
            field = _FIELD_OF.get(reason.field, "combinations")
            groups.setdefault((field, MORE, reason.message), []).append(axes)
        else:
            groups.setdefault(("combinations", LESS, "; ".join(row["reasons"])), []).append(axes)
    for (field, kind, reason), rows in groups.items():
        who = "the matrix" if kind == MORE else reading.engine
        where = "; ".join(_shown(axes) for axes in rows[:4])
        where += f" and {len(rows) - 4} more" if len(rows) > 4 else ""
        word = "more" if kind == MORE else "less"
        message = f"{reading.engine} claims {word}: {where}. {who}: {reason}"
        yield _difference(
            reading, name, field, kind, rows if kind == MORE else [], rows if kind == LESS else [], message
        )


def _shown(axes: dict[str, Any]) -> str:
    return " × ".join(
        f"head size {value}" if axis == "head_size" else str(value) for axis, value in axes.items()
    )


def _difference(
    reading: Reading, name: str, field: str, kind: str, engine: Any, matrix: Any, message: str
) -> Difference:
    return Difference(
        name, field, kind, engine, matrix, message, place=reading.places.get(name)
    )


def _acknowledge(
    reading: Reading, backend: type[Backend], differences: list[Difference]
) -> list[Difference]:
    """The differences, those acknowledged marked so, and an error for each needless one."""
    from dataclasses import replace

    found = list(differences)
    for engine, field, reason in (text.split(": ", 2) for text in backend.differs):
        if not _is_about(engine, reading):
            continue
        meant = [i for i, d in enumerate(found) if d.field == field and d.kind != SPELLING]
        rows = reading.combinations.get(backend.name, ())
        if any(row["reasons"] is None for row in rows):
            meant = meant or [-1]  # it may be about what cannot be known; then it is no error
        for index in meant if meant != [-1] else []:
            found[index] = replace(found[index], acknowledged=reason)
        if not meant and reading.declared.get(backend.name, {}).get(field, True) is not None:
            message = f"{field}: the matrix acknowledges a difference that is not there: {reason}"
            found.append(
                _difference(reading, backend.name, field, NEEDLESS, None, reason, message)
            )
    return found


def _is_about(engine: str, reading: Reading) -> bool:
    """Whether an acknowledgement such as `vllm==0.33.0` is about this release."""
    if not engine.startswith(reading.engine):
        return False
    specifier = engine[len(reading.engine) :].strip()
    if not specifier or reading.version is None:
        return not specifier
    return Specifier(specifier).contains(parse_version(reading.version))
