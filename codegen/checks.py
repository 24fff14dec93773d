"""Cross-checks: one function a rule. Each takes the matrix and yields what it finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

from attnmatrix.gpus import fold
from attnmatrix.spelling import did_you_mean

from .check_backends import (
    blocks_can_be_cut,
    phases_fit,
    stored_dtypes_narrow,
    variants_narrow,
    versions_exist,
)
from .check_claims import claims_within_kernels
from .check_exceptions import declarations_lead_somewhere, exceptions_lead_somewhere
from .check_formats import formats_add_up, names_say_what_is_stored
from .check_models import models_agree, models_lead_somewhere
from .check_rows import rows_agree
from .matrix import Matrix
from .problems import Problem
from .scalars import MODEL_DTYPE
from .schema import Stored, Variant
from .source import Path_
from .variants import claimed, resolve, size_set

Rule = Callable[[Matrix], Iterator[Problem]]


def names_lead_somewhere(matrix: Matrix) -> Iterator[Problem]:
    """Every name that refers to another entry must find it."""
    document = matrix.document

    def look(kind: str, name: str, known: Iterable[str], path: Path_) -> Iterator[Problem]:
        if name not in (names := list(known)):
            yield Problem(
                matrix.source.place(path),
                "unknown-name",
                f"there is no {kind} {name!r}{did_you_mean(name, names)}",
                f"known: {', '.join(names)}",
            )

    for name, kernel in document.kernels.items():
        path: Path_ = ("kernels", name)
        yield from look("library", kernel.library, document.libraries, (*path, "library"))
        for i, row in enumerate(kernel.rows):
            for axis in ("kv_formats", "extra_kv_formats"):
                formats = getattr(row, axis)
                for j, item in enumerate(formats if formats != "any" else ()):
                    yield from look(
                        "KV format", item, document.kv_formats, (*path, "rows", i, axis, j)
                    )
            yield from _providers(matrix, kernel.library, row.versions, (*path, "rows", i))
    for name, backend in document.backends.items():
        path = ("backends", name)
        yield from _features(matrix, backend.features, (*path, "features"))
        for i, variant in enumerate(backend.variants):
            at: Path_ = (*path, "variants", i)
            yield from _features(matrix, variant.features or [], (*at, "features"))
            kernels = [*document.kernels, "none"]
            for phase in ("decode", "prefill"):
                target = getattr(variant.kernels, phase)
                if target is not None:
                    yield from look("kernel", target, kernels, (*at, "kernels", phase))
            for key, target in variant.kv_cache_dtypes.items():
                if isinstance(target, Stored):
                    where: Path_ = (*at, "kv_cache_dtypes", key)
                    undescribed = ["none"] if variant.kernels.decode == "none" else []
                    for part in ("format", "extra_format"):
                        value = getattr(target, part)
                        if value is not None:
                            formats = [*document.kv_formats, *undescribed]
                            yield from look("KV format", value, formats, (*where, part))
            prefill_format = variant.kernels.prefill_format
            if prefill_format is not None:
                where = (*at, "kernels", "prefill_format")
                yield from look("KV format", prefill_format, document.kv_formats, where)
    distributions = [d for entry in document.libraries.values() for d in entry.providers]
    engines = [d for backend in document.backends.values() for d in backend.engines]
    speakers = [*document.kernels, *document.backends, *dict.fromkeys((*distributions, *engines))]
    for i, error in enumerate(document.errors):
        kind = "kernel, backend or distribution"
        yield from look(kind, error.by, speakers, ("errors", i, "by"))
        if error.says in (before := [other.says for other in document.errors[:i]]):
            yield Problem(
                matrix.source.place(("errors", i, "says")),
                "duplicate-claim",
                "these words stand twice",
                "keep one of the two",
                ((matrix.source.place(("errors", before.index(error.says), "says")), "the first"),),
            )
    variants = [v for backend in document.backends.values() for v in backend.variants]
    spellings = list(dict.fromkeys(name for v in variants for name in v.kv_cache_dtypes))
    for i, priority in enumerate(document.priorities):
        for j, name in enumerate(priority.when.kv_cache_dtype or []):
            path = ("priorities", i, "when", "kv_cache_dtype", j)
            yield from look("KV-cache dtype", name, spellings, path)
        for j, name in enumerate(priority.order):
            path = ("priorities", i, "order", j)
            yield from look("backend", name, document.backends, path)
            if name in priority.order[:j]:
                message = f"{name} stands twice in this order"
                yield Problem(
                    matrix.source.place(path), "duplicate-claim", message, "leave one out"
                )


def _features(matrix: Matrix, names: list[str], path: Path_) -> Iterator[Problem]:
    from attnmatrix.request import FEATURES

    for i, name in enumerate(names):
        if name not in FEATURES:
            message = f"there is no feature {name!r}{did_you_mean(name, FEATURES)}"
            hint = f"known: {', '.join(FEATURES)}"
            yield Problem(matrix.source.place((*path, i)), "unknown-name", message, hint)


def _providers(
    matrix: Matrix, library: str, versions: dict[str, str], row: Path_
) -> Iterator[Problem]:
    if library not in matrix.document.libraries:
        return
    known = matrix.document.libraries[library].providers
    path: Path_ = (*row, "versions")
    for name in versions:
        if name not in known:
            message = f"{name!r} does not ship {library}{did_you_mean(name, known)}"
            hint = f"its providers: {', '.join(known)}"
            place = matrix.source.place((*path, name), key=True)
            yield Problem(place, "unknown-name", message, hint)
    for name in known:
        if name not in versions:
            message = f"the row says nothing of {name}, which ships {library}"
            hint = f'write {name}: ">=X.Y", any, none (not in it) or unknown'
            yield Problem(matrix.source.place(path, key=True), "missing-key", message, hint)


def aliases_end(matrix: Matrix) -> Iterator[Problem]:
    """An alias must lead to a KV-cache dtype with a format, without a circle."""
    for name, backend in matrix.document.backends.items():
        for i, variant in enumerate(backend.variants):
            for key, target in variant.kv_cache_dtypes.items():
                path: Path_ = ("backends", name, "variants", i, "kv_cache_dtypes", key)
                place = matrix.source.place(path)
                stored = [k for k, v in variant.kv_cache_dtypes.items() if isinstance(v, Stored)]
                hint = f"with a format of their own: {', '.join(stored) or 'none'}"
                if isinstance(target, Stored):
                    continue
                end = resolve(variant, key)
                if end == MODEL_DTYPE:
                    absent = [d for d in claimed(backend, variant, "dtypes") if d not in stored]
                    if absent:
                        message = f"{key} follows the model's dtype, but {absent[0]} has no format"
                        yield Problem(place, "alias-dead-end", message, hint)
                elif end is None:
                    chain, step = [key], target
                    while isinstance(step, str) and step not in chain:
                        chain.append(step)
                        step = variant.kv_cache_dtypes.get(step)
                    if isinstance(step, str):
                        message = f"{' -> '.join([*chain, step])} is a circle"
                        yield Problem(place, "alias-cycle", message, hint)
                    else:
                        if chain[-1] in matrix.document.kv_formats:
                            hint = f"it is a KV format: write {{format: {chain[-1]}}}"
                        near = did_you_mean(chain[-1], stored)
                        message = f"{key} leads to {chain[-1]!r}, which is not defined here{near}"
                        yield Problem(place, "alias-dead-end", message, hint)


def one_meaning_a_gpu(matrix: Matrix) -> Iterator[Problem]:
    """On one GPU a KV-cache dtype of a backend means one thing."""
    from .gpus import meets

    for name, backend in matrix.document.backends.items():
        for (i, a), (j, b) in combinations(enumerate(backend.variants), 2):
            common = meets(a.compute_capability, b.compute_capability)
            for key in a.kv_cache_dtypes:
                if not common or key not in b.kv_cache_dtypes:
                    continue
                if _apart(a, b):
                    continue
                first = matrix.source.place(
                    ("backends", name, "variants", i, "kv_cache_dtypes", key), key=True
                )
                yield Problem(
                    matrix.source.place(
                        ("backends", name, "variants", j, "kv_cache_dtypes", key), key=True
                    ),
                    "duplicate-claim",
                    f"{key} has a meaning on {', '.join(common)} already",
                    "give each GPU one variant that defines it",
                    ((first, "the first"),),
                )


def _apart(a: Variant, b: Variant) -> bool:
    """Whether two variants name no common dtype, or no common head size."""
    if a.dtypes is not None and b.dtypes is not None and set(a.dtypes).isdisjoint(b.dtypes):
        return True
    if a.head_sizes is None or b.head_sizes is None:
        return False
    return not size_set(a.head_sizes) & size_set(b.head_sizes)


def everything_is_used(matrix: Matrix) -> Iterator[Problem]:
    """An entry that nothing uses is a leftover, or a misspelling elsewhere."""
    document = matrix.document
    rows = [row for kernel in document.kernels.values() for row in kernel.rows]
    axes = [axis for row in rows for axis in (row.kv_formats, row.extra_kv_formats)]
    formats = {name for axis in axes if axis != "any" for name in axis}
    variants = [v for backend in document.backends.values() for v in backend.variants]
    for variant in variants:
        formats.add(variant.kernels.prefill_format or "")
        for target in variant.kv_cache_dtypes.values():
            if isinstance(target, Stored):
                formats |= {target.format, target.extra_format or target.format}
    kernels = {name for v in variants for name in (v.kernels.decode, v.kernels.prefill)}
    libraries = {kernel.library for kernel in document.kernels.values()}
    for kind, entries, used, user in (
        ("kv_formats", document.kv_formats, formats, "kernel row or backend"),
        ("kernels", document.kernels, kernels, "backend"),
        ("libraries", document.libraries, libraries, "kernel"),
    ):
        for name in entries:
            if name not in used:
                place = matrix.source.place((kind, name), key=True)
                message = f"no {user} uses {name!r}"
                yield Problem(place, "unused-entry", message, "use it or take it out")


def names_stay_apart(matrix: Matrix) -> Iterator[Problem]:
    """Names become file and module names: they must differ in more than case and punctuation."""
    document = matrix.document
    gpus: dict[str, str] = {}
    for name in document.gpus:
        if fold(name) in gpus:
            message = f"{name!r} and {gpus[fold(name)]!r} are read as one GPU name"
            place = matrix.source.place(("gpus", name), key=True)
            yield Problem(place, "duplicate-name", message, "take one out")
        gpus.setdefault(fold(name), name)
    for kind in ("kv_formats", "kernels", "backends"):
        seen: dict[str, str] = {}
        for name in getattr(document, kind):
            folded = re.sub(r"[^a-z0-9]+", "_", name.lower())
            if folded in seen:
                place = matrix.source.place((kind, name), key=True)
                message = f"{name!r} and {seen[folded]!r} would share the file {folded}"
                yield Problem(place, "duplicate-name", message, "rename one")
            seen.setdefault(folded, name)


_NAMES_FIRST: tuple[Rule, ...] = (
    names_lead_somewhere,
    exceptions_lead_somewhere,
    declarations_lead_somewhere,
    models_lead_somewhere,
    names_stay_apart,
    aliases_end,
)
_THEN: tuple[Rule, ...] = (
    formats_add_up,
    names_say_what_is_stored,
    rows_agree,
    versions_exist,
    variants_narrow,
    stored_dtypes_narrow,
    blocks_can_be_cut,
    phases_fit,
    one_meaning_a_gpu,
    claims_within_kernels,
    models_agree,
    everything_is_used,
)
CHECKS: tuple[Rule, ...] = _NAMES_FIRST + _THEN
"""All rules. Each copes with what another one reports."""
