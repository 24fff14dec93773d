"""A kernel's rows, asked about one call: whether they take it, and by which row or why not.

Standard library alone. Adapters ask before they call a library, the probe to tell what is claimed,
and the generator to hold evidence against claims.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from .capability import CapabilityPattern, format_capability
from .intset import IntSet, Multiples
from .versions import Specifier, Version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NO_GPU = (0, 0)

IDENTITY = ("kv_format", "dtype", "head_size")
"""What a row speaks of: where one that is more specific speaks of a call, a wider one is silent."""


class Call(NamedTuple):
    """What is about to be called. `provider` is the distribution and its version."""

    compute_capability: tuple[int, int]
    provider: tuple[str, str]
    kv_format: str
    dtype: str
    head_size: int
    page_size: int
    query_heads: int
    topk: int | None = None
    extra_kv_format: str | None = None
    features: tuple[str, ...] = ()


class Failure(NamedTuple):
    """One field of a call that a row does not take."""

    field: str
    value: Any
    accepted: str


class Standing(NamedTuple):
    """How a call stands to a kernel's rows.

    row: the row that takes it, by its place in the list; None if none does. refusal: the words of
    a row that is known not to work, or "". nearest: what the nearest row does not take.
    """

    row: int | None
    refusal: str
    nearest: tuple[Failure, ...]


def load_rows(kernel: str) -> list[dict[str, Any]]:
    """A kernel's rows as generated. Raises FileNotFoundError if there is no such kernel."""
    return _load(kernel)


def judge(rows: Sequence[Mapping[str, Any]], call: Call, *, untested: bool = False) -> Standing:
    """How the call stands. With `untested`, what nobody has established is taken too."""
    refusal = ""
    nearest: tuple[Failure, ...] | None = None
    spoken = -1
    for rank, place, row in in_order(rows, call.compute_capability):
        if rank < spoken:
            break
        failing = tuple(failures(row, call, untested=untested))
        if not {failure.field for failure in failing} & {"compute_capability", *IDENTITY}:
            spoken = rank
        if row["refuses"] is not None:  # such a row has no features: it refuses with any
            if all(failure.field == "features" for failure in failing):
                refusal = refusal or row["refuses"]
        elif not failing:
            if not refusal:
                return Standing(place, "", ())
        elif nearest is None or len(failing) < len(nearest):
            nearest = failing
    return Standing(None, refusal, nearest or ())


def in_order(
    rows: Sequence[Mapping[str, Any]], compute_capability: tuple[int, int]
) -> list[tuple[int, int, Mapping[str, Any]]]:
    """Rows as they are asked, those most specific to the GPU first: (specificity, place, row)."""
    ranked = [(_specificity(row, compute_capability), i, row) for i, row in enumerate(rows)]
    return sorted(ranked, key=lambda item: -item[0])


def query_heads_taken(rows: Sequence[Mapping[str, Any]], call: Call) -> IntSet:
    """The head counts of the rows that take the call in every other respect."""
    taken = IntSet()
    for row in rows:
        failing = {failure.field for failure in failures(row, call, untested=True)}
        if row["refuses"] is None and failing <= {"query_heads"}:
            taken |= int_axis(row["query_heads"])
    return taken


def failures(row: Mapping[str, Any], call: Call, *, untested: bool = False) -> Iterator[Failure]:
    """Each field of the call that the row does not take."""
    if not is_for(row, call.compute_capability):
        given = format_capability(call.compute_capability)
        yield Failure("compute_capability", given, _words(row["compute_capability"]))
    yield from _version_failure(row["versions"], call.provider, untested)
    for field, axis in (("kv_format", "kv_formats"), ("dtype", "dtypes")):
        value, accepted = getattr(call, field), row[axis]
        if accepted != "any" and value not in accepted:
            yield Failure(field, value, _words(accepted))
    for field, axis in (
        ("head_size", "head_sizes"),
        ("page_size", "page_sizes"),
        ("query_heads", "query_heads"),
        ("topk", "topk"),
    ):
        value, accepted = getattr(call, field), row[axis]
        if accepted == "unknown":
            if value is not None and not untested:
                yield Failure(field, value, "what nobody has established")
        elif value is not None and value not in int_axis(accepted):
            yield Failure(field, value, str(int_axis(accepted)))
    extra = call.extra_kv_format
    accepted = row["extra_kv_formats"] or [call.kv_format]
    if extra is not None and accepted != "any" and extra not in accepted:
        yield Failure("extra_kv_format", extra, _words(accepted))
    known, unknown = row["features"]["known"], row["features"]["unknown"]
    for feature in call.features:
        if feature not in known and not (untested and feature in unknown):
            yield Failure("features", feature, _words(known) or "none")


def is_for(row: Mapping[str, Any], compute_capability: tuple[int, int]) -> bool:
    """Whether a row speaks of GPUs of this compute capability."""
    patterns = _listed(row["compute_capability"])
    return any(CapabilityPattern(text).matches(compute_capability) for text in patterns)


def int_axis(axis: Any) -> IntSet:
    """An axis of a row as a set of integers; empty where it is unknown."""
    if axis == "unknown":
        return IntSet()
    values = [item for item in axis if isinstance(item, int)]
    runs = [Multiples(i["multiple_of"], i["min"], i["max"]) for i in axis if isinstance(i, dict)]
    return IntSet(values, runs)


def _version_failure(
    versions: dict[str, str], provider: tuple[str, str], untested: bool
) -> Iterator[Failure]:
    name, version = provider
    accepted = versions.get(name, "none")
    if accepted == "any" or (accepted == "unknown" and untested):
        return
    if accepted not in ("none", "unknown") and Specifier(accepted).contains(Version(version)):
        return
    needs = ", ".join(
        home if text == "any" else f"{home}{text}"
        for home, text in versions.items()
        if text not in ("none", "unknown")
    )
    if accepted == "unknown":
        needs += "; nobody has established this one: untested=True tries it"
    yield Failure("provider", f"{name}=={version}", needs)


def _specificity(row: Mapping[str, Any], compute_capability: tuple[int, int]) -> int:
    patterns = [CapabilityPattern(text) for text in _listed(row["compute_capability"])]
    return max((p.specificity for p in patterns if p.matches(compute_capability)), default=-1)


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _words(values: Any) -> str:
    return ", ".join(_listed(values))


@cache
def _load(kernel: str) -> list[dict[str, Any]]:
    """Rows come with the installed code and change with it alone."""
    folder = files("attnmatrix") / "generated" / "data" / "kernels"
    rows: list[dict[str, Any]] = json.loads((folder / f"{kernel}.json").read_text())["rows"]
    return rows
