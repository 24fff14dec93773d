"""Records: one token's data row and scale row, from and to its elements."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnmatrix.kv_format import PER_TENSOR, SCALE_DTYPES, SCALED_DTYPES

from .checks import require_finite
from .errors import KernelError
from .quantize import from_bytes, quantize_groups, to_bytes

if TYPE_CHECKING:
    from attnmatrix.kv_format import KVFormat, Part

FLOATS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
"""Dtypes of tokens, packed from and unpacked to."""


def encode(fmt: KVFormat, kv: Tensor, tensor_scale: float | Tensor | None) -> tuple[Tensor, Tensor]:
    """Data rows and scale rows, each uint8 [tokens, row bytes], of floating [tokens, head_size].

    uint8 parts are padding and become 0. Raises KernelError if the format cannot be packed.
    """
    kv = kv.detach()
    factor = _tensor_scale(fmt, tensor_scale, kv.device)
    scales = scale_parts(fmt)
    stored: dict[str, Tensor] = {}
    for part, values in zip(fmt.values, kv.split([p.count for p in fmt.values], 1), strict=True):
        if part.name in scales:
            scale = scales[part.name]
            stored[part.name], stored[scale.name] = quantize_groups(values, part, scale)
        elif part.scaled_by == PER_TENSOR:
            stored[part.name] = to_bytes(values.float() / factor, part)
        else:
            stored[part.name] = to_bytes(values, part)
    return _joined(fmt.data, stored, kv), _joined(fmt.scales, stored, kv)


def _joined(parts: tuple[Part, ...], stored: dict[str, Tensor], kv: Tensor) -> Tensor:
    rows = kv.new_zeros(len(kv), sum(part.bytes for part in parts), dtype=torch.uint8)
    start = 0
    for part in parts:
        if part.name in stored:
            rows[:, start : start + part.bytes] = stored[part.name]
        start += part.bytes
    return rows


def decode(
    fmt: KVFormat,
    data_rows: Tensor,
    scale_rows: Tensor,
    dtype: torch.dtype,
    tensor_scale: float | Tensor | None,
) -> Tensor:
    """Tokens [..., head_size] from data rows and scale rows, uint8 [..., bytes]."""
    if dtype not in FLOATS:
        raise KernelError("dtype", dtype, FLOATS)
    # Products are exact in float64; in float32 they round once.
    work = torch.float64 if dtype == torch.float64 else torch.float32
    factor = _tensor_scale(fmt, tensor_scale, data_rows.device).to(work)
    scales = scale_parts(fmt)
    stored: dict[str, Tensor] = {}
    for parts, rows in ((fmt.data, data_rows), (fmt.scales, scale_rows)):
        pieces = rows.split([part.bytes for part in parts], -1) if parts else ()
        stored.update(zip((part.name for part in parts), pieces, strict=True))
    out = data_rows.new_empty(*data_rows.shape[:-1], fmt.head_size, dtype=dtype)
    columns = out.split([part.count for part in fmt.values], -1)
    for part, column in zip(fmt.values, columns, strict=True):
        values = from_bytes(stored[part.name], part, work)
        if part.name in scales:
            scale = scales[part.name]
            factors = from_bytes(stored[scale.name], scale, work).unsqueeze(-1)
            values = (values.unflatten(-1, (scale.count, -1)) * factors).flatten(-2)
        elif part.scaled_by == PER_TENSOR:
            values = values * factor
        column.copy_(values)
    return out


@lru_cache(maxsize=64)
def scale_parts(fmt: KVFormat) -> dict[str, Part]:
    """Scale parts by the name of the part that each scales. Raises KernelError on a bad format."""
    by_name = {part.name: part for part in fmt.parts}
    if len(by_name) < len(fmt.parts):
        raise KernelError("kv_format", fmt.name, "parts of different names")
    found: dict[str, Part] = {}
    for part in fmt.values:
        if part.dtype == "float8_e8m0fnu":
            raise KernelError("kv_format", fmt.name, "float8_e8m0fnu for scales alone")
        if part.scaled_by in (None, PER_TENSOR):
            continue
        scale = by_name.get(str(part.scaled_by))
        if scale is None or part.dtype not in SCALED_DTYPES or part.group is None:
            raise KernelError("kv_format", fmt.name, "scales for groups of 4-bit or 8-bit values")
        if scale.scaled_by is not None or scale.count * part.group != part.count:
            raise KernelError(
                "kv_format", fmt.name, f"one unscaled scale per {part.group} of {part.name}"
            )
        if scale.dtype not in SCALE_DTYPES or scale in found.values():
            accepted = f"scales for one part each, of {', '.join(SCALE_DTYPES)}"
            raise KernelError("kv_format", fmt.name, accepted)
        found[part.name] = scale
    elements = sum(part.count for part in fmt.values)
    row_bytes = fmt.data_bytes + fmt.scale_bytes
    if (elements, row_bytes) != (fmt.head_size, fmt.bytes_per_token):
        raise KernelError("kv_format", fmt.name, "parts that add up to its sizes")
    return found


def require_tensor_scale(fmt: KVFormat, scale: object) -> float | Tensor | None:
    """`scale`, if the format takes one and it is a number or a float32 tensor of one element.

    It is above 0 and within float32's range. Of a tensor on a GPU that is not known, for looking
    would wait for the GPU: such a scale is used as it is.
    """
    if scale is None:
        return None
    given = scale
    if isinstance(scale, Tensor):
        given = f"a tensor {list(scale.shape)} of {scale.dtype} on {scale.device}"
    if not any(part.scaled_by == PER_TENSOR for part in fmt.parts):
        raise KernelError("tensor_scale", given, f"None: {fmt.name} has no per-tensor scale")
    if not isinstance(scale, Tensor):
        return require_finite("tensor_scale", scale)
    if scale.dtype != torch.float32 or scale.numel() != 1 or scale.is_meta:
        raise KernelError("tensor_scale", given, "a number or a float32 tensor of one element")
    if scale.is_cpu:
        return require_finite("tensor_scale", scale.item())
    return scale.detach().reshape(())


def _tensor_scale(fmt: KVFormat, scale: float | Tensor | None, device: torch.device) -> Tensor:
    """The per-tensor scale as a float32 tensor of one element; 1 if None."""
    checked = require_tensor_scale(fmt, scale)
    if isinstance(checked, Tensor):
        return checked.to(device)
    number = 1.0 if checked is None else checked
    return torch.tensor(number, dtype=torch.float32, device=device)
