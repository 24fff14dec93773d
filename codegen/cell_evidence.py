"""What evidence files say of each claim: of a kernel's row, and of a backend's cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from attnmatrix.capability import CapabilityPattern, matches_any
from attnmatrix.cell import Cell
from attnmatrix.evidence import Record
from attnmatrix.verified import Verified
from attnmatrix.versions import Specifier, Version, parse_version

from .evidence import File
from .schema import Stored, Variant
from .variants import formats_read

if TYPE_CHECKING:
    from .matrix import Matrix

Right = dict[tuple[str, str], list[tuple[File, Record]]]
"""Claimed records that came out right, by kernel and KV format."""


def right_records(matrix: Matrix) -> Right:
    """Those of all files."""
    found: Right = {}
    for probed in matrix.probed:
        for item in probed.of("verified"):
            key = (probed.kernel, item.record.case["kv_format"])
            found.setdefault(key, []).append((probed.file, item.record))
    return found


def cell_evidence(matrix: Matrix, cell: Cell, variant: Variant) -> tuple[Verified, ...]:
    """What probes have verified of a cell: right cases of what its backend passes to the kernel."""
    if not matrix.files or cell.kernel is None or cell.refuses is not None:
        return ()
    stored: Stored = variant.kv_cache_dtypes[cell.kv_cache_dtype]
    kv_format, extra = formats_read(variant, stored, cell.phase)
    records = matrix.right.get((cell.kernel, kv_format))
    if not records:
        return ()
    extras = (extra,) if extra else (None, kv_format)
    pages = (cell.page_size,) if cell.page_size else cell.block_sizes
    heads = cell.padded_to or cell.query_heads
    dtypes = (stored.query_dtype,) if stored.query_dtype else cell.dtypes
    takes = [CapabilityPattern(text) for text in cell.compute_capability]
    leaves = [CapabilityPattern(text) for text in cell.except_capability]
    by_file: dict[str, tuple[File, list[dict[str, Any]]]] = {}
    for file, record in records:
        case = record.case
        if (
            case["dtype"] in dtypes
            and case["extra_kv_format"] in extras
            and case["query_heads"] in heads
            and case["page_size"] in pages
            and case["head_size"] in cell.head_sizes
            and (case["topk"] is None or case["topk"] in cell.topk)
            and {*case["features"]} <= {*cell.features}
        ):
            by_file.setdefault(file.path, (file, []))[1].append(case)
    found = []
    for file, cases in by_file.values():
        capability = file.evidence.capability
        if not matches_any(takes, capability) or matches_any(leaves, capability):
            continue
        seen = {case["dtype"] for case in cases}
        used = {name for case in cases for name in case["features"]}
        found.append(
            _verified(
                matrix,
                file,
                len(cases),
                cell.versions or {},
                cell.sources,
                dtypes=cell.dtypes if stored.query_dtype else _among(cell.dtypes, seen),
                features=_among(cell.features, used),
            )
        )
    return tuple(found)


def row_evidence(matrix: Matrix, kernel: str) -> list[tuple[Verified, ...]]:
    """The same of each row of a kernel."""
    rows = matrix.document.kernels[kernel].rows
    found: list[list[Verified]] = [[] for _ in rows]
    for probed in matrix.probed:
        if probed.kernel != kernel:
            continue
        by_row: dict[int, list[dict[str, Any]]] = {}
        for item in probed.of("verified"):
            assert item.row is not None
            by_row.setdefault(item.row, []).append(item.record.case)
        for number, cases in by_row.items():
            row = rows[number]
            used = {name for case in cases for name in case["features"]}
            word = _verified(
                matrix,
                probed.file,
                len(cases),
                row.versions,
                row.sources,
                dtypes=tuple(sorted({case["dtype"] for case in cases})),
                features=_among(row.features.known, used),
            )
            found[number].append(word)
    return [tuple(words) for words in found]


def _among(order: Iterable[str], found: set[str]) -> tuple[str, ...]:
    return tuple(name for name in order if name in found)


def _verified(
    matrix: Matrix,
    file: File,
    right: int,
    versions: Mapping[str, str],
    sources: Iterable[str],
    *,
    dtypes: tuple[str, ...],
    features: tuple[str, ...],
) -> Verified:
    evidence = file.evidence
    distribution, version = evidence.provider
    latest = latest_claimed(matrix, distribution, versions.get(distribution, "any"), sources)
    return Verified(
        file.path,
        gpu=evidence.gpu,
        compute_capability=evidence.compute_capability,
        provider=evidence.provider,
        date=evidence.date,
        dtypes=dtypes,
        features=features,
        right=right,
        stale=latest is not None and latest.public > parse_version(version).public,
    )


def latest_claimed(
    matrix: Matrix, distribution: str, accepted: str, sources: Iterable[str]
) -> Version | None:
    """The latest version of a distribution that a claim is for and that is known to exist: its own
    specifier or sources name it, or any evidence file was made with it."""
    specifier = Specifier(accepted) if accepted not in ("any", "none", "unknown") else None
    providers = [file.evidence.provider for file in matrix.files]
    known = [version for name, version in providers if name == distribution]
    known += [version for source in sources if (version := _released(source, distribution))]
    versions = [parse_version(text) for text in known]
    if specifier is not None:
        versions += [bound for _, bound, _ in specifier.clauses]
        versions = [version for version in versions if specifier.contains(version)]
    return max(versions, key=lambda version: version.key, default=None)


def _released(source: str, distribution: str) -> str | None:
    """The version in a source such as 'vllm==0.33.0 path', if it is of that distribution."""
    name, equals, rest = source.partition("==")
    version = rest.split(" ")[0]
    if not equals or name != distribution:
        return None
    try:
        return parse_version(version).text
    except ValueError:
        return None
