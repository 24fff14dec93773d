# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Dense MLA for CPUs, without regard to speed."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet

NAME = "CPU_MLA"


class CpuMla(Backend):
    """Dense MLA for CPUs, without regard to speed."""

    name = NAME
    summary = "Dense MLA for CPUs, without regard to speed"
    mla = True
    sparse = False
    supported_dtypes = ("float16", "bfloat16", "float32")
    supported_kv_cache_dtypes = ("auto",)
    supported_features = ()
    head_sizes = (576,)
    kernel_block_sizes = (16,)
    notes = ()
    differs = ()
    sources = ("vllm==0.33.0 vllm/v1/attention/backends/mla/cpu_mla.py:50",)
    cells = (
        Cell(
            phase="decode",
            compute_capability=("none",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="auto",
            kv_format=None,
            dtypes=("float16", "bfloat16", "float32"),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet((16,)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=("vllm==0.33.0 vllm/v1/attention/backends/mla/cpu_mla.py:50",),
        ),
    )
    refusals = ()


ENTRY = CpuMla
