# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashAttention for models whose values are narrower than their keys."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "FLASH_ATTN_DIFFKV"


class FlashAttnDiffkv(Backend):
    """FlashAttention for models whose values are narrower than their keys."""

    name = NAME
    summary = "FlashAttention for models whose values are narrower than their keys"
    mla = False
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "float16", "bfloat16", "fp8", "fp8_e4m3")
    supported_features = ("attention_sink",)
    head_sizes = IntSet(multiples=(Multiples(8, maximum=512),))
    kernel_block_sizes = (MultipleOf(16),)
    notes = (
        "The head size is the key's. vLLM's model code asks for FlashAttention 3 or 4 besides.",
        "Picked by a model's code, not by vLLM's order.",
    )
    differs = (
        "vllm==0.33.0: head_sizes: On 10.x vLLM's check takes an FP8 cache with head size 256; once its configuration says that the cache is quantised, it falls back to FlashAttention 2, which has no FP8 cache, and refuses.",
    )
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/flash_attn_diffkv.py:34",
        "vllm==0.33.0 vllm/v1/attention/backends/flash_attn.py:286",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("8.x", "12.x"),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet(multiples=(Multiples(8, maximum=256),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn_diffkv.py:34",
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn.py:286",
            ),
            notes=(
                "The head size is the key's. vLLM's model code asks for FlashAttention 3 or 4 besides.",
                "Picked by a model's code, not by vLLM's order.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("8.x", "12.x"),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet(multiples=(Multiples(8, maximum=256),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn_diffkv.py:34",
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn.py:286",
            ),
            notes=(
                "The head size is the key's. vLLM's model code asks for FlashAttention 3 or 4 besides.",
                "Picked by a model's code, not by vLLM's order.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0", "10.x"),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet(multiples=(Multiples(8, maximum=512),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn_diffkv.py:34",
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn.py:286",
            ),
            notes=(
                "The head size is the key's. vLLM's model code asks for FlashAttention 3 or 4 besides.",
                "Picked by a model's code, not by vLLM's order.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0", "10.x"),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet(multiples=(Multiples(8, maximum=512),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn_diffkv.py:34",
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn.py:286",
            ),
            notes=(
                "The head size is the key's. vLLM's model code asks for FlashAttention 3 or 4 besides.",
                "Picked by a model's code, not by vLLM's order.",
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
            head_sizes=IntSet((512,), multiples=(Multiples(8, maximum=256),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn_diffkv.py:34",
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn.py:286",
            ),
            notes=(
                "The head size is the key's. vLLM's model code asks for FlashAttention 3 or 4 besides.",
                "Picked by a model's code, not by vLLM's order.",
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
            head_sizes=IntSet(multiples=(Multiples(8, maximum=128),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn_diffkv.py:34",
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn.py:286",
            ),
            notes=(
                "The head size is the key's. vLLM's model code asks for FlashAttention 3 or 4 besides.",
                "Picked by a model's code, not by vLLM's order.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("11.0",),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet(multiples=(Multiples(8, maximum=512),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn_diffkv.py:34",
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn.py:286",
            ),
            notes=(
                "The head size is the key's. vLLM's model code asks for FlashAttention 3 or 4 besides.",
                "Picked by a model's code, not by vLLM's order.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("11.0",),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet(multiples=(Multiples(8, maximum=512),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn_diffkv.py:34",
                "vllm==0.33.0 vllm/v1/attention/backends/flash_attn.py:286",
            ),
            notes=(
                "The head size is the key's. vLLM's model code asks for FlashAttention 3 or 4 besides.",
                "Picked by a model's code, not by vLLM's order.",
            ),
        ),
    )
    refusals = ()


ENTRY = FlashAttnDiffkv
