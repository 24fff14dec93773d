# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""PyTorch's FlexAttention."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "FLEX_ATTENTION"


class FlexAttention(Backend):
    """PyTorch's FlexAttention."""

    name = NAME
    summary = "PyTorch's FlexAttention"
    mla = False
    sparse = False
    supported_dtypes = ("float16", "bfloat16", "float32")
    supported_kv_cache_dtypes = ("auto", "float16", "bfloat16")
    supported_features = ()
    head_sizes = ()
    kernel_block_sizes = (MultipleOf(16),)
    notes = ()
    differs = (
        "vllm==0.33.0: dtypes: vLLM lists bfloat16 for every GPU here; its platform refuses it below compute capability 8.0.",
        "vllm==0.33.0: kv_cache_dtypes: A bfloat16 cache is for bfloat16 models alone, which vLLM refuses below 8.0.",
    )
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/flex_attention.py:90",
        "vllm==0.33.0 vllm/platforms/cuda.py:240",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="auto",
            kv_format=None,
            dtypes=("float16", "bfloat16", "float32"),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flex_attention.py:90",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("float16",),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flex_attention.py:90",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flex_attention.py:90",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("7.x",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="auto",
            kv_format=None,
            dtypes=("float16", "float32"),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flex_attention.py:90",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("7.x",),
            kernel=None,
            spellings=("float16",),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flex_attention.py:90",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
        ),
    )
    refusals = ()


ENTRY = FlexAttention
