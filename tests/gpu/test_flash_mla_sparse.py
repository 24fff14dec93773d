from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from attnmatrix.kernels.errors import KernelError
from attnmatrix.kernels.flash_mla import SparseDecode
from tests.gpu.support import (
    adapter,
    capture,
    get_format,
    make_cache,
    make_indices,
    no_new_memory,
    no_sync,
    poisoned,
    reference,
    relative_error,
    require_right,
)

V4, V32 = "ds_mla_v4", "ds_mla_v32"


class Case:
    """A planned adapter, its arguments, and the reference on the same ones."""

    def __init__(
        self,
        device: torch.device,
        name: str,
        *,
        heads: int = 64,
        batch: int = 3,
        q_len: int = 1,
        topk: int = 128,
        page_size: int = 64,
        pages: int = 20,
        gap: int = 0,
        sink: bool = False,
        lengths: bool = False,
        extra: tuple[int, int, int] | None = None,
        **plan: Any,
    ) -> None:
        fmt = get_format(name)
        self.device, self.heads = device, heads
        self.shape = (batch, q_len, heads)
        self.q = torch.randn(*self.shape, fmt.head_size, device=device).bfloat16()
        self.cache = make_cache(fmt, pages, page_size, device, gap=gap)
        self.arguments: dict[str, Any] = {
            "indices": make_indices(batch, q_len, topk, pages * page_size, device)
        }
        self.plan: dict[str, Any] = {
            "kv_format": fmt,
            "page_size": page_size,
            "query_heads": heads,
            "head_size": fmt.head_size,
            "value_size": 512,
            "topk": topk,
        }
        if sink:
            self.arguments["attn_sink"] = torch.randn(heads, device=device)
        if lengths:
            self.arguments["topk_length"] = self.lengths(topk)
        own = {}
        if extra is not None:
            extra_topk, extra_page, extra_pages = extra
            self.plan.update(extra_kv_format=fmt, extra_page_size=extra_page)
            own["extra_topk"] = extra_topk
            count = extra_pages * extra_page
            self.arguments["extra_kv_cache"] = make_cache(fmt, extra_pages, extra_page, device)
            self.arguments["extra_indices"] = make_indices(batch, q_len, extra_topk, count, device)
            if lengths:
                self.arguments["extra_topk_length"] = self.lengths(extra_topk)
        self.decode = adapter(SparseDecode)
        self.decode.plan(**self.plan, **own, batch=batch, q_len=q_len, device=device, **plan)

    def lengths(self, most: int) -> Tensor:
        return torch.randint(0, most + 1, self.shape[:1], device=self.device, dtype=torch.int32)

    def out(self) -> Tensor:
        return poisoned(*self.shape, 512, dtype=torch.bfloat16, device=self.device)

    def run(self, **changes: Any) -> tuple[Tensor, Tensor]:
        return self.decode.run(self.q, self.cache, **{**self.arguments, **changes})

    def reference(self) -> tuple[Tensor, Tensor]:
        return reference(self.q, self.cache, self.plan, self.arguments)

    def check(self) -> None:
        out = self.out()
        got = self.run(out=out)
        assert got[0].data_ptr() == out.data_ptr()
        require_right(got, self.reference(), torch.bfloat16)


@pytest.mark.parametrize("name", [V4, V32])
@pytest.mark.parametrize("heads", [64, 128])
@pytest.mark.parametrize("sink", [False, True])
@pytest.mark.parametrize(("batch", "q_len", "topk"), [(1, 1, 64), (3, 2, 512), (33, 1, 2048)])
def test_right(
    cuda: torch.device, name: str, heads: int, sink: bool, batch: int, q_len: int, topk: int
) -> None:
    Case(cuda, name, heads=heads, sink=sink, batch=batch, q_len=q_len, topk=topk, pages=40).check()


@pytest.mark.parametrize("name", [V4, V32])
@pytest.mark.parametrize("page_size", [1, 2, 3, 32, 64, 256])
@pytest.mark.parametrize("gap", [0, 576, 16])
def test_page_sizes_and_strides(cuda: torch.device, name: str, page_size: int, gap: int) -> None:
    Case(cuda, name, page_size=page_size, pages=max(4, 600 // page_size), gap=gap).check()


@pytest.mark.parametrize("heads", [64, 128])
@pytest.mark.parametrize("extra", [(64, 2, 90), (512, 64, 30), (2048, 64, 40)])
@pytest.mark.parametrize("lengths", [False, True])
def test_two_pools(
    cuda: torch.device, heads: int, extra: tuple[int, int, int], lengths: bool
) -> None:
    Case(cuda, V4, heads=heads, sink=True, lengths=lengths, extra=extra, batch=9).check()


@pytest.mark.parametrize("heads", [1, 8, 16, 48, 65, 96])
@pytest.mark.parametrize("name", [V4, V32])
def test_padded_heads(cuda: torch.device, name: str, heads: int) -> None:
    case = Case(cuda, name, heads=heads, sink=True)
    assert case.decode.padded_query_heads == (64 if heads <= 64 else 128)
    case.check()
    require_right(case.run(), case.reference(), torch.bfloat16)


def test_a_padded_query_is_not_copied(cuda: torch.device) -> None:
    case = Case(cuda, V4, heads=40, sink=True)
    q = torch.zeros(3, 1, 64, 512, device=cuda, dtype=torch.bfloat16)
    q[:, :, :40] = case.q
    sink = torch.full((64,), -torch.inf, device=cuda)
    sink[:40] = case.arguments["attn_sink"]
    out, lse = case.decode.run(q, case.cache, **{**case.arguments, "attn_sink": sink})
    assert out.shape[2] == lse.shape[1] == 64
    require_right((out[:, :, :40], lse[:, :40]), case.reference(), torch.bfloat16)


@pytest.mark.parametrize("name", [V4, V32])
def test_all_indices_invalid(cuda: torch.device, name: str) -> None:
    case = Case(cuda, name, sink=True)
    case.arguments["indices"][1] = -1
    case.check()
    out, lse = case.run()
    assert not out[1].any()
    assert (lse[1] == torch.inf).all()


def test_length_zero_and_one_token(cuda: torch.device) -> None:
    case = Case(cuda, V4, lengths=True)
    case.arguments["topk_length"][:] = torch.tensor([0, 1, 128], device=cuda)
    case.arguments["indices"][1, 0, 0] = 5
    case.decode.refresh()
    case.check()


def test_one_valid_index(cuda: torch.device) -> None:
    case = Case(cuda, V32, batch=1)
    case.arguments["indices"][:] = -1
    case.arguments["indices"][0, 0, 77] = 1279
    case.check()


def test_duplicates_count_twice(cuda: torch.device) -> None:
    case = Case(cuda, V4)
    case.arguments["indices"][..., ::2] = 3
    case.check()


def test_strided_query(cuda: torch.device) -> None:
    case = Case(cuda, V4)
    wide = torch.randn(3, 1, 64, 640, device=cuda, dtype=torch.bfloat16)
    case.q = wide[..., 64:576]
    case.check()


def test_two_layers_share_a_schedule(cuda: torch.device) -> None:
    case = Case(cuda, V4, sink=True, lengths=True)
    case.check()
    case.q = torch.randn_like(case.q)
    case.cache = make_cache(case.plan["kv_format"], 20, 64, cuda)
    case.check()


def test_graph_follows_indices_and_lengths(cuda: torch.device) -> None:
    case = Case(cuda, V4, sink=True, lengths=True, extra=(512, 64, 30), batch=9)
    out = case.out()
    graph, result = capture(lambda: case.run(out=out))
    for _ in range(2):
        for key, value in case.arguments.items():
            if "indices" in key:
                slots = (20 if key == "indices" else 30) * 64
                value.copy_(make_indices(*value.shape, slots, cuda))
            elif "length" in key:
                value.copy_(case.lengths(128 if key == "topk_length" else 512))
        case.q.copy_(torch.randn_like(case.q))
        out.fill_(torch.nan)
        graph.replay()
        require_right(result, case.reference(), torch.bfloat16)
    case.check()  # outside the graph, the schedule is made anew


@pytest.mark.parametrize("name", [V4, V32])
def test_run_neither_waits_nor_asks_for_memory(cuda: torch.device, name: str) -> None:
    case = Case(cuda, name, sink=True)
    out = case.out()
    case.run(out=out)
    with no_new_memory(), no_sync():
        for _ in range(10):
            case.run(out=out)


def test_out_of_range_is_caught_under_debug(cuda: torch.device) -> None:
    case = Case(cuda, V4, debug=True, lengths=True, extra=(64, 64, 3))
    case.arguments["topk_length"][:] = 100
    case.check()
    case.arguments["indices"][0, 0, 120] = 10**6  # behind the length: never read
    case.check()
    case.arguments["indices"][0, 0, 20] = 1280
    with pytest.raises(KernelError, match="indices is 1280"):
        case.run()
    case.arguments["indices"][0, 0, 20] = -2
    with pytest.raises(KernelError, match="indices is -2"):
        case.run()
    case.arguments["indices"][0, 0, 20] = 0
    case.arguments["extra_indices"][:] = 192
    with pytest.raises(KernelError, match="extra_indices is 192"):
        case.run()


def test_refusals_name_the_field(cuda: torch.device) -> None:
    case = Case(cuda, V32)
    with pytest.raises(KernelError, match="topk_length"):
        case.run(topk_length=torch.ones(3, dtype=torch.int32, device=cuda))
    with pytest.raises(KernelError, match="indices"):
        case.run(indices=case.arguments["indices"].long())
    with pytest.raises(KernelError, match="attn_sink"):
        case.run(attn_sink=torch.zeros(64, dtype=torch.bfloat16, device=cuda))
    with pytest.raises(KernelError, match="out"):
        case.run(out=case.out().float())
    with pytest.raises(KernelError, match="kv_cache"):
        case.decode.run(case.q, case.cache.cpu(), **case.arguments)
    with pytest.raises(KernelError, match="q is"):
        case.decode.run(case.q.half(), case.cache, **case.arguments)
    slab = torch.zeros(21 * 41984, dtype=torch.uint8, device=cuda)
    shifted = slab[8 : 8 + 20 * 41984].view(20, -1)
    with pytest.raises(KernelError, match="16 B"):
        case.decode.run(case.q, shifted, **case.arguments)
    case.check()


def test_precision_is_that_of_bf16(cuda: torch.device) -> None:
    """The error is about that of rounding the exact output, so nothing else is lost."""
    case = Case(cuda, V4, batch=16, topk=512)
    want = case.reference()
    rounded = relative_error(want[0].bfloat16(), want[0])
    assert relative_error(case.run()[0], want[0]) <= 2.5 * rounded
