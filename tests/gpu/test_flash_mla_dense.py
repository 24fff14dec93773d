from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from attnmatrix.kernels.errors import KernelError
from attnmatrix.kernels.flash_mla_dense import DenseDecode
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

FP8_LIMIT = 2.5e-2
"""The FP8 kernel rounds the softmax's weights to e4m3, of 3 bits: about 2e-2 is its best."""


class Case:
    def __init__(
        self,
        device: torch.device,
        name: str = "bf16_576",
        *,
        heads: int = 128,
        lengths: tuple[int, ...] = (1, 64, 333),
        q_len: int = 1,
        causal: bool = False,
        gap: int = 0,
        **plan: Any,
    ) -> None:
        fmt = get_format(name)
        stored = fmt.values[0].dtype
        self.device, self.dtype = device, getattr(torch, stored)
        self.out_dtype = torch.bfloat16 if stored == "float8_e4m3fn" else self.dtype
        self.scale = 0.02 if stored == "float8_e4m3fn" else None
        batch = len(lengths)
        self.shape = (batch, q_len, heads)
        self.q = torch.randn(*self.shape, fmt.head_size, device=device).to(self.dtype)
        blocks = max(1, -(-max(lengths) // 64))
        self.cache = make_cache(fmt, batch * blocks + 3, 64, device, gap=gap, scale=self.scale)
        self.tables = {
            "block_table": torch.randperm(batch * blocks, device=device).int().view(batch, -1),
            "cache_seqlens": torch.tensor(lengths, device=device, dtype=torch.int32),
        }
        self.plan: dict[str, Any] = {
            "kv_format": fmt,
            "page_size": 64,
            "query_heads": heads,
            "head_size": fmt.head_size,
            "value_size": 512,
            "causal": causal,
        }
        self.decode = adapter(DenseDecode)
        try:
            self.decode.plan(**self.plan, batch=batch, q_len=q_len, device=device, **plan)
        except KernelError as error:
            if error.field != "provider":
                raise
            pytest.skip(str(error))  # this build has no such kernel, and the row says so

    def run(self, out: Tensor | None = None) -> tuple[Tensor, Tensor]:
        scales = {}
        if self.scale is not None:
            scales["tensor_scale"] = torch.full((1,), self.scale, device=self.device)
        return self.decode.run(self.q, self.cache, **self.tables, **scales, out=out)

    def out(self) -> Tensor:
        return poisoned(*self.shape, 512, dtype=self.out_dtype, device=self.device)

    def check(self, got: tuple[Tensor, Tensor] | None = None) -> None:
        if got is None:
            out = self.out()
            got = self.run(out)
            assert got[0].data_ptr() == out.data_ptr()
        arguments = {**self.tables, "tensor_scale": self.scale}
        want = reference(self.q, self.cache, self.plan, arguments)
        limit = FP8_LIMIT if self.scale is not None else None
        require_right(got, want, self.out_dtype, limit=limit)


PLAIN = ["bf16_576", "fp16_576", "bf16_512", "fp16_512", "e4m3_576"]


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("heads", [1, 16, 64, 128])
def test_right(cuda: torch.device, name: str, heads: int) -> None:
    case = Case(cuda, name, heads=heads)
    case.check()
    case.check(case.run())


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("q_len", [1, 2, 5])
def test_multi_token(cuda: torch.device, name: str, causal: bool, q_len: int) -> None:
    Case(cuda, name, heads=64, q_len=q_len, causal=causal, lengths=(70, 5, 64, 1500)).check()


@pytest.mark.parametrize("name", PLAIN)
def test_strided_pages(cuda: torch.device, name: str) -> None:
    Case(cuda, name, gap=1024).check()


@pytest.mark.parametrize("name", PLAIN[:-1])
def test_length_zero(cuda: torch.device, name: str) -> None:
    case = Case(cuda, name, lengths=(0, 1, 100))
    out, lse = case.run(case.out())
    assert not out[0].any()
    assert (lse[0] == torch.inf).all()
    case.check()


def test_length_zero_of_the_fp8_kernel_is_caught_under_debug(cuda: torch.device) -> None:
    """It reads out of bounds then."""
    case = Case(cuda, "e4m3_576", lengths=(0, 1, 100), debug=True)
    with pytest.raises(KernelError, match="cache_seqlens"):
        case.run()


def test_a_head_size_that_would_end_the_process_is_refused(cuda: torch.device) -> None:
    decode = adapter(DenseDecode)
    fmt = get_format("bf16_512")
    plan = {"kv_format": fmt, "page_size": 64, "query_heads": 64, "head_size": 512, "batch": 1}
    if decode.provider.startswith("vllm==0.24"):
        with pytest.raises(KernelError, match="end the process"):
            decode.plan(**plan, device=cuda)
    else:
        decode.plan(**plan, device=cuda)


@pytest.mark.parametrize("name", ["bf16_576", "e4m3_576"])
def test_graph_follows_tables_and_lengths(cuda: torch.device, name: str) -> None:
    case = Case(cuda, name, lengths=(900, 64, 333))
    out = case.out()
    graph, result = capture(lambda: case.run(out))
    table, lengths = case.tables.values()
    table.copy_(torch.randperm(table.numel(), device=cuda).int().view_as(table))
    lengths.copy_(torch.tensor([7, 600, 1], device=cuda))
    out.fill_(torch.nan)
    graph.replay()
    case.check(result)
    case.check()


def test_run_neither_waits_nor_asks_for_memory(cuda: torch.device) -> None:
    case = Case(cuda)
    out = case.out()
    case.run(out)
    with no_new_memory(), no_sync():
        for _ in range(10):
            case.run(out)


def test_tables_are_checked_under_debug(cuda: torch.device) -> None:
    case = Case(cuda, debug=True)
    case.check()
    case.tables["block_table"][2, 0] = 99
    with pytest.raises(KernelError, match="block_table is 99"):
        case.run()
    case.tables["cache_seqlens"][2] = 10**4
    with pytest.raises(KernelError, match="cache_seqlens"):
        case.run()
