"""Checks of arguments, shared by the packer and the adapters; each raises KernelError."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Sequence


def require_int(field: str, value: object, minimum: int = 1) -> int:
    """`value`, if it is an int (bool is none) of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise KernelError(field, value, f"an integer of at least {minimum}")
    return value


def require_finite(field: str, value: object) -> float:
    """`value` as a float, if it is a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise KernelError(field, value, "a number above 0")
    if not (math.isfinite(value) and value > 0):
        raise KernelError(field, value, "a finite number above 0")
    return float(value)


def require_tensor(
    field: str,
    value: object,
    dtypes: Sequence[torch.dtype],
    shape: Sequence[tuple[str, int | None]],
    device: torch.device | None = None,
    fix: str = "",
) -> Tensor:
    """`value`, if it is a tensor of one of `dtypes`, of this shape, on this device.

    `shape` names each dimension and gives its size, or None where any size will do. `fix` is what
    to do about another shape.
    """
    wanted = ", ".join(name if size is None else f"{name}={size}" for name, size in shape)
    if not isinstance(value, Tensor):
        given = None if value is None else type(value).__name__
        raise KernelError(field, given, f"a tensor [{wanted}]", fix)
    if value.dtype not in dtypes:
        raise KernelError(field, value.dtype, dtypes, "convert or view it")
    sizes = [size for _, size in shape]
    if value.dim() != len(sizes) or any(
        size is not None and size != got for size, got in zip(sizes, value.shape, strict=True)
    ):
        raise KernelError(field, f"of shape {list(value.shape)}", f"[{wanted}]", fix)
    if device is not None and value.device != device:
        raise KernelError(
            field, f"on {value.device}", f"a tensor on {device}", "move it there first"
        )
    return value


def require_absent(**arguments: object) -> None:
    """Refuse any argument that is not None: what was planned has no use for it."""
    for field, value in arguments.items():
        if value is not None:
            raise KernelError(field, "given", "None, by what was planned", "drop it or plan anew")
