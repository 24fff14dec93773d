# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Block-sparse attention of MiniMax-M3 on 10.x, decode through CUTLASS."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet, Multiples

NAME = "CUTLASS_MSA"


class CutlassMsa(Backend):
    """Block-sparse attention of MiniMax-M3 on 10.x, decode through CUTLASS."""

    name = NAME
    summary = "Block-sparse attention of MiniMax-M3 on 10.x, decode through CUTLASS"
    mla = False
    sparse = True
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2")
    supported_features = ()
    head_sizes = (128,)
    kernel_block_sizes = (128,)
    notes = (
        "Decode runs in CUTLASS for an e4m3 cache and some head counts, in Triton for the rest.",
    )
    differs = (
        "vllm==0.33.0: compute_capabilities: vLLM's class names no GPU. The model's code turns to it on 10.x alone.",
    )
    sources = (
        "vllm==0.33.0 vllm/models/minimax_m3/nvidia/sparse_attention_msa.py:100",
        "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:545",
        "vllm==0.33.0 vllm/models/minimax_m3/nvidia/msa_cutlass_sparse_decode.py:255",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((128,)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/models/minimax_m3/nvidia/sparse_attention_msa.py:100",
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:545",
                "vllm==0.33.0 vllm/models/minimax_m3/nvidia/msa_cutlass_sparse_decode.py:255",
            ),
            notes=(
                "Decode runs in CUTLASS for an e4m3 cache and some head counts, in Triton for the rest.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((128,)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/models/minimax_m3/nvidia/sparse_attention_msa.py:100",
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:545",
                "vllm==0.33.0 vllm/models/minimax_m3/nvidia/msa_cutlass_sparse_decode.py:255",
            ),
            notes=(
                "Decode runs in CUTLASS for an e4m3 cache and some head counts, in Triton for the rest.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("fp8_e5m2",),
            kv_cache_dtype="fp8_e5m2",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((128,)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/models/minimax_m3/nvidia/sparse_attention_msa.py:100",
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:545",
                "vllm==0.33.0 vllm/models/minimax_m3/nvidia/msa_cutlass_sparse_decode.py:255",
            ),
            notes=(
                "Decode runs in CUTLASS for an e4m3 cache and some head counts, in Triton for the rest.",
            ),
        ),
    )
    refusals = ()


ENTRY = CutlassMsa
