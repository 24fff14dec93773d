# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""vLLM's Triton attention for models whose values are narrower than their keys."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "TRITON_ATTN_DIFFKV"


class TritonAttnDiffkv(Backend):
    """vLLM's Triton attention for models whose values are narrower than their keys."""

    name = NAME
    summary = "vLLM's Triton attention for models whose values are narrower than their keys"
    mla = False
    sparse = False
    supported_dtypes = ("float16", "bfloat16", "float32")
    supported_kv_cache_dtypes = ("auto", "bfloat16", "fp8", "fp8_e4m3")
    supported_features = ("attention_sink",)
    head_sizes = IntSet(multiples=(Multiples(1, minimum=32),))
    kernel_block_sizes = (MultipleOf(16),)
    notes = ("The head size is the key's. Picked by a model's code, not by vLLM's order.",)
    differs = (
        "vllm==0.33.0: dtypes: vLLM lists bfloat16 for every GPU here; its platform refuses it below compute capability 8.0.",
        "vllm==0.33.0: kv_cache_dtypes: A bfloat16 cache is for bfloat16 models alone, which vLLM refuses below 8.0.",
    )
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/triton_attn_diffkv.py:68",
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
            head_sizes=IntSet(multiples=(Multiples(1, minimum=32),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.24"},
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/triton_attn_diffkv.py:68",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
            notes=("The head size is the key's. Picked by a model's code, not by vLLM's order.",),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet(multiples=(Multiples(1, minimum=32),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.24"},
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/triton_attn_diffkv.py:68",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
            notes=("The head size is the key's. Picked by a model's code, not by vLLM's order.",),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16", "float32"),
            head_sizes=IntSet(multiples=(Multiples(1, minimum=32),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.24"},
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/triton_attn_diffkv.py:68",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
            notes=("The head size is the key's. Picked by a model's code, not by vLLM's order.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("7.x",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="auto",
            kv_format=None,
            dtypes=("float16", "float32"),
            head_sizes=IntSet(multiples=(Multiples(1, minimum=32),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.24"},
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/triton_attn_diffkv.py:68",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
            notes=("The head size is the key's. Picked by a model's code, not by vLLM's order.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("7.x",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "float32"),
            head_sizes=IntSet(multiples=(Multiples(1, minimum=32),)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.24"},
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/triton_attn_diffkv.py:68",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
            ),
            notes=("The head size is the key's. Picked by a model's code, not by vLLM's order.",),
        ),
    )
    refusals = ()


ENTRY = TritonAttnDiffkv
