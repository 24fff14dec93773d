"""Views of KV caches in the shape that a kernel takes, checked and made once a cache.

A layer hands its kernel the same cache at every step, so a view made at the first is found again at
the next in a fraction of a microsecond. (A cache whose memory is exchanged behind its back, through
`set_` or `.data`, is not noticed: hand over a new tensor.)
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from torch import Tensor

from .checks import require_tensor
from .errors import KernelError
from .kv_cache import as_plain, as_records, require_cache

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from attnmatrix.kv_format import KVFormat


class CacheViews:
    """Remembers `make(cache)` for each cache, as long as the cache lives.

    `found` is open to callers in a hurry: `found.get(id(cache))` is the view, or None at first
    sight. An entry goes when its cache does, so an id is never taken for another tensor's.
    """

    def __init__(self, make: Callable[[Tensor], Tensor]) -> None:
        self._make = make
        self._references: dict[int, weakref.ref[Tensor]] = {}
        self.found: dict[int, Tensor] = {}

    def __call__(self, cache: Tensor) -> Tensor:
        """The view of this cache. Raises what `make` raises."""
        view = self.found.get(id(cache))
        return self._add(cache) if view is None else view

    def _add(self, cache: Tensor) -> Tensor:
        # .data, since a view would keep its base, and so the weak reference's target, alive.
        view = self._make(cache.data if isinstance(cache, Tensor) else cache)
        key, found, references = id(cache), self.found, self._references

        def forget(_: object) -> None:
            found.pop(key, None)
            references.pop(key, None)

        references[key] = weakref.ref(cache, forget)
        found[key] = view
        return view


def record_view(
    fmt: KVFormat, page_size: int, field: str, device: torch.device, stride_unit: int
) -> Callable[[Tensor], Tensor]:
    """Makes [num_pages, page_size, 1, bytes_per_token] of a uint8 cache, or takes it as it is.

    Pages must lie at multiples of 16 B, and as far apart as a multiple of `stride_unit`.
    """

    def make(cache: Tensor) -> Tensor:
        if isinstance(cache, Tensor) and cache.dim() == 4:
            view = _require_view(fmt, cache, page_size, field, device)
        else:
            require_cache(fmt, cache, page_size, field, device)
            view = as_records(fmt, cache, page_size)
        _require_aligned(field, view, stride_unit)
        return view

    return make


def plain_view(
    fmt: KVFormat, page_size: int, field: str, device: torch.device
) -> Callable[[Tensor], Tensor]:
    """Makes [num_pages, page_size, head_size] of a plain uint8 cache, in the dtype stored."""

    def make(cache: Tensor) -> Tensor:
        require_cache(fmt, cache, page_size, field, device)
        view = as_plain(fmt, cache, page_size)
        _require_aligned(field, cache, 16)
        return view

    return make


def _require_view(
    fmt: KVFormat, cache: Tensor, page_size: int, field: str, device: torch.device
) -> Tensor:
    import torch

    dtypes = (torch.uint8, torch.int8, torch.float8_e4m3fn)
    size = fmt.bytes_per_token
    shape = (("num_pages", None), ("page_size", page_size), ("kv_heads", 1), ("bytes", size))
    require_tensor(field, cache, dtypes, shape, device)
    if cache.stride(3) != 1 or cache.stride(1) != size:
        raise KernelError(field, f"of strides {cache.stride()}", "records one after another")
    if cache.shape[0] > 1 and cache.stride(0) < fmt.page_bytes(page_size):
        least = f"pages at least {fmt.page_bytes(page_size)} B apart"
        raise KernelError(field, f"pages {cache.stride(0)} B apart", least)
    return cache


def _require_aligned(field: str, pages: Tensor, stride_unit: int) -> None:
    if pages.data_ptr() % 16:
        raise KernelError(field, f"at address {pages.data_ptr():#x}", "a multiple of 16 B")
    stride = pages.stride(0) * pages.element_size()
    if pages.shape[0] > 1 and stride % stride_unit:
        accepted = f"pages a multiple of {stride_unit} B apart"
        raise KernelError(field, f"pages {stride} B apart", accepted, "round the page stride up")
