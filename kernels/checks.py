"""Checks of arguments, shared by the packer and the adapters; each raises KernelError."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnmatrix.kv_format import KVFormat

from .errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Sequence

_FLOAT32 = torch.finfo(torch.float32)


def require_int(field: str, value: object, minimum: int = 1) -> int:
    """`value`, if it is an int (bool is none) of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise KernelError(field, value, f"an integer of at least {minimum}")
    return value


def require_finite(field: str, value: object) -> float:
    """`value` as a float, if it is a number above 0 that float32, in which kernels take it, holds.

    Any real number will do, NumPy's scalars too. One so small that float32 has it with fewer bits,
    or not at all, is refused like one too large.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        given = type(value).__name__ if isinstance(value, Tensor) else value
        raise KernelError(field, given, "a number above 0")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not _FLOAT32.tiny <= number <= _FLOAT32.max:
        accepted = f"a number above 0 that float32 holds: {_FLOAT32.tiny:.2g} to {_FLOAT32.max:.2g}"
        raise KernelError(field, number, accepted)
    return number


def require_format(field: str, value: object) -> KVFormat:
    """`value`, if it is a KV format, and not a format's name."""
    if isinstance(value, KVFormat):
        return value
    given = value if value is None or isinstance(value, str) else type(value).__name__
    name = repr(value) if isinstance(value, str) else "name"
    raise KernelError(field, given, "a KVFormat", f"pass get_kv_format({name})")


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
    if value.is_meta or value.layout != torch.strided:
        given = "a meta tensor" if value.is_meta else f"of layout {value.layout}"
        raise KernelError(field, given, "a tensor of elements in memory")
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


def require_writable(field: str, value: Tensor) -> None:
    """Refuse a tensor that cannot be filled in place: elements share memory, or autograd minds."""
    reach = 0
    for stride, size in sorted(zip(value.stride(), value.shape, strict=True)):
        if size > 1 and stride <= reach and value.numel():
            raise KernelError(
                field, f"of strides {list(value.stride())}", "elements apart", "do not expand it"
            )
        reach += stride * (size - 1)
    if value.requires_grad:
        raise KernelError(field, "a tensor that requires grad", "one that does not", "detach it")
    if value.is_inference() and not torch.is_inference_mode_enabled():
        given = "an inference tensor, outside of inference mode"
        raise KernelError(field, given, "a tensor that may be written", "clone it")


def require_absent(**arguments: object) -> None:
    """Refuse any argument that is not None: what was planned has no use for it."""
    for field, value in arguments.items():
        if value is not None:
            raise KernelError(field, "given", "None, by what was planned", "drop it or plan anew")
