# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Sparse MLA on 10.x, decode through FlashAttention 4, the rest through FlashInfer."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet, Multiples

NAME = "FLASH_ATTN_MLA_SPARSE_FA4"


class FlashAttnMlaSparseFa4(Backend):
    """Sparse MLA on 10.x, decode through FlashAttention 4, the rest through FlashInfer."""

    name = NAME
    summary = "Sparse MLA on 10.x, decode through FlashAttention 4, the rest through FlashInfer"
    mla = True
    sparse = True
    supported_dtypes = ("bfloat16",)
    supported_kv_cache_dtypes = ("auto", "bfloat16")
    supported_features = ()
    head_sizes = (576,)
    kernel_block_sizes = (MultipleOf(64),)
    notes = ("vLLM further asks that the model's index_topk be a multiple of 128.",)
    differs = ()
    sources = ("vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla_sparse.py:275",)
    cells = (
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            unknown=("query_heads",),
            sources=("vllm==0.33.0 vllm/v1/attention/backends/mla/flashattn_mla_sparse.py:275",),
            notes=("vLLM further asks that the model's index_topk be a multiple of 128.",),
        ),
    )
    refusals = ()


ENTRY = FlashAttnMlaSparseFa4
