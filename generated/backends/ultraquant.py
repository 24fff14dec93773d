# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Attention on 4-bit caches with a shared exponent a group."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "ULTRAQUANT"


class Ultraquant(Backend):
    """Attention on 4-bit caches with a shared exponent a group."""

    name = NAME
    summary = "Attention on 4-bit caches with a shared exponent a group"
    mla = False
    sparse = False
    supported_dtypes = ("bfloat16",)
    supported_kv_cache_dtypes = ("ultraquant_4bit",)
    supported_features = ()
    head_sizes = ()
    kernel_block_sizes = (MultipleOf(16),)
    notes = ("In vLLM's order for AMD's GPUs alone; elsewhere it is picked by name.",)
    differs = (
        "vllm==0.33.0: compute_capabilities: vLLM names no limit here; it takes bfloat16 alone, which it refuses below 8.0 elsewhere.",
    )
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/ultraquant_attn.py:63",
        "vllm==0.33.0 vllm/platforms/cuda.py:240",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=(">=8.0", "rocm"),
            kernel=None,
            spellings=("ultraquant_4bit",),
            kv_cache_dtype="ultraquant_4bit",
            kv_format=None,
            dtypes=("bfloat16",),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/ultraquant_attn.py:63",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
            notes=("In vLLM's order for AMD's GPUs alone; elsewhere it is picked by name.",),
        ),
    )
    refusals = ()


ENTRY = Ultraquant
