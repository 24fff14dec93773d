# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Sparse attention of Step-5."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet, Multiples

NAME = "STEP5_DSA"


class Step5Dsa(Backend):
    """Sparse attention of Step-5."""

    name = NAME
    summary = "Sparse attention of Step-5"
    mla = False
    sparse = True
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "bfloat16", "fp8", "fp8_e4m3")
    supported_features = ()
    head_sizes = (192,)
    kernel_block_sizes = (MultipleOf(16),)
    notes = ("Picked by the model's code.",)
    differs = ()
    sources = ("vllm==0.33.0 vllm/models/step5/nvidia/sparse_attention.py:807",)
    cells = (
        Cell(
            phase="decode",
            compute_capability=("9.0", "10.0", "10.3"),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="auto",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((192,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=("vllm==0.33.0 vllm/models/step5/nvidia/sparse_attention.py:807",),
            notes=("Picked by the model's code.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0", "10.0", "10.3"),
            kernel=None,
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((192,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=("vllm==0.33.0 vllm/models/step5/nvidia/sparse_attention.py:807",),
            notes=("Picked by the model's code.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0", "10.0", "10.3"),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((192,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=("vllm==0.33.0 vllm/models/step5/nvidia/sparse_attention.py:807",),
            notes=("Picked by the model's code.",),
        ),
    )
    refusals = ()


ENTRY = Step5Dsa
