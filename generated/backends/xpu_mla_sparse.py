# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Sparse MLA for Intel's GPUs."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet

NAME = "XPU_MLA_SPARSE"


class XpuMlaSparse(Backend):
    """Sparse MLA for Intel's GPUs."""

    name = NAME
    summary = "Sparse MLA for Intel's GPUs"
    mla = True
    sparse = True
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "float16", "bfloat16")
    supported_features = ()
    head_sizes = (576,)
    kernel_block_sizes = (MultipleOf(1),)
    notes = ()
    differs = ()
    sources = ("vllm==0.33.0 vllm/v1/attention/backends/mla/xpu_mla_sparse.py:42",)
    cells = (
        Cell(
            phase="decode",
            compute_capability=("xpu",),
            kernel=None,
            spellings=("float16",),
            kv_cache_dtype="float16",
            kv_format="fp16_576",
            bytes_per_token=1152,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((576,)),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/mla/xpu_mla_sparse.py:42",),
        ),
        Cell(
            phase="decode",
            compute_capability=("xpu",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="float16",
            kv_format="fp16_576",
            bytes_per_token=1152,
            dtypes=("float16",),
            head_sizes=IntSet((576,)),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/mla/xpu_mla_sparse.py:42",),
        ),
        Cell(
            phase="decode",
            compute_capability=("xpu",),
            kernel=None,
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((576,)),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/mla/xpu_mla_sparse.py:42",),
        ),
        Cell(
            phase="decode",
            compute_capability=("xpu",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/mla/xpu_mla_sparse.py:42",),
        ),
    )
    refusals = ()


ENTRY = XpuMlaSparse
