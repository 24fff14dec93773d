# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""vLLM's attention for CPUs."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "CPU_ATTN"


class CpuAttn(Backend):
    """vLLM's attention for CPUs."""

    name = NAME
    summary = "vLLM's attention for CPUs"
    mla = False
    sparse = False
    supported_dtypes = ("float16", "bfloat16", "float32")
    supported_kv_cache_dtypes = ("auto", "float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2")
    supported_features = ()
    head_sizes = (32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512)
    kernel_block_sizes = (MultipleOf(32),)
    notes = ("An FP8 cache needs a CPU with AMX or AVX-512.",)
    differs = ()
    sources = ("vllm==0.33.0 vllm/v1/attention/backends/cpu_attn.py:48",)
    cells = (
        Cell(
            phase="decode",
            compute_capability=("none",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="auto",
            kv_format=None,
            dtypes=("float16", "bfloat16", "float32"),
            head_sizes=IntSet((32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/cpu_attn.py:48",),
            notes=("An FP8 cache needs a CPU with AMX or AVX-512.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("none",),
            kernel=None,
            spellings=("float16",),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet((32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/cpu_attn.py:48",),
            notes=("An FP8 cache needs a CPU with AMX or AVX-512.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("none",),
            kernel=None,
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/cpu_attn.py:48",),
            notes=("An FP8 cache needs a CPU with AMX or AVX-512.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("none",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16", "float32"),
            head_sizes=IntSet((32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/cpu_attn.py:48",),
            notes=("An FP8 cache needs a CPU with AMX or AVX-512.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("none",),
            kernel=None,
            spellings=("fp8_e5m2",),
            kv_cache_dtype="fp8_e5m2",
            kv_format=None,
            dtypes=("float16", "bfloat16", "float32"),
            head_sizes=IntSet((32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/cpu_attn.py:48",),
            notes=("An FP8 cache needs a CPU with AMX or AVX-512.",),
        ),
    )
    refusals = ()


ENTRY = CpuAttn
