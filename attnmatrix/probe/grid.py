"""Which cases are tried: all that lie near what a kernel claims, and one a KV format and dtype.

A centre is a case that a row takes, or might: nobody has established it. Around it each axis varies
alone, then every two together, less two values neither of which a row takes alone. Where no row
takes a KV format and dtype, one case of them is tried all the same. So what goes wrong with three
axes at once alone goes unseen.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from ..rows import int_axis, is_for, judge
from ..standings import RowIndex
from ..versions import Specifier, Version
from .axes import (
    DTYPES,
    FEATURE_SETS,
    HEAD_SIZES,
    OF_INDICES,
    PAGE_SIZES,
    PREFERRED,
    QUERY_HEADS,
    ROW_AXES,
    TOPK,
)
from .case import Case

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .claims import Claims


class Narrowing(NamedTuple):
    """What a user wants tried of a grid.

    vary: axes that may differ from a centre, or empty for all. values: by axis, those wanted, also
    if the grid has no such value. quick: no pairs, and one dtype a format that no row takes.
    """

    vary: frozenset[str] = frozenset()
    values: Mapping[str, tuple[Any, ...]] = {}
    quick: bool = False

    @property
    def narrows(self) -> bool:
        """Whether anything is left out."""
        return bool(self.vary or self.values or self.quick)

    def keeps(self, case: Case, varied: frozenset[str]) -> bool:
        """Whether a case that differs from its centre on these axes is wanted."""
        if self.vary and not varied <= self.vary:
            return False
        return all(getattr(case, axis) in wanted for axis, wanted in self.values.items())


class Grid:
    """The cases of one kernel, on one GPU, with one provider of its library.

    formats: head size by KV format, in the order in which they are tried.
    """

    def __init__(
        self,
        claims: Claims,
        capability: tuple[int, int],
        provider: tuple[str, str],
        formats: Mapping[str, int],
        narrowing: Narrowing | None = None,
    ) -> None:
        self.claims, self.formats = claims, formats
        self.narrowing = narrowing or Narrowing()
        self._capability, self._provider = capability, provider
        self._index = RowIndex(claims.rows, capability, provider)
        self._here = [row for row in claims.rows if is_for(row, capability)]
        self._in_force = [row for row in self._here if _ships(row, provider)]
        self._sparse = any(row["topk"] for row in claims.rows)

    def claimed(self, case: Case) -> bool:
        """Whether a row takes the case."""
        return self._index.row(case.axes()) is not None

    def _plausible(self, case: Case) -> bool:
        """Whether a row takes the case, or might: nobody has established it."""
        call = case.call(self._capability, self._provider)
        return judge(self.claims.rows, call, untested=True).row is not None

    def cases(self) -> list[Case]:
        """Every case once, in the order in which it is found."""
        found: dict[Case, None] = {}
        for case, varied in self._points():
            if self.narrowing.keeps(case, varied):
                found[case] = None
        return list(found)

    def _points(self) -> Iterator[tuple[Case, frozenset[str]]]:
        """Cases, each with the axes on which it differs from its centre."""
        centres = list(self._centres())
        for centre in centres:
            yield from self._around(centre)
        known = {centre.kv_format for centre in centres}
        for kv_format in self.formats:
            row = self._row_for(kv_format)
            for dtype in DTYPES[:1] if self.narrowing.quick else DTYPES:
                varied = {"dtype"} if kv_format in known else {"kv_format", "dtype"}
                yield self._centre(row, kv_format, dtype), frozenset(varied)

    def _centres(self) -> Iterator[Case]:
        """The centre of each KV format and dtype that rows in force take."""
        seen = set()
        for row in self._in_force:
            if row["refuses"] is not None:
                continue
            for kv_format in self.formats if row["kv_formats"] == "any" else row["kv_formats"]:
                for dtype in DTYPES if row["dtypes"] == "any" else row["dtypes"]:
                    centre = self._centre(row, kv_format, dtype)
                    dense = centre.topk is None
                    if (kv_format, dtype, dense) not in seen and self._plausible(centre):
                        seen.add((kv_format, dtype, dense))
                        yield centre

    def _around(self, centre: Case) -> Iterator[tuple[Case, frozenset[str]]]:
        alone = {axis: list(self._moves(centre, axis)) for axis in (*ROW_AXES, "features")}
        yield centre, frozenset()
        for axis, moved in alone.items():
            yield from ((case, frozenset((axis,))) for case in moved)
        for size in sorted({*HEAD_SIZES, *self.formats.values()}):
            yield centre._replace(head_size=size), frozenset(("head_size",))
        for extra in self._extra_formats():
            case = centre._replace(features=("extra_kv_pool",), extra_kv_format=extra)
            yield self._with_indices(case), frozenset(("features", "extra_kv_format"))
        if self.narrowing.quick:
            return
        taken = {case for moved in alone.values() for case in moved if self._plausible(case)}
        for one, other in combinations(alone, 2):
            for first in alone[one]:
                for second in alone[other]:
                    if first in taken or second in taken:
                        both = _moved(first, other, second)
                        if _means_something(both):
                            yield both, frozenset((one, other))

    def _moves(self, centre: Case, axis: str) -> Iterator[Case]:
        """The centre with each other value of one axis."""
        values: Iterable[Any] = FEATURE_SETS
        if axis in ROW_AXES:
            grid = {"query_heads": QUERY_HEADS, "page_size": PAGE_SIZES, "topk": TOPK}[axis]
            listed = [v for row in self._here for v in _bounds(row[ROW_AXES[axis]])]
            if axis == "topk" and not self._sparse:
                grid, listed = (128,), []  # a dense kernel: one call that it should refuse
            values = sorted({*grid, *listed, *self.narrowing.values.get(axis, ())})
        elif axis in self.narrowing.values:
            values = dict.fromkeys((*FEATURE_SETS, *self.narrowing.values[axis]))
        for value in values:
            case = centre._replace(**{axis: value})
            if axis == "features" and "extra_kv_pool" in value:
                case = case._replace(extra_kv_format=centre.kv_format)
            if axis == "features" and {*value} & OF_INDICES:
                case = self._with_indices(case)
            if value != getattr(centre, axis) and _means_something(case):
                yield case

    def _with_indices(self, case: Case) -> Case:
        """The case, with indices where the kernel takes any: some features mean nothing without."""
        if case.topk is None and self._sparse:
            return case._replace(topk=PREFERRED["topk"][0])
        return case

    def _extra_formats(self) -> Iterable[str]:
        has_pool = any("extra_kv_pool" in _features(row) for row in self._here)
        return self.formats if has_pool else ()

    def _row_for(self, kv_format: str) -> Mapping[str, Any]:
        """The row whose shapes suit a KV format best: one that names it, on this GPU if any."""
        rows = [row for row in (*self._in_force, *self._here, *self.claims.rows) if _names(row)]
        naming = (row for row in rows if kv_format in row["kv_formats"])
        return next(naming, rows[0])

    def _centre(self, row: Mapping[str, Any], kv_format: str, dtype: str) -> Case:
        chosen: dict[str, Any] = {}
        for axis, name in ROW_AXES.items():
            taken = int_axis(row[name])
            likely = (*PREFERRED[axis], *_bounds(row[name]))
            chosen[axis] = next((v for v in likely if v in taken), likely[0])
        if not row["topk"] or "causal" in _features(row):  # dense, or both
            del chosen["topk"]
        head_size = self.formats[kv_format]
        return Case(self.claims.kernel, kv_format, dtype, head_size, **chosen)


def _moved(case: Case, axis: str, to: Case) -> Case:
    """The case with one axis as another case has it."""
    values = {axis: getattr(to, axis)}
    if axis == "features":
        values |= {"extra_kv_format": to.extra_kv_format, "topk": case.topk or to.topk}
    return case._replace(**values)


def _means_something(case: Case) -> bool:
    """Indices name the slots that a query sees, so that causal says nothing beside them."""
    return case.topk is None or "causal" not in case.features


def _names(row: Mapping[str, Any]) -> bool:
    return row["refuses"] is None


def _features(row: Mapping[str, Any]) -> set[str]:
    return {*row["features"]["known"], *row["features"]["unknown"]}


def _bounds(axis: Any) -> list[int]:
    """The values that an axis of a row lists, and where its runs begin and end."""
    taken = int_axis(axis)
    ends = [end for run in taken.multiples for end in (run.first, run.maximum)]
    return [*taken.values, *(end for end in ends if end is not None)]


def _ships(row: Mapping[str, Any], provider: tuple[str, str]) -> bool:
    name, version = provider
    accepted = row["versions"].get(name, "none")
    if accepted in ("any", "none", "unknown"):
        return bool(accepted != "none")
    return Specifier(accepted).contains(Version(version))
