from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import Tensor

from attnmatrix.kernels.errors import KernelError
from attnmatrix.kernels.flashinfer import BatchMLA
from tests.gpu.support import (
    adapter,
    capture,
    get_format,
    make_cache,
    no_new_memory,
    no_sync,
    poisoned,
    reference,
    require_right,
)

FORMATS = ["bf16_576", "fp16_576", "e4m3_576", "bf16_512", "fp16_512", "e4m3_512", "bf16_320"]
BACKENDS = ["fa3", "fa2"]


class Case:
    """Dense where topk is None."""

    def __init__(
        self,
        device: torch.device,
        name: str = "bf16_576",
        backend: str = "fa3",
        *,
        heads: int = 64,
        lengths: tuple[int, ...] = (1, 64, 333),
        q_len: int = 1,
        causal: bool = False,
        page_size: int = 64,
        gap: int = 0,
        topk: int | None = None,
        full: bool = False,
        scale: float = 2.0**-6,
        **plan: Any,
    ) -> None:
        fmt = get_format(name)
        stored = fmt.values[0].dtype
        self.fmt, self.device = fmt, device
        self.dtype = torch.float16 if stored == "float16" else torch.bfloat16
        self.scale = scale if stored == "float8_e4m3fn" else None
        batch = len(lengths)
        self.shape = (batch, q_len, heads)
        self.q = torch.randn(*self.shape, fmt.head_size, device=device).to(self.dtype)
        blocks = max(1, -(-max(lengths) // page_size))
        self.pages = batch * blocks + 3
        self.cache = make_cache(fmt, self.pages, page_size, device, gap=gap, scale=self.scale)
        given = torch.tensor(lengths, device=device, dtype=torch.int32)
        self.tables: dict[str, Any]
        if topk is None:
            table = torch.randperm(batch * blocks, device=device).int().view(batch, -1)
            self.tables = {"block_table": table, "cache_seqlens": given}
        else:
            self.tables = {"indices": self.indices(topk, page_size)}
            if not full:
                self.tables["topk_length"] = given.clamp(max=topk)
        self.plan: dict[str, Any] = {
            "kv_format": fmt,
            "page_size": page_size,
            "query_heads": heads,
            "head_size": fmt.head_size,
            "value_size": fmt.values[0].count,
            "topk": topk,
            "causal": causal,
        }
        self.own = {"batch": batch, "q_len": q_len, "device": device, "backend": backend, **plan}
        self.decode = adapter(BatchMLA)
        self.replan()

    def indices(self, topk: int, page_size: int) -> Tensor:
        scores = torch.rand(*self.shape[:2], max(topk, self.pages * page_size), device=self.device)
        return scores.argsort(-1)[..., :topk].int() % (self.pages * page_size)

    def replan(self) -> None:
        self.decode.plan(**self.plan, **self.own, **self.tables)

    def run(self, out: Tensor | None = None, **more: Any) -> tuple[Tensor, Tensor]:
        return self.decode.run(self.q, self.cache, tensor_scale=self.scale, out=out, **more)

    def out(self) -> Tensor:
        size = self.plan["value_size"]
        return poisoned(*self.shape, size, dtype=self.dtype, device=self.device)

    def check(
        self,
        got: tuple[Tensor, Tensor] | None = None,
        limits: tuple[float | None, float] = (None, 2e-3),
    ) -> None:
        if got is None:
            out = self.out()
            got = self.run(out)
            assert got[0].data_ptr() == out.data_ptr()
        arguments = {**self.tables, "tensor_scale": self.scale}
        want = reference(self.q, self.cache, self.plan, arguments)
        limit, lse_limit = limits
        require_right(got, want, self.dtype, empty_lse=-torch.inf, limit=limit, lse_limit=lse_limit)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("heads", [1, 16, 64, 128])
def test_dense(cuda: torch.device, name: str, backend: str, heads: int) -> None:
    case = Case(cuda, name, backend, heads=heads, lengths=(1, 64, 333, 4000))
    case.check()
    case.check(case.run())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("q_len", [2, 5])
def test_causal_multi_token(cuda: torch.device, name: str, backend: str, q_len: int) -> None:
    Case(cuda, name, backend, q_len=q_len, causal=True, lengths=(70, 5, 64, 900)).check()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("full", [False, True])
def test_sparse(cuda: torch.device, name: str, backend: str, full: bool) -> None:
    case = Case(cuda, name, backend, topk=96, full=full, q_len=2, lengths=(1, 64, 333))
    case.check()
    case.tables["indices"] = case.indices(96, 64)
    case.check(case.run(case.out(), indices=case.tables["indices"]))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["e4m3_576", "e4m3_512"])
def test_a_scale_that_bf16_lacks_costs_precision(
    cuda: torch.device, name: str, backend: str
) -> None:
    """The kernel rounds the scale, and each scaled element, to bfloat16."""
    Case(cuda, name, backend, lengths=(300, 64, 333), scale=0.02).check(limits=(7e-3, 2e-2))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("page_size", [1, 3, 16, 128])
def test_page_sizes_and_strides(cuda: torch.device, backend: str, page_size: int) -> None:
    Case(cuda, backend=backend, page_size=page_size).check()
    Case(cuda, backend=backend, page_size=page_size, gap=1024).check()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("topk", [None, 64])
def test_length_zero(cuda: torch.device, backend: str, topk: int | None) -> None:
    case = Case(cuda, backend=backend, lengths=(0, 1, 100), topk=topk)
    out, lse = case.run(case.out())
    assert not out[0].any()
    assert (lse[0] == -torch.inf).all()
    case.check()


@pytest.mark.parametrize("backend", BACKENDS)
def test_dense_graph_follows_a_new_plan(cuda: torch.device, backend: str) -> None:
    case = Case(cuda, backend=backend, lengths=(700, 64, 333), cuda_graph=True)
    out = case.out()
    graph, result = capture(lambda: case.run(out))
    table, lengths = case.tables.values()
    table.copy_(torch.randperm(table.numel(), device=cuda).int().view_as(table))
    lengths.copy_(torch.tensor([7, 600, 1], device=cuda))
    case.replan()
    out.fill_(torch.nan)
    graph.replay()
    case.check(result)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("full", [False, True])
def test_sparse_graph_follows_indices(cuda: torch.device, backend: str, full: bool) -> None:
    case = Case(cuda, backend=backend, topk=64, full=full, cuda_graph=True)
    out = case.out()
    indices = case.tables["indices"]
    graph, result = capture(lambda: case.run(out, indices=indices))
    indices.copy_(case.indices(64, 64))
    out.fill_(torch.nan)
    graph.replay()
    case.check(result)


@pytest.mark.parametrize("topk", [None, 64])
def test_run_neither_waits_nor_asks_for_memory(cuda: torch.device, topk: int | None) -> None:
    case = Case(cuda, topk=topk)
    out = case.out()
    case.run(out)
    with no_new_memory(), no_sync():
        for _ in range(10):
            case.run(out)


def test_no_deprecation_shows(cuda: torch.device) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        Case(cuda).check()


def test_values_out_of_range_are_caught_under_debug(cuda: torch.device) -> None:
    case = Case(cuda, debug=True, topk=64)
    case.check()
    case.decode.table.fill_(10**6)
    with pytest.raises(KernelError, match="indices is 1000000"):
        case.run()
    case = Case(cuda, debug=True)
    case.check()
    case.tables["block_table"][2, 0] = -1
    with pytest.raises(KernelError, match="block_table is -1"):
        case.run()


def test_refusals_name_the_field(cuda: torch.device) -> None:
    case = Case(cuda)
    with pytest.raises(KernelError, match="tensor_scale"):
        case.decode.run(case.q, case.cache, tensor_scale=0.5)
    with pytest.raises(KernelError, match="q is"):
        case.decode.run(case.q[:, :, :32], case.cache)
    with pytest.raises(KernelError, match="out is"):
        case.run(case.out().float())
    case.tables["cache_seqlens"][0] = 10**5
    with pytest.raises(KernelError, match="block_table"):
        case.replan()
