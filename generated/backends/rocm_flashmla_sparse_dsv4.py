# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V4 sparse MLA for AMD's GPUs."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet

NAME = "ROCM_FLASHMLA_SPARSE_DSV4"


class RocmFlashmlaSparseDsv4(Backend):
    """DeepSeek-V4 sparse MLA for AMD's GPUs."""

    name = NAME
    summary = "DeepSeek-V4 sparse MLA for AMD's GPUs"
    mla = True
    sparse = True
    supported_dtypes = ("bfloat16",)
    supported_kv_cache_dtypes = ("auto", "fp8", "fp8_ds_mla")
    supported_features = ("attention_sink",)
    head_sizes = (512,)
    kernel_block_sizes = (256,)
    notes = ()
    differs = ()
    sources = ("vllm==0.33.0 vllm/models/deepseek_v4/amd/rocm.py:816",)
    cells = (
        Cell(
            phase="decode",
            compute_capability=("rocm",),
            kernel=None,
            spellings=("auto", "fp8", "fp8_ds_mla"),
            kv_cache_dtype="fp8_ds_mla",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet((256,)),
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            unknown=("query_heads",),
            sources=("vllm==0.33.0 vllm/models/deepseek_v4/amd/rocm.py:816",),
        ),
    )
    refusals = ()


ENTRY = RocmFlashmlaSparseDsv4
