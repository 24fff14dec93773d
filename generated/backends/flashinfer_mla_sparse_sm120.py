# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V3.2 sparse MLA on 12.x through FlashInfer."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet, Multiples

NAME = "FLASHINFER_MLA_SPARSE_SM120"


class FlashinferMlaSparseSm120(Backend):
    """DeepSeek-V3.2 sparse MLA on 12.x through FlashInfer."""

    name = NAME
    summary = "DeepSeek-V3.2 sparse MLA on 12.x through FlashInfer"
    mla = True
    sparse = True
    supported_dtypes = ("bfloat16",)
    supported_kv_cache_dtypes = ("auto", "fp8", "fp8_e4m3", "fp8_ds_mla")
    supported_features = ()
    head_sizes = (512, 576)
    kernel_block_sizes = (64,)
    notes = (
        "Decode alone takes any head count up to 128; the counts named here take prefill, too.",
        "vLLM further asks that the model's index_topk be 2048.",
    )
    differs = ()
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:164",
        "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm120.py:33",
        "flashinfer-python==0.7.4 flashinfer/mla/_core.py:541",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("12.0", "12.1"),
            kernel="flashinfer.sparse_mla_sm120",
            spellings=("auto", "fp8", "fp8_e4m3", "fp8_ds_mla"),
            kv_cache_dtype="fp8_ds_mla",
            kv_format="ds_mla_v32",
            bytes_per_token=656,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet((8, 16, 32, 64, 128)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            versions={"flashinfer-python": ">=0.7.1"},
            engines={"vllm": ">=0.24"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:541",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:164",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm120.py:33",
            ),
            notes=(
                "Decode alone takes any head count up to 128; the counts named here take prefill, too.",
                "vLLM further asks that the model's index_topk be 2048.",
                "GLM models store arbitrary float32 scales, others powers of two; vLLM says which.",
                "Not run by us, who had no such GPU at hand.",
                "V4 and V4.1 records go through trtllm_batch_decode_sparse_mla_dsv4, the others through trtllm_batch_decode_with_kv_cache_mla.",
                "Page strides are multiples of 16 B. CUDA 12.8 or later for 12.0, 12.9 or later for 12.1.",
                "For up to 64 query tokens a call; beyond that the prefill kernel takes fewer shapes.",
                "LSE is base 2, and includes the sink.",
                'kv_scale_format="auto" reads the scales\' exponents alone, "arbitrary_fp32" all of them.',
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("12.0", "12.1"),
            kernel="flashinfer.sparse_mla_sm120",
            spellings=("auto", "fp8", "fp8_e4m3", "fp8_ds_mla"),
            kv_cache_dtype="fp8_ds_mla",
            kv_format="ds_mla_v32",
            bytes_per_token=656,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet((8, 16, 32, 64, 128)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            versions={"flashinfer-python": ">=0.6.14,<0.7.1"},
            engines={"vllm": ">=0.24"},
            unknown=("query_heads", "topk"),
            sources=(
                "flashinfer-ai/flashinfer#3545",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:164",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm120.py:33",
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:541",
            ),
            notes=(
                "Decode alone takes any head count up to 128; the counts named here take prefill, too.",
                "vLLM further asks that the model's index_topk be 2048.",
                "GLM models store arbitrary float32 scales, others powers of two; vLLM says which.",
                "Not run by us, who had no such GPU at hand.",
                "V4 and V4.1 records go through trtllm_batch_decode_sparse_mla_dsv4, the others through trtllm_batch_decode_with_kv_cache_mla.",
                "Page strides are multiples of 16 B. CUDA 12.8 or later for 12.0, 12.9 or later for 12.1.",
                "For up to 64 query tokens a call; beyond that the prefill kernel takes fewer shapes.",
                "LSE is base 2, and includes the sink.",
                "These releases take a fixed set of head counts and top-k widths together.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("12.0", "12.1"),
            kernel="flashinfer.sparse_mla_sm120",
            spellings=("auto", "fp8", "fp8_e4m3", "fp8_ds_mla"),
            kv_cache_dtype="fp8_ds_mla",
            kv_format="ds_mla_v32_nope_656",
            bytes_per_token=656,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            query_heads=IntSet((8, 16, 32, 64, 128)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            versions={"flashinfer-python": ">=0.7.1"},
            engines={"vllm": ">=0.24"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:541",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:164",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm120.py:33",
            ),
            notes=(
                "Decode alone takes any head count up to 128; the counts named here take prefill, too.",
                "vLLM further asks that the model's index_topk be 2048.",
                "512 wide means a rope-free GLM model; DeepSeek-V4 has backends of its own.",
                "Not run by us, who had no such GPU at hand.",
                "V4 and V4.1 records go through trtllm_batch_decode_sparse_mla_dsv4, the others through trtllm_batch_decode_with_kv_cache_mla.",
                "Page strides are multiples of 16 B. CUDA 12.8 or later for 12.0, 12.9 or later for 12.1.",
                "For up to 64 query tokens a call; beyond that the prefill kernel takes fewer shapes.",
                "LSE is base 2, and includes the sink.",
                'Needs kv_scale_format="arbitrary_fp32"; without it 512 wide means DeepSeek-V4.',
            ),
        ),
        Cell(
            phase="prefill",
            compute_capability=("12.0", "12.1"),
            kernel="flashinfer.sparse_mla_sm120_prefill",
            spellings=("auto", "fp8", "fp8_e4m3", "fp8_ds_mla"),
            kv_cache_dtype="fp8_ds_mla",
            kv_format="ds_mla_v32",
            bytes_per_token=656,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet((8, 16, 32, 64, 128)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=IntSet(multiples=(Multiples(64),)),
            versions={"flashinfer-python": ">=0.7.1"},
            engines={"vllm": ">=0.24"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/data/include/flashinfer/attention/sparse_mla_sm120/execution/attention_plan.h",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:164",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm120.py:33",
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:541",
            ),
            notes=(
                "Decode alone takes any head count up to 128; the counts named here take prefill, too.",
                "vLLM further asks that the model's index_topk be 2048.",
                "GLM models store arbitrary float32 scales, others powers of two; vLLM says which.",
                "Not run by us, who had no such GPU at hand.",
                "The same calls as the decode kernel's; the library turns to this one by the number of query tokens.",
            ),
        ),
        Cell(
            phase="prefill",
            compute_capability=("12.0", "12.1"),
            kernel="flashinfer.sparse_mla_sm120_prefill",
            spellings=("auto", "fp8", "fp8_e4m3", "fp8_ds_mla"),
            kv_cache_dtype="fp8_ds_mla",
            kv_format="ds_mla_v32_nope_656",
            bytes_per_token=656,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            query_heads=IntSet((8, 16, 32, 64, 128)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=IntSet(multiples=(Multiples(64),)),
            versions={"flashinfer-python": ">=0.7.1"},
            engines={"vllm": ">=0.24"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/data/include/flashinfer/attention/sparse_mla_sm120/execution/attention_plan.h",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:164",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm120.py:33",
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:541",
            ),
            notes=(
                "Decode alone takes any head count up to 128; the counts named here take prefill, too.",
                "vLLM further asks that the model's index_topk be 2048.",
                "512 wide means a rope-free GLM model; DeepSeek-V4 has backends of its own.",
                "Not run by us, who had no such GPU at hand.",
                "The same calls as the decode kernel's; the library turns to this one by the number of query tokens.",
            ),
        ),
    )
    refusals = ()


ENTRY = FlashinferMlaSparseSm120
