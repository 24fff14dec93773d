# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V3.2 sparse MLA through FlashInfer's TensorRT-LLM kernels."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet, Multiples

NAME = "FLASHINFER_MLA_SPARSE"


class FlashinferMlaSparse(Backend):
    """DeepSeek-V3.2 sparse MLA through FlashInfer's TensorRT-LLM kernels."""

    name = NAME
    summary = "DeepSeek-V3.2 sparse MLA through FlashInfer's TensorRT-LLM kernels"
    mla = True
    sparse = True
    supported_dtypes = ("bfloat16",)
    supported_kv_cache_dtypes = ("auto", "bfloat16", "fp8", "fp8_e4m3")
    supported_features = ("topk_length", "lse")
    head_sizes = (512, 576)
    kernel_block_sizes = (32,)
    notes = ()
    differs = (
        "vllm==0.33.0: compute_capabilities: FlashInfer names the GPUs its kernels are built for, 10.0, 10.3 and 10.7; vLLM takes any 10.x.",
        "vllm==0.33.0: dtypes: vLLM lists float16. FlashInfer's kernel takes bfloat16 with bfloat16 or e4m3 with e4m3, and writes bfloat16.",
        "vllm==0.33.0: kv_cache_dtypes: vLLM lists float16, which holds for float16 models alone, and the kernel takes none.",
    )
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:80",
        "flashinfer-python==0.7.4 flashinfer/mla/_core.py:4494",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_sparse_decode",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=IntSet(multiples=(Multiples(4),)),
            features=("topk_length", "lse"),
            versions={"flashinfer-python": ">=0.6.12"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:4494",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:598",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:80",
            ),
            notes=(
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "A row's count of valid indices goes in as seq_lens; rope-free models pass sparse_mla_top_k_lens.",
                "LSE is base 2 unless asked otherwise.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_sparse_decode",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_576",
            bytes_per_token=576,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=IntSet(multiples=(Multiples(4),)),
            features=("topk_length", "lse"),
            versions={"flashinfer-python": ">=0.6.12"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:4494",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:503",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:80",
            ),
            notes=(
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "A row's count of valid indices goes in as seq_lens; rope-free models pass sparse_mla_top_k_lens.",
                "LSE is base 2 unless asked otherwise.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_sparse_decode",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_512",
            bytes_per_token=1024,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=IntSet(multiples=(Multiples(4),)),
            features=("topk_length", "lse"),
            versions={"flashinfer-python": ">=0.6.18"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:3909",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:80",
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:4494",
            ),
            notes=(
                "512 wide means a rope-free model with a qk_nope_head_dim of 256.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "A row's count of valid indices goes in as seq_lens; rope-free models pass sparse_mla_top_k_lens.",
                "LSE is base 2 unless asked otherwise.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_sparse_decode",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_512",
            bytes_per_token=512,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=IntSet(multiples=(Multiples(4),)),
            features=("topk_length", "lse"),
            versions={"flashinfer-python": ">=0.6.18"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:3909",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:80",
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:4494",
            ),
            notes=(
                "512 wide means a rope-free model with a qk_nope_head_dim of 256.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "A row's count of valid indices goes in as seq_lens; rope-free models pass sparse_mla_top_k_lens.",
                "LSE is base 2 unless asked otherwise.",
            ),
        ),
        Cell(
            phase="prefill",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_sparse_decode",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=IntSet(multiples=(Multiples(4),)),
            features=("topk_length", "lse"),
            versions={"flashinfer-python": ">=0.6.12"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:4494",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:598",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:80",
            ),
            notes=(
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "A row's count of valid indices goes in as seq_lens; rope-free models pass sparse_mla_top_k_lens.",
                "LSE is base 2 unless asked otherwise.",
            ),
        ),
        Cell(
            phase="prefill",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_sparse_decode",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_576",
            bytes_per_token=576,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=IntSet(multiples=(Multiples(4),)),
            features=("topk_length", "lse"),
            versions={"flashinfer-python": ">=0.6.12"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:4494",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:503",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:80",
            ),
            notes=(
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "A row's count of valid indices goes in as seq_lens; rope-free models pass sparse_mla_top_k_lens.",
                "LSE is base 2 unless asked otherwise.",
            ),
        ),
        Cell(
            phase="prefill",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_sparse_decode",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_512",
            bytes_per_token=1024,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=IntSet(multiples=(Multiples(4),)),
            features=("topk_length", "lse"),
            versions={"flashinfer-python": ">=0.6.18"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:3909",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:80",
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:4494",
            ),
            notes=(
                "512 wide means a rope-free model with a qk_nope_head_dim of 256.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "A row's count of valid indices goes in as seq_lens; rope-free models pass sparse_mla_top_k_lens.",
                "LSE is base 2 unless asked otherwise.",
            ),
        ),
        Cell(
            phase="prefill",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_sparse_decode",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_512",
            bytes_per_token=512,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=IntSet(multiples=(Multiples(4),)),
            features=("topk_length", "lse"),
            versions={"flashinfer-python": ">=0.6.18"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:3909",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla_sparse.py:80",
                "flashinfer-python==0.7.4 flashinfer/mla/_core.py:4494",
            ),
            notes=(
                "512 wide means a rope-free model with a qk_nope_head_dim of 256.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "A row's count of valid indices goes in as seq_lens; rope-free models pass sparse_mla_top_k_lens.",
                "LSE is base 2 unless asked otherwise.",
            ),
        ),
    )
    refusals = ()


ENTRY = FlashinferMlaSparse
