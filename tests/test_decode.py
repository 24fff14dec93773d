"""One decode for DeepSeek-V4, whatever the backend."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attnmatrix import get_kv_format
from attnmatrix.kernels import flash_mla, flashinfer_dsv4, flashinfer_sm120, kv_cache
from attnmatrix.kernels.decode import Decoder, decoder
from attnmatrix.kernels.errors import KernelError
from tests import fake_libraries

PLAN = {"page_size": 64, "topk": 128, "batch": 2, "extra_page_size": 2, "extra_topk": 64}


def arguments(fmt: Any, heads: int = 4) -> dict[str, Any]:
    def cache(pages: int, page_size: int) -> torch.Tensor:
        return kv_cache.pack(fmt, torch.randn(pages * page_size, 512), page_size=page_size)

    return {
        "q": torch.randn(2, 1, heads, 512).bfloat16(),
        "kv_cache": cache(3, 64),
        "indices": torch.randint(0, 192, (2, 1, 128)).int(),
        "topk_length": torch.tensor([128, 40]).int(),
        "attn_sink": torch.randn(heads),
        "extra_kv_cache": cache(50, 2),
        "extra_indices": torch.randint(0, 100, (2, 1, 64)).int(),
        "extra_topk_length": torch.tensor([0, 60]).int(),
    }


def test_the_reference_decodes_two_pools() -> None:
    decode = decoder("REFERENCE", kv_cache_dtype="fp8_ds_mla", dtype="bfloat16", query_heads=4)
    assert decode.kv_format.name == "ds_mla_v4"
    assert decode.padded_query_heads is None
    decode.plan(**PLAN)
    out, lse = decode.run(**arguments(decode.kv_format))
    assert out.shape == (2, 1, 4, 512)
    assert lse is not None
    assert lse.shape == (2, 4, 1)


@pytest.mark.parametrize(
    ("backend", "gpu", "kv_cache_dtype", "module", "kernel"),
    [
        ("FLASHMLA_SPARSE_DSV4", "H200", "auto", flash_mla, "flash_mla.sparse_decode"),
        (
            "FLASHINFER_MLA_SPARSE_DSV4",
            "B200",
            "bfloat16",
            flashinfer_dsv4,
            "flashinfer.sparse_mla_dsv4",
        ),
        (
            "FLASHINFER_MLA_SPARSE_DSV4",
            "RTX 5090",
            "fp8_ds_mla",
            flashinfer_sm120,
            "flashinfer.sparse_mla_sm120",
        ),
    ],
)
def test_each_backend_takes_the_same_arguments(
    monkeypatch: pytest.MonkeyPatch,
    backend: str,
    gpu: str,
    kv_cache_dtype: str,
    module: Any,
    kernel: str,
) -> None:
    capability = {"H200": (9, 0), "B200": (10, 0), "RTX 5090": (12, 0)}[gpu]
    monkeypatch.setattr(module, "capability_of", lambda device: capability)
    if module is flash_mla:
        monkeypatch.setattr(module, "find_flash_mla", lambda name: fake_libraries.flash_mla())
    else:
        mla = fake_libraries.flashinfer_mla()
        monkeypatch.setattr(module, "find_flashinfer", lambda: (mla, "0.7.4"))
    asked = {"kv_cache_dtype": kv_cache_dtype, "dtype": "bfloat16", "query_heads": 40}
    decode = decoder(backend, gpu=gpu, **asked)
    assert decode.kernel.name == kernel
    decode.plan(**PLAN, device="cpu")
    assert decode.padded_query_heads == 64
    given = arguments(decode.kv_format, 40)
    if "dsv4" in kernel:
        given["cache_seqlens"] = torch.tensor([500, 40]).int()
    out, _ = decode.run(**given)
    assert out.shape == (2, 1, 40, 512)
    assert decode.provider in ("vllm==0.33.0", "flashinfer-python==0.7.4")


def test_a_refusal_has_every_reason() -> None:
    with pytest.raises(KernelError) as caught:
        decoder("FLASHMLA_SPARSE_DSV4", gpu="H200", kv_cache_dtype="bfloat16", query_heads=192)
    message = str(caught.value)
    assert "KV-cache dtype bfloat16" in message
    assert "query heads 192" in message


def test_an_unknown_backend_lists_the_known() -> None:
    with pytest.raises(KernelError, match="FLASHMLA_SPARSE_DSV4"):
        decoder("FLASHMLA_SPARSE_DSV5")


def test_an_open_request_is_refused() -> None:
    with pytest.raises(KernelError, match="so that one kernel fits"):
        decoder("FLASHINFER_MLA_SPARSE_DSV4", kv_cache_dtype="fp8")


def test_no_library_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str | None) -> None:
        raise KernelError("provider", "vllm not installed", "vllm")

    monkeypatch.setattr(flash_mla, "find_flash_mla", absent)
    asked = {"kv_cache_dtype": "auto", "dtype": "bfloat16", "query_heads": 64}
    with pytest.raises(KernelError, match="not installed"):
        decoder("FLASHMLA_SPARSE_DSV4", gpu="H200", **asked)


def test_heads_come_from_the_request_or_the_plan() -> None:
    decode = decoder("REFERENCE", kv_cache_dtype="fp8_ds_mla", dtype="bfloat16")
    assert isinstance(decode, Decoder)
    with pytest.raises(KernelError, match="query_heads"):
        decode.plan(**PLAN)
    decode.plan(**PLAN, query_heads=4)
    decode.run(**arguments(get_kv_format("ds_mla_v4")))
