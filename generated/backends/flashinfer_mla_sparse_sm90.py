# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Sparse MLA on 9.0 through FlashInfer's paged wrapper."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet, Multiples
from attnmatrix.verified import Verified

NAME = "FLASHINFER_MLA_SPARSE_SM90"


class FlashinferMlaSparseSm90(Backend):
    """Sparse MLA on 9.0 through FlashInfer's paged wrapper."""

    name = NAME
    summary = "Sparse MLA on 9.0 through FlashInfer's paged wrapper"
    mla = True
    sparse = True
    supported_dtypes = ("bfloat16",)
    supported_kv_cache_dtypes = ("auto", "bfloat16", "fp8", "fp8_e4m3")
    supported_features = ()
    head_sizes = (512, 576)
    kernel_block_sizes = (MultipleOf(64),)
    notes = (
        "The selected indices are the page table, with pages of 1 token.",
        "vLLM asks for FlashInfer 0.6.18 whatever the cache.",
    )
    differs = (
        "vllm==0.33.0: versions: vLLM asks for FlashInfer 0.6.18 whatever the cache; FlashInfer has the 576-wide caches before.",
    )
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm90.py:146",
        "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:191",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flashinfer.batch_mla",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=1,
            versions={"flashinfer-python": ">=0.6.9"},
            engines={"vllm": ">=0.30"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:138",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm90.py:146",
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:191",
            ),
            evidence=(
                Verified(
                    "evidence/h200-flashinfer-flashinfer-python-0.7.4.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("flashinfer-python", "0.7.4"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    right=26,
                ),
            ),
            notes=(
                "The selected indices are the page table, with pages of 1 token.",
                "vLLM asks for FlashInfer 0.6.18 whatever the cache.",
                "vLLM reads RoPE with a scale of 1.0; with an e4m3 cache of another scale this looks wrong.",
                'On 9.0 backend="fa3", elsewhere "fa2". Indices go in as a table of 1-token pages, so a cache\'s pages must lie together.',
                "LSE is base 2 unless asked otherwise. A plan of causal queries may refuse odd head counts.",
                "An e4m3 cache needs kpe_scale at every call, even where there is no RoPE part.",
                "Scales of an e4m3 cache, and the scaled elements, are rounded to bfloat16; powers of two lose nothing.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flashinfer.batch_mla",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_576",
            bytes_per_token=576,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=1,
            versions={"flashinfer-python": ">=0.6.14"},
            engines={"vllm": ">=0.30"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:153",
                "flashinfer-ai/flashinfer#3694",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm90.py:146",
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:191",
            ),
            evidence=(
                Verified(
                    "evidence/h200-flashinfer-flashinfer-python-0.7.4.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("flashinfer-python", "0.7.4"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    right=26,
                ),
            ),
            notes=(
                "The selected indices are the page table, with pages of 1 token.",
                "vLLM asks for FlashInfer 0.6.18 whatever the cache.",
                "vLLM reads RoPE with a scale of 1.0; with an e4m3 cache of another scale this looks wrong.",
                'On 9.0 backend="fa3", elsewhere "fa2". Indices go in as a table of 1-token pages, so a cache\'s pages must lie together.',
                "LSE is base 2 unless asked otherwise. A plan of causal queries may refuse odd head counts.",
                "An e4m3 cache needs kpe_scale at every call, even where there is no RoPE part.",
                "Scales of an e4m3 cache, and the scaled elements, are rounded to bfloat16; powers of two lose nothing.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flashinfer.batch_mla",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_512",
            bytes_per_token=1024,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=1,
            versions={"flashinfer-python": ">=0.6.18"},
            engines={"vllm": ">=0.30"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:160",
                "flashinfer-ai/flashinfer#4373",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm90.py:146",
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:191",
            ),
            evidence=(
                Verified(
                    "evidence/h200-flashinfer-flashinfer-python-0.7.4.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("flashinfer-python", "0.7.4"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    right=26,
                ),
            ),
            notes=(
                "The selected indices are the page table, with pages of 1 token.",
                "vLLM asks for FlashInfer 0.6.18 whatever the cache.",
                'On 9.0 backend="fa3", elsewhere "fa2". Indices go in as a table of 1-token pages, so a cache\'s pages must lie together.',
                "LSE is base 2 unless asked otherwise. A plan of causal queries may refuse odd head counts.",
                "An e4m3 cache needs kpe_scale at every call, even where there is no RoPE part.",
                "Scales of an e4m3 cache, and the scaled elements, are rounded to bfloat16; powers of two lose nothing.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flashinfer.batch_mla",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_512",
            bytes_per_token=512,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=1,
            versions={"flashinfer-python": ">=0.6.18"},
            engines={"vllm": ">=0.30"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:160",
                "flashinfer-ai/flashinfer#4373",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm90.py:146",
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:191",
            ),
            evidence=(
                Verified(
                    "evidence/h200-flashinfer-flashinfer-python-0.7.4.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("flashinfer-python", "0.7.4"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    right=26,
                ),
            ),
            notes=(
                "The selected indices are the page table, with pages of 1 token.",
                "vLLM asks for FlashInfer 0.6.18 whatever the cache.",
                'On 9.0 backend="fa3", elsewhere "fa2". Indices go in as a table of 1-token pages, so a cache\'s pages must lie together.',
                "LSE is base 2 unless asked otherwise. A plan of causal queries may refuse odd head counts.",
                "An e4m3 cache needs kpe_scale at every call, even where there is no RoPE part.",
                "Scales of an e4m3 cache, and the scaled elements, are rounded to bfloat16; powers of two lose nothing.",
            ),
        ),
        Cell(
            phase="prefill",
            compute_capability=("9.0",),
            kernel="flashinfer.batch_mla",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=1,
            versions={"flashinfer-python": ">=0.6.9"},
            engines={"vllm": ">=0.30"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:138",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm90.py:146",
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:191",
            ),
            evidence=(
                Verified(
                    "evidence/h200-flashinfer-flashinfer-python-0.7.4.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("flashinfer-python", "0.7.4"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    right=26,
                ),
            ),
            notes=(
                "The selected indices are the page table, with pages of 1 token.",
                "vLLM asks for FlashInfer 0.6.18 whatever the cache.",
                "vLLM reads RoPE with a scale of 1.0; with an e4m3 cache of another scale this looks wrong.",
                'On 9.0 backend="fa3", elsewhere "fa2". Indices go in as a table of 1-token pages, so a cache\'s pages must lie together.',
                "LSE is base 2 unless asked otherwise. A plan of causal queries may refuse odd head counts.",
                "An e4m3 cache needs kpe_scale at every call, even where there is no RoPE part.",
                "Scales of an e4m3 cache, and the scaled elements, are rounded to bfloat16; powers of two lose nothing.",
            ),
        ),
        Cell(
            phase="prefill",
            compute_capability=("9.0",),
            kernel="flashinfer.batch_mla",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_576",
            bytes_per_token=576,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=1,
            versions={"flashinfer-python": ">=0.6.14"},
            engines={"vllm": ">=0.30"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:153",
                "flashinfer-ai/flashinfer#3694",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm90.py:146",
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:191",
            ),
            evidence=(
                Verified(
                    "evidence/h200-flashinfer-flashinfer-python-0.7.4.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("flashinfer-python", "0.7.4"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    right=26,
                ),
            ),
            notes=(
                "The selected indices are the page table, with pages of 1 token.",
                "vLLM asks for FlashInfer 0.6.18 whatever the cache.",
                "vLLM reads RoPE with a scale of 1.0; with an e4m3 cache of another scale this looks wrong.",
                'On 9.0 backend="fa3", elsewhere "fa2". Indices go in as a table of 1-token pages, so a cache\'s pages must lie together.',
                "LSE is base 2 unless asked otherwise. A plan of causal queries may refuse odd head counts.",
                "An e4m3 cache needs kpe_scale at every call, even where there is no RoPE part.",
                "Scales of an e4m3 cache, and the scaled elements, are rounded to bfloat16; powers of two lose nothing.",
            ),
        ),
        Cell(
            phase="prefill",
            compute_capability=("9.0",),
            kernel="flashinfer.batch_mla",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_512",
            bytes_per_token=1024,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=1,
            versions={"flashinfer-python": ">=0.6.18"},
            engines={"vllm": ">=0.30"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:160",
                "flashinfer-ai/flashinfer#4373",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm90.py:146",
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:191",
            ),
            evidence=(
                Verified(
                    "evidence/h200-flashinfer-flashinfer-python-0.7.4.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("flashinfer-python", "0.7.4"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    right=26,
                ),
            ),
            notes=(
                "The selected indices are the page table, with pages of 1 token.",
                "vLLM asks for FlashInfer 0.6.18 whatever the cache.",
                'On 9.0 backend="fa3", elsewhere "fa2". Indices go in as a table of 1-token pages, so a cache\'s pages must lie together.',
                "LSE is base 2 unless asked otherwise. A plan of causal queries may refuse odd head counts.",
                "An e4m3 cache needs kpe_scale at every call, even where there is no RoPE part.",
                "Scales of an e4m3 cache, and the scaled elements, are rounded to bfloat16; powers of two lose nothing.",
            ),
        ),
        Cell(
            phase="prefill",
            compute_capability=("9.0",),
            kernel="flashinfer.batch_mla",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_512",
            bytes_per_token=512,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=1,
            versions={"flashinfer-python": ">=0.6.18"},
            engines={"vllm": ">=0.30"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:160",
                "flashinfer-ai/flashinfer#4373",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm90.py:146",
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:191",
            ),
            evidence=(
                Verified(
                    "evidence/h200-flashinfer-flashinfer-python-0.7.4.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("flashinfer-python", "0.7.4"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    right=26,
                ),
            ),
            notes=(
                "The selected indices are the page table, with pages of 1 token.",
                "vLLM asks for FlashInfer 0.6.18 whatever the cache.",
                'On 9.0 backend="fa3", elsewhere "fa2". Indices go in as a table of 1-token pages, so a cache\'s pages must lie together.',
                "LSE is base 2 unless asked otherwise. A plan of causal queries may refuse odd head counts.",
                "An e4m3 cache needs kpe_scale at every call, even where there is no RoPE part.",
                "Scales of an e4m3 cache, and the scaled elements, are rounded to bfloat16; powers of two lose nothing.",
            ),
        ),
    )
    refusals = ()


ENTRY = FlashinferMlaSparseSm90
