"""A kernel's rows, asked about one call: whether they take it, and by which row or why not.

Standard library alone. Adapters ask before they call a library, the probe to tell what is claimed,
and the generator to hold evidence against claims.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from .capability import CapabilityPattern, format_capability
from .intset import IntSet, Multiples
from .versions import Specifier, parse_version

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NO_GPU = (0, 0)

IDENTITY = ("kv_format", "dtype", "head_size")
"""What a row speaks of: where one that is more specific speaks of a call, a wider one is silent."""


_INTS = {
    "head_size": "head_sizes",
    "page_size": "page_sizes",
    "query_heads": "query_heads",
    "topk": "topk",
}
AXIS_KEYS = {
    "kv_format": "kv_formats",
    "dtype": "dtypes",
    **_INTS,
    "extra_kv_format": "extra_kv_formats",
    "features": "features",
}
"""The key of a row, or of an exception, for each axis of a call."""

FIELDS = ("compute_capability", "provider", *(axis for axis in AXIS_KEYS if axis != "features"))
"""The fields of a call that a row is asked about, besides features."""

# The same few texts come in every row; all of these are frozen.
_pattern = lru_cache(maxsize=1024)(CapabilityPattern)
_specifier = lru_cache(maxsize=1024)(Specifier)


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
    nearest: tuple[Mapping[str, Any], list[tuple[str, Any]]] | None = None
    spoken = -1
    for rank, place, row in in_order(rows, call.compute_capability):
        if rank < spoken:
            break
        failing = _failing(row, call, untested)
        fields = {field for field, _ in failing}
        if not fields & {"compute_capability", *IDENTITY}:
            spoken = rank
        if row["refuses"] is not None:  # such a row has no features: it refuses with any
            if fields <= {"features"}:
                refusal = refusal or row["refuses"]
        elif not failing:
            if not refusal:
                return Standing(place, "", ())
        elif nearest is None or len(failing) < len(nearest[1]):
            nearest = row, failing
    return Standing(None, refusal, _told(*nearest, call) if nearest else ())


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
        failing = {field for field, _ in _failing(row, call, untested=True)}
        if row["refuses"] is None and failing <= {"query_heads"}:
            taken |= int_axis(row["query_heads"])
    return taken


def takes(row: Mapping[str, Any], call: Call, field: str, *, untested: bool = False) -> bool:
    """Whether a row takes one field of a call, whatever it says of the others."""
    if field == "compute_capability":
        return is_for(row, call.compute_capability)
    if field == "provider":
        name, version = call.provider
        accepted = row["versions"].get(name, "none")
        if accepted in ("any", "none", "unknown"):
            return accepted == "any" or (accepted == "unknown" and untested)
        return _specifier(accepted).contains(parse_version(version))
    if field == "features":
        return not _untaken(row, call, untested)
    value = getattr(call, field)
    accepted = row[AXIS_KEYS[field]]
    if field == "extra_kv_format":
        accepted = accepted or [call.kv_format]
    if value is None or accepted == "any":
        return True
    if accepted == "unknown":
        return untested
    return value in (int_axis(accepted) if field in _INTS else accepted)


def _failing(row: Mapping[str, Any], call: Call, untested: bool) -> list[tuple[str, Any]]:
    """The fields of the call that the row does not take, with their values; features one by one."""
    found = [
        (field, getattr(call, field))
        for field in FIELDS
        if not takes(row, call, field, untested=untested)
    ]
    if call.features:
        found += [("features", name) for name in _untaken(row, call, untested)]
    return found


def _untaken(row: Mapping[str, Any], call: Call, untested: bool) -> list[str]:
    known, unknown = row["features"]["known"], row["features"]["unknown"]
    taken = (*known, *unknown) if untested else known
    return [name for name in call.features if name not in taken]


def _told(
    row: Mapping[str, Any], failing: Sequence[tuple[str, Any]], call: Call
) -> tuple[Failure, ...]:
    """What a row does not take of a call, in words."""
    return tuple(_failure(row, call, field, value) for field, value in failing)


def _failure(row: Mapping[str, Any], call: Call, field: str, value: Any) -> Failure:
    if field == "compute_capability":
        return Failure(field, format_capability(value), _words(row["compute_capability"]))
    if field == "provider":
        return Failure(field, "==".join(value), _versions_words(row["versions"], value[0]))
    if field == "features":
        return Failure(field, value, _words(row["features"]["known"]) or "none")
    accepted = row[AXIS_KEYS[field]]
    if accepted == "unknown":
        return Failure(field, value, "what nobody has established")
    if field in _INTS:
        return Failure(field, value, str(int_axis(accepted)))
    return Failure(field, value, _words(accepted or [call.kv_format]))


def is_for(row: Mapping[str, Any], compute_capability: tuple[int, int]) -> bool:
    """Whether a row speaks of GPUs of this compute capability."""
    return any(pattern.matches(compute_capability) for pattern in _patterns(row))


def int_axis(axis: Any) -> IntSet:
    """An axis of a row as a set of integers; empty where it is unknown."""
    if axis == "unknown":
        return IntSet()
    items = (i if isinstance(i, int) else (i["multiple_of"], i["min"], i["max"]) for i in axis)
    return _int_set(tuple(items))


@lru_cache(maxsize=1024)
def _int_set(items: tuple[int | tuple[int, int, int | None], ...]) -> IntSet:
    values = [item for item in items if isinstance(item, int)]
    return IntSet(values, [Multiples(*item) for item in items if isinstance(item, tuple)])


def _versions_words(versions: dict[str, str], asked: str) -> str:
    """The versions that a row takes, for one who asked with another of this distribution."""
    needs = ", ".join(
        home if text == "any" else f"{home}{text}"
        for home, text in versions.items()
        if text not in ("none", "unknown")
    )
    if versions.get(asked) == "unknown":
        needs += "; nobody has established this one: untested=True tries it"
    return needs


def _specificity(row: Mapping[str, Any], compute_capability: tuple[int, int]) -> int:
    met = (p.specificity for p in _patterns(row) if p.matches(compute_capability))
    return max(met, default=-1)


def _patterns(row: Mapping[str, Any]) -> list[CapabilityPattern]:
    return [_pattern(text) for text in _listed(row["compute_capability"])]


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
