# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""vLLM's own dense MLA in Triton."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "TRITON_MLA"


class TritonMla(Backend):
    """vLLM's own dense MLA in Triton."""

    name = NAME
    summary = "vLLM's own dense MLA in Triton"
    mla = True
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "float16", "bfloat16", "fp8", "fp8_e4m3")
    supported_features = ()
    head_sizes = ()
    kernel_block_sizes = (MultipleOf(16),)
    notes = ()
    differs = (
        "vllm==0.33.0: dtypes: vLLM lists bfloat16 for every GPU here; its platform refuses it below compute capability 8.0.",
        "vllm==0.33.0: kv_cache_dtypes: A bfloat16 cache is for bfloat16 models alone, which vLLM refuses below 8.0.",
    )
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
        "vllm==0.33.0 vllm/platforms/cuda.py:240",
        "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("float16",),
            kv_cache_dtype="float16",
            kv_format="fp16_576",
            bytes_per_token=1152,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="float16",
            kv_format="fp16_576",
            bytes_per_token=1152,
            dtypes=("float16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("auto",),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_576",
            bytes_per_token=576,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet(multiples=(Multiples(1, maximum=575), Multiples(1, minimum=577))),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet(multiples=(Multiples(1, maximum=575), Multiples(1, minimum=577))),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=(">=8.0",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet(multiples=(Multiples(1, maximum=575), Multiples(1, minimum=577))),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm", "xpu"),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm", "xpu"),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("rocm", "xpu"),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("7.x",),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
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
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/triton_mla.py:99",
                "vllm==0.33.0 vllm/platforms/cuda.py:240",
                "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
            ),
        ),
    )
    refusals = ()


ENTRY = TritonMla
