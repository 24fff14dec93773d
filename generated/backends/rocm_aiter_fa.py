# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashAttention for AMD's GPUs through AITER."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "ROCM_AITER_FA"


class RocmAiterFa(Backend):
    """FlashAttention for AMD's GPUs through AITER."""

    name = NAME
    summary = "FlashAttention for AMD's GPUs through AITER"
    mla = False
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2")
    supported_features = ("attention_sink",)
    head_sizes = (64, 128, 256)
    kernel_block_sizes = (MultipleOf(16),)
    notes = ("Which of AMD's GPUs it runs on is asked of the machine; rocm alone does not say.",)
    differs = ()
    sources = ("vllm==0.33.0 vllm/v1/attention/backends/rocm_aiter_fa.py:886",)
    cells = (
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet((64, 128, 256)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/rocm_aiter_fa.py:886",),
            notes=(
                "Which of AMD's GPUs it runs on is asked of the machine; rocm alone does not say.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((64, 128, 256)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/rocm_aiter_fa.py:886",),
            notes=(
                "Which of AMD's GPUs it runs on is asked of the machine; rocm alone does not say.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((64, 128, 256)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/rocm_aiter_fa.py:886",),
            notes=(
                "Which of AMD's GPUs it runs on is asked of the machine; rocm alone does not say.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("fp8_e5m2",),
            kv_cache_dtype="fp8_e5m2",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((64, 128, 256)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/rocm_aiter_fa.py:886",),
            notes=(
                "Which of AMD's GPUs it runs on is asked of the machine; rocm alone does not say.",
            ),
        ),
    )
    refusals = ()


ENTRY = RocmAiterFa
