"""The probe's calls on a GPU: known answers, in this process."""

from __future__ import annotations

from importlib import metadata

import pytest
import torch

from attnmatrix.probe import callers
from attnmatrix.probe.case import Answer, Case

V4 = Case("flash_mla.sparse_decode", "ds_mla_v4", "bfloat16", 512, 64, 64, 128)
V32 = V4._replace(kv_format="ds_mla_v32", head_size=576)
PREFILL = Case("flash_mla.sparse_prefill", "bf16_576", "bfloat16", 576, 64, 64, 128)
DENSE = Case("flash_mla.dense_decode", "bf16_576", "bfloat16", 576, 64, 64)
FP8 = DENSE._replace(
    kernel="flash_mla.dense_decode_fp8", kv_format="e4m3_576", dtype="float8_e4m3fn"
)
BATCH = Case("flashinfer.batch_mla", "bf16_576", "bfloat16", 576, 64, 64)
ALL = ("attention_sink", "extra_kv_pool", "lse", "strided_pages", "topk_length")

RIGHT = [
    V4,
    V4._replace(page_size=3, query_heads=128),
    V4._replace(features=ALL, extra_kv_format="ds_mla_v4"),
    V32,
    V32._replace(features=("attention_sink", "lse", "strided_pages")),
    PREFILL,
    PREFILL._replace(features=("attention_sink", "lse", "topk_length")),
    DENSE,
    DENSE._replace(features=("causal", "lse", "strided_pages")),
    DENSE._replace(kv_format="fp16_576", dtype="float16"),
    FP8,
    FP8._replace(features=("causal", "lse")),
    BATCH,
    BATCH._replace(features=("causal", "lse", "strided_pages")),
    BATCH._replace(kv_format="e4m3_576"),
    BATCH._replace(topk=128, features=("lse",)),
]
REFUSED = [
    V4._replace(kv_format="bf16_512"),
    V4._replace(query_heads=96),
    V4._replace(dtype="float16"),
    DENSE._replace(topk=128),
    BATCH._replace(dtype="float32"),
    Case("flashinfer.trtllm_decode", "bf16_576", "bfloat16", 576, 64, 64),
    Case("flashinfer.sparse_mla_dsv4", "bf16_512", "bfloat16", 512, 64, 64, 256),
    Case("flashinfer.sparse_mla_sm120", "ds_mla_v4", "bfloat16", 512, 64, 64, 128),
    Case("flashinfer.sparse_mla_sm120", "ds_mla_v32", "bfloat16", 576, 64, 64, 128),
]


def ask(case: Case, device: torch.device) -> Answer:
    if torch.cuda.get_device_capability(device) != (9, 0):
        pytest.skip("these answers are those of compute capability 9.0")
    name = "vllm" if case.kernel.startswith("flash_mla") else "flashinfer-python"
    try:
        provider = (name, metadata.version(name))
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    return callers.examine(case, provider, str(device))


@pytest.mark.parametrize("case", RIGHT, ids=Case.key)
def test_right(cuda: torch.device, case: Case) -> None:
    answer = ask(case, cuda)
    print(answer)
    assert answer.outcome == "right", answer


@pytest.mark.parametrize("case", REFUSED, ids=Case.key)
def test_refused(cuda: torch.device, case: Case) -> None:
    answer = ask(case, cuda)
    print(answer)
    assert answer.outcome == "refused", answer
