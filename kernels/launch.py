"""What adapters ask before a launch: devices, planned shapes, alignment, graph capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .checks import require_int, require_tensor
from .errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from attnmatrix.kv_format import KVFormat


def unplanned() -> KernelError:
    """The refusal of a run without a plan."""
    return KernelError("plan", None, "a plan before the first run", "call plan(...) first")


def resolve_device(device: torch.device | str) -> torch.device:
    """A device as tensors name theirs: 'cuda' becomes the current one."""
    found = torch.device(device)
    if str(found) == "cuda" and torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())
    return found


def capture_check(device: torch.device) -> Callable[[], bool]:
    """What tells whether the current stream records a CUDA graph; chosen once, for speed."""
    if device.type == "cuda" and torch.cuda.is_available():
        public = torch.cuda.is_current_stream_capturing
        return getattr(torch._C, "_cuda_isCurrentStreamCapturing", public)  # less a Python frame
    return bool


def is_aligned(q: Tensor) -> bool:
    """Whether each of q's rows, 2 B an element, begins at a multiple of 16 B."""
    strides = q.stride()
    return q.data_ptr() % 16 == 0 and strides[-1] == 1 and not any(s % 8 for s in strides[:-1])


def misaligned(q: Tensor) -> KernelError:
    """The refusal of such a q."""
    at = f"at {q.data_ptr():#x} with strides {list(q.stride())}"
    return KernelError("q", at, "rows at multiples of 16 B", "copy it, or pad its rows")


def wrong_shape(field: str, value: object, wanted: Sequence[int] | None) -> KernelError:
    """The refusal of a tensor that is not of the planned shape."""
    given = f"of shape {list(value.shape)}" if isinstance(value, Tensor) else value
    if wanted is None:
        return KernelError(field, given, "None, by what was planned", "plan anew")
    return KernelError(field, given, f"{list(wanted)}, as planned", "plan anew for another shape")


def require_planned(
    field: str, value: object, dtype: torch.dtype, shape: Sequence[int], device: torch.device
) -> Tensor:
    """`value`, if it is a tensor of this dtype and shape on this device."""
    names = tuple((f"size {i}", size) for i, size in enumerate(shape))
    return require_tensor(field, value, (dtype,), names, device)


def require_sizes(kv_format: KVFormat, head_size: int, value_size: int, taken: int) -> None:
    """Refuse a head size that is not the format's, or a value size that is not `taken`."""
    if require_int("head_size", head_size) != kv_format.head_size:
        accepted = f"{kv_format.head_size}, that of {kv_format.name}"
        raise KernelError("head_size", head_size, accepted, "count elements, not bytes")
    if require_int("value_size", value_size) != taken:
        raise KernelError("value_size", value_size, (taken,))
