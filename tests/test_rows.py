"""What a kernel's rows say to a call."""

from __future__ import annotations

from typing import Any

import pytest

from attnmatrix.kernels.errors import KernelError
from attnmatrix.kernels.rows import Call, find_row, query_heads_taken

V4 = Call((9, 0), ("vllm", "0.33.0"), "ds_mla_v4", "bfloat16", 512, 64, 64, 512)
DENSE = Call((9, 0), ("vllm", "0.24.0"), "bf16_512", "bfloat16", 512, 64, 64)


def test_a_row_gives_its_features() -> None:
    row = find_row("flash_mla.sparse_decode", V4)
    assert {"attention_sink", "topk_length", "extra_kv_pool"} <= row.features
    v32 = V4._replace(kv_format="ds_mla_v32", head_size=576)
    assert "topk_length" not in find_row("flash_mla.sparse_decode", v32).features
    on_blackwell = v32._replace(compute_capability=(10, 3))
    assert "topk_length" in find_row("flash_mla.sparse_decode", on_blackwell).features


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"compute_capability": (8, 0)}, "compute_capability", "compute_capability is 8.0"),
        ({"compute_capability": (0, 0)}, "compute_capability", "is no GPU"),
        ({"provider": ("vllm", "0.19.1")}, "provider", "vllm>=0.20"),
        ({"provider": ("flash-mla", "1.0")}, "provider", "untested=True tries it"),
        ({"query_heads": 96}, "query_heads", "accepted: 64, 128"),
        ({"topk": 100}, "topk", "of 64"),
        ({"extra_kv_format": "ds_mla_v32"}, "extra_kv_format", "accepted: ds_mla_v4"),
        ({"features": ("causal",)}, "features", "causal"),
        ({"query_heads": 96, "topk": 100}, "query_heads", "topk is 100, not multiple"),
    ],
)
def test_a_refusal_names_the_field_and_what_is_accepted(
    changes: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(KernelError) as caught:
        find_row("flash_mla.sparse_decode", V4._replace(**changes))
    assert caught.value.field == field
    assert words in str(caught.value)


def test_a_known_failure_is_told() -> None:
    for features in ((), ("causal",)):
        with pytest.raises(KernelError, match="end the process"):
            find_row("flash_mla.dense_decode", DENSE._replace(features=features))
    with pytest.raises(KernelError, match="sm_90a"):
        find_row("flash_mla.dense_decode", DENSE._replace(compute_capability=(10, 0)))
    find_row("flash_mla.dense_decode", DENSE._replace(provider=("vllm", "0.33.0")))


def test_what_nobody_established_is_tried_on_demand() -> None:
    call = V4._replace(provider=("flash-mla", "1.0"))
    find_row("flash_mla.sparse_decode", call, untested=True)
    with pytest.raises(KernelError):
        find_row("flash_mla.sparse_decode", call._replace(topk=100), untested=True)


def test_head_counts_that_would_do() -> None:
    assert query_heads_taken("flash_mla.sparse_decode", V4._replace(query_heads=3)).values == (
        64,
        128,
    )
    none = query_heads_taken("flash_mla.sparse_decode", V4._replace(kv_format="bf16_512"))
    assert not none
