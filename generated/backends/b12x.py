# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Paged attention for 12.x through b12x."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet

NAME = "B12X"


class B12x(Backend):
    """Paged attention for 12.x through b12x."""

    name = NAME
    summary = "Paged attention for 12.x through b12x"
    mla = False
    sparse = False
    supported_dtypes = ("bfloat16",)
    supported_kv_cache_dtypes = ("auto", "bfloat16", "fp8", "fp8_e4m3")
    supported_features = ("attention_sink",)
    head_sizes = (64, 128, 192, 256)
    kernel_block_sizes = (64, 128)
    notes = ("Needs the package b12x. Picked by name, not by vLLM's order.",)
    differs = ()
    sources = ("vllm==0.33.0 vllm/v1/attention/backends/b12x.py:152",)
    cells = (
        Cell(
            phase="decode",
            compute_capability=("12.0", "12.1"),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((64, 128, 192, 256)),
            block_sizes=IntSet((64, 128)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=("vllm==0.33.0 vllm/v1/attention/backends/b12x.py:152",),
            notes=("Needs the package b12x. Picked by name, not by vLLM's order.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("12.0", "12.1"),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((64, 128, 192, 256)),
            block_sizes=IntSet((64, 128)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=("vllm==0.33.0 vllm/v1/attention/backends/b12x.py:152",),
            notes=("Needs the package b12x. Picked by name, not by vLLM's order.",),
        ),
    )
    refusals = ()


ENTRY = B12x
