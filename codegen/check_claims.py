"""The rule that this project began with: a backend may claim only what its kernel's rows allow."""

from __future__ import annotations

from collections.abc import Iterator

from attnmatrix.capability import Capability, format_capability
from attnmatrix.intset import ANY, IntSet, union
from attnmatrix.request import FEATURES

from .check_joined import lost
from .gpus import alike, all_points, least, points, shown
from .join import speaks_of
from .matrix import Matrix
from .problems import Place, Problem
from .schema import Backend, Kernel, Padding, Row, Stored, Variant
from .source import Path_
from .variants import claim_path, claimed, formats_read, stored_dtypes

_CODE = "claim-outside-kernel"


def claims_within_kernels(matrix: Matrix) -> Iterator[Problem]:
    """Each claimed value, on each claimed GPU, must be in a row of the kernel that serves it."""
    for name, backend in matrix.document.backends.items():
        for i, variant in enumerate(backend.variants):
            for phase in ("decode", "prefill"):
                kernel = matrix.document.kernels.get(getattr(variant.kernels, phase) or "none")
                if kernel is None:
                    continue
                claim = _Claim(matrix, name, backend, i, variant, phase, kernel)
                found = list(claim.problems())
                if not found and claim.formats_known():
                    found = list(lost(matrix, name, i, phase))
                yield from found


class _Claim:
    """One variant held against one kernel."""

    def __init__(
        self,
        matrix: Matrix,
        name: str,
        backend: Backend,
        number: int,
        variant: Variant,
        phase: str,
        kernel: Kernel,
    ) -> None:
        self.matrix = matrix
        self.name = name
        self.backend = backend
        self.number = number
        self.path: Path_ = ("backends", name, "variants", number)
        self.variant = variant
        self.phase = phase
        self.kernel_name = getattr(variant.kernels, phase)
        self.rows = [(i, row) for i, row in enumerate(kernel.rows) if row.refuses is None]

    def problems(self) -> Iterator[Problem]:
        served: list[tuple[int, Row]] = []
        for dtype, (stored, _) in stored_dtypes(self.variant).items():
            name, _ = formats_read(self.variant, stored, self.phase)
            if not self._known_formats(name):
                continue  # reported as an unknown name
            listing = [
                (i, row)
                for i, row in self.rows
                if row.kv_formats == "any" or name in row.kv_formats
            ]
            served += [pair for pair in listing if pair not in served]
            path = (*self.path, "kv_cache_dtypes", dtype)
            claim = f"KV-cache dtype {dtype} (format {name})"
            yield from self._uncovered(claim, path, listing, "kv_formats")
            if stored.query_dtype is not None:
                takes = [
                    (i, row)
                    for i, row in listing
                    if isinstance(row.dtypes, str) or stored.query_dtype in row.dtypes
                ]
                path = (*path, "query_dtype")
                yield from self._uncovered(
                    f"query dtype {stored.query_dtype}", path, takes, "dtypes"
                )
        if served:
            yield from self._values(served)

    def formats_known(self) -> bool:
        """Whether every format that the variant or the kernel names is there."""
        targets = self.variant.kv_cache_dtypes.values()
        return all(self._known_formats(t.format) for t in targets if isinstance(t, Stored))

    def _known_formats(self, name: str) -> bool:
        """Whether the format, and every one that the kernel's rows list, is there."""
        listed = {f for _, row in self.rows for f in row.kv_formats if row.kv_formats != "any"}
        return {name, *listed} <= set(self.matrix.document.kv_formats)

    def _values(self, served: list[tuple[int, Row]]) -> Iterator[Problem]:
        """The claims that hold for every KV-cache dtype together: some row must take each value.

        `any` claims nothing of its own: the backend then takes what its kernel's rows take.
        """
        variant, backend = self.variant, self.backend
        casts = {stored.query_dtype for stored, _ in stored_dtypes(variant).values()}
        if casts <= {None}:
            holder = claim_path(self.name, self.number, variant, "dtypes")
            for i, dtype in enumerate(claimed(backend, variant, "dtypes")):
                takes = [
                    (n, r) for n, r in served if isinstance(r.dtypes, str) or dtype in r.dtypes
                ]
                yield from self._uncovered(f"dtype {dtype}", (*holder, i), takes, "dtypes", served)
        sizes = claimed(backend, variant, "head_sizes")
        if isinstance(sizes, list):
            holder = claim_path(self.name, self.number, variant, "head_sizes")
            for i, size in enumerate(sizes):
                takes = [(n, r) for n, r in served if _takes(r.head_sizes, IntSet([size]))]
                yield from self._uncovered(
                    f"head size {size}", (*holder, i), takes, "head_sizes", served
                )
        elif isinstance(sizes, IntSet):
            path = claim_path(self.name, self.number, variant, "head_sizes")
            yield from self._uncovered_set(f"head sizes {sizes}", path, served, "head_sizes", sizes)
        pages = IntSet([variant.page_size]) if variant.page_size else variant.block_sizes
        if isinstance(pages, IntSet) and pages != ANY:
            key = "page_size" if variant.page_size else "block_sizes"
            path = (*self.path, key)
            yield from self._uncovered_set(f"page size {pages}", path, served, "page_sizes", pages)
        heads = variant.query_heads
        counts = [IntSet([n]) for n in heads.pad_to] if isinstance(heads, Padding) else [heads]
        for count in counts:
            if isinstance(count, IntSet) and count != ANY:
                path = (*self.path, "query_heads")
                claim = f"query heads {count}"
                yield from self._uncovered_set(claim, path, served, "query_heads", count)
        if self.phase == "prefill":
            return  # a backend's features are what its decode takes
        holder = claim_path(self.name, self.number, variant, "features")
        for i, feature in enumerate(claimed(backend, variant, "features")):
            if feature not in FEATURES:
                continue  # reported as an unknown name
            takes = [
                (n, r) for n, r in served if feature in (*r.features.known, *r.features.unknown)
            ]
            yield from self._uncovered(
                f"feature {feature}", (*holder, i), takes, "features", served
            )

    def _uncovered(
        self,
        claim: str,
        path: Path_,
        takes: list[tuple[int, Row]],
        axis: str,
        served: list[tuple[int, Row]] | None = None,
    ) -> Iterator[Problem]:
        """A problem for each GPU pattern that the rows do not cover, among the GPUs of `served`:
        a GPU that no row serves is reported once, with the KV-cache dtype."""
        missed: list[tuple[int, Capability]] = []
        covered = _gpus(takes)
        asked = None if served is None else _gpus(served)
        for i, pattern in enumerate(self.variant.compute_capability):
            left = points(pattern.text) & ~covered
            if asked is not None:
                left &= asked
            if left:
                missed.append((i, least(left)))
        if missed:
            yield from self._problems(claim, path, missed, axis)

    def _uncovered_set(
        self, claim: str, path: Path_, served: list[tuple[int, Row]], axis: str, wanted: IntSet
    ) -> Iterator[Problem]:
        """As `_uncovered`, for a set that several rows may cover together."""
        missed: list[tuple[int, Capability]] = []
        where = [(all_points(row.compute_capability), getattr(row, axis)) for _, row in served]
        for i, pattern in enumerate(self.variant.compute_capability):
            for group in alike(points(pattern.text), (covered for covered, _ in where)):
                axes = [value for covered, value in where if covered & group]
                if axes and not _together(axes, wanted):
                    missed.append((i, least(group)))
                    break
        if missed:
            yield from self._problems(claim, path, missed, axis)

    def _problems(
        self, claim: str, path: Path_, missed: list[tuple[int, Capability]], axis: str
    ) -> Iterator[Problem]:
        """One problem for the GPUs that have rows, and one for each GPU that has none."""
        with_rows: list[tuple[str, int]] = []
        hint = "take the claim out, or add a row with a source that shows that the kernel takes it"
        for i, gpu in missed:
            pattern = self.variant.compute_capability[i]
            near = [n for n, row in self.rows if speaks_of(row, gpu)]
            if near:
                with_rows.append((shown(pattern, gpu), near[0]))
                continue
            gpus = dict.fromkeys(p.text for _, row in self.rows for p in row.compute_capability)
            told = f"rows are for {', '.join(gpus)}" if gpus else "every row refuses"
            yield Problem(
                self.matrix.source.place((*self.path, "compute_capability", i)),
                _CODE,
                f"{self.name} is for {pattern.text}, "
                f"but no row of {self.kernel_name} is for {format_capability(gpu)}",
                hint,
                ((self._row_place(self.rows[0][0] if self.rows else 0), told),),
            )
        if with_rows:
            rows = [row for n, row in self.rows if n in {number for _, number in with_rows}]
            accepted = ", ".join(dict.fromkeys(v for row in rows for v in _axis_words(row, axis)))
            yield Problem(
                self.matrix.source.place(path),
                _CODE,
                f"{self.name} claims {claim} on {', '.join(gpu for gpu, _ in with_rows)}, "
                f"but no row of {self.kernel_name} allows it",
                hint,
                ((self._row_place(with_rows[0][1]), f"rows there take {axis}: {accepted}"),),
            )

    def _row_place(self, number: int) -> Place:
        return self.matrix.source.place(("kernels", self.kernel_name, "rows", number))


def _gpus(rows: list[tuple[int, Row]]) -> int:
    found = 0
    for _, row in rows:
        found |= all_points(row.compute_capability)
    return found


def _together(axes: list[IntSet | str], wanted: IntSet) -> bool:
    known = [axis for axis in axes if isinstance(axis, IntSet)]
    return len(known) < len(axes) or wanted <= union(known)


def _takes(axis: IntSet | str, claim: IntSet) -> bool:
    return isinstance(axis, str) or claim <= axis


def _axis_words(row: Row, axis: str) -> list[str]:
    value = row.features.known if axis == "features" else getattr(row, axis)
    if isinstance(value, str):
        return [value]
    return [str(item) for item in value]
