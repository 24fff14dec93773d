"""Bytes and numbers, one at a time and without torch: what the kernels' tests compare with."""

from __future__ import annotations

import math
import struct
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import Tensor

    from attnmatrix.kv_format import KVFormat, Part

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def e4m3_value(byte: int) -> float:
    sign = -1.0 if byte & 0x80 else 1.0
    exponent, mantissa = byte >> 3 & 15, byte & 7
    if byte & 0x7F == 0x7F:
        return math.nan
    if exponent == 0:
        return sign * mantissa * 2.0**-9
    return sign * (8 + mantissa) * 2.0 ** (exponent - 10)


def e5m2_value(byte: int) -> float:
    return float(struct.unpack("<e", bytes((0, byte)))[0])


def e2m1_value(code: int) -> float:
    return -E2M1[code & 7] if code & 8 else E2M1[code]


def e8m0_value(byte: int) -> float:
    return math.nan if byte == 255 else 2.0 ** (byte - 127)


@cache
def _magnitudes(dtype: str) -> tuple[float, ...]:
    if dtype == "float4_e2m1fn":
        return E2M1
    return tuple(e4m3_value(byte) for byte in range(0x7F))


def nearest(value: float, dtype: str) -> int:
    """The code of the nearest e4m3 or e2m1 number; of two as near, the even code."""
    magnitudes = _magnitudes(dtype)
    magnitude = min(abs(value), magnitudes[-1])
    best = min(range(len(magnitudes)), key=lambda c: (abs(magnitudes[c] - magnitude), c & 1))
    sign = 0x80 if dtype == "float8_e4m3fn" else 8
    return best | sign if math.copysign(1.0, value) < 0 else best


def bf16_bytes(values: Sequence[float]) -> bytes:
    """Bytes of values that bfloat16 holds exactly."""
    packed = [struct.pack("<f", value) for value in values]
    assert all(value[:2] == b"\0\0" for value in packed)
    return b"".join(value[2:] for value in packed)


def e4m3_bytes(values: Sequence[float], scale: float = 1.0) -> bytes:
    return bytes(nearest(value / scale, "float8_e4m3fn") for value in values)


def e2m1_bytes(values: Sequence[float], scale: float = 1.0) -> bytes:
    codes = [nearest(value / scale, "float4_e2m1fn") for value in values]
    return bytes(low | high << 4 for low, high in zip(codes[::2], codes[1::2], strict=True))


def part_values(part: Part, stored: bytes) -> list[float]:
    """The elements of a part in semantic order."""
    if part.dtype == "float4_e2m1fn":
        found = [e2m1_value(code) for byte in stored for code in (byte & 15, byte >> 4)]
    elif part.dtype in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"):
        decode = {"float8_e4m3fn": e4m3_value, "float8_e5m2": e5m2_value}
        found = [decode.get(part.dtype, e8m0_value)(byte) for byte in stored]
    elif part.dtype == "bfloat16":
        pairs = (b"\0\0" + stored[i : i + 2] for i in range(0, len(stored), 2))
        found = [struct.unpack("<f", pair)[0] for pair in pairs]
    else:
        letter = {"float16": "e", "float32": "f"}[part.dtype]
        found = list(struct.unpack(f"<{part.count}{letter}", stored))
    if part.transposed is None:
        return found
    rows, columns = part.transposed
    return [found[i % columns * rows + i // columns] for i in range(part.count)]


def token(fmt: KVFormat, page: bytes, page_size: int, slot: int) -> list[float]:
    """The elements of one token, from the bytes of its page."""
    stored: dict[str, list[float]] = {}
    for start, parts in zip(fmt.row_offsets(page_size, slot), (fmt.data, fmt.scales), strict=True):
        for part in parts:
            if part.dtype != "uint8":
                stored[part.name] = part_values(part, page[start : start + part.bytes])
            start += part.bytes
    found: list[float] = []
    for part in fmt.values:
        values = stored[part.name]
        if part.group is not None:
            scales = stored[str(part.scaled_by)]
            values = [value * scales[i // part.group] for i, value in enumerate(values)]
        found.extend(values)
    return found


def attention(
    q: Sequence[float],
    keys: Sequence[Sequence[float]],
    value_size: int,
    scale: float,
    sink: float | None = None,
) -> tuple[list[float], float]:
    """One query head's output and natural LSE, by the formula."""
    if not keys:
        return [0.0] * value_size, math.inf
    scores = [scale * math.fsum(a * b for a, b in zip(q, key, strict=True)) for key in keys]
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    lse = top + math.log(math.fsum(weights))
    total = math.fsum(weights) + (0.0 if sink is None else math.exp(sink - top))
    values = zip(*(key[:value_size] for key in keys), strict=True)
    out = [math.fsum(w * v for w, v in zip(weights, column, strict=True)) for column in values]
    return [value / total for value in out], lse


def sparse_memory(folder: Path, size: int) -> Tensor:
    """So many zero bytes, uint8, of a file without blocks: only what is written takes memory."""
    import torch

    path = folder / "memory"
    with path.open("wb") as file:
        file.truncate(size)
    found = torch.from_file(str(path), shared=True, size=size, dtype=torch.uint8)
    path.unlink()
    return found
