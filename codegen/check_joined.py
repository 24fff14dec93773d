"""What each row allows by itself, but no row together with the rest of a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attnmatrix.capability import Capability
from attnmatrix.cell import Cell
from attnmatrix.intset import ANY, IntSet, union
from attnmatrix.request import FEATURES

from .gpus import alike, least, points, shown, union_of
from .join import speaks_of
from .matrix import Matrix
from .problems import Problem
from .schema import Padding, Stored
from .source import Path_
from .variants import claim_path, claimed, resolve

_Claim = tuple[str, Path_, Callable[[list[Cell]], bool]]
"""A claim in words, its place, and whether cells of one GPU hold it."""


def lost(matrix: Matrix, name: str, number: int, phase: str) -> Iterator[Problem]:
    """The claims of a variant that none of its cells takes on some claimed GPU.

    A claim of a dtype, head size, head count, block size or feature need hold for one of the
    KV-cache dtypes; each KV-cache dtype must be taken by something. The first kind of claim that is
    lost is reported; others may follow from it.
    """
    variant = matrix.document.backends[name].variants[number]
    cells = [c for c in matrix.variant_cells(name, number, phase) if c.refuses is None]
    where = [_gpus(cell) for cell in cells]
    groups = [
        (pattern, _answers(points(pattern.text), cells, where))
        for pattern in variant.compute_capability
    ]
    for claims in _claims(matrix, name, number, phase):
        found = []
        for words, path, holds in claims:
            for pattern, group in groups:
                for gpu, here in group:
                    if not holds(here):
                        on = shown(pattern, gpu)
                        found.append(_problem(matrix, name, number, phase, words, path, on, gpu))
                        break
        if found:
            yield from found
            return


def _answers(gpus: int, cells: list[Cell], where: list[int]) -> list[tuple[Capability, list[Cell]]]:
    """For each group of GPUs on which the same cells answer: its least GPU, and those cells."""
    return [
        (least(group), [c for c, covered in zip(cells, where, strict=True) if covered & group])
        for group in alike(gpus, where)
    ]


def _gpus(cell: Cell) -> int:
    return union_of(cell.compute_capability) & ~union_of(cell.except_capability)


def _claims(matrix: Matrix, name: str, number: int, phase: str) -> Iterator[list[_Claim]]:
    """The claims of a variant, one kind after the other."""
    backend = matrix.document.backends[name]
    variant = backend.variants[number]
    path: Path_ = ("backends", name, "variants", number)

    def holder(axis: str, i: int) -> Path_:
        return (*claim_path(name, number, variant, axis), i)

    def any_cell(takes: Callable[[Cell], bool]) -> Callable[[list[Cell]], bool]:
        return lambda cells: any(map(takes, cells))

    def together(axis: str, wanted: IntSet) -> Callable[[list[Cell]], bool]:
        return lambda cells: wanted <= union(getattr(cell, axis) for cell in cells)

    yield [
        (
            f"KV-cache dtype {key}",
            (*path, "kv_cache_dtypes", key),
            any_cell(lambda cell, key=key: key in cell.spellings),  # type: ignore[misc]
        )
        for key, target in variant.kv_cache_dtypes.items()
        if resolve(variant, key) is not None
        and (isinstance(target, Stored) or resolve(variant, key) not in variant.kv_cache_dtypes)
    ]
    yield [
        (
            f"dtype {dtype}",
            holder("dtypes", i),
            any_cell(lambda cell, dtype=dtype: dtype in cell.dtypes),  # type: ignore[misc]
        )
        for i, dtype in enumerate(claimed(backend, variant, "dtypes"))
    ]
    sizes = claimed(backend, variant, "head_sizes")
    yield [
        (
            f"head size {size}",
            holder("head_sizes", i),
            any_cell(lambda cell, size=size: size in cell.head_sizes),  # type: ignore[misc]
        )
        for i, size in enumerate(sizes if isinstance(sizes, list) else [])
    ]
    if isinstance(sizes, IntSet):
        where = claim_path(name, number, variant, "head_sizes")
        yield [(f"head sizes {sizes}", where, together("head_sizes", sizes))]
    heads, blocks = variant.query_heads, variant.block_sizes
    if isinstance(heads, Padding):
        yield [
            (
                f"padding to {count} query heads",
                (*path, "query_heads", "pad_to", i),
                any_cell(lambda cell, count=count: count in cell.padded_to),  # type: ignore[misc]
            )
            for i, count in enumerate(heads.pad_to)
        ]
    for words, axis, claim in (
        ("query heads", "query_heads", heads),
        ("block sizes", "block_sizes", blocks),
    ):
        if isinstance(claim, IntSet) and claim != ANY:
            yield [(f"{words} {claim}", (*path, axis), together(axis, claim))]
    features = claimed(backend, variant, "features")
    if phase == "decode":  # a backend's features are what its decode takes
        yield [
            (
                f"feature {name_}",
                holder("features", i),
                any_cell(
                    lambda cell, name_=name_: name_ in (*cell.features, *cell.unknown_features)  # type: ignore[misc]
                ),
            )
            for i, name_ in enumerate(features)
            if name_ in FEATURES
        ]


def _problem(
    matrix: Matrix,
    name: str,
    number: int,
    phase: str,
    words: str,
    path: Path_,
    where: str,
    gpu: Capability,
) -> Problem:
    kernel_name = getattr(matrix.document.backends[name].variants[number].kernels, phase)
    rows = matrix.document.kernels[kernel_name].rows
    near = [i for i, row in enumerate(rows) if speaks_of(row, gpu)]
    others = tuple(
        (
            matrix.source.place(("kernels", kernel_name, "rows", i)),
            "a row that refuses there" if rows[i].refuses else "a row for that GPU",
        )
        for i in near[:3]
    )
    return Problem(
        matrix.source.place(path),
        "claim-outside-kernel",
        f"{name} claims {words} on {where}, but no row of {kernel_name} takes it together with the "
        "rest of the claim",
        "on one GPU the rows with the most specific compute capability answer, less those that "
        "refuse: compare their formats, dtypes, head sizes, heads, pages, topk and features",
        others,
    )
