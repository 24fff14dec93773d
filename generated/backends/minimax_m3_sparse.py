# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Block-sparse attention of MiniMax-M3."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet, Multiples

NAME = "MINIMAX_M3_SPARSE"


class MinimaxM3Sparse(Backend):
    """Block-sparse attention of MiniMax-M3."""

    name = NAME
    summary = "Block-sparse attention of MiniMax-M3"
    mla = False
    sparse = True
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2")
    supported_features = ()
    head_sizes = (128,)
    kernel_block_sizes = (128,)
    notes = (
        "auto is not among the names that it lists; the model's layers, which skip the check, resolve it.",
        "Picked by the model's code, which turns to other kernels on 10.x and on the MI355.",
    )
    differs = (
        "vllm==0.33.0: dtypes: vLLM lists bfloat16 for every GPU here; its platform refuses it below compute capability 8.0.",
        "vllm==0.33.0: kv_cache_dtypes: A bfloat16 cache is for bfloat16 models alone, which vLLM refuses below 8.0.",
    )
    sources = (
        "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:135",
        "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:527",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=(">=8.0", "rocm"),
            kernel=None,
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((128,)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.24"},
            sources=(
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:135",
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:527",
            ),
            notes=(
                "auto is not among the names that it lists; the model's layers, which skip the check, resolve it.",
                "Picked by the model's code, which turns to other kernels on 10.x and on the MI355.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0", "rocm"),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((128,)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.24"},
            sources=(
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:135",
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:527",
            ),
            notes=(
                "auto is not among the names that it lists; the model's layers, which skip the check, resolve it.",
                "Picked by the model's code, which turns to other kernels on 10.x and on the MI355.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0", "rocm"),
            kernel=None,
            spellings=("fp8_e5m2",),
            kv_cache_dtype="fp8_e5m2",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((128,)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.24"},
            sources=(
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:135",
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:527",
            ),
            notes=(
                "auto is not among the names that it lists; the model's layers, which skip the check, resolve it.",
                "Picked by the model's code, which turns to other kernels on 10.x and on the MI355.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("7.x",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet((128,)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.24"},
            sources=(
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:135",
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:527",
            ),
            notes=(
                "auto is not among the names that it lists; the model's layers, which skip the check, resolve it.",
                "Picked by the model's code, which turns to other kernels on 10.x and on the MI355.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("7.x",),
            kernel=None,
            spellings=("fp8_e5m2",),
            kv_cache_dtype="fp8_e5m2",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet((128,)),
            block_sizes=IntSet(multiples=(Multiples(128),)),
            page_size=128,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.24"},
            sources=(
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:135",
                "vllm==0.33.0 vllm/models/minimax_m3/common/sparse_attention.py:527",
            ),
            notes=(
                "auto is not among the names that it lists; the model's layers, which skip the check, resolve it.",
                "Picked by the model's code, which turns to other kernels on 10.x and on the MI355.",
            ),
        ),
    )
    refusals = ()


ENTRY = MinimaxM3Sparse
