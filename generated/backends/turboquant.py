# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Attention on caches packed by TurboQuant."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "TURBOQUANT"


class Turboquant(Backend):
    """Attention on caches packed by TurboQuant."""

    name = NAME
    summary = "Attention on caches packed by TurboQuant"
    mla = False
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = (
        "turboquant_k8v4",
        "turboquant_4bit_nc",
        "turboquant_k3v4_nc",
        "turboquant_3bit_nc",
    )
    supported_features = ()
    head_sizes = ()
    kernel_block_sizes = (MultipleOf(16),)
    notes = ()
    differs = (
        "vllm==0.33.0: dtypes: vLLM lists bfloat16 for every GPU here; its platform refuses it below compute capability 8.0.",
    )
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/turboquant_attn.py:123",
        "vllm==0.33.0 vllm/platforms/cuda.py:240",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=(">=8.0", "rocm", "xpu"),
            kernel=None,
            spellings=("turboquant_k8v4",),
            kv_cache_dtype="turboquant_k8v4",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/turboquant_attn.py:123",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0", "rocm", "xpu"),
            kernel=None,
            spellings=("turboquant_4bit_nc",),
            kv_cache_dtype="turboquant_4bit_nc",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/turboquant_attn.py:123",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0", "rocm", "xpu"),
            kernel=None,
            spellings=("turboquant_k3v4_nc",),
            kv_cache_dtype="turboquant_k3v4_nc",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/turboquant_attn.py:123",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0", "rocm", "xpu"),
            kernel=None,
            spellings=("turboquant_3bit_nc",),
            kv_cache_dtype="turboquant_3bit_nc",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/turboquant_attn.py:123",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("7.x",),
            kernel=None,
            spellings=("turboquant_k8v4",),
            kv_cache_dtype="turboquant_k8v4",
            kv_format=None,
            dtypes=("float16",),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/turboquant_attn.py:123",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("7.x",),
            kernel=None,
            spellings=("turboquant_4bit_nc",),
            kv_cache_dtype="turboquant_4bit_nc",
            kv_format=None,
            dtypes=("float16",),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/turboquant_attn.py:123",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("7.x",),
            kernel=None,
            spellings=("turboquant_k3v4_nc",),
            kv_cache_dtype="turboquant_k3v4_nc",
            kv_format=None,
            dtypes=("float16",),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/turboquant_attn.py:123",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("7.x",),
            kernel=None,
            spellings=("turboquant_3bit_nc",),
            kv_cache_dtype="turboquant_3bit_nc",
            kv_format=None,
            dtypes=("float16",),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/turboquant_attn.py:123",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
    )
    refusals = ()


ENTRY = Turboquant
