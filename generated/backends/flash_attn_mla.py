# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Dense MLA through FlashAttention 3."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "FLASH_ATTN_MLA"


class FlashAttnMla(Backend):
    """Dense MLA through FlashAttention 3."""

    name = NAME
    summary = "Dense MLA through FlashAttention 3"
    mla = True
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "float16", "bfloat16")
    supported_features = ()
    head_sizes = (320, 512, 576)
    kernel_block_sizes = (MultipleOf(16), MultipleOf(64))
    notes = ()
    differs = ()
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:40",
        "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:91",
        "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel=None,
            spellings=("float16",),
            kv_cache_dtype="float16",
            kv_format="fp16_576",
            bytes_per_token=1152,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:40",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:91",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="float16",
            kv_format="fp16_576",
            bytes_per_token=1152,
            dtypes=("float16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:40",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:91",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel=None,
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:40",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:91",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:40",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:91",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet((320, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:40",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:91",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((320, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:40",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:91",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
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
            block_sizes=IntSet(multiples=(Multiples(64),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:40",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:91",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
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
            block_sizes=IntSet(multiples=(Multiples(64),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:40",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:91",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
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
            block_sizes=IntSet(multiples=(Multiples(64),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:40",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:91",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
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
            block_sizes=IntSet(multiples=(Multiples(64),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:40",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla.py:91",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
    )
    refusals = ()


ENTRY = FlashAttnMla
