from __future__ import annotations

import pytest
import torch

import attnmatrix
from attnmatrix.kernels import kv_cache, kv_cache_triton
from attnmatrix.kernels.errors import KernelError
from tests.gpu.support import get_format, no_sync

KNOWN = [n for n in attnmatrix.kv_format_names() if kv_cache_triton.is_known(get_format(n))]


def both_ways(
    name: str, kv: torch.Tensor, page_size: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """A cache of random bytes after the kernel and after torch on the CPU have written to it."""
    fmt, tokens = get_format(name), len(kv)
    scale = 0.037 if name.startswith("e4m3") else None
    pages = -(-2 * tokens // page_size)
    want = kv_cache.empty(fmt, pages, page_size, page_stride=fmt.page_bytes(page_size) + 48)
    want.random_(0, 256)
    cache = kv_cache.empty(fmt, pages, page_size, device, page_stride=want.stride(0))
    cache.copy_(want)
    slots = torch.randperm(pages * page_size)[:tokens]
    slots[::7] = -1
    kv_cache.write(fmt, want, kv, slots, page_size=page_size, tensor_scale=scale)
    on_gpu = None if scale is None else torch.tensor([scale], device=device)
    kv_cache.write(
        fmt, cache, kv.to(device), slots.to(device), page_size=page_size, tensor_scale=on_gpu
    )
    return cache.cpu(), want


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("page_size", [1, 3, 64])
def test_bytes_are_those_of_the_torch_packer(
    cuda: torch.device, name: str, dtype: torch.dtype, page_size: int
) -> None:
    tokens = 1000
    kv = torch.randn(tokens, get_format(name).head_size)
    kv = (kv * torch.logspace(-6, 4, tokens)[:, None]).to(dtype)
    kv[10] = 0
    kv[11, 5], kv[12, 70] = torch.inf, -torch.inf
    got, want = both_ways(name, kv, page_size, cuda)
    assert torch.equal(got, want)


@pytest.mark.parametrize("name", KNOWN)
def test_nan_stays_nan(cuda: torch.device, name: str) -> None:
    kv = torch.full((1, get_format(name).head_size), torch.nan)
    kv = kv.repeat(5, 1)
    got, want = both_ways(name, kv, 1, cuda)
    read = [kv_cache.unpack(get_format(name), pages, page_size=1) for pages in (got, want)]
    torch.testing.assert_close(*read, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", ["ds_mla_v32", "ds_mla_v4", "bf16_576"])
def test_finite_tokens_are_byte_identical(cuda: torch.device, name: str) -> None:
    fmt = get_format(name)
    kv = torch.randn(70_000, fmt.head_size, device=cuda).bfloat16()
    want = kv_cache.pack(fmt, kv, page_size=64)
    cache = torch.full_like(want, 0)
    with no_sync():
        kv_cache.write(fmt, cache, kv, torch.arange(70_000, device=cuda), page_size=64)
    assert torch.equal(cache, want)


def test_slots_past_the_end_are_skipped_or_refused(
    cuda: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    fmt = get_format("ds_mla_v4")
    slab = torch.zeros(4, fmt.page_bytes(64), dtype=torch.uint8, device=cuda)
    kv = torch.randn(2, 512, device=cuda).bfloat16()
    slots = torch.tensor([5, 128], device=cuda)
    kv_cache.write(fmt, slab[:2], kv, slots, page_size=64)
    assert slab[0].any()
    assert not slab[1:].any()
    monkeypatch.setenv("ATTNMATRIX_DEBUG", "1")
    with pytest.raises(KernelError, match="slot_mapping is 128"):
        kv_cache.write(fmt, slab[:2], kv, slots, page_size=64)


def test_a_graph_captures_the_writer(cuda: torch.device) -> None:
    fmt = get_format("ds_mla_v32")
    kv = torch.randn(100, 576, device=cuda).bfloat16()
    slots = torch.arange(100, device=cuda)
    cache = kv_cache.empty(fmt, 4, 64, cuda)
    kv_cache.write(fmt, cache, kv, slots, page_size=64)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kv_cache.write(fmt, cache, kv, slots, page_size=64)
    slots += 100
    kv.normal_()
    graph.replay()
    want = kv_cache.pack(fmt, kv, page_size=1)
    rows = kv_cache.gather(fmt, cache, slots, page_size=64)
    torch.testing.assert_close(rows, kv_cache.unpack(fmt, want, page_size=1), rtol=0, atol=0)
