# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Attention for AMD's GPUs on caches packed in octaves."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "ROCM_OCTAVE"


class RocmOctave(Backend):
    """Attention for AMD's GPUs on caches packed in octaves."""

    name = NAME
    summary = "Attention for AMD's GPUs on caches packed in octaves"
    mla = False
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("octave_k3v4", "octave_k3v3", "octave_k3v3_compact")
    supported_features = ()
    head_sizes = (256,)
    kernel_block_sizes = (MultipleOf(16),)
    notes = ("For RDNA 3 and CDNA 3 alone; rocm alone does not say which GPU it is.",)
    differs = ()
    sources = ("vllm==0.33.0 vllm/v1/attention/backends/rocm_octave_attn.py:90",)
    cells = (
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("octave_k3v4",),
            kv_cache_dtype="octave_k3v4",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((256,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=("vllm==0.33.0 vllm/v1/attention/backends/rocm_octave_attn.py:90",),
            notes=("For RDNA 3 and CDNA 3 alone; rocm alone does not say which GPU it is.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("octave_k3v3",),
            kv_cache_dtype="octave_k3v3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((256,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=("vllm==0.33.0 vllm/v1/attention/backends/rocm_octave_attn.py:90",),
            notes=("For RDNA 3 and CDNA 3 alone; rocm alone does not say which GPU it is.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("octave_k3v3_compact",),
            kv_cache_dtype="octave_k3v3_compact",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((256,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=("vllm==0.33.0 vllm/v1/attention/backends/rocm_octave_attn.py:90",),
            notes=("For RDNA 3 and CDNA 3 alone; rocm alone does not say which GPU it is.",),
        ),
    )
    refusals = ()


ENTRY = RocmOctave
