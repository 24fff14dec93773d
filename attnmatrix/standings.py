"""A kernel's rows and exceptions for one GPU and one library version, asked about many cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .request import FEATURES
from .rows import IDENTITY, Call, failures, in_order

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
    "features": {"known": list(FEATURES), "unknown": []},
}
_FIELDS = (
    *IDENTITY,
    "page_size",
    "query_heads",
    "topk",
    "extra_kv_format",
    "features",
    "compute_capability",
    "provider",
)


class RowIndex:
    """The rows of a kernel on one GPU with one provider: `row(case)` is what `rows.judge` finds.

    Each value of an axis is judged once: it has bits for the rows that take it, in the order in
    which rows are asked. Thousands of cases then take about a microsecond each.
    """

    __slots__ = ("_gpu", "_places", "_provider", "_ranks", "_refusing", "_rows", "_tables")

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
        self._tables: tuple[dict[Any, int], ...] = tuple({} for _ in _FIELDS)

    def row(self, case: Mapping[str, Any]) -> int | None:
        """The place of the row that takes a case (every axis of it by name); None if none does."""
        kv_format, extra = case["kv_format"], case["extra_kv_format"]
        values = (
            kv_format,
            case["dtype"],
            case["head_size"],
            case["page_size"],
            case["query_heads"],
            case["topk"],
            (kv_format, extra),
            tuple(case["features"]),
            None,
            None,
        )
        formats, dtypes, sizes, pages, heads, topk, extras, features, gpus, providers = self._tables
        try:
            known = gpus[None] & formats[kv_format] & dtypes[values[1]] & sizes[values[2]]
            known_features = features[values[7]]
            taken = known & pages[values[3]] & heads[values[4]] & topk[values[5]] & providers[None]
            taken &= extras[values[6]]
        except KeyError:
            self._learn(values, extra)
            return self.row(case)
        if not taken:
            return None
        taken &= self._ranks[(known & -known).bit_length() - 1]
        refusing = taken & self._refusing
        taking = taken & ~refusing & known_features
        first = taking & -taking
        if not taking or (refusing and refusing & -refusing < first):
            return None
        return self._places[first.bit_length() - 1]

    def _learn(self, values: tuple[Any, ...], extra: str | None) -> None:
        """Judges each of these values by every row."""
        axes = dict(zip(_FIELDS[:6], values, strict=False))
        call = Call(self._gpu, self._provider, **axes, extra_kv_format=extra, features=values[7])
        failing = [{failure.field for failure in failures(row, call)} for row in self._rows]
        for field, value, table in zip(_FIELDS, values, self._tables, strict=True):
            table[value] = sum(1 << i for i, fields in enumerate(failing) if field not in fields)


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
    row["features"] = _ANY_ROW["features"]
    return not any(failures(row, call))
