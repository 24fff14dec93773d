# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Triton where images are seen both ways, FlashAttention elsewhere."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "TRITON_FLASH_ATTN"


class TritonFlashAttn(Backend):
    """Triton where images are seen both ways, FlashAttention elsewhere."""

    name = NAME
    summary = "Triton where images are seen both ways, FlashAttention elsewhere"
    mla = False
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "float16", "bfloat16", "fp8", "fp8_e4m3")
    supported_features = ()
    head_sizes = (256, 512)
    kernel_block_sizes = (MultipleOf(16),)
    notes = (
        "First in vLLM's order on 9.0 for models with a prefix seen both ways, which no request names here.",
    )
    differs = ()
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/triton_flash_attn.py:66",
        "vllm==0.33.0 vllm/platforms/cuda.py:167",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet((256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/triton_flash_attn.py:66",
                "vllm==0.33.0 vllm/platforms/cuda.py:167",
            ),
            notes=(
                "First in vLLM's order on 9.0 for models with a prefix seen both ways, which no request names here.",
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
            head_sizes=IntSet((256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/triton_flash_attn.py:66",
                "vllm==0.33.0 vllm/platforms/cuda.py:167",
            ),
            notes=(
                "First in vLLM's order on 9.0 for models with a prefix seen both ways, which no request names here.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/triton_flash_attn.py:66",
                "vllm==0.33.0 vllm/platforms/cuda.py:167",
            ),
            notes=(
                "First in vLLM's order on 9.0 for models with a prefix seen both ways, which no request names here.",
            ),
        ),
    )
    refusals = ()


ENTRY = TritonFlashAttn
