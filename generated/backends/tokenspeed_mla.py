# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Dense MLA through TokenSpeed."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "TOKENSPEED_MLA"


class TokenspeedMla(Backend):
    """Dense MLA through TokenSpeed."""

    name = NAME
    summary = "Dense MLA through TokenSpeed"
    mla = True
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("fp8", "fp8_e4m3")
    supported_features = ()
    head_sizes = (320, 512, 576)
    kernel_block_sizes = (MultipleOf(32),)
    notes = (
        "Needs the package tokenspeed-mla.",
        "vLLM further asks for the dimensions of DeepSeek-R1, which make a head size of 576.",
    )
    differs = ()
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/mla/tokenspeed_mla.py:101",
        "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_576",
            bytes_per_token=576,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/tokenspeed_mla.py:101",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
            notes=(
                "Needs the package tokenspeed-mla.",
                "vLLM further asks for the dimensions of DeepSeek-R1, which make a head size of 576.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((320, 512)),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/tokenspeed_mla.py:101",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
            notes=(
                "Needs the package tokenspeed-mla.",
                "vLLM further asks for the dimensions of DeepSeek-R1, which make a head size of 576.",
            ),
        ),
    )
    refusals = ()


ENTRY = TokenspeedMla
