"""FlashMLA's adapters without FlashMLA: what they refuse, and the call that they would make."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch

from attnmatrix import get_kv_format
from attnmatrix.kernels import flash_mla, flash_mla_dense, flash_mla_prefill, kv_cache
from attnmatrix.kernels.errors import KernelError
from attnmatrix.kernels.flash_mla import SparseDecode
from attnmatrix.kernels.flash_mla_dense import DenseDecode
from attnmatrix.kernels.flash_mla_prefill import SparsePrefill
from tests import fake_libraries

V4 = get_kv_format("ds_mla_v4")
V32 = get_kv_format("ds_mla_v32")


@pytest.fixture(autouse=True)
def _hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (flash_mla, flash_mla_dense, flash_mla_prefill):
        monkeypatch.setattr(module, "capability_of", lambda device: (9, 0))


def sparse(heads: int = 64, fmt: Any = V4, **changes: Any) -> SparseDecode:
    options = {
        name: changes.pop(name) for name in ("distribution", "version", "last") if name in changes
    }
    decode = SparseDecode(fake_libraries.flash_mla(**options))
    plan = {
        "kv_format": fmt,
        "page_size": 64,
        "query_heads": heads,
        "head_size": fmt.head_size,
        "topk": 128,
        "batch": 2,
        "device": "cpu",
    }
    decode.plan(**{**plan, **changes})
    return decode


def inputs(heads: int = 64, fmt: Any = V4) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    q = torch.randn(2, 1, heads, fmt.head_size).bfloat16()
    cache = kv_cache.empty(fmt, 3, 64)
    return q, cache, {"indices": torch.zeros(2, 1, 128, dtype=torch.int32)}


def recorded(decode: Any, name: str = "sparse_decode") -> Any:
    return decode.library.operator(name).call


def test_the_call_is_the_library_s() -> None:
    decode = sparse(extra_kv_format=V4, extra_page_size=2, extra_topk=64)
    q, cache, arguments = inputs()
    extra = kv_cache.empty(V4, 5, 2)
    extra_indices = torch.zeros(2, 1, 64, dtype=torch.int32)
    length = torch.ones(2, dtype=torch.int32)
    sink, out = torch.zeros(64), torch.zeros(2, 1, 64, 512, dtype=torch.bfloat16)
    more = {
        "topk_length": length,
        "attn_sink": sink,
        "extra_kv_cache": extra,
        "extra_indices": extra_indices,
        "extra_topk_length": length,
    }
    got, lse = decode.run(q, cache, **arguments, **more, out=out)
    args = recorded(decode).args
    assert len(args) == 13
    assert args[0] is q
    assert args[1].shape == (3, 64, 1, 584)
    assert args[1].stride() == (37440, 584, 584, 1)
    assert args[1].data_ptr() == cache.data_ptr()
    assert args[2] is arguments["indices"]
    assert args[3] is length
    assert args[4] is sink
    assert args[5:7] == (None, None)
    assert args[7].shape == (5, 2, 1, 584)
    assert args[7].stride(0) == 1728
    assert args[8] is extra_indices
    assert args[9] is length
    assert args[10:12] == (512, 512**-0.5)
    assert args[12] is out is got
    assert lse.shape == (2, 64, 1)


def test_the_schedule_is_made_once() -> None:
    decode = sparse()
    q, cache, arguments = inputs()
    decode.run(q, cache, **arguments)
    assert recorded(decode).args[5:7] == (None, None)
    decode.run(q, cache, **arguments)
    assert recorded(decode).args[5] is fake_libraries.SCHEDULE[0]
    assert recorded(decode).args[6] is fake_libraries.SCHEDULE[1]
    decode.run(q, cache, **arguments, topk_length=torch.ones(2, dtype=torch.int32))
    assert recorded(decode).args[5] is None, "a schedule without lengths serves no run with them"
    decode.refresh()
    decode.run(q, cache, **arguments)
    assert recorded(decode).args[5] is None


def test_views_of_a_cache_are_made_once_and_let_it_die() -> None:
    decode = sparse()
    q, cache, arguments = inputs()
    decode.run(q, cache, **arguments)
    first = recorded(decode).args[1]
    decode.run(q, cache, **arguments)
    assert recorded(decode).args[1] is first
    recorded(decode).calls.clear()
    views = decode._plan.cache.found
    assert len(views) == 1
    del cache, first
    gc.collect()
    assert not views


@pytest.mark.parametrize(
    ("distribution", "version", "last", "arguments"),
    [("sglang-kernel", "0.4.10", "kv_format", ("V4",)), ("sglang-kernel", "0.4.3", None, ())],
)
def test_last_arguments_of_other_providers(
    distribution: str, version: str, last: str | None, arguments: tuple[Any, ...]
) -> None:
    decode = sparse(distribution=distribution, version=version, last=last)
    q, cache, given = inputs()
    out = torch.zeros(2, 1, 64, 512, dtype=torch.bfloat16)
    got, _ = decode.run(q, cache, **given, out=out)
    assert recorded(decode).args[12:] == arguments
    assert got is out
    assert out.all()
    assert decode.provider == f"{distribution}=={version}"


@pytest.mark.parametrize(("heads", "padded"), [(1, 64), (64, 64), (65, 128), (128, 128)])
def test_heads_are_padded_visibly(heads: int, padded: int) -> None:
    decode = sparse(heads)
    assert decode.padded_query_heads == padded
    q, cache, arguments = inputs(heads)
    out = torch.zeros(2, 1, heads, 512, dtype=torch.bfloat16)
    got, lse = decode.run(q, cache, **arguments, attn_sink=torch.ones(heads), out=out)
    args = recorded(decode).args
    assert args[0].shape[2] == padded
    assert torch.equal(args[0][:, :, :heads], q)
    assert not args[0][:, :, heads:].any()
    assert args[4][:heads].eq(1).all()
    assert args[4][heads:].eq(-torch.inf).all()
    assert (args[0] is q) == (heads == padded)
    assert got is out
    assert out.all()
    assert lse.shape == (2, heads, 1)


def test_padding_survives_a_plan() -> None:
    """A graph captured before the plan still reads it."""
    decode = sparse(40)
    q, cache, arguments = inputs(40)
    decode.run(q, cache, **arguments)
    first = recorded(decode).args[0]
    plan = {"kv_format": V4, "page_size": 64, "query_heads": 40, "head_size": 512, "batch": 2}
    decode.plan(**plan, topk=128, device="cpu")
    decode.run(q, cache, **arguments)
    assert recorded(decode).args[0] is first


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"heads": 129}, "query_heads"),
        ({"topk": 100}, "topk"),
        ({"head_size": 584}, "head_size"),
        ({"value_size": 448}, "value_size"),
        ({"extra_kv_format": V4, "extra_page_size": 64, "extra_topk": 32}, "extra_topk"),
        ({"extra_page_size": 64}, "extra_page_size"),
        ({"fmt": get_kv_format("bf16_512")}, "kv_format"),
        ({"version": "0.19.0"}, "provider"),
        ({"distribution": "flash-mla", "version": "1.0.0"}, "provider"),
        ({"fmt": V32, "extra_kv_format": V32, "extra_page_size": 64, "extra_topk": 64}, "features"),
    ],
)
def test_plan_refuses(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(KernelError) as caught:
        sparse(**changes)
    assert caught.value.field == field


def test_a_missing_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flash_mla, "capability_of", lambda device: (0, 0))
    with pytest.raises(KernelError, match="compute_capability is no GPU"):
        sparse()


def test_what_nobody_established_can_be_tried() -> None:
    sparse(distribution="flash-mla", version="1.0.0", last=None, untested=True)


def refusals() -> list[tuple[str, dict[str, Any]]]:
    wrong_out = torch.zeros(2, 1, 64, 512)
    return [
        ("indices", {"indices": torch.zeros(2, 1, 64, dtype=torch.int32)}),
        ("q", {"q": torch.zeros(1, 1, 64, 512, dtype=torch.bfloat16)}),
        ("q", {"q": torch.zeros(2 * 64 * 512 + 1, dtype=torch.bfloat16)[1:].view(2, 1, 64, 512)}),
        ("kv_cache", {"kv_cache": torch.zeros(3, 64 * 584, dtype=torch.uint8)}),
        ("kv_cache", {"kv_cache": kv_cache.empty(V4, 3, 64, page_stride=37448)}),
        ("extra_kv_cache", {"extra_kv_cache": kv_cache.empty(V4, 3, 64)}),
        ("out", {"out": wrong_out, "_fail": True}),
        ("attn_sink", {"attn_sink": torch.zeros(32), "_fail": True}),
        ("topk_length", {"topk_length": torch.zeros(3, dtype=torch.int32), "_fail": True}),
    ]


@pytest.mark.parametrize(("field", "changes"), refusals())
def test_run_refuses(field: str, changes: dict[str, Any]) -> None:
    decode = sparse()
    if changes.pop("_fail", False):  # the library refuses these; the adapter says which it was

        def refuse(*args: Any) -> None:
            raise RuntimeError("must have shape ...")

        recorded(decode).answer = refuse
    q, cache, arguments = inputs()
    with pytest.raises(KernelError) as caught:
        decode.run(**{"q": q, "kv_cache": cache, **arguments, **changes})
    assert caught.value.field == field


def test_another_failure_of_the_library_is_its_own() -> None:
    decode = sparse()

    def fail(*args: Any) -> None:
        raise RuntimeError("CUDA error: out of memory")

    recorded(decode).answer = fail
    q, cache, arguments = inputs()
    with pytest.raises(RuntimeError, match="out of memory"):
        decode.run(q, cache, **arguments)


def test_v32_on_hopper_takes_no_length() -> None:
    decode = sparse(fmt=V32)
    q, cache, arguments = inputs(fmt=V32)
    with pytest.raises(KernelError, match="topk_length"):
        decode.run(q, cache, **arguments, topk_length=torch.ones(2, dtype=torch.int32))


def test_run_needs_a_plan() -> None:
    q, cache, arguments = inputs()
    with pytest.raises(KernelError, match="plan"):
        SparseDecode(fake_libraries.flash_mla()).run(q, cache, **arguments)


def test_debug_reads_indices_first(monkeypatch: pytest.MonkeyPatch) -> None:
    q, cache, arguments = inputs()
    arguments["indices"][1, 0, 5] = 192
    sparse().run(q, cache, **arguments)
    monkeypatch.setenv("ATTNMATRIX_DEBUG", "1")
    with pytest.raises(KernelError, match="indices is 192"):
        sparse().run(q, cache, **arguments)
    sparse().run(q, cache, **arguments, topk_length=torch.full((2,), 5, dtype=torch.int32))
    sparse(debug=False).run(q, cache, **arguments)


def dense(fmt_name: str = "bf16_576", **changes: Any) -> DenseDecode:
    version = changes.pop("version", "0.33.0")
    fmt = get_kv_format(fmt_name)
    decode = DenseDecode(fake_libraries.flash_mla(version=version))
    plan = {
        "kv_format": fmt,
        "page_size": 64,
        "query_heads": 16,
        "head_size": fmt.head_size,
        "batch": 2,
        "q_len": 3,
        "causal": True,
        "device": "cpu",
    }
    decode.plan(**{**plan, **changes})
    return decode


def dense_inputs(fmt_name: str = "bf16_576") -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    fmt = get_kv_format(fmt_name)
    dtype = getattr(torch, fmt.values[0].dtype)
    q = torch.zeros(2, 3, 16, fmt.head_size).to(dtype)
    tables = {
        "block_table": torch.zeros(2, 4, dtype=torch.int32),
        "cache_seqlens": torch.full((2,), 100, dtype=torch.int32),
    }
    return q, kv_cache.empty(fmt, 5, 64), tables


def test_the_dense_call_is_the_library_s() -> None:
    decode = dense()
    q, cache, tables = dense_inputs()
    out = torch.zeros(2, 3, 16, 512, dtype=torch.bfloat16)
    got, _ = decode.run(q, cache, **tables, out=out)
    args = recorded(decode, "dense_decode").args
    assert args[1].shape == (5, 64, 1, 576)
    assert args[1].dtype == torch.bfloat16
    assert args[2] == 512
    assert args[3] is tables["cache_seqlens"]
    assert args[4] is tables["block_table"]
    assert args[5:9] == (576**-0.5, True, None, None)
    assert args[9].shape == (2, 1, 48, 512)
    assert got is out
    assert out.all()
    decode.run(q, cache, **tables)
    assert recorded(decode, "dense_decode").args[7:9] == fake_libraries.SCHEDULE
    assert recorded(decode, "dense_decode").args[9] is None


def test_the_dense_call_of_one_query_needs_no_view() -> None:
    decode = dense(q_len=1, causal=False)
    q, cache, tables = dense_inputs()
    q = q[:, :1].contiguous()
    out = torch.zeros(2, 1, 16, 512, dtype=torch.bfloat16)
    decode.run(q, cache, **tables, out=out)
    assert recorded(decode, "dense_decode").args[9] is out
    decode.run(q, cache, **tables)
    assert recorded(decode, "dense_decode").args[7:9] == fake_libraries.SCHEDULE
    assert recorded(decode, "dense_decode").args[9] is None
    with pytest.raises(KernelError, match="tensor_scale"):
        decode.run(q, cache, **tables, tensor_scale=torch.ones(1))


def test_the_dense_fp8_call_is_the_library_s() -> None:
    decode = dense("e4m3_576")
    q, cache, tables = dense_inputs("e4m3_576")
    scale = torch.full((1,), 0.5)
    out, _ = decode.run(q, cache, **tables, tensor_scale=scale)
    assert recorded(decode, "dense_fp8_schedule").args == (tables["cache_seqlens"], 48, 1)
    args = recorded(decode, "dense_decode_fp8").args
    assert args[7:9] == fake_libraries.SCHEDULE
    assert args[9].tolist() == [1.0]
    assert args[10] is scale
    assert out.dtype == torch.bfloat16


def test_a_head_size_that_ends_the_process_is_refused() -> None:
    with pytest.raises(KernelError, match="end the process") as caught:
        dense("bf16_512", version="0.24.0")
    assert caught.value.field == "provider"
    dense("bf16_512")


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"page_size": 32}, "page_size"), ({"head_size": 512}, "head_size"), ({"batch": 0}, "batch")],
)
def test_dense_plan_refuses(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(KernelError) as caught:
        dense(**changes)
    assert caught.value.field == field


def test_debug_reads_tables_first() -> None:
    decode = dense(debug=True)
    q, cache, tables = dense_inputs()
    tables["block_table"][1, 1] = 5
    with pytest.raises(KernelError, match="block_table is 5"):
        decode.run(q, cache, **tables)


@pytest.mark.parametrize(("heads", "padded"), [(4, 8), (16, 16), (40, 64), (100, 128)])
def test_the_prefill_call_is_the_library_s(heads: int, padded: int) -> None:
    fmt = get_kv_format("bf16_576")
    decode = SparsePrefill(fake_libraries.flash_mla())
    decode.plan(kv_format=fmt, query_heads=heads, head_size=576, topk=128, device="cpu")
    assert decode.padded_query_heads == padded
    q = torch.zeros(7, heads, 576, dtype=torch.bfloat16)
    indices = torch.zeros(7, 128, dtype=torch.int32)
    out = torch.zeros(7, heads, 512, dtype=torch.bfloat16)
    cache = kv_cache.empty(fmt, 3, 64)
    got, lse = decode.run(q, cache, indices=indices, attn_sink=torch.ones(heads), out=out)
    args = recorded(decode, "sparse_prefill").args
    assert args[0].shape == (7, padded, 576)
    assert args[1].shape == (192, 1, 576)
    assert args[2].shape == (7, 1, 128)
    assert args[3:5] == (576**-0.5, 512)
    assert args[5].shape == (padded,)
    assert (args[7] is out) == (heads == padded)
    assert got is out
    assert out.all()
    assert lse.shape == (7, heads)


def test_sglang_s_base_2_becomes_natural() -> None:
    decode = SparsePrefill(fake_libraries.flash_mla("sglang-kernel", "0.4.10", None))
    fmt = get_kv_format("bf16_512")
    decode.plan(kv_format=fmt, query_heads=64, head_size=512, topk=128, device="cpu")
    q = torch.zeros(7, 64, 512, dtype=torch.bfloat16)
    rows = torch.zeros(50, 512, dtype=torch.bfloat16)
    _, lse = decode.run(q, rows, indices=torch.zeros(7, 128, dtype=torch.int32))
    torch.testing.assert_close(lse, torch.full((7, 64), 2.0).log())
