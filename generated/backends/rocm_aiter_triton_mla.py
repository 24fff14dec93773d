# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Dense MLA for AMD's GPUs through AITER, prefill in Triton."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE

NAME = "ROCM_AITER_TRITON_MLA"


class RocmAiterTritonMla(Backend):
    """Dense MLA for AMD's GPUs through AITER, prefill in Triton."""

    name = NAME
    summary = "Dense MLA for AMD's GPUs through AITER, prefill in Triton"
    mla = True
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2")
    supported_features = ()
    head_sizes = ()
    kernel_block_sizes = (MultipleOf(1),)
    notes = ()
    differs = ()
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/mla/aiter_triton_mla.py:6",
        "vllm==0.33.0 vllm/v1/attention/backends/mla/rocm_aiter_mla.py:498",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/aiter_triton_mla.py:6",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/rocm_aiter_mla.py:498",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/aiter_triton_mla.py:6",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/rocm_aiter_mla.py:498",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/aiter_triton_mla.py:6",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/rocm_aiter_mla.py:498",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("fp8_e5m2",),
            kv_cache_dtype="fp8_e5m2",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/aiter_triton_mla.py:6",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/rocm_aiter_mla.py:498",
            ),
        ),
    )
    refusals = ()


ENTRY = RocmAiterTritonMla
