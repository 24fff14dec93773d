"""Rules about backends by themselves: variants narrow, blocks can be cut, phases fit."""

from __future__ import annotations

from collections.abc import Iterator

from attnmatrix.intset import NONE, IntSet
from attnmatrix.request import FEATURES
from attnmatrix.spelling import did_you_mean
from attnmatrix.versions import Specifier, parse_release

from .check_rows import samples
from .matrix import Matrix
from .problems import Problem
from .schema import Backend, Stored, Variant
from .source import Path_
from .variants import claimed, size_set


def variants_narrow(matrix: Matrix) -> Iterator[Problem]:
    """A variant may claim less than its backend, never more: the backend's lists are the whole."""
    for path, backend, variant in _variants(matrix):
        for axis in ("dtypes", "head_sizes", "features"):
            own, whole = getattr(variant, axis), getattr(backend, axis)
            if own is None or whole == "any":
                continue
            if isinstance(own, IntSet):
                if not own <= size_set(whole):
                    yield Problem(
                        matrix.source.place((*path, axis)),
                        "claim-outside-backend",
                        f"the variant has {own}, but the backend's {axis} are {size_set(whole)}",
                        "widen the backend's, or narrow these",
                    )
                continue
            for i, value in enumerate(own):
                if value not in whole and (axis != "features" or value in FEATURES):
                    yield Problem(
                        matrix.source.place((*path, axis, i)),
                        "claim-outside-backend",
                        f"the variant has {value}, but the backend's {axis} are "
                        f"{', '.join(map(str, whole)) or 'none'}",
                        "add it to the backend's, or take it out here",
                    )


def stored_dtypes_narrow(matrix: Matrix) -> Iterator[Problem]:
    """A KV-cache dtype may be for some of its variant's dtypes, never for others."""
    for path, backend, variant in _variants(matrix):
        whole = claimed(backend, variant, "dtypes")
        for key, target in variant.kv_cache_dtypes.items():
            for i, dtype in enumerate((isinstance(target, Stored) and target.dtypes) or ()):
                if dtype not in whole:
                    yield Problem(
                        matrix.source.place((*path, "kv_cache_dtypes", key, "dtypes", i)),
                        "claim-outside-backend",
                        f"{key} is for {dtype} models, but the dtypes here are {', '.join(whole)}",
                        "add it to the backend's dtypes, or take it out here",
                    )


def blocks_can_be_cut(matrix: Matrix) -> Iterator[Problem]:
    """A block that an engine cuts into pages must hold a whole number of them."""
    for path, _, variant in _variants(matrix):
        size, blocks = variant.page_size, variant.block_sizes
        if size is None or not isinstance(blocks, IntSet):
            continue
        bad = [b for b in blocks.values if b % size]
        bad += [run.first for run in blocks.multiples if run.base % size]
        if bad:
            yield Problem(
                matrix.source.place((*path, "block_sizes")),
                "invalid-value",
                f"a block of {bad[0]} tokens cannot be cut into pages of {size}",
                f"write {{multiple_of: {size}}}, or another page_size",
            )


def phases_fit(matrix: Matrix) -> Iterator[Problem]:
    """A sparse backend needs a kernel that takes indices, a dense one a kernel that takes none."""
    for path, backend, variant in _variants(matrix):
        if variant.kernels.prefill is None and variant.kernels.prefill_format is not None:
            yield Problem(
                matrix.source.place((*path, "kernels", "prefill_format")),
                "unused-entry",
                "a format for prefill, but the variant names no prefill kernel",
                "name the kernel, or take the format out",
            )
        for phase in ("decode", "prefill"):
            kernel = matrix.document.kernels.get(getattr(variant.kernels, phase) or "none")
            if kernel is None or backend.sparse == "any":
                continue
            rows = [row for row in kernel.rows if row.refuses is None]
            dense = [row.topk == NONE for row in rows]
            if rows and (all(dense) if backend.sparse else not any(dense)):
                kind, other = ("sparse", "dense") if backend.sparse else ("dense", "sparse")
                yield Problem(
                    matrix.source.place((*path, "kernels", phase)),
                    "claim-outside-kernel",
                    f"the backend is {kind}, but every row of {getattr(variant.kernels, phase)} "
                    f"is {other} (topk)",
                    "name another kernel, or correct the rows' topk or the backend's sparse",
                )


def versions_exist(matrix: Matrix) -> Iterator[Problem]:
    """A row that no distribution ships, or a range that holds no version, can never be used."""
    providers = {n for lib in matrix.document.libraries.values() for n in lib.providers}
    for name, backend in matrix.document.backends.items():
        known = providers | {parse_release(difference.engine)[0] for difference in backend.differs}
        for engine, text in backend.engines.items():
            path: Path_ = ("backends", name, "engines", engine)
            yield from _satisfiable(matrix, path, text)
            if text == "none":
                message = f"{name} is in no release of {engine}"
                hint = "write the releases that have it, or take the engine out"
                yield Problem(matrix.source.place(path), "invalid-value", message, hint)
            if engine not in known:
                message = f"there is no distribution {engine!r}{did_you_mean(engine, known)}"
                hint = f"known: {', '.join(sorted(known))}"
                place = matrix.source.place(path, key=True)
                yield Problem(place, "unknown-name", message, hint)
    for name, kernel in matrix.document.kernels.items():
        for i, row in enumerate(kernel.rows):
            for provider, text in row.versions.items():
                yield from _satisfiable(
                    matrix, ("kernels", name, "rows", i, "versions", provider), text
                )
            if row.versions and set(row.versions.values()) == {"none"}:
                yield Problem(
                    matrix.source.place(("kernels", name, "rows", i, "versions")),
                    "unreachable-row",
                    "none of the distributions has it",
                    "write unknown where nobody knows, or take the row out",
                )


def _satisfiable(matrix: Matrix, path: Path_, text: str) -> Iterator[Problem]:
    if text in ("any", "none", "unknown"):
        return
    specifier = Specifier(text)
    if not any(map(specifier.contains, samples(specifier))):
        message = f"no version satisfies {text}"
        yield Problem(matrix.source.place(path), "invalid-value", message, "correct the bounds")


def _variants(matrix: Matrix) -> Iterator[tuple[Path_, Backend, Variant]]:
    for name, backend in matrix.document.backends.items():
        for i, variant in enumerate(backend.variants):
            yield ("backends", name, "variants", i), backend, variant
