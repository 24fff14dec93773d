# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Sparse MLA for AMD's GPUs through AITER."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell

NAME = "ROCM_AITER_MLA_SPARSE"


class RocmAiterMlaSparse(Backend):
    """Sparse MLA for AMD's GPUs through AITER."""

    name = NAME
    summary = "Sparse MLA for AMD's GPUs through AITER"
    mla = True
    sparse = True
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "float16", "bfloat16", "fp8", "fp8_e4m3")
    supported_features = ("attention_sink",)
    head_sizes = ()
    kernel_block_sizes = (MultipleOf(1),)
    notes = ("An attention sink on the MI300 series and its successors alone.",)
    differs = ()
    sources = ("vllm==0.33.0 vllm/v1/attention/backends/mla/rocm_aiter_mla_sparse.py:350",)
    cells = (
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            unknown=("query_heads",),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/mla/rocm_aiter_mla_sparse.py:350",),
            notes=("An attention sink on the MI300 series and its successors alone.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            unknown=("query_heads",),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/mla/rocm_aiter_mla_sparse.py:350",),
            notes=("An attention sink on the MI300 series and its successors alone.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            unknown=("query_heads",),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/mla/rocm_aiter_mla_sparse.py:350",),
            notes=("An attention sink on the MI300 series and its successors alone.",),
        ),
    )
    refusals = ()


ENTRY = RocmAiterMlaSparse
