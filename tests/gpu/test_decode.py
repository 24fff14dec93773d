"""DeepSeek-V4 decode: one call, whatever the backend."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attnmatrix.kernels.decode import decoder
from attnmatrix.kernels.errors import KernelError
from tests.gpu.support import get_format, make_cache, make_indices, require_right


def arguments(device: torch.device, batch: int, heads: int) -> dict[str, Any]:
    fmt = get_format("ds_mla_v4")
    return {
        "q": torch.randn(batch, 1, heads, 512, device=device).bfloat16(),
        "kv_cache": make_cache(fmt, 40, 64, device),
        "indices": make_indices(batch, 1, 128, 40 * 64, device),
        "topk_length": torch.randint(1, 129, (batch,), device=device).int(),
        "attn_sink": torch.randn(heads, device=device),
        "extra_kv_cache": make_cache(fmt, 300, 2, device),
        "extra_indices": make_indices(batch, 1, 512, 600, device),
        "extra_topk_length": torch.randint(0, 513, (batch,), device=device).int(),
    }


@pytest.mark.parametrize("heads", [64, 128, 16, 96])
def test_backends_agree_with_the_reference(cuda: torch.device, heads: int) -> None:
    asked = {"kv_cache_dtype": "fp8_ds_mla", "dtype": "bfloat16", "query_heads": heads}
    try:
        decode = decoder("FLASHMLA_SPARSE_DSV4", gpu="H200", **asked)
    except KernelError as error:
        pytest.skip(str(error))
    plan = {"page_size": 64, "topk": 128, "batch": 5, "extra_page_size": 2, "extra_topk": 512}
    decode.plan(**plan)
    assert decode.padded_query_heads == (64 if heads <= 64 else 128)
    given = arguments(cuda, 5, heads)
    got = decode.run(**given)
    exact = decoder("REFERENCE", **asked)
    exact.plan(**plan, compute_dtype=torch.float64)
    want = exact.run(**{**given, "q": given["q"].double()})
    assert want[1] is not None
    require_right(got, (want[0], want[1]), torch.bfloat16)
