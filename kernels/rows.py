"""The matrix's rows of a kernel, asked before the kernel is: what it takes, or why it does not.

An adapter asks here when it plans. So a call that a library would refuse late, answer with garbage
or end the process for is refused by the row that says so.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from attnmatrix.capability import CapabilityPattern, format_capability
from attnmatrix.intset import IntSet, Multiples
from attnmatrix.versions import Specifier, Version

from .errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_GPU = (0, 0)


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


class Row(NamedTuple):
    """The row in force: the features it has, and its notes."""

    features: frozenset[str]
    notes: tuple[str, ...]


def capability_of(device: torch.device) -> tuple[int, int]:
    """The compute capability of a device; NO_GPU if it is none."""
    return torch.cuda.get_device_capability(device) if device.type == "cuda" else NO_GPU


def query_heads_taken(kernel: str, call: Call) -> IntSet:
    """The head counts of the rows that take the call in every other respect."""
    taken = IntSet()
    for row in _rows(kernel):
        failing = {field for field, *_ in _failures(row, call, untested=True)}
        if row["refuses"] is None and failing <= {"query_heads"}:
            taken |= _ints(row["query_heads"])
    return taken


def find_row(kernel: str, call: Call, *, untested: bool = False) -> Row:
    """The row that takes the call. With `untested`, what nobody has established is taken too.

    Raises KernelError: the first field that fails in the nearest row, and the others behind it.
    """
    refusal, nearest = "", None
    for row in sorted(_rows(kernel), key=lambda row: -_specificity(row, call)):
        failures = list(_failures(row, call, untested))
        if row["refuses"] is not None:  # such a row has no features: it refuses with any
            if all(field == "features" for field, *_ in failures):
                refusal = refusal or row["refuses"]
        elif not failures:
            if not refusal:
                return Row(frozenset(row["features"]["known"]), tuple(row["notes"]))
        elif nearest is None or len(failures) < len(nearest):
            nearest = failures
    if not nearest:
        raise KernelError("kernel", kernel, "another kernel", refusal)
    (field, value, accepted), *others = nearest
    fix = refusal or "; ".join(f"{name} is {given}, not {taken}" for name, given, taken in others)
    raise KernelError(field, value, f"{accepted}, by {kernel}'s rows", fix)


def _failures(row: dict[str, Any], call: Call, untested: bool) -> Iterator[tuple[str, Any, str]]:
    """Field, value and what is accepted, for each field of the call that the row does not take."""
    patterns = _listed(row["compute_capability"])
    if not any(CapabilityPattern(text).matches(call.compute_capability) for text in patterns):
        yield "compute_capability", format_capability(call.compute_capability), _words(patterns)
    yield from _version_failure(row["versions"], call.provider, untested)
    for field, axis in (("kv_format", "kv_formats"), ("dtype", "dtypes")):
        value, accepted = getattr(call, field), row[axis]
        if accepted != "any" and value not in accepted:
            yield field, value, _words(accepted)
    for field, axis in (
        ("head_size", "head_sizes"),
        ("page_size", "page_sizes"),
        ("query_heads", "query_heads"),
        ("topk", "topk"),
    ):
        value, accepted = getattr(call, field), row[axis]
        if accepted == "unknown":
            if value is not None and not untested:
                yield field, value, "what nobody has established"
        elif value is not None and value not in _ints(accepted):
            yield field, value, str(_ints(accepted))
    extra = call.extra_kv_format
    accepted = row["extra_kv_formats"] or [call.kv_format]
    if extra is not None and accepted != "any" and extra not in accepted:
        yield "extra_kv_format", extra, _words(accepted)
    known, unknown = row["features"]["known"], row["features"]["unknown"]
    for feature in call.features:
        if feature not in known and not (untested and feature in unknown):
            yield "features", feature, _words(known) or "none"


def _version_failure(
    versions: dict[str, str], provider: tuple[str, str], untested: bool
) -> Iterator[tuple[str, Any, str]]:
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
    yield "provider", f"{name}=={version}", needs


def _specificity(row: dict[str, Any], call: Call) -> int:
    patterns = [CapabilityPattern(text) for text in _listed(row["compute_capability"])]
    return max((p.specificity for p in patterns if p.matches(call.compute_capability)), default=-1)


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _words(values: Any) -> str:
    return ", ".join(_listed(values))


def _ints(axis: Any) -> IntSet:
    if axis == "unknown":
        return IntSet()
    values = [item for item in axis if isinstance(item, int)]
    runs = [Multiples(i["multiple_of"], i["min"], i["max"]) for i in axis if isinstance(i, dict)]
    return IntSet(values, runs)


@cache
def _rows(kernel: str) -> list[dict[str, Any]]:
    """Rows as generated: they come with the installed code and change with it alone."""
    folder = files("attnmatrix") / "generated" / "data" / "kernels"
    rows: list[dict[str, Any]] = json.loads((folder / f"{kernel}.json").read_text())["rows"]
    return rows
