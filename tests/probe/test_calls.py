"""Each library's call, made to a stand-in that knows its arguments alone and computes from them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attnmatrix.probe.callers import examine, flash_mla, flashinfer, flashinfer_trtllm
from attnmatrix.probe.case import Answer, Case
from tests.probe import stand_ins

VLLM, FLASHINFER = ("vllm", "0.33.0"), ("flashinfer-python", "0.7.4")
V4 = Case("flash_mla.sparse_decode", "ds_mla_v4", "bfloat16", 512, 64, 64, 128)
V32 = V4._replace(kv_format="ds_mla_v32", head_size=576)
PREFILL = Case("flash_mla.sparse_prefill", "bf16_576", "bfloat16", 576, 8, 64, 128)
DENSE = Case("flash_mla.dense_decode", "bf16_576", "bfloat16", 576, 4, 64)
FP8 = DENSE._replace(
    kernel="flash_mla.dense_decode_fp8", kv_format="e4m3_576", dtype="float8_e4m3fn"
)
BATCH = Case("flashinfer.batch_mla", "bf16_576", "bfloat16", 576, 4, 64)
BY_INDEX = BATCH._replace(topk=100)
TRTLLM = Case("flashinfer.trtllm_decode", "bf16_576", "bfloat16", 576, 4, 32)
TRTLLM_SPARSE = TRTLLM._replace(kernel="flashinfer.trtllm_sparse_decode", topk=64)
DSV4 = Case("flashinfer.sparse_mla_dsv4", "bf16_512", "bfloat16", 512, 8, 64, 256)


@pytest.fixture(autouse=True)
def _libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flash_mla, "load_flash_mla", lambda name: stand_ins.flash_mla())
    found = (stand_ins.flashinfer_mla(), "0.7.4")
    monkeypatch.setattr(flashinfer, "find_flashinfer", lambda: found)
    monkeypatch.setattr(flashinfer, "workspace", lambda device: torch.zeros(1))
    monkeypatch.setattr(flashinfer_trtllm, "workspace", lambda device: torch.zeros(1))
    monkeypatch.setattr(flashinfer, "capability_of", lambda device: (9, 0))
    monkeypatch.setattr(flashinfer_trtllm, "capability_of", lambda device: (10, 0))


def ask(case: Case) -> Answer:
    provider = VLLM if case.kernel.startswith("flash_mla") else FLASHINFER
    return examine(case, provider, "cpu")


def with_features(case: Case, *features: str, **axes: Any) -> Case:
    return case._replace(features=tuple(sorted(features)), **axes)


CASES = [
    V4,
    V4._replace(page_size=1),
    V4._replace(page_size=3, query_heads=128),
    V4._replace(page_size=1024, topk=2048),
    with_features(V4, "attention_sink"),
    with_features(V4, "topk_length"),
    with_features(V4, "extra_kv_pool", extra_kv_format="ds_mla_v4"),
    with_features(V4, "strided_pages"),
    with_features(V4, "lse"),
    with_features(
        V4, "attention_sink", "extra_kv_pool", "lse", "strided_pages", "topk_length", page_size=2
    ),
    V32,
    with_features(V32, "attention_sink", "lse", "strided_pages"),
    PREFILL,
    with_features(PREFILL, "attention_sink", "lse", "topk_length"),
    with_features(PREFILL, "strided_pages", page_size=1),
    PREFILL._replace(kv_format="bf16_512", head_size=512, page_size=256),
    DENSE,
    DENSE._replace(query_heads=1),
    with_features(DENSE, "causal", "lse"),
    with_features(DENSE, "lse", "strided_pages"),
    DENSE._replace(kv_format="fp16_512", dtype="float16", head_size=512),
    FP8,
    with_features(FP8, "causal", "lse"),
    BATCH,
    BATCH._replace(page_size=1),
    BATCH._replace(page_size=1024),
    BATCH._replace(kv_format="e4m3_576"),
    BATCH._replace(kv_format="bf16_512", head_size=512),
    BATCH._replace(kv_format="bf16_320", head_size=320),
    with_features(BATCH, "causal", "lse", "strided_pages"),
    BY_INDEX,
    with_features(BY_INDEX, "lse", "topk_length"),
    with_features(BY_INDEX, "strided_pages", page_size=1),
    TRTLLM,
    TRTLLM._replace(page_size=64, kv_format="e4m3_576", dtype="float8_e4m3fn"),
    with_features(TRTLLM, "attention_sink", "causal", "lse"),
    with_features(TRTLLM, "strided_pages"),
    TRTLLM_SPARSE,
    with_features(TRTLLM_SPARSE, "attention_sink", "lse", "topk_length"),
    TRTLLM_SPARSE._replace(kv_format="bf16_512", head_size=512),
    DSV4,
    DSV4._replace(topk=128),
    with_features(DSV4, "topk_length"),
    with_features(DSV4, "extra_kv_pool", extra_kv_format="bf16_512"),
    with_features(DSV4, "extra_kv_pool", extra_kv_format="bf16_512", topk=128),
    with_features(
        DSV4, "attention_sink", "extra_kv_pool", "strided_pages", "topk_length", topk=512
    ),
    DSV4._replace(kv_format="e4m3_512", dtype="float8_e4m3fn"),
]


@pytest.mark.parametrize("case", CASES, ids=Case.key)
def test_a_right_library_is_right(case: Case) -> None:
    answer = ask(case)
    assert answer.outcome == "right", answer
    assert answer.error is not None
    assert 1e-5 < answer.error < 3e-3


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (V4._replace(kv_format="bf16_512"), "RuntimeError: key must have dtype fp8"),
        (V4._replace(kv_format="ds_mla_v41_inline"), "Unsupported head_dim 512 and 528 bytes"),
        (V4._replace(head_size=576), "Unsupported head_dim 576 and 584 bytes"),
        (V4._replace(dtype="float16"), "q must have dtype bfloat16"),
        (V4._replace(query_heads=96), "Unsupported h_q: 96"),
        (V4._replace(topk=100), "topk must be a multiple of 64"),
        (PREFILL._replace(kv_format="ds_mla_v4"), "q and kv must have dtype bfloat16"),
        (DENSE._replace(page_size=32), "kcache is (22, 32, 1, 576)"),
        (DENSE._replace(kv_format="ds_mla_v32"), "must have the same dtype"),
        (DENSE._replace(topk=128), "the library's call has no argument for indices"),
        (with_features(DENSE, "attention_sink"), "has no argument for an attention sink"),
        (with_features(PREFILL, "strided_pages"), "no argument for pages, and so none"),
        (with_features(PREFILL, "extra_kv_pool"), "no argument for an extra KV pool"),
        (with_features(V4, "causal"), "no argument for a causal mask"),
        (with_features(BATCH, "attention_sink"), "fa3 backend does not support sink inputs"),
        (with_features(BATCH, "causal", topk=64), "no argument for a causal mask beside indices"),
        (with_features(BY_INDEX, "strided_pages"), "no argument for pages apart beside indices"),
        (with_features(BATCH, "topk_length"), "no argument for top-k lengths"),
        (BATCH._replace(kv_format="ds_mla_v32"), "KV dtype must match query dtype"),
        (BATCH._replace(head_size=128), "query's shape"),
        (TRTLLM._replace(head_size=512), "head dim"),
        (DSV4._replace(kv_format="ds_mla_v4"), "dtype must match query dtype"),
        (DSV4._replace(topk=64), "must include the fixed 128 SWA entries"),
        (with_features(DSV4, "lse"), "the library's call returns no LSE"),
        (V4._replace(topk=None), "the library's call wants indices"),
    ],
)
def test_what_a_library_does_not_take_is_refused(case: Case, words: str) -> None:
    answer = ask(case)
    assert answer.outcome == "refused", answer
    assert words in str(answer.message)
    assert answer.error is None


def test_a_rope_free_record_of_656_bytes_is_read_with_a_wider_query() -> None:
    """Its last 128 bytes are zero, where a V3.2 record has its RoPE part."""
    case = V32._replace(kv_format="ds_mla_v32_nope_656")
    assert ask(case).outcome == "right"
    assert ask(case._replace(head_size=512)).outcome == "refused"


def test_two_pools_of_different_widths_mean_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    case = with_features(V4, "extra_kv_pool", extra_kv_format="ds_mla_v32")
    assert ask(case).outcome == "refused"
    monkeypatch.setattr(stand_ins, "unpacked", lambda view, size: torch.zeros(10**4, size))
    answer = ask(case)
    assert answer.outcome == "wrong"
    assert "differ in width" in str(answer.message)


def test_a_library_without_the_operator_or_the_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    less = stand_ins.flash_mla()._replace(sparse_prefill=None)
    monkeypatch.setattr(flash_mla, "load_flash_mla", lambda name: less)
    assert ask(PREFILL) == Answer("refused", None, "vllm==0.33.0 has no sparse_prefill")

    def older(query: Any, kv_cache: Any) -> None:
        raise AssertionError("never called")

    module = stand_ins.flashinfer_mla()
    module.trtllm_batch_decode_with_kv_cache_mla = older
    monkeypatch.setattr(flashinfer, "find_flashinfer", lambda: (module, "0.1"))
    answer = ask(TRTLLM)
    assert answer.outcome == "refused"
    assert "has no argument for workspace_buffer" in str(answer.message)


def test_on_12_other_kernels_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flashinfer_trtllm, "capability_of", lambda device: (12, 0))
    assert ask(TRTLLM).outcome == "refused"
