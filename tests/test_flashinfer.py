"""FlashInfer's adapters without a GPU: what they refuse, and the call that they would make."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attnmatrix import get_kv_format
from attnmatrix.kernels import (
    flashinfer,
    flashinfer_dsv4,
    flashinfer_sm120,
    flashinfer_trtllm,
    kv_cache,
)
from attnmatrix.kernels.errors import KernelError
from attnmatrix.kernels.flashinfer import BatchMLA
from attnmatrix.kernels.flashinfer_dsv4 import SparseDsv4
from attnmatrix.kernels.flashinfer_sm120 import PackedSparse
from attnmatrix.kernels.flashinfer_trtllm import TrtllmDecode
from tests import fake_libraries

MODULES = (flashinfer, flashinfer_dsv4, flashinfer_sm120, flashinfer_trtllm)
WORKSPACE = torch.zeros(64, dtype=torch.uint8)


@pytest.fixture
def mla(monkeypatch: pytest.MonkeyPatch) -> Any:
    return install(monkeypatch, (9, 0), fake_libraries.flashinfer_mla())


def install(monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], mla: Any) -> Any:
    for module in MODULES:
        monkeypatch.setattr(module, "capability_of", lambda device: capability)
        monkeypatch.setattr(module, "find_flashinfer", lambda: (mla, "0.7.4"))
    return mla


def ints(*shape: int, value: int = 0) -> torch.Tensor:
    return torch.full(shape, value, dtype=torch.int32)


def plan_of(name: str, heads: int, **more: Any) -> dict[str, Any]:
    fmt = get_kv_format(name)
    value_size = 256 if fmt.head_size == 320 else 512
    sizes = {"head_size": fmt.head_size, "value_size": value_size, "query_heads": heads}
    return {"kv_format": fmt, "page_size": 64, "batch": 2, "device": "cpu", **sizes, **more}


class TestBatchMLA:
    def test_dense(self, mla: Any) -> None:
        decode = BatchMLA(WORKSPACE)
        table = torch.arange(8).int().view(2, 4)
        lengths = torch.tensor([130, 64]).int()
        tables = {"block_table": table, "cache_seqlens": lengths}
        decode.plan(**plan_of("bf16_576", 16, q_len=3, causal=True, **tables))
        wrapper = fake_libraries.last_wrapper()
        assert wrapper.options == {"use_cuda_graph": False, "backend": "fa3"}
        planned = wrapper.plan.kwargs
        q_starts, page_starts, pages, given = planned.pop("metadata")
        assert q_starts.tolist() == [0, 3, 6]
        assert page_starts.tolist() == [0, 3, 4]
        assert pages.tolist() == [0, 1, 2, 4]
        assert given.tolist() == [130, 64]
        assert planned == {
            "num_heads": 16,
            "head_dim_ckv": 512,
            "head_dim_kpe": 64,
            "page_size": 64,
            "causal": True,
            "sm_scale": 576**-0.5,
            "q_data_type": torch.bfloat16,
            "kv_data_type": torch.bfloat16,
            "lse_mode": "basee",
        }
        q = torch.zeros(2, 3, 16, 576, dtype=torch.bfloat16)
        out = torch.zeros(2, 3, 16, 512, dtype=torch.bfloat16)
        cache = kv_cache.empty(planned_format("bf16_576"), 9, 64)
        got, lse = decode.run(q, cache, out=out)
        call = wrapper.run.kwargs
        assert call["query"].shape == (6, 16, 576)
        assert call["kv_cache"].shape == (9, 64, 576)
        assert call["kv_cache"].data_ptr() == cache.data_ptr()
        assert call["return_lse"]
        assert call["return_lse_base_on_e"]
        assert "ckv_scale" not in call
        assert got is out
        assert out.all()
        assert lse is not None
        assert lse.shape == (2, 16, 3)

    def test_fp8_scales(self, mla: Any) -> None:
        decode = BatchMLA(WORKSPACE)
        tables = {"block_table": ints(2, 1), "cache_seqlens": ints(2, value=5)}
        decode.plan(**plan_of("e4m3_512", 16, **tables, lse=False, backend="fa2"))
        planned = fake_libraries.last_wrapper().plan.kwargs
        assert (planned["head_dim_ckv"], planned["head_dim_kpe"]) == (512, 0)
        assert planned["q_data_type"] == torch.bfloat16
        assert planned["kv_data_type"] == torch.float8_e4m3fn
        assert planned["lse_mode"] == "none"
        cache = kv_cache.empty(planned_format("e4m3_512"), 1, 64)
        q = torch.zeros(2, 16, 512, dtype=torch.bfloat16)
        out, lse = decode.run(q, cache, tensor_scale=0.5)
        assert out.shape == (2, 16, 512)
        assert lse is None
        call = fake_libraries.last_wrapper().run.kwargs
        assert call["ckv_scale"] == call["kpe_scale"] == 0.5
        with pytest.raises(KernelError, match="tensor_scale"):
            decode.run(q, cache, tensor_scale=torch.ones(1))

    def test_sparse(self, mla: Any) -> None:
        decode = BatchMLA(WORKSPACE)
        indices = torch.arange(2 * 3 * 4).int().view(2, 3, 4)
        tables = {"topk": 4, "indices": indices, "topk_length": torch.tensor([2, 4]).int()}
        decode.plan(**plan_of("bf16_576", 16, q_len=3, **tables))
        planned = fake_libraries.last_wrapper().plan.kwargs
        q_starts, page_starts, pages, lengths = planned["metadata"]
        assert q_starts.tolist() == list(range(7))
        assert page_starts.tolist() == [0, 2, 4, 6, 10, 14, 18]
        assert lengths.tolist() == [2, 2, 2, 4, 4, 4]
        assert pages.tolist() == [0, 1, 4, 5, 8, 9, *range(12, 24)]
        assert planned["page_size"] == 1
        q = torch.zeros(2, 3, 16, 576, dtype=torch.bfloat16)
        cache = kv_cache.empty(planned_format("bf16_576"), 2, 64)
        decode.run(q, cache, indices=indices + 1)
        assert pages.tolist() == [1, 2, 5, 6, 9, 10, *range(13, 25)]
        assert decode.table is pages
        assert fake_libraries.last_wrapper().run.kwargs["kv_cache"].shape == (128, 1, 576)
        apart = kv_cache.empty(planned_format("bf16_576"), 2, 64, page_stride=80000)
        with pytest.raises(KernelError, match="pages apart"):
            decode.run(q, apart)

    def test_graph_buffers_stay(self, mla: Any) -> None:
        decode = BatchMLA(WORKSPACE)
        tables = {"block_table": ints(2, 4), "cache_seqlens": ints(2, value=70)}
        decode.plan(**plan_of("bf16_576", 16, **tables, cuda_graph=True))
        wrapper = fake_libraries.last_wrapper()
        assert wrapper.options["use_cuda_graph"]
        assert wrapper.options["kv_len_arr"].shape == (2,)
        decode.plan(**plan_of("bf16_576", 16, **tables, cuda_graph=True))
        assert fake_libraries.last_wrapper() is wrapper

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"block_table": ints(2, 1)}, "cache_seqlens"),
            ({"block_table": None}, "block_table"),
            ({"backend": "cutlass"}, "backend"),
            ({"topk": 4}, "indices"),
            ({"topk": 4, "causal": True}, "causal"),
            ({"value_size": 576}, "value_size"),
            ({"kv_format": get_kv_format("ds_mla_v32")}, "kv_format"),
        ],
    )
    def test_plan_refuses(self, mla: Any, changes: dict[str, Any], field: str) -> None:
        tables = {"block_table": ints(2, 4), "cache_seqlens": ints(2, value=70)}
        with pytest.raises(KernelError) as caught:
            BatchMLA(WORKSPACE).plan(**{**plan_of("bf16_576", 16, **tables), **changes})
        assert caught.value.field == field

    def test_what_the_library_refuses_is_a_kernel_error(self, mla: Any) -> None:
        decode = BatchMLA(WORKSPACE)
        tables = {"block_table": ints(2, 4), "cache_seqlens": ints(2, value=70)}
        decode.plan(**plan_of("bf16_576", 16, **tables))

        def refuse(**_: Any) -> None:
            raise ValueError("fa3 causal MLA may cross a tile")

        fake_libraries.last_wrapper().plan.answer = refuse
        with pytest.raises(KernelError, match="may cross a tile"):
            decode.plan(**plan_of("bf16_576", 24, **tables, causal=True))


def planned_format(name: str) -> Any:
    return get_kv_format(name)


def library(monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int]) -> dict[str, Any]:
    """FlashInfer itself, its checks of arguments on CPU tensors, and a stand-in for its kernels.

    Returns what the kernels were called with. Skips where FlashInfer is not installed.
    """
    mla = pytest.importorskip("flashinfer.mla")
    core = pytest.importorskip("flashinfer.mla._core")
    seen: dict[str, Any] = {}

    def keep(name: str) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            seen[name] = (args, kwargs)
            raise _Reached

        return run

    monkeypatch.setattr(core, "get_compute_capability", lambda device: capability)
    monkeypatch.setattr(core, "device_support_pdl", lambda device: False)
    monkeypatch.setattr(core, "get_device_sm_count", lambda device: 1)
    monkeypatch.setattr(core, "_is_sm120_family", lambda device: capability[0] == 12)

    class Kernels:
        def __getattr__(self, name: str) -> Any:
            return keep(name)

    backend = pytest.importorskip("flashinfer.mla._batch_mla._backends.trtllm_gen_backend")
    for module in (core, backend):
        monkeypatch.setattr(module, "get_trtllm_gen_fmha_module", Kernels)
    monkeypatch.setattr(core, "_trtllm_batch_decode_sparse_mla_sm120", keep("sm120"))
    install(monkeypatch, capability, mla)
    return seen


class _Reached(Exception):  # noqa: N818 - no error: the library has let the call through
    pass


def dsv4_arguments(name: str, heads: int, dtype: torch.dtype) -> tuple[Any, ...]:
    fmt = get_kv_format(name)
    q = torch.zeros(2, 1, heads, 512).to(dtype)
    arguments = {
        "indices": ints(2, 1, 128),
        "topk_length": ints(2, value=100),
        "attn_sink": torch.zeros(heads),
        "extra_kv_cache": kv_cache.empty(fmt, 5, 2),
        "extra_indices": ints(2, 1, 64),
        "extra_topk_length": ints(2, value=60),
    }
    return q, kv_cache.empty(fmt, 3, 64), arguments


class TestSparseDsv4:
    def plan(self, name: str = "bf16_512", heads: int = 64, **more: Any) -> SparseDsv4:
        decode = SparseDsv4(WORKSPACE)
        extra = {"extra_kv_format": get_kv_format(name), "extra_page_size": 2, "extra_topk": 64}
        decode.plan(**plan_of(name, heads, topk=128, **extra, **more))
        return decode

    @pytest.mark.parametrize(("name", "dtype"), [("bf16_512", "bfloat16"), ("e4m3_512", "fp8")])
    def test_the_call(self, monkeypatch: pytest.MonkeyPatch, name: str, dtype: str) -> None:
        mla = install(monkeypatch, (10, 0), fake_libraries.flashinfer_mla())
        stored = torch.bfloat16 if dtype == "bfloat16" else torch.float8_e4m3fn
        decode = self.plan(name)
        q, cache, arguments = dsv4_arguments(name, 64, stored)
        arguments["indices"][:] = 7
        scale = {} if dtype == "bfloat16" else {"tensor_scale": 0.5, "q_scale": 0.25}
        out, lse = decode.run(q, cache, cache_seqlens=ints(2, value=900), **arguments, **scale)
        call = mla.trtllm_batch_decode_sparse_mla_dsv4.kwargs
        table = call["sparse_indices"]
        assert table.shape == (2, 192)
        assert (table[:, :100] == 7).all()
        assert (table[:, 100:128] == -1).all()
        assert call["sparse_topk_lens"].tolist() == [188, 188]
        assert call["swa_kv_cache"].shape == (3, 1, 64, 512)
        assert call["compressed_kv_cache"].shape == (5, 1, 2, 512)
        assert call["seq_lens"].tolist() == [900, 900]
        assert call["bmm2_scale"] == (1.0 if dtype == "bfloat16" else 0.5)
        assert call["bmm1_scale"] == 512**-0.5 * (1.0 if dtype == "bfloat16" else 0.125)
        assert out.shape == (2, 1, 64, 512)
        assert lse is None

    def test_heads_are_padded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mla = install(monkeypatch, (10, 0), fake_libraries.flashinfer_mla())
        decode = self.plan(heads=20)
        assert decode.padded_query_heads == 32
        q, cache, arguments = dsv4_arguments("bf16_512", 20, torch.bfloat16)
        out, _ = decode.run(q, cache, cache_seqlens=ints(2, value=900), **arguments)
        call = mla.trtllm_batch_decode_sparse_mla_dsv4.kwargs
        assert call["query"].shape == (2, 1, 32, 512)
        assert (call["sinks"][20:] == -torch.inf).all()
        assert out.shape == (2, 1, 20, 512)

    def test_indices_in_the_table_are_not_copied(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mla = install(monkeypatch, (10, 0), fake_libraries.flashinfer_mla())
        decode = self.plan()
        q, cache, arguments = dsv4_arguments("bf16_512", 64, torch.bfloat16)
        assert decode.table is not None
        arguments["indices"] = decode.table[:, None, :128]
        arguments["extra_indices"] = decode.table[:, None, 128:]
        del arguments["topk_length"]
        decode.table.fill_(3)
        decode.run(q, cache, cache_seqlens=ints(2, value=900), **arguments)
        assert mla.trtllm_batch_decode_sparse_mla_dsv4.kwargs["sparse_indices"] is decode.table
        assert (decode.table == 3).all()

    def test_the_library_lets_it_through(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen = library(monkeypatch, (10, 0))
        decode = self.plan()
        q, cache, arguments = dsv4_arguments("bf16_512", 64, torch.bfloat16)
        with pytest.raises(_Reached):
            decode.run(q, cache, cache_seqlens=ints(2, value=900), **arguments)
        assert "trtllm_paged_attention_decode_sparse_mla_dsv4" in seen

    @pytest.mark.parametrize(
        ("changes", "field"),
        [({"topk": 64}, "topk"), ({"extra_kv_format": None}, "extra_kv_format")],
    )
    def test_plan_refuses(
        self, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], field: str
    ) -> None:
        install(monkeypatch, (10, 0), fake_libraries.flashinfer_mla())
        extra = {"extra_kv_format": get_kv_format("bf16_512"), "extra_page_size": 2}
        plan = plan_of("bf16_512", 64, topk=128, extra_topk=64, **extra)
        with pytest.raises(KernelError) as caught:
            SparseDsv4(WORKSPACE).plan(**{**plan, **changes})
        assert caught.value.field == field


class TestPackedSparse:
    def plan(self, name: str, heads: int = 64, **more: Any) -> PackedSparse:
        decode = PackedSparse(WORKSPACE)
        decode.plan(**plan_of(name, heads, topk=128, **more))
        return decode

    def extra(self) -> dict[str, Any]:
        fmt = get_kv_format("ds_mla_v4")
        return {"extra_kv_format": fmt, "extra_page_size": 2, "extra_topk": 64}

    def test_the_v4_call(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mla = install(monkeypatch, (12, 0), fake_libraries.flashinfer_mla())
        decode = self.plan("ds_mla_v4", **self.extra())
        q, cache, arguments = dsv4_arguments("ds_mla_v4", 64, torch.bfloat16)
        out, lse = decode.run(q, cache, **arguments)
        call = mla.trtllm_batch_decode_sparse_mla_dsv4.kwargs
        assert call["swa_kv_cache"].shape == (3, 64, 1, 584)
        assert call["compressed_kv_cache"].shape == (5, 2, 1, 584)
        assert call["swa_topk_lens"].tolist() == [100, 100]
        assert call["extra_sparse_topk_lens"].tolist() == [60, 60]
        assert call["sparse_indices"].shape == (2, 1, 128)
        assert call["backend"] == "sparse"
        assert "kv_cache_format" not in call
        assert out.shape == (2, 1, 64, 512)
        assert lse is None

    @pytest.mark.parametrize("name", ["ds_mla_v32", "ds_mla_v32_nope", "ds_mla_v32_nope_656"])
    def test_the_v32_call(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        mla = install(monkeypatch, (12, 1), fake_libraries.flashinfer_mla())
        decode = self.plan(name, 40)
        fmt = get_kv_format(name)
        q = torch.zeros(2, 1, 40, fmt.head_size, dtype=torch.bfloat16)
        out, lse = decode.run(q, kv_cache.empty(fmt, 3, 64), indices=ints(2, 1, 128))
        call = mla.trtllm_batch_decode_with_kv_cache_mla.kwargs
        assert call["kv_cache"].shape == (3, 1, 64, fmt.bytes_per_token)
        assert call["qk_rope_head_dim"] == fmt.head_size - 512
        assert call["kv_scale_format"] == ("auto" if name == "ds_mla_v32" else "arbitrary_fp32")
        assert call["seq_lens"].tolist() == [128, 128]
        assert out.shape == (2, 1, 40, 512)
        assert lse is not None
        assert lse.shape == (2, 40, 1)

    def test_the_library_lets_v4_through(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen = library(monkeypatch, (12, 0))
        decode = self.plan("ds_mla_v4", **self.extra())
        q, cache, arguments = dsv4_arguments("ds_mla_v4", 64, torch.bfloat16)
        with pytest.raises(_Reached):
            decode.run(q, cache, **arguments)
        assert "sm120" in seen

    @pytest.mark.parametrize("name", ["ds_mla_v32", "ds_mla_v32_nope_656"])
    def test_the_library_lets_v32_through(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        seen = library(monkeypatch, (12, 0))
        decode = self.plan(name)
        fmt = get_kv_format(name)
        q = torch.zeros(2, 1, 64, fmt.head_size, dtype=torch.bfloat16)
        with pytest.raises(_Reached):
            decode.run(q, kv_cache.empty(fmt, 3, 64), indices=ints(2, 1, 128))
        assert "sm120" in seen


class TestTrtllmDecode:
    @pytest.mark.parametrize("name", ["bf16_576", "e4m3_576", "bf16_320"])
    def test_dense(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        mla = install(monkeypatch, (10, 0), fake_libraries.flashinfer_mla())
        decode = TrtllmDecode(WORKSPACE)
        decode.plan(**plan_of(name, 128, max_seq_len=256))
        fmt = get_kv_format(name)
        fp8 = name == "e4m3_576"
        q = torch.zeros(2, 1, 128, fmt.head_size).to(torch.float8_e4m3fn if fp8 else torch.bfloat16)
        scale = {"tensor_scale": 0.5, "q_scale": 0.25} if fp8 else {}
        tables = {"block_table": ints(2, 4), "cache_seqlens": ints(2, value=200)}
        latent = fmt.head_size - 64
        out = torch.zeros(2, 1, 128, latent, dtype=torch.bfloat16)
        got, lse = decode.run(q, kv_cache.empty(fmt, 5, 64), **tables, **scale, out=out)
        call = mla.trtllm_batch_decode_with_kv_cache_mla.kwargs
        assert call["kv_cache"].shape == (5, 1, 64, fmt.head_size)
        assert (call["kv_lora_rank"], call["qk_rope_head_dim"]) == (latent, 64)
        assert (call["sparse_mla_top_k"], call["max_seq_len"]) == (0, 256)
        assert call["backend"] == "trtllm-gen"
        assert call["bmm1_scale"] == fmt.head_size**-0.5 * (0.125 if fp8 else 1.0)
        assert call["bmm2_scale"] == (0.5 if fp8 else 1.0)
        assert got.data_ptr() == out.data_ptr()
        assert lse.shape == (2, 128, 1)

    def test_sparse_tokens_are_requests(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mla = install(monkeypatch, (10, 3), fake_libraries.flashinfer_mla())
        decode = TrtllmDecode(WORKSPACE)
        decode.plan(**plan_of("bf16_512", 64, topk=256, q_len=2))
        q = torch.zeros(2, 2, 64, 512, dtype=torch.bfloat16)
        length = torch.tensor([5, 9]).int()
        cache = kv_cache.empty(planned_format("bf16_512"), 5, 64)
        out, _ = decode.run(q, cache, indices=ints(2, 2, 256), topk_length=length)
        call = mla.trtllm_batch_decode_with_kv_cache_mla.kwargs
        assert call["query"].shape == (4, 1, 64, 512)
        assert call["block_tables"].shape == (4, 1, 256)
        assert call["seq_lens"].tolist() == [5, 5, 9, 9]
        assert call["sparse_mla_top_k_lens"].tolist() == [5, 5, 9, 9]
        assert out.shape == (2, 2, 64, 512)

    def test_head_counts_of_the_cute_dsl_kernel(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mla = install(monkeypatch, (10, 0), fake_libraries.flashinfer_mla())
        decode = TrtllmDecode(WORKSPACE)
        decode.plan(**plan_of("bf16_576", 96, max_seq_len=256))
        q = torch.zeros(2, 1, 96, 576, dtype=torch.bfloat16)
        cache = kv_cache.empty(planned_format("bf16_576"), 5, 64)
        tables = {"block_table": ints(2, 4), "cache_seqlens": ints(2, value=200)}
        decode.run(q, cache, **tables)
        assert mla.trtllm_batch_decode_with_kv_cache_mla.kwargs["backend"] == "cute-dsl"
        with pytest.raises(KernelError, match="attn_sink"):
            decode.run(q, cache, **tables, attn_sink=torch.zeros(96))
        with pytest.raises(KernelError, match="block_table"):
            decode.run(q, cache, block_table=ints(2, 3), cache_seqlens=tables["cache_seqlens"])

    @pytest.mark.parametrize("topk", [None, 256])
    def test_the_library_lets_it_through(
        self, monkeypatch: pytest.MonkeyPatch, topk: int | None
    ) -> None:
        seen = library(monkeypatch, (10, 0))
        decode = TrtllmDecode(WORKSPACE)
        more = {"max_seq_len": 256} if topk is None else {"topk": topk}
        decode.plan(**plan_of("bf16_576", 64, **more))
        q = torch.zeros(2, 1, 64, 576, dtype=torch.bfloat16)
        tables = {"block_table": ints(2, 4), "cache_seqlens": ints(2, value=200)}
        if topk is not None:
            tables = {"indices": ints(2, 1, topk)}
        with pytest.raises(_Reached):
            decode.run(q, kv_cache.empty(planned_format("bf16_576"), 5, 64), **tables)
        assert seen

    def test_hopper_is_refused(self, mla: Any) -> None:
        with pytest.raises(KernelError) as caught:
            TrtllmDecode(WORKSPACE).plan(**plan_of("bf16_576", 64, max_seq_len=256))
        assert caught.value.field == "compute_capability"
