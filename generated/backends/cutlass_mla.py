# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Dense MLA through CUTLASS."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "CUTLASS_MLA"


class CutlassMla(Backend):
    """Dense MLA through CUTLASS."""

    name = NAME
    summary = "Dense MLA through CUTLASS"
    mla = True
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "float16", "bfloat16", "fp8", "fp8_e4m3")
    supported_features = ()
    head_sizes = (320, 512, 576)
    kernel_block_sizes = (128,)
    notes = ("Queries are padded to 128 heads.",)
    differs = ()
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:38",
        "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:197",
        "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("float16",),
            kv_cache_dtype="float16",
            kv_format="fp16_576",
            bytes_per_token=1152,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(multiples=(Multiples(1, maximum=128),)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:38",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:197",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
            notes=("Queries are padded to 128 heads.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="float16",
            kv_format="fp16_576",
            bytes_per_token=1152,
            dtypes=("float16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(multiples=(Multiples(1, maximum=128),)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:38",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:197",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
            notes=("Queries are padded to 128 heads.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(multiples=(Multiples(1, maximum=128),)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:38",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:197",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
            notes=("Queries are padded to 128 heads.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(multiples=(Multiples(1, maximum=128),)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:38",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:197",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
            notes=("Queries are padded to 128 heads.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_576",
            bytes_per_token=576,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(multiples=(Multiples(1, maximum=128),)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:38",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:197",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
            notes=("Queries are padded to 128 heads.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet((320, 512)),
            query_heads=IntSet(multiples=(Multiples(1, maximum=128),)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:38",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:197",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
            notes=("Queries are padded to 128 heads.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((320, 512)),
            query_heads=IntSet(multiples=(Multiples(1, maximum=128),)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:38",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:197",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
            notes=("Queries are padded to 128 heads.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((320, 512)),
            query_heads=IntSet(multiples=(Multiples(1, maximum=128),)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:38",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/cutlass_mla.py:197",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
            notes=("Queries are padded to 128 heads.",),
        ),
    )
    refusals = ()


ENTRY = CutlassMla
