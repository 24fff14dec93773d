"""Joins a backend's claim with its kernels' rows: the cells, where both agree."""

from __future__ import annotations

from collections.abc import Iterator

from attnmatrix.capability import NO_GPU, Capability, CapabilityPattern, format_capability
from attnmatrix.cell import Cell
from attnmatrix.intset import ANY, NONE, IntSet, Multiples
from attnmatrix.request import FEATURES

from .gpus import all_points, meets, members, points, union_of
from .scalars import MODEL_DTYPE
from .schema import Backend, Document, Kernel, KVFormat, Padding, Row, Stored, Variant
from .variants import claimed, formats_read, resolve, size_set, stored_dtypes


def variant_cells(
    document: Document, backend: Backend, variant: Variant, phase: str
) -> Iterator[Cell]:
    """The cells of one variant in one phase: where it and a row of its kernel agree."""
    kernel_name = getattr(variant.kernels, phase)
    if kernel_name is None:
        return
    kernel = document.kernels.get(kernel_name)
    model_aliases = [n for n in variant.kv_cache_dtypes if resolve(variant, n) == MODEL_DTYPE]
    for name, (stored, spellings) in stored_dtypes(variant).items():
        format_name, extra_format = formats_read(variant, stored, phase)
        for row in kernel.rows if kernel else [None]:
            if row is not None and not _reads(row, format_name, extra_format):
                continue
            cell = _meeting(
                backend,
                variant,
                phase,
                kernel_name,
                kernel,
                row,
                name,
                stored,
                document.kv_formats.get(stored.format),
            )
            if cell is None:
                continue
            aliases = tuple(model_aliases) if name in cell.dtypes else ()
            if cell.dtypes == (name,):
                yield changed(cell, spellings=(*aliases, *spellings))
                continue
            yield changed(cell, spellings=tuple(spellings))
            if aliases:
                yield changed(cell, spellings=aliases, dtypes=(name,))


def _reads(row: Row, format_name: str, extra_format: str | None) -> bool:
    """Whether a row takes a main cache and, if it has its own format, an extra pool."""
    if row.kv_formats != "any" and format_name not in row.kv_formats:
        return False
    extra = row.extra_kv_formats
    return extra_format is None or extra == "any" or extra_format in extra


def changed(cell: Cell, **changes: object) -> Cell:
    """The cell with other values of some attributes."""
    return Cell(**{**{name: getattr(cell, name) for name in Cell.__slots__}, **changes})


def _meeting(
    backend: Backend,
    variant: Variant,
    phase: str,
    kernel_name: str,
    kernel: Kernel | None,
    row: Row | None,
    name: str,
    stored: Stored,
    kv_format: KVFormat | None,
) -> Cell | None:
    """What a variant's claim and one row have in common; None if nothing."""
    unknown: list[str] = []
    dtypes = tuple(claimed(backend, variant, "dtypes"))
    if stored.dtypes is not None:
        dtypes = tuple(d for d in dtypes if d in stored.dtypes)
    sizes = size_set(claimed(backend, variant, "head_sizes"))
    if kv_format is not None:  # what the record holds is what a query meets
        sizes &= IntSet([kv_format.head_size])
    block_sizes = _known(variant.block_sizes, "block_sizes", unknown)
    heads, padded_to = _claimed_heads(variant, unknown)
    features = claimed(backend, variant, "features")
    notes = [*backend.notes, *variant.notes]
    if kernel is None or row is None:
        return Cell(
            phase=phase,
            compute_capability=tuple(p.text for p in variant.compute_capability),
            kernel=None,
            spellings=(),
            kv_cache_dtype=name,
            kv_format=stored.format if kv_format else None,
            extra_kv_format=stored.extra_format,
            bytes_per_token=kv_format.bytes_per_token if kv_format else None,
            dtypes=dtypes,
            head_sizes=sizes,
            query_heads=heads,
            padded_to=padded_to,
            block_sizes=block_sizes,
            page_size=variant.page_size,
            topk=NONE if backend.sparse is False else ANY,
            features=tuple(features),
            unknown_features=tuple(
                f for f in FEATURES if f not in features and f != "attention_sink"
            ),
            engines=backend.engines or None,
            unknown=tuple(unknown),
            sources=tuple(backend.sources),
            notes=tuple(notes),
        )
    takes, leaves = in_force(kernel, row, variant, stored.format)
    if row.dtypes == "unknown":
        unknown.append("dtypes")
    elif row.dtypes != "any":
        if stored.query_dtype is not None:
            dtypes = dtypes if stored.query_dtype in row.dtypes else ()
        else:
            dtypes = tuple(d for d in dtypes if d in row.dtypes)
    sizes &= _known(row.head_sizes, "head_sizes", unknown)
    pages = _known(row.page_sizes, "block_sizes", unknown)
    if variant.page_size is None:
        block_sizes &= pages
    elif variant.page_size not in pages:
        block_sizes = IntSet()
    taken = _known(row.query_heads, "query_heads", unknown)
    if padded_to:
        heads, padded_to = _padded(padded_to, taken)
    else:
        heads &= taken
    topk = _known(row.topk, "topk", unknown)
    if backend.sparse != "any" and backend.sparse == (row.topk == NONE):
        return None  # sparse attention takes indices, dense attention none
    if not (takes and dtypes and sizes and block_sizes and heads):
        return None
    return Cell(
        phase=phase,
        compute_capability=takes,
        except_capability=leaves,
        kernel=kernel_name,
        spellings=(),
        kv_cache_dtype=name,
        kv_format=stored.format if kv_format else None,
        extra_kv_format=stored.extra_format,
        bytes_per_token=kv_format.bytes_per_token if kv_format else None,
        dtypes=dtypes,
        head_sizes=sizes,
        query_heads=heads,
        padded_to=padded_to,
        block_sizes=block_sizes,
        page_size=variant.page_size,
        topk=topk,
        features=tuple(f for f in features if f in row.features.known),
        unknown_features=tuple(f for f in features if f in row.features.unknown),
        versions=row.versions,
        engines=backend.engines or None,
        unknown=tuple(dict.fromkeys(unknown)),
        sources=tuple(dict.fromkeys([*row.sources, *backend.sources])),
        notes=tuple(dict.fromkeys([*notes, *kernel.notes, *row.notes])),
        refuses=row.refuses,
    )


def _known(axis: IntSet | str, name: str, unknown: list[str]) -> IntSet:
    """An axis as a set; one that nobody has established leaves everything open, and is listed."""
    if isinstance(axis, IntSet):
        return axis
    unknown.append(name)
    return ANY


def _claimed_heads(variant: Variant, unknown: list[str]) -> tuple[IntSet, tuple[int, ...]]:
    claim = variant.query_heads
    if isinstance(claim, Padding):
        return ANY, tuple(sorted(claim.pad_to))
    return _known(claim, "query_heads", unknown), ()


def _padded(counts: tuple[int, ...], taken: IntSet) -> tuple[IntSet, tuple[int, ...]]:
    """The head counts that are padded up to one the kernel takes. An engine pads up to the next of
    its own counts, so one that the kernel lacks is not passed over."""
    runs, kept, last = [], [], 0
    for count in counts:
        if count in taken:
            runs.append(Multiples(minimum=last + 1, maximum=count))
            kept.append(count)
        last = count
    return IntSet(multiples=runs), tuple(kept)


def in_force(
    kernel: Kernel, row: Row, variant: Variant, format_name: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The GPUs of a variant on which a row answers: patterns that match them, less others.

    On one GPU the rows with the most specific pattern answer, among those that share a format, a
    dtype and a head size.
    """
    candidates = meets(variant.compute_capability, row.compute_capability)
    own = {pattern.specificity for pattern in row.compute_capability}
    rivals = [
        pattern
        for other in kernel.rows
        if other is not row and share_identity(row, other, format_name)
        for pattern in other.compute_capability
        if pattern.specificity > min(own)
    ]
    if not rivals or not candidates:
        return candidates, ()
    here = union_of(candidates) & ~_outranked(row, rivals)
    takes = tuple(text for text in candidates if points(text) & here)
    surplus = union_of(takes) & ~here
    leaves = []
    for pattern in rivals:
        if points(pattern.text) & surplus and not points(pattern.text) & here:
            leaves.append(pattern.text)
            surplus &= ~points(pattern.text)
    leaves += ["none" if gpu == NO_GPU else format_capability(gpu) for gpu in members(surplus)]
    return takes, tuple(dict.fromkeys(leaves))


def _outranked(row: Row, rivals: list[CapabilityPattern]) -> int:
    """The GPUs for which some rival is more specific than every pattern of the row that fits."""
    lost = 0
    for level in {pattern.specificity for pattern in rivals}:
        theirs = all_points(p for p in rivals if p.specificity == level)
        held = all_points(p for p in row.compute_capability if p.specificity >= level)
        lost |= theirs & ~held
    return lost


def speaks_of(row: Row, gpu: Capability) -> bool:
    """Whether a row has a pattern for the GPU."""
    return any(pattern.matches(gpu) for pattern in row.compute_capability)


def share_identity(a: Row, b: Row, format_name: str | None = None) -> bool:
    """Whether two rows speak of a common format (or of this one), dtype and head size."""
    if format_name is not None:
        formats = all(r.kv_formats == "any" or format_name in r.kv_formats for r in (a, b))
    else:
        formats = _share(a.kv_formats, b.kv_formats)
    if not formats or not _share(a.dtypes, b.dtypes):
        return False
    if isinstance(a.head_sizes, IntSet) and isinstance(b.head_sizes, IntSet):
        return bool(a.head_sizes & b.head_sizes)
    return True


def _share(a: tuple[str, ...] | str, b: tuple[str, ...] | str) -> bool:
    return isinstance(a, str) or isinstance(b, str) or not set(a).isdisjoint(b)
