"""KV-cache writing on a GPU: one Triton kernel a format, its source generated from the description.

A program takes a few tokens, reads their rows once and stores every part of their records. Bytes
are those of `kv_cache.pack` (of a NaN, which of its bit patterns may differ). Formats with 4-bit
parts, and float64 tokens, are left to torch.
"""

from __future__ import annotations

import linecache
from functools import cache
from typing import TYPE_CHECKING, Any

import torch

from attnmatrix.kv_format import PER_TENSOR

from .quantize import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from attnmatrix.kv_format import KVFormat, Part

WARPS = 4
GROUPED_TOKENS, PLAIN_TOKENS = 8, 4
"""Warps of a program, and its tokens where values are scaled in groups and where they are not: the
fastest of those tried on an H200."""

_STORED = {"bfloat16": "tl.bfloat16", "float16": "tl.float16", "float32": "tl.float32"}
_KERNELS = ("float8_e4m3fn", *_STORED)

_HEAD = """\
@triton.jit
def write(
    kv, slots, cache, factor, tokens, end, kv_stride, page_stride,
    PAGE: tl.constexpr, TOKENS: tl.constexpr,
):
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    given = token < tokens
    slot = tl.load(slots + token, mask=given, other=-1)
    read = given[:, None]
    kept = ((slot >= 0) & (slot < end))[:, None]
    slot = slot.to(tl.int32)
    page = (slot // PAGE).to(tl.int64)
    place = slot % PAGE
    source = token.to(tl.int64)[:, None] * kv_stride
"""


def supports(fmt: KVFormat, kv: Tensor) -> bool:
    """Whether a kernel can be made: a CUDA tensor, Triton at hand, and parts that it knows."""
    if not kv.is_cuda or kv.dtype == torch.float64:
        return False
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return is_known(fmt)


def is_known(fmt: KVFormat) -> bool:
    """Whether every part of the format is one that the generator knows."""
    by_name = {part.name: part for part in fmt.parts}
    for part in fmt.values:
        if part.dtype not in _KERNELS or part.transposed is not None:
            return False
        if part.scaled_by not in (None, PER_TENSOR):
            if part.dtype != "float8_e4m3fn" or part.group is None or part.group & part.group - 1:
                return False
            if by_name[str(part.scaled_by)].dtype not in ("float32", "float8_e8m0fnu"):
                return False
    return True


def write(
    fmt: KVFormat,
    cache_: Tensor,
    kv: Tensor,
    slot_mapping: Tensor,
    page_size: int,
    factor: float | Tensor | None = None,
) -> None:
    """Launch the format's kernel; arguments are checked by the caller. No host sync.

    Tokens of slots outside the cache are skipped. factor: of per-tensor parts.
    """
    if kv.stride(1) != 1:
        kv = kv.contiguous()
    tokens = kv.shape[0]
    if not tokens:
        return
    if not any(part.scaled_by == PER_TENSOR for part in fmt.parts):
        factor = slot_mapping  # a pointer that nothing reads
    elif not isinstance(factor, torch.Tensor):
        factor = _number(1.0 if factor is None else factor, kv.device)
    grouped = any(part.scaled_by not in (None, PER_TENSOR) for part in fmt.values)
    each = GROUPED_TOKENS if grouped else PLAIN_TOKENS
    kernel(fmt)[(-(-tokens // each),)](
        kv,
        slot_mapping,
        cache_,
        factor,
        tokens,
        cache_.shape[0] * page_size,
        kv.stride(0),
        cache_.stride(0),
        PAGE=page_size,
        TOKENS=each,
        num_warps=WARPS,
    )


@cache
def _number(value: float, device: torch.device) -> Tensor:
    return torch.full((1,), value, dtype=torch.float32, device=device)  # no copy from the host


@cache
def kernel(fmt: KVFormat) -> Any:
    """The compiled-on-demand kernel of a format. Formats are immutable; the cache holds few."""
    import triton
    import triton.language as tl

    name = f"<kv_cache_triton {fmt.name}>"
    text = source(fmt)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"triton": triton, "tl": tl, "__name__": f"{__name__}.{fmt.name}"}
    exec(compile(text, name, "exec"), space)  # noqa: S102 - our own text, from the matrix
    return space["write"]


def source(fmt: KVFormat) -> str:
    """The kernel's source."""
    interleaved = fmt.arrangement == "token_by_token"
    row = fmt.bytes_per_token if interleaved else fmt.data_bytes
    lines = [f"    data = page * page_stride + place * {row}"]
    if interleaved:
        lines.append(f"    scales = data + {fmt.data_bytes}")
    else:
        start = f"page * page_stride + PAGE * {fmt.data_bytes}"
        lines.append(f"    scales = {start} + place * {fmt.scale_bytes}")
    places = {}
    for base, parts in (("data", fmt.data), ("scales", fmt.scales)):
        offset = 0
        for part in parts:
            places[part.name] = (base, offset)
            offset += part.bytes
    by_name = {part.name: part for part in fmt.parts}
    first = 0
    loads: list[str] = []
    rest: list[str] = []
    for number, part in enumerate(fmt.values):
        x = f"x{number}"
        if part.scaled_by in (None, PER_TENSOR):
            loads += _load_plain(part, first, x)
            rest += _plain(part, x, *places[part.name])
        else:
            scale = by_name[str(part.scaled_by)]
            loads += _load_grouped(part, first, scale, x)
            rest += _grouped(part, x, places[part.name], scale, places[scale.name])
        first += part.count
    lines = loads + lines + rest  # reading need not wait for the slots
    for part in fmt.parts:
        if part.dtype == "uint8":
            base, offset = places[part.name]
            lines += _columns(part.count)
            lines.append("    zero = (column * 0 + slot[:, None] * 0).to(tl.uint8)")
            lines.append(
                f"    tl.store(cache + {base}[:, None] + {offset} + column, zero, mask=mask)"
            )
    return _HEAD + "\n".join(lines) + "\n"


def _columns(count: int, rows: str = "kept") -> list[str]:
    width = 1 << (count - 1).bit_length()
    mask = rows if width == count else f"{rows} & (column < {count})"
    return [
        f"    column = tl.arange(0, {width})[None, :]",
        f"    mask = {mask}",
    ]


def _load_plain(part: Part, first: int, x: str) -> Iterator[str]:
    yield from _columns(part.count, "read")
    yield f"    {x} = tl.load(kv + source + {first} + column, mask=mask, other=0.0)"


def _groups(part: Part, scale: Part, rows: str) -> Iterator[str]:
    groups = 1 << (scale.count - 1).bit_length()
    inside = "" if groups == scale.count else f" & (group < {scale.count})"
    yield f"    group = tl.arange(0, {groups})[None, :]"
    yield f"    inside = {rows}{inside}"
    yield f"    member = tl.arange(0, {part.group})[None, None, :]"
    yield f"    index = group[:, :, None] * {part.group} + member"
    yield "    each = inside[:, :, None]"


def _load_grouped(part: Part, first: int, scale: Part, x: str) -> Iterator[str]:
    yield from _groups(part, scale, "read")
    yield f"    {x} = tl.load(kv + source[:, :, None] + {first} + index, mask=each, other=0.0)"


def _plain(part: Part, x: str, base: str, offset: int) -> Iterator[str]:
    """Values stored one by one: converted, and before that divided by a per-tensor factor."""
    yield from _columns(part.count)
    yield f"    x = {x}"
    if part.scaled_by == PER_TENSOR:
        # A quotient rounded once: one step from the reciprocal's, which may be off by a bit.
        yield "    divisor = tl.load(factor)"
        yield "    inverse = tl.div_rn(1.0, divisor)"
        yield "    x = x.to(tl.float32)"
        yield "    near = x * inverse"
        yield "    nearer = tl.fma(tl.fma(-near, divisor, x), inverse, near)"
        yield "    x = tl.where((near != 0.0) & (tl.abs(near) < 1e30), nearer, near)"
    if part.dtype == "float8_e4m3fn":
        largest = LARGEST[part.dtype]
        yield "    x = x.to(tl.float32)"
        yield f"    x = tl.where(x > {largest}, {largest}, tl.where(x < -{largest}, -{largest}, x))"
        yield "    x = x.to(tl.float8e4nv).to(tl.uint8, bitcast=True)"
        yield f"    tl.store(cache + {base}[:, None] + {offset} + column, x, mask=mask)"
        return
    kind = _STORED[part.dtype]
    yield f"    to = (cache + {base} + {offset}).to(tl.pointer_type({kind}))[:, None] + column"
    yield f"    tl.store(to, x.to({kind}), mask=mask)"


def _grouped(
    part: Part, x: str, place: tuple[str, int], scale: Part, scale_place: tuple[str, int]
) -> Iterator[str]:
    """Values in groups, each divided by a scale: by the rules of `quantize.quantize_groups`."""
    yield from _groups(part, scale, "kept")
    yield f"    x = {x}.to(tl.float32)"
    # Bits of magnitudes sort as the magnitudes do, infinities and then NaNs above the rest.
    yield "    top = tl.max(x.to(tl.int32, bitcast=True) & 0x7FFFFFFF, axis=2)"
    yield "    poisoned = top >= 0x7F800000"
    yield "    amax = top.to(tl.float32, bitcast=True)"
    if scale.amax_floor is not None:
        yield f"    amax = tl.maximum(amax, {scale.amax_floor!r})"
    yield f"    wanted = tl.div_rn(amax, {LARGEST[part.dtype]} + tl.zeros_like(amax))"
    power_of_two = scale.dtype == "float8_e8m0fnu" or scale.power_of_two
    if power_of_two:
        yield "    bits = wanted.to(tl.int32, bitcast=True)"
        yield "    up = (bits + 0x7FFFFF) & 0x7F800000"
        yield "    bits = tl.where(bits <= 0x400000, 0x400000, up)"
        yield "    turned = tl.where(bits == 0x400000, 0x7F000000, 0x7F000000 - bits)"
        yield "    inverse = tl.where(poisoned, 0, turned).to(tl.float32, bitcast=True)"
        yield "    wanted = bits.to(tl.float32, bitcast=True)"
        yield "    y = x * inverse[:, :, None]"
    else:
        yield "    divisor = tl.where(wanted == 0.0, float('inf'), wanted)"
        yield "    y = tl.div_rn(x, tl.broadcast_to(divisor[:, :, None], x.shape))"
    yield "    y = tl.where(poisoned[:, :, None], 0.0, y)"
    base, offset = place
    yield "    y = y.to(tl.float8e4nv).to(tl.uint8, bitcast=True)"
    yield f"    tl.store(cache + {base}[:, None, None] + {offset} + index, y, mask=each)"
    base, offset = scale_place
    if scale.dtype == "float8_e8m0fnu":
        yield "    code = tl.where(poisoned, 255, bits >> 23).to(tl.uint8)"
        yield f"    tl.store(cache + {base}[:, None] + {offset} + group, code, mask=inside)"
        return
    yield "    wanted = tl.where(poisoned, float('nan'), wanted)"
    yield f"    to = (cache + {base} + {offset}).to(tl.pointer_type(tl.float32))[:, None] + group"
    yield "    tl.store(to, wanted, mask=inside)"
