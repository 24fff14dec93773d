# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V4 sparse MLA through FlashMLA."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet, Multiples
from attnmatrix.verified import Verified

NAME = "FLASHMLA_SPARSE_DSV4"


class FlashmlaSparseDsv4(Backend):
    """DeepSeek-V4 sparse MLA through FlashMLA."""

    name = NAME
    summary = "DeepSeek-V4 sparse MLA through FlashMLA"
    mla = True
    sparse = True
    supported_dtypes = ("bfloat16",)
    supported_kv_cache_dtypes = ("auto", "fp8", "fp8_ds_mla")
    supported_features = ("attention_sink", "topk_length", "extra_kv_pool", "strided_pages")
    head_sizes = (512,)
    kernel_block_sizes = (256,)
    notes = ()
    differs = ()
    sources = (
        "vllm==0.33.0 vllm/models/deepseek_v4/sparse_mla.py:292",
        "vllm==0.33.0 vllm/models/deepseek_v4/nvidia/flashmla.py:51",
        "vllm==0.33.0 vllm/models/deepseek_v4/attention.py:94",
        "vllm-project/vllm#44892",
        "vllm-project/vllm#45091",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("9.0", "10.x"),
            kernel="flash_mla.sparse_decode",
            spellings=("auto", "fp8", "fp8_ds_mla"),
            kv_cache_dtype="fp8_ds_mla",
            kv_format="ds_mla_v4",
            bytes_per_token=584,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            query_heads=IntSet(multiples=(Multiples(1, maximum=128),)),
            padded_to=(64, 128),
            block_sizes=IntSet((256,)),
            topk=IntSet(multiples=(Multiples(64),)),
            features=("attention_sink", "topk_length", "extra_kv_pool", "strided_pages"),
            versions={"flash-mla": "unknown", "vllm": ">=0.20", "sglang-kernel": ">=0.4.3"},
            engines={"vllm": ">=0.23"},
            sources=(
                "vllm==0.33.0 vllm/third_party/flashmla/flash_mla_interface.py:113",
                "vllm-project/FlashMLA@0397728d csrc/api/sparse_decode.h",
                "sglang-kernel==0.4.3 sgl_kernel/flash_mla.py",
                "vllm==0.33.0 vllm/models/deepseek_v4/sparse_mla.py:292",
                "vllm==0.33.0 vllm/models/deepseek_v4/nvidia/flashmla.py:51",
                "vllm==0.33.0 vllm/models/deepseek_v4/attention.py:94",
                "vllm-project/vllm#44892",
                "vllm-project/vllm#45091",
            ),
            evidence=(
                Verified(
                    "evidence/h200-flash_mla-vllm-0.24.0.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("vllm", "0.24.0"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    features=("attention_sink", "topk_length", "extra_kv_pool", "strided_pages"),
                    right=12,
                    stale=True,
                ),
                Verified(
                    "evidence/h200-flash_mla-vllm-0.33.0.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("vllm", "0.33.0"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    features=("attention_sink", "topk_length", "extra_kv_pool", "strided_pages"),
                    right=12,
                ),
            ),
            notes=(
                "A block of 256 tokens holds 64 or 2 compressed records; the window's pages hold 64 tokens.",
                "Prefill gathers both pools into bfloat16 rows first.",
                "64 or 128 query heads exactly; an engine pads to them, the sink too.",
                "An index of -1 is masked; any other index outside the cache is read as it is.",
                "LSE is a natural logarithm, leaves the sink out, and is +inf for a row without keys.",
                "The extra pool's top-k is a multiple of 64 as well, and its page size may differ.",
                "On 10.x the page stride is a multiple of 576 B; on 9.0 a multiple of 16 B will do.",
            ),
        ),
        Cell(
            phase="prefill",
            compute_capability=("9.0", "10.x"),
            kernel="flash_mla.sparse_prefill",
            spellings=("auto", "fp8", "fp8_ds_mla"),
            kv_cache_dtype="fp8_ds_mla",
            kv_format="ds_mla_v4",
            bytes_per_token=584,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            query_heads=IntSet(multiples=(Multiples(1, maximum=128),)),
            padded_to=(64, 128),
            block_sizes=IntSet((256,)),
            topk=IntSet(multiples=(Multiples(128),)),
            features=("attention_sink", "topk_length"),
            versions={"flash-mla": "unknown", "vllm": ">=0.20", "sglang-kernel": ">=0.4.3"},
            engines={"vllm": ">=0.23"},
            sources=(
                "vllm==0.33.0 vllm/third_party/flashmla/flash_mla_interface.py:215",
                "vllm-project/FlashMLA@43a39eeb csrc/api/sparse_fwd.h",
                "vllm==0.33.0 vllm/models/deepseek_v4/sparse_mla.py:292",
                "vllm==0.33.0 vllm/models/deepseek_v4/nvidia/flashmla.py:51",
                "vllm==0.33.0 vllm/models/deepseek_v4/attention.py:94",
                "vllm-project/vllm#44892",
                "vllm-project/vllm#45091",
            ),
            evidence=(
                Verified(
                    "evidence/h200-flash_mla-vllm-0.24.0.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("vllm", "0.24.0"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    features=("attention_sink", "topk_length"),
                    right=7,
                    stale=True,
                ),
                Verified(
                    "evidence/h200-flash_mla-vllm-0.33.0.json",
                    gpu="H200",
                    compute_capability="9.0",
                    provider=("vllm", "0.33.0"),
                    date="2026-12-03",
                    dtypes=("bfloat16",),
                    features=("attention_sink", "topk_length"),
                    right=7,
                ),
            ),
            notes=(
                "A block of 256 tokens holds 64 or 2 compressed records; the window's pages hold 64 tokens.",
                "Prefill gathers both pools into bfloat16 rows first.",
                "It knows no pages; the cache is one array of rows, so pages must lie close together.",
                "LSE is a natural logarithm from vllm and flash-mla, and base 2 from sglang-kernel.",
                "Indices below 0 or past the last row are masked.",
                "On 10.x some head counts may take multiples of 64; 128 suits all.",
            ),
        ),
    )
    refusals = ()


ENTRY = FlashmlaSparseDsv4
