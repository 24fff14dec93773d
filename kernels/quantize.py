"""Elements to bytes and back: the storage dtypes of KV formats, and the rules of their scales.

Rounding is to nearest, ties to even. Values of 8 bits or fewer saturate: beyond the largest
magnitude, infinities included, they are stored as that magnitude. NaN stays NaN where the dtype has
one; float4_e2m1fn has none and stores +6, as the hardware's conversion does. Inside a scaled group
neither happens, for a NaN or an infinity poisons its group: see `quantize_groups`.

A value times its scale is rounded to float32, as kernels do it: magnitudes of about 2^127 and more,
rounded up to one that float32 lacks, read back as infinity (in float64, as what is stored).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from attnmatrix.kv_format import Part

LARGEST = {"float4_e2m1fn": 6.0, "float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}
"""Largest magnitude of each of SCALED_DTYPES."""

NATIVE = {
    "float8_e4m3fn": torch.float8_e4m3fn,
    "float8_e5m2": torch.float8_e5m2,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
}
"""Storage dtypes that torch converts itself."""

_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_HALF_BINADE = 0x400000  # bits of 2^-127, the smallest float8_e8m0fnu, as a float32
_EXPONENT = 0x7F800000


def to_bytes(values: Tensor, part: Part) -> Tensor:
    """Stored bytes, uint8 [..., part.bytes], of floating values [..., part.count].

    A float8_e8m0fnu element must be NaN or a power of two from 2^-127 up, or 0, which is stored as
    2^-127: `quantize_groups` makes no others.
    """
    if part.transposed is not None:
        values = values.unflatten(-1, part.transposed).mT.flatten(-2)
    if part.dtype == "float4_e2m1fn":
        codes = _e2m1_codes(values.float())
        return codes[..., 0::2] | codes[..., 1::2] << 4
    if part.dtype == "float8_e8m0fnu":
        exponents = values.float().view(torch.int32) >> 23
        return exponents.masked_fill(values.isnan(), 255).to(torch.uint8)
    if part.dtype in LARGEST:
        values = values.float().clamp(-LARGEST[part.dtype], LARGEST[part.dtype])
    return values.to(NATIVE[part.dtype]).contiguous().view(torch.uint8)


def from_bytes(stored: Tensor, part: Part, dtype: torch.dtype) -> Tensor:
    """Elements [..., part.count] in `dtype` of stored bytes, uint8 [..., part.bytes]."""
    if part.dtype == "float4_e2m1fn":
        values = _e2m1_pairs(stored.device, dtype)[stored.int()].flatten(-2)
    elif part.dtype == "float8_e8m0fnu":
        values = _e8m0_values(stored.device, dtype)[stored.int()]
    else:
        # A copy even where contiguous: a part may begin at any byte, a typed view may not.
        copy = stored.clone(memory_format=torch.contiguous_format)
        values = copy.view(NATIVE[part.dtype]).to(dtype)
    if part.transposed is not None:
        rows, columns = part.transposed
        values = values.unflatten(-1, (columns, rows)).mT.flatten(-2)
    return values


def quantize_groups(values: Tensor, part: Part, scale: Part) -> tuple[Tensor, Tensor]:
    """Stored bytes of values [..., part.count], and of their scales.

    A group's scale is amax / largest, where amax is its largest magnitude (at least
    `scale.amax_floor`) and largest that of the values' dtype. It is rounded to the scale's dtype:
    up to a power of two if that is float8_e8m0fnu or the part says `power_of_two`, else to nearest.
    Values are divided by the scale as it is stored; where that is 0, they are stored as 0 too.

    A group with a NaN or an infinity is poisoned: its scale is stored as NaN and its values as 0,
    so that each of its elements reads back as NaN.
    """
    groups = values.float().unflatten(-1, (scale.count, -1))
    amax = groups.abs().amax(-1)
    poisoned = ~amax.isfinite()
    if scale.amax_floor is not None:
        amax = amax.clamp_min(scale.amax_floor)
    wanted = amax / LARGEST[part.dtype]
    if scale.dtype == "float8_e8m0fnu" or scale.power_of_two:
        wanted = _power_of_two_from(wanted)
    stored_scale = to_bytes(wanted.masked_fill(poisoned, torch.nan), scale)
    divisor = from_bytes(stored_scale, scale, torch.float32)
    divisor = divisor.masked_fill(divisor == 0, torch.inf)
    quotients = groups / divisor.unsqueeze(-1)
    quotients.masked_fill_(poisoned.unsqueeze(-1), 0.0)
    return to_bytes(quotients.flatten(-2), part), stored_scale


def _power_of_two_from(values: Tensor) -> Tensor:
    """The smallest power of two >= each float32 value, but at least 2^-127.

    Done on the bits: adding a mantissa of ones carries into the exponent unless the mantissa is 0.
    Logarithms would round, and miss by one near powers of two.
    """
    bits = values.view(torch.int32)
    rounded = (bits + 0x7FFFFF) & _EXPONENT
    return rounded.masked_fill(bits <= _HALF_BINADE, _HALF_BINADE).view(torch.float32)


def _e2m1_codes(values: Tensor) -> Tensor:
    """4-bit codes, uint8, of float32 values: sign in bit 3, magnitude's place in _E2M1 below it."""
    magnitudes = values.abs()
    # A bound is the midpoint of two magnitudes. bucketize puts a value on the bound below it, so
    # where the even code is the upper one, the bound moves down by the least float32 step.
    ends = torch.tensor([(a + b) / 2 for a, b in pairwise(_E2M1)], dtype=torch.float32)
    lower = torch.nextafter(ends, torch.zeros_like(ends))
    bounds = torch.where(torch.arange(7) % 2 == 1, lower, ends)
    codes = torch.bucketize(magnitudes, bounds.to(values.device), out_int32=True)
    signs = values.signbit() & ~values.isnan()
    return (codes | signs.int() << 3).to(torch.uint8)


@cache
def _e2m1_pairs(device: torch.device, dtype: torch.dtype) -> Tensor:
    """The two elements of each byte, [256, 2]: the low nibble's first."""
    signed = torch.tensor([*_E2M1, *(-value for value in _E2M1)], dtype=dtype, device=device)
    byte = torch.arange(256, device=device)
    return torch.stack((signed[byte & 15], signed[byte >> 4]), dim=1)


@cache
def _e8m0_values(device: torch.device, dtype: torch.dtype) -> Tensor:
    """The element of each byte, [256]: 2^(byte - 127), and NaN for 255."""
    values = [2.0 ** (byte - 127) for byte in range(255)] + [torch.nan]
    return torch.tensor(values, dtype=torch.float64).to(device=device, dtype=dtype)
