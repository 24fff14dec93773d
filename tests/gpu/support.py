"""Inputs of decode kernels, the float64 reference, and what counts as right."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor

import attnmatrix
from attnmatrix.kernels import kv_cache
from attnmatrix.kernels.errors import KernelError
from attnmatrix.kernels.reference import ReferenceDecode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from attnmatrix.kv_format import KVFormat

LIMITS = {torch.bfloat16: 4e-3, torch.float16: 1e-3}


def get_format(name: str) -> KVFormat:
    return attnmatrix.get_kv_format(name)


def adapter(kind: Any, *args: Any) -> Any:
    """An adapter, or a skip that says why its library is not there."""
    try:
        return kind(*args)
    except KernelError as error:
        pytest.skip(str(error))


def make_cache(
    fmt: KVFormat,
    pages: int,
    page_size: int,
    device: torch.device,
    *,
    gap: int = 0,
    scale: float | None = None,
) -> Tensor:
    """Random tokens, packed. A gap between pages holds NaN in every dtype."""
    kv = torch.randn(pages * page_size, fmt.head_size, device=device)
    packed = kv_cache.pack(fmt, kv, page_size=page_size, tensor_scale=scale)
    if not gap:
        return packed
    slab = torch.full((pages, packed.shape[1] + gap), 255, dtype=torch.uint8, device=device)
    cache = slab[:, : packed.shape[1]]
    cache.copy_(packed)
    return cache


def make_indices(batch: int, q_len: int, topk: int, slots: int, device: torch.device) -> Tensor:
    """Different slots of each query, about one in eight of them -1."""
    scores = torch.rand(batch, q_len, max(slots, topk), device=device)
    indices = scores.argsort(-1)[..., :topk].int()
    indices[indices >= slots] = -1
    return indices.masked_fill(torch.rand(indices.shape, device=device) < 0.125, -1)


def reference(
    q: Tensor, kv_cache_: Tensor, plan: dict[str, Any], arguments: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    """ReferenceDecode in float64, its output not rounded."""
    decode = ReferenceDecode()
    decode.plan(**plan, compute_dtype=torch.float64)
    return decode.run(q.double(), kv_cache_, **arguments)


def relative_error(got: Tensor, want: Tensor) -> float:
    return float((got.double() - want).norm() / want.norm().clamp_min(1e-30))


def require_right(
    got: tuple[Tensor, Tensor | None],
    want: tuple[Tensor, Tensor],
    dtype: torch.dtype,
    *,
    empty_lse: float = torch.inf,
    limit: float | None = None,
    lse_limit: float = 2e-3,
) -> float:
    out, lse = got
    assert out.dtype == dtype
    assert not out.isnan().any(), "an element was never written"
    error = relative_error(out, want[0])
    print(f"relative error {error:.2e}")
    assert error <= (LIMITS[dtype] if limit is None else limit)
    if lse is not None:
        assert lse.shape == want[1].shape
        expected = want[1].masked_fill(want[1] == torch.inf, empty_lse)
        torch.testing.assert_close(lse, expected, rtol=lse_limit, atol=lse_limit)
    return error


def poisoned(*shape: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.full(shape, torch.nan, dtype=dtype, device=device)


@contextmanager
def no_sync() -> Iterator[None]:
    """Anything that makes the host wait for the GPU is an error in here."""
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


@contextmanager
def no_new_memory() -> Iterator[None]:
    """The caching allocator must not ask the driver for memory in here."""
    torch.cuda.synchronize()
    before = torch.cuda.memory_stats()["num_device_alloc"]
    yield
    torch.cuda.synchronize()
    assert torch.cuda.memory_stats()["num_device_alloc"] == before


def capture(run: Any) -> tuple[torch.cuda.CUDAGraph, Any]:
    """A graph of run(), warmed up on a side stream first."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = run()
    return graph, result
