"""A kernel's rows and exceptions for one GPU and one library version, asked about many cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import and_, itemgetter
from typing import Any

from .rows import AXIS_KEYS, FIELDS, IDENTITY, Call, in_order, takes

_ANY_INT = [{"multiple_of": 1, "min": 1, "max": None}]
_ANY_ROW: dict[str, Any] = {
    "compute_capability": ["any"],
    "kv_formats": "any",
    "extra_kv_formats": "any",
    "dtypes": "any",
    "head_sizes": _ANY_INT,
    "query_heads": _ANY_INT,
    "page_sizes": _ANY_INT,
    "topk": _ANY_INT,
}
_AXES = (*IDENTITY, "page_size", "query_heads", "topk", "extra_kv_format", "features")


class RowIndex:
    """The rows of a kernel on one GPU with one provider: a case's row is what `rows.judge` finds.

    Each value of an axis has bits for the rows that take it, in the order in which rows are asked,
    and is judged once; cases are taken axis by axis. Thousands take about a microsecond each.
    """

    __slots__ = ("_answers", "_call", "_rows", "_tables")

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        compute_capability: tuple[int, int],
        provider: tuple[str, str],
    ) -> None:
        self._call = Call(compute_capability, provider, "", "", 1, 1, 1)
        asked = in_order(rows, compute_capability)
        self._rows = [row for *_, row in asked]
        self._tables: dict[str, dict[Any, int]] = {axis: {} for axis in _AXES}
        self._answers = _Answers(asked, self._bits("compute_capability", self._call))

    def row(self, case: Mapping[str, Any]) -> int | None:
        """The place of the row that takes a case (every axis of it by name); None if none does."""
        (found,) = self.rows_of([case])
        return found

    def rows_of(self, cases: Sequence[Mapping[str, Any]]) -> list[int | None]:
        """The same of many cases."""
        columns = {axis: list(map(itemgetter(axis), cases)) for axis in _AXES}
        columns["extra_kv_format"] = list(
            zip(columns["kv_format"], columns["extra_kv_format"], strict=True)
        )
        columns["features"] = list(map(tuple, columns["features"]))
        bits = [self._column(axis, column) for axis, column in columns.items()]
        known = list(_all_of(bits[: len(IDENTITY)]))
        taken = _all_of([known, *bits[len(IDENTITY) : -1]])
        return list(map(self._answers.__getitem__, zip(known, taken, bits[-1], strict=True)))

    def _column(self, axis: str, column: Sequence[Any]) -> Iterable[int]:
        """The bits of each value of an axis."""
        table = self._tables[axis]
        for value in {*column} - table.keys():
            if axis == "extra_kv_format":
                changes = dict(zip(("kv_format", axis), value, strict=True))
            else:
                changes = {axis: value}
            table[value] = self._bits(axis, self._call._replace(**changes))
            if axis == "page_size":
                table[value] &= self._bits("provider", self._call)
        return map(table.__getitem__, column)

    def _bits(self, field: str, call: Call) -> int:
        return sum(1 << i for i, row in enumerate(self._rows) if takes(row, call, field))


class _Answers(dict[tuple[int, int, int], "int | None"]):
    """The row of a case by bits: of the rows that speak of it, of those that take it but for its
    features, and of those that take its features. Worked out when first asked for."""

    def __init__(
        self, asked: Sequence[tuple[int, int, Mapping[str, Any]]], on_this_gpu: int
    ) -> None:
        super().__init__()
        self._here = on_this_gpu
        self._places = [place for _, place, _ in asked]
        self._refusing = sum(1 << i for i, (*_, row) in enumerate(asked) if row["refuses"])
        self._alike = [
            sum(1 << i for i, (rank, *_) in enumerate(asked) if rank == own) for own, *_ in asked
        ]

    def __missing__(self, key: tuple[int, int, int]) -> int | None:
        self[key] = found = self._first(*key)
        return found

    def _first(self, known: int, taken: int, with_features: int) -> int | None:
        known &= self._here
        if not known:
            return None
        taken &= known & self._alike[_lowest(known)]
        refusing = taken & self._refusing
        taking = taken & ~refusing & with_features
        if not taking or (refusing and _lowest(refusing) < _lowest(taking)):
            return None
        return self._places[_lowest(taking)]


def _all_of(columns: Sequence[Iterable[int]]) -> Iterable[int]:
    """The bits that each column has, place by place."""
    common, *others = columns
    for column in others:
        common = map(and_, common, column)
    return common


def _lowest(bits: int) -> int:
    """The number of the lowest bit."""
    return (bits & -bits).bit_length() - 1


def excepted(exceptions: Sequence[Mapping[str, Any]], call: Call) -> int | None:
    """The place of the first exception that a call falls under; None if it falls under none.

    An axis that an exception does not name is any; features are met by a call that uses one.
    """
    for place, exception in enumerate(exceptions):
        if _falls_under(exception, call):
            return place
    return None


def excepted_of(
    exceptions: Sequence[Mapping[str, Any]],
    compute_capability: tuple[int, int],
    provider: tuple[str, str],
    cases: Sequence[Mapping[str, Any]],
) -> list[int | None]:
    """The same of many cases on one GPU with one provider, asked once for what tells them apart."""
    columns: dict[str, list[Any]] = {}
    for axis, key in AXIS_KEYS.items():
        if axis == "kv_format" or any(key in named for named in exceptions):
            columns[axis] = list(map(itemgetter(axis), cases))
    if "features" in columns:
        columns["features"] = list(map(tuple, columns["features"]))
    anything = Call(compute_capability, provider, "", "", 1, 1, 1)
    keys = list(zip(*columns.values(), strict=True))
    found = {
        key: excepted(exceptions, anything._replace(**dict(zip(columns, key, strict=True))))
        for key in {*keys}
    }
    return [found[key] for key in keys]


def _falls_under(exception: Mapping[str, Any], call: Call) -> bool:
    if "topk" in exception and call.topk is None:
        return False
    features = exception.get("features")
    if features is not None and not set(features) & set(call.features):
        return False
    row = {**_ANY_ROW, "versions": {call.provider[0]: "any"}, **exception}
    return all(takes(row, call, field) for field in FIELDS)
