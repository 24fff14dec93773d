"""KV-cache packing: tokens to pages and back, for every KV format, from its description alone.

A cache is a uint8 tensor [num_pages, page_bytes]. Its rows may lie further apart than page_bytes
(pages packed into a slab with other data); bytes between pages are never touched. A slot is the
number of a token's place, page * page_size + place in the page. What NaN, infinities and values out
of range become is said in `quantize`. A per-tensor scale is above 0 and within float32's range; of
a tensor on a GPU that is not checked. These are tools for tests, probes and the reference; they
check slot numbers on the host, and so wait for a GPU. `write` alone does not: on a GPU it is one
kernel, made from the format's description.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from . import kv_cache_triton
from .bounds import debug_wanted
from .checks import require_format, require_int, require_tensor, require_writable
from .errors import KernelError
from .quantize import NATIVE
from .records import FLOATS, decode, encode, require_tensor_scale, scale_parts

if TYPE_CHECKING:
    from attnmatrix.kv_format import KVFormat

_INT64 = (1 << 63) - 1
_INT32 = (1 << 31) - 1


def empty(
    fmt: KVFormat,
    num_pages: int,
    page_size: int,
    device: torch.device | str = "cpu",
    *,
    page_stride: int | None = None,
) -> Tensor:
    """A cache of zero bytes, [num_pages, page_bytes], its pages `page_stride` bytes apart."""
    require_int("num_pages", num_pages, 0)
    page_bytes = require_page_size(fmt, page_size)
    if page_stride is None:
        page_stride = page_bytes
    require_int("page_stride", page_stride, page_bytes)
    if max(num_pages, 1) * page_stride > _INT64:
        raise KernelError("num_pages", num_pages, f"pages of {page_stride} B, below 2**63 B in all")
    slab = torch.zeros(num_pages, page_stride, dtype=torch.uint8, device=device)
    return slab[:, :page_bytes]


def pack(
    fmt: KVFormat,
    kv: Tensor,
    *,
    page_size: int,
    tensor_scale: float | Tensor | None = None,
    page_stride: int | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Tokens, placed in order into as many pages as they need: uint8 [num_pages, page_bytes].

    kv: floating [tokens, head_size]. tensor_scale: what per-tensor parts are divided by, a number
    or a float32 tensor of one element; None is 1. page_stride: bytes from page to page. out: a
    cache of just that many pages to fill. Slots without a token and rounding are zero bytes.
    """
    require_page_size(fmt, page_size)
    _require_tokens(fmt, kv)
    num_pages = -(-kv.shape[0] // page_size)
    if out is None:
        rows = encode(fmt, kv, tensor_scale)
        out = empty(fmt, num_pages, page_size, kv.device, page_stride=page_stride)
    else:
        if page_stride is not None:
            raise KernelError("page_stride", page_stride, "None with out", "out's strides count")
        require_cache(fmt, out, page_size, "out")
        require_writable("out", out)
        _require_tokens(fmt, kv, out.device)
        if out.shape[0] != num_pages:
            raise KernelError("out", f"{out.shape[0]} pages", f"{num_pages}, which kv fills")
        rows = encode(fmt, kv, tensor_scale)
        out.zero_()
    _store(fmt, out, rows, torch.arange(kv.shape[0], device=kv.device), page_size)
    return out


def write(
    fmt: KVFormat,
    cache: Tensor,
    kv: Tensor,
    slot_mapping: Tensor,
    *,
    page_size: int,
    tensor_scale: float | Tensor | None = None,
) -> None:
    """Write tokens, floating [tokens, head_size], to the slots of `slot_mapping`, int64 [tokens].

    Tokens of negative slots are skipped. Every byte outside the records written stays as it is.
    Raises KernelError if a slot lies outside the cache or is named twice. On a GPU, where looking
    would wait, it does so under ATTNMATRIX_DEBUG=1 alone; else such a slot past the end is skipped,
    and of two tokens for one slot either may win.
    """
    require_cache(fmt, cache, page_size)
    scale_parts(fmt)
    _require_tokens(fmt, kv, cache.device)
    shape = (("tokens", kv.shape[0]),)
    require_tensor("slot_mapping", slot_mapping, (torch.int64,), shape, cache.device)
    slot_count = cache.shape[0] * page_size
    on_gpu = slot_count <= _INT32 and kv_cache_triton.supports(fmt, kv)
    if on_gpu and not debug_wanted(None):
        _launch(fmt, cache, kv, slot_mapping, page_size, tensor_scale)
        return
    kept = slot_mapping >= 0
    slots = slot_mapping[kept]
    _require_slots("slot_mapping", slots, slot_count)
    if slots.unique().numel() != slots.numel():
        raise KernelError("slot_mapping", "one slot for two tokens", "different slots")
    if on_gpu:
        _launch(fmt, cache, kv, slot_mapping, page_size, tensor_scale)
        return
    require_writable("cache", cache)
    _store(fmt, cache, encode(fmt, kv[kept], tensor_scale), slots, page_size)


def unpack(
    fmt: KVFormat,
    cache: Tensor,
    *,
    page_size: int,
    dtype: torch.dtype = torch.float32,
    tensor_scale: float | Tensor | None = None,
) -> Tensor:
    """Every slot's token in `dtype`, [num_pages * page_size, head_size]."""
    data, scales = _rows(fmt, cache, page_size)
    return decode(fmt, data.flatten(0, 1), scales.flatten(0, 1), dtype, tensor_scale)


def gather(
    fmt: KVFormat,
    cache: Tensor,
    slots: Tensor,
    *,
    page_size: int,
    dtype: torch.dtype = torch.float32,
    tensor_scale: float | Tensor | None = None,
) -> Tensor:
    """The tokens in `slots`, an int32 or int64 tensor of any shape: [*slots.shape, head_size].

    Reads no other record. Raises KernelError if a slot lies outside the cache.
    """
    data, scales = _rows(fmt, cache, page_size)
    sizes = range(slots.dim() if isinstance(slots, Tensor) else 1)
    shape = tuple((f"size {i}", None) for i in sizes)
    require_tensor("slots", slots, (torch.int64, torch.int32), shape, cache.device)
    slots = slots.long()  # the number of slots may be more than int32 holds
    _require_slots("slots", slots, cache.shape[0] * page_size)
    page, place = slots // page_size, slots % page_size
    return decode(fmt, data[page, place], scales[page, place], dtype, tensor_scale)


def as_plain(fmt: KVFormat, cache: Tensor, page_size: int) -> Tensor:
    """A typed view [num_pages, page_size, head_size] of a cache whose rows are plain numbers.

    That is a format of one torch dtype, without scales in the cache; per-tensor values come as
    stored, not multiplied. No copy. Raises KernelError if the format or the strides allow none.
    """
    require_format("kv_format", fmt)
    dtypes = {part.dtype for part in fmt.parts}
    in_order = all(part.transposed is None for part in fmt.parts)
    if len(dtypes) > 1 or not dtypes <= set(NATIVE) or fmt.values != fmt.data or not in_order:
        raise KernelError("kv_format", fmt.name, "a format of one dtype without scales")
    rows, _ = _rows(fmt, cache, page_size)
    dtype = NATIVE[dtypes.pop()]
    if any(number % dtype.itemsize for number in (rows.stride(0), rows.storage_offset())):
        raise KernelError("cache", "misaligned", f"pages at multiples of {dtype.itemsize} B")
    return rows.view(dtype)


def as_records(fmt: KVFormat, cache: Tensor, page_size: int) -> Tensor:
    """A view [num_pages, page_size, 1, bytes_per_token], the shape that FlashMLA's calls take.

    No copy; the page stride stays. In a data_then_scales page, element [p, t] is not token t's
    record: kernels take the page's address from this view, not the token's.
    """
    require_cache(fmt, cache, page_size)
    payload = cache[:, : page_size * fmt.bytes_per_token]
    records: Tensor = payload.unflatten(1, (page_size, 1, fmt.bytes_per_token))
    return records


def require_cache(
    fmt: KVFormat,
    cache: Tensor,
    page_size: int,
    field: str = "cache",
    device: torch.device | None = None,
) -> None:
    """Refuse a cache that is not uint8 [num_pages, page_bytes] with pages that do not overlap."""
    page_bytes = require_page_size(fmt, page_size)
    shape = (("num_pages", None), ("page_bytes", page_bytes))
    page = f"a page is {page_size} x {fmt.bytes_per_token} B"
    if fmt.round_up_to > 1:
        page += f", rounded up to a multiple of {fmt.round_up_to} B"
    require_tensor(field, cache, (torch.uint8,), shape, device, page)
    if cache.stride(1) != 1 or (cache.shape[0] > 1 and cache.stride(0) < page_bytes):
        raise KernelError(
            field, f"of strides {cache.stride()}", f"pages of bytes, at least {page_bytes} B apart"
        )


def require_page_size(fmt: KVFormat, page_size: int, prefix: str = "") -> int:
    """Bytes of a page. Refuses what is no format, and no number of tokens that a page can have."""
    fmt = require_format(f"{prefix}kv_format", fmt)
    page_bytes = fmt.page_bytes(require_int(f"{prefix}page_size", page_size))
    if page_bytes > _INT64:
        raise KernelError(f"{prefix}page_size", page_size, "a page below 2**63 B")
    return page_bytes


def _launch(
    fmt: KVFormat,
    cache: Tensor,
    kv: Tensor,
    slot_mapping: Tensor,
    page_size: int,
    tensor_scale: float | Tensor | None,
) -> None:
    scale = require_tensor_scale(fmt, tensor_scale)
    if isinstance(scale, Tensor):
        scale = scale.to(kv.device)
    kv_cache_triton.write(fmt, cache, kv, slot_mapping, page_size, scale)


def _store(
    fmt: KVFormat, cache: Tensor, rows: tuple[Tensor, Tensor], slots: Tensor, page_size: int
) -> None:
    page, place = slots // page_size, slots % page_size
    for view, values in zip(_rows(fmt, cache, page_size), rows, strict=True):
        view[page, place] = values


def _rows(fmt: KVFormat, cache: Tensor, page_size: int) -> tuple[Tensor, Tensor]:
    """Views of the data rows and the scale rows, each uint8 [num_pages, page_size, row bytes]."""
    require_cache(fmt, cache, page_size)
    if fmt.arrangement == "token_by_token":
        records = as_records(fmt, cache, page_size).squeeze(2)
        return records[..., : fmt.data_bytes], records[..., fmt.data_bytes :]
    end = page_size * fmt.data_bytes
    data = cache[:, :end].unflatten(1, (page_size, fmt.data_bytes))
    scales = cache[:, end : end + page_size * fmt.scale_bytes]
    return data, scales.unflatten(1, (page_size, fmt.scale_bytes))


def _require_tokens(fmt: KVFormat, kv: Tensor, device: torch.device | None = None) -> None:
    require_tensor("kv", kv, FLOATS, (("tokens", None), ("head_size", fmt.head_size)), device)


def _require_slots(field: str, slots: Tensor, count: int) -> None:
    outside = slots[(slots < 0) | (slots >= count)]
    if outside.numel():
        accepted = f"slots from 0 to {count - 1}" if count else "none: the cache has no pages"
        raise KernelError(field, int(outside[0]), accepted)
