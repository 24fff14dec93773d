"""Rules about KV formats: the parts add up, and names say what is stored."""

from __future__ import annotations

from collections.abc import Iterator

from attnmatrix.kv_format import BITS, PER_TENSOR, SCALE_DTYPES, SCALED_DTYPES

from .matrix import Matrix
from .problems import Problem
from .schema import KVFormat, Part, Stored
from .source import Path_
from .variants import resolve

NAMED_DTYPES = {
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float32": "float32",
    "fp8_e4m3": "float8_e4m3fn",
    "fp8_e5m2": "float8_e5m2",
}
"""KV-cache dtypes whose name promises a storage dtype."""


def formats_add_up(matrix: Matrix) -> Iterator[Problem]:
    """Bytes, elements, groups and scales of each KV format must agree."""
    for name, entry in matrix.document.kv_formats.items():
        for path, message in _findings(entry):
            place = matrix.source.place(("kv_formats", name, *path))
            yield Problem(place, "format-size", f"{name}: {message}", "correct the part or the sum")


def _findings(entry: KVFormat) -> Iterator[tuple[Path_, str]]:
    parts: dict[str, Part] = {}
    located: list[tuple[Path_, Part]] = []
    for row in ("data", "scales"):
        for i, part in enumerate(getattr(entry, row)):
            located.append(((row, i), part))
            if part.part == PER_TENSOR:
                yield (row, i, "part"), f"{PER_TENSOR} means a scale outside: no part's name"
            if part.part in parts:
                yield (row, i, "part"), f"two parts are called {part.part}"
            parts[part.part] = part
    listed = [part for _, part in located]
    bits = sum(part.count * BITS[part.dtype] for part in listed)
    if bits % 8 or bits // 8 != entry.bytes_per_token:
        sums = " + ".join(f"{p.part} {p.count * BITS[p.dtype] / 8:g}" for p in listed)
        yield ("bytes_per_token",), f"{entry.bytes_per_token} B, but {sums} = {bits / 8:g} B"
    scale_names = {part.scaled_by for part in listed} - {None, PER_TENSOR}
    values = [p for p in listed if p.part not in scale_names and p.dtype != "uint8"]
    elements = sum(part.count for part in values)
    if elements != entry.head_size:
        named = " + ".join(f"{p.part} {p.count}" for p in values)
        yield ("head_size",), f"{entry.head_size} elements, but {named} = {elements}"
    scaled: dict[str, str] = {}
    for path, part in located:
        yield from _part_findings(part, parts, path)
        if part.part in scale_names:
            yield from _scale_findings(part, path)
            continue
        yield from _value_findings(part, path)
        if part.scaled_by in parts and part.dtype != "uint8":
            other = scaled.setdefault(part.scaled_by, part.part)
            if other != part.part:
                yield (*path, "scaled_by"), f"{part.scaled_by} already scales {other}"
    if entry.page.arrangement == "data_then_scales" and not entry.scales:
        yield ("page", "arrangement"), "data_then_scales, but the format has no scale row"


def _part_findings(part: Part, parts: dict[str, Part], path: Path_) -> Iterator[tuple[Path_, str]]:
    if part.count * BITS[part.dtype] % 8:
        yield (*path, "count"), f"{part.part} does not fill whole bytes"
    if part.transposed and part.transposed[0] * part.transposed[1] != part.count:
        rows, columns = part.transposed
        yield (*path, "transposed"), f"{rows} x {columns} is not {part.count}, the count"
    if part.scaled_by is None:
        if part.group is not None:
            yield (*path, "group"), f"{part.part} has a group, but nothing scales it"
        return
    if part.scaled_by == PER_TENSOR:
        if part.group is not None:
            yield (*path, "group"), f"{part.part}: a per-tensor scale has no group"
        return
    scale = parts.get(part.scaled_by)
    if scale is None:
        yield (*path, "scaled_by"), f"there is no part {part.scaled_by!r}"
        return
    if part.dtype not in (*SCALED_DTYPES, "uint8"):
        accepted = ", ".join(SCALED_DTYPES)
        yield (*path, "dtype"), f"{part.part} has scales for groups, which are for {accepted}"
    if part.group is None:
        yield path, f"{part.part} is scaled by {scale.part}, but its group is missing"
    elif part.group * scale.count != part.count:
        yield (
            (*path, "group"),
            f"{scale.count} scales of {part.group} elements are "
            f"{scale.count * part.group}, but {part.part} has {part.count}",
        )


def _scale_findings(scale: Part, path: Path_) -> Iterator[tuple[Path_, str]]:
    if scale.dtype not in SCALE_DTYPES:
        accepted = ", ".join(SCALE_DTYPES)
        yield (*path, "dtype"), f"{scale.part} holds scales, which are {accepted}"
    if scale.scaled_by is not None:
        yield (*path, "scaled_by"), f"{scale.part} holds scales, which nothing scales"


def _value_findings(part: Part, path: Path_) -> Iterator[tuple[Path_, str]]:
    if part.dtype == "float8_e8m0fnu":
        yield (*path, "dtype"), f"{part.part} scales no part: float8_e8m0fnu is for scales"
    if part.dtype == "uint8" and part.scaled_by is not None:
        yield (*path, "scaled_by"), f"{part.part} is padding, which nothing scales"
    if part.amax_floor is not None:
        yield (*path, "amax_floor"), f"{part.part} scales no part: a floor is for scales"
    if part.power_of_two:
        yield (*path, "power_of_two"), f"{part.part} scales no part: rounding up is for scales"


def names_say_what_is_stored(matrix: Matrix) -> Iterator[Problem]:
    """`bfloat16` must store bfloat16: a name may not lead to other bytes than it promises."""
    for name, backend in matrix.document.backends.items():
        for i, variant in enumerate(backend.variants):
            for key in variant.kv_cache_dtypes:
                promised = NAMED_DTYPES.get(key)
                target = variant.kv_cache_dtypes.get(resolve(variant, key) or "")
                if promised is None or not isinstance(target, Stored):
                    continue
                entry = matrix.document.kv_formats.get(target.format)
                if entry is None:
                    continue
                dtypes = {part.dtype for part in (*entry.data, *entry.scales)}
                if promised not in dtypes or (BITS[promised] >= 16 and dtypes != {promised}):
                    path = ("backends", name, "variants", i, "kv_cache_dtypes", key)
                    yield Problem(
                        matrix.source.place(path),
                        "misleading-name",
                        f"{key} promises {promised}, but {target.format} stores "
                        f"{', '.join(sorted(dtypes))}",
                        "give the KV-cache dtype a name of its own",
                    )
