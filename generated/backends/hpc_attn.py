# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Attention of Tencent's hpc-ops on 9.0."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "HPC_ATTN"


class HpcAttn(Backend):
    """Attention of Tencent's hpc-ops on 9.0."""

    name = NAME
    summary = "Attention of Tencent's hpc-ops on 9.0"
    mla = False
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "bfloat16", "fp8_e4m3")
    supported_features = ()
    head_sizes = (128,)
    kernel_block_sizes = (64,)
    notes = (
        "For the Hy3 model, with 4 or 8 query heads a KV head. Picked by name, not by vLLM's order.",
    )
    differs = ()
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/hpc_attn.py:270",
        "vllm==0.33.0 vllm/v1/attention/backends/registry.py:140",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="auto",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((128,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/hpc_attn.py:270",
                "vllm==0.33.0 vllm/v1/attention/backends/registry.py:140",
            ),
            notes=(
                "For the Hy3 model, with 4 or 8 query heads a KV head. Picked by name, not by vLLM's order.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel=None,
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((128,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/hpc_attn.py:270",
                "vllm==0.33.0 vllm/v1/attention/backends/registry.py:140",
            ),
            notes=(
                "For the Hy3 model, with 4 or 8 query heads a KV head. Picked by name, not by vLLM's order.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel=None,
            spellings=("fp8_e4m3",),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((128,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/hpc_attn.py:270",
                "vllm==0.33.0 vllm/v1/attention/backends/registry.py:140",
            ),
            notes=(
                "For the Hy3 model, with 4 or 8 query heads a KV head. Picked by name, not by vLLM's order.",
            ),
        ),
    )
    refusals = ()


ENTRY = HpcAttn
