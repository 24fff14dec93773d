"""A kernel's rows and exceptions for one GPU and one library version, asked about many cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .rows import FIELDS, Call, in_order, takes

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
class RowIndex:
    """The rows of a kernel on one GPU with one provider: `row(case)` is what `rows.judge` finds.

    Each value of an axis is judged once: it has bits for the rows that take it, in the order in
    which rows are asked. Thousands of cases then take about a microsecond each.
    """

    __slots__ = (
        "_gpu",
        "_here",
        "_places",
        "_provider",
        "_ranks",
        "_refusing",
        "_rows",
        "_shipped",
        "_tables",
    )

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        compute_capability: tuple[int, int],
        provider: tuple[str, str],
    ) -> None:
        self._gpu, self._provider = compute_capability, provider
        asked = in_order(rows, compute_capability)
        self._places = [place for _, place, _ in asked]
        self._rows = [row for _, _, row in asked]
        self._refusing = sum(1 << i for i, row in enumerate(self._rows) if row["refuses"])
        self._ranks = [
            sum(1 << i for i, (rank, *_) in enumerate(asked) if rank == own) for own, *_ in asked
        ]
        self._tables: dict[str, dict[Any, int]] = {field: {} for field in (*FIELDS, "features")}
        call = Call(compute_capability, provider, "", "", 1, 1, 1)
        self._here = self._bits("compute_capability", call)
        self._shipped = self._bits("provider", call)

    def row(self, case: Mapping[str, Any]) -> int | None:
        """The place of the row that takes a case (every axis of it by name); None if none does."""
        tables = self._tables
        kv_format, extra, features = case["kv_format"], case["extra_kv_format"], case["features"]
        try:
            known = (
                self._here
                & tables["kv_format"][kv_format]
                & tables["dtype"][case["dtype"]]
                & tables["head_size"][case["head_size"]]
            )
            taken = (
                known
                & self._shipped
                & tables["page_size"][case["page_size"]]
                & tables["query_heads"][case["query_heads"]]
                & tables["topk"][case["topk"]]
            )
            if extra is not None:
                taken &= tables["extra_kv_format"][kv_format, extra]
            with_features = tables["features"][tuple(features)] if features else -1
        except KeyError:
            self._learn(case)
            return self.row(case)
        if not taken:
            return None
        taken &= self._ranks[(known & -known).bit_length() - 1]
        refusing = taken & self._refusing
        taking = taken & ~refusing & with_features
        first = taking & -taking
        if not taking or (refusing and refusing & -refusing < first):
            return None
        return self._places[first.bit_length() - 1]

    def _learn(self, case: Mapping[str, Any]) -> None:
        """Judges each value of a case that is new by every row."""
        call = Call(self._gpu, self._provider, **{**case, "features": tuple(case["features"])})
        for field, table in self._tables.items():
            value = getattr(call, field)
            key = (call.kv_format, value) if field == "extra_kv_format" else value
            if key not in table:
                table[key] = self._bits(field, call)

    def _bits(self, field: str, call: Call) -> int:
        return sum(1 << i for i, row in enumerate(self._rows) if takes(row, call, field))


def excepted(exceptions: Sequence[Mapping[str, Any]], call: Call) -> int | None:
    """The place of the first exception that a call falls under; None if it falls under none.

    An axis that an exception does not name is any; features are met by a call that uses one.
    """
    for place, exception in enumerate(exceptions):
        if _falls_under(exception, call):
            return place
    return None


def _falls_under(exception: Mapping[str, Any], call: Call) -> bool:
    if "topk" in exception and call.topk is None:
        return False
    features = exception.get("features")
    if features is not None and not set(features) & set(call.features):
        return False
    row = {**_ANY_ROW, "versions": {call.provider[0]: "any"}, **exception}
    return all(takes(row, call, field) for field in FIELDS)
