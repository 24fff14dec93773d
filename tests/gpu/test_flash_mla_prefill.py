from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch

from attnmatrix.kernels.errors import KernelError
from attnmatrix.kernels.flash_mla_prefill import SparsePrefill
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
    require_right,
)

FEW_HEADS = [(heads, topk) for heads in (4, 8, 16, 32) for topk in (1, 65, 300)]
"""What the kernel for few heads takes beside multiples of 128."""


@pytest.mark.parametrize("name", ["bf16_576", "bf16_512"])
@pytest.mark.parametrize(
    ("heads", "topk"), [*product([4, 8, 16, 32, 64, 100, 128], [128, 512]), *FEW_HEADS]
)
@pytest.mark.parametrize("sink", [False, True])
@pytest.mark.parametrize("lengths", [False, True])
def test_right(
    cuda: torch.device, name: str, heads: int, topk: int, sink: bool, lengths: bool
) -> None:
    fmt, tokens, pages = get_format(name), 19, 12
    q = torch.randn(tokens, heads, fmt.head_size, device=cuda).bfloat16()
    cache = make_cache(fmt, pages, 64, cuda)
    indices = make_indices(tokens, 1, topk, pages * 64, cuda)
    indices[3] = -1
    arguments: dict[str, Any] = {}
    if sink:
        arguments["attn_sink"] = torch.randn(heads, device=cuda)
    if lengths:
        arguments["topk_length"] = torch.randint(0, topk + 1, (tokens,), device=cuda).int()
    decode = adapter(SparsePrefill)
    plan = {
        "kv_format": fmt,
        "query_heads": heads,
        "head_size": fmt.head_size,
        "value_size": 512,
        "topk": topk,
        "page_size": 64,
    }
    try:
        decode.plan(**plan, device=cuda)
    except KernelError as error:
        if error.field != "topk" or topk % 128 == 0:
            raise
        pytest.skip(str(error))  # this build has no kernel for few heads, and the row says so
    out = poisoned(tokens, heads, 512, dtype=torch.bfloat16, device=cuda)
    got, lse = decode.run(q, cache, indices=indices.squeeze(1), out=out, **arguments)
    assert got.data_ptr() == out.data_ptr()
    want = reference(q.unsqueeze(1), cache, plan, {"indices": indices, **arguments})
    require_right((got.unsqueeze(1), lse.unsqueeze(2)), want, torch.bfloat16)


@pytest.mark.parametrize("heads", [40, 64])
def test_a_graph_follows_indices_and_a_run_does_not_wait(cuda: torch.device, heads: int) -> None:
    fmt = get_format("bf16_512")
    q = torch.randn(5, heads, 512, device=cuda).bfloat16()
    cache = make_cache(fmt, 12, 64, cuda)
    indices = make_indices(5, 1, 128, 768, cuda).squeeze(1)
    out = poisoned(5, heads, 512, dtype=torch.bfloat16, device=cuda)
    decode = adapter(SparsePrefill)
    plan = {"kv_format": fmt, "query_heads": heads, "head_size": 512, "topk": 128}
    decode.plan(**plan, device=cuda)
    graph, result = capture(lambda: decode.run(q, cache, indices=indices, out=out))
    indices.copy_(make_indices(5, 1, 128, 768, cuda).squeeze(1))
    out.fill_(torch.nan)
    graph.replay()
    known = {**plan, "page_size": 64, "value_size": 512}
    want = reference(q.unsqueeze(1), cache, known, {"indices": indices.unsqueeze(1)})
    require_right((result[0].unsqueeze(1), result[1].unsqueeze(2)), want, torch.bfloat16)
    with no_new_memory(), no_sync():
        decode.run(q, cache, indices=indices, out=out)


def test_rows_out_of_range_count_as_none(cuda: torch.device) -> None:
    fmt = get_format("bf16_512")
    q = torch.randn(2, 64, 512, device=cuda).bfloat16()
    rows = torch.randn(100, 512, device=cuda).bfloat16()
    decode = adapter(SparsePrefill)
    decode.plan(kv_format=fmt, query_heads=64, head_size=512, topk=128, device=cuda)
    indices = torch.arange(128, device=cuda).int().repeat(2, 1)
    known = indices.where(indices < 100, -1)
    out, lse = decode.run(q, rows, indices=indices)
    want, want_lse = decode.run(q, rows, indices=known)
    assert torch.equal(out, want)
    assert torch.equal(lse, want_lse)


def test_refusals_name_the_field(cuda: torch.device) -> None:
    fmt = get_format("bf16_512")
    decode = adapter(SparsePrefill)
    with pytest.raises(KernelError, match="topk"):
        decode.plan(kv_format=fmt, query_heads=64, head_size=512, topk=100, device=cuda)
    decode.plan(kv_format=fmt, query_heads=64, head_size=512, topk=128, device=cuda)
    q = torch.randn(2, 64, 512, device=cuda).bfloat16()
    pages = make_cache(fmt, 4, 64, cuda, gap=1024)
    indices = torch.zeros(2, 128, device=cuda, dtype=torch.int32)
    with pytest.raises(KernelError, match="kv"):
        decode.run(q, pages, indices=indices)
    with pytest.raises(KernelError, match="indices"):
        decode.run(q, make_cache(fmt, 4, 64, cuda), indices=indices.long())
