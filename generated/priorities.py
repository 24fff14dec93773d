# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""The order in which backends are tried."""

from attnmatrix.intset import ANY, IntSet, Multiples
from attnmatrix.selection import Rule

__all__ = ["ANY", "PRIORITIES", "IntSet", "Multiples"]

PRIORITIES: tuple[Rule, ...] = (
    Rule(
        when={"mla": False, "sparse": True},
        order=[
            "STEP5_DSA",
            "MINIMAX_M3_SPARSE",
            "TRITON_MSA",
            "CUTLASS_MSA",
        ],
    ),
    Rule(
        when={"mla": False, "compute_capability": ("10.x",)},
        order=[
            "FLASHINFER",
            "FLASH_ATTN",
            "TRITON_ATTN",
            "FLEX_ATTENTION",
            "TURBOQUANT",
        ],
    ),
    Rule(
        when={"mla": False, "compute_capability": ("rocm",)},
        order=[
            "ROCM_ATTN",
            "TRITON_ATTN",
            "TURBOQUANT",
            "ROCM_OCTAVE",
            "ULTRAQUANT",
            "ROCM_AITER_FA",
            "ROCM_AITER_UNIFIED_ATTN",
        ],
    ),
    Rule(
        when={"mla": False, "compute_capability": ("xpu",)},
        order=[
            "FLASH_ATTN",
            "TRITON_ATTN",
            "TURBOQUANT",
        ],
    ),
    Rule(
        when={"mla": False, "compute_capability": ("none",)},
        order=[
            "CPU_ATTN",
        ],
    ),
    Rule(
        when={"mla": False},
        order=[
            "FLASH_ATTN",
            "FLASHINFER",
            "TRITON_ATTN",
            "FLEX_ATTENTION",
            "TURBOQUANT",
        ],
    ),
    Rule(
        when={"compute_capability": ("rocm",)},
        order=[
            "TRITON_MLA",
            "ROCM_AITER_MLA",
            "ROCM_AITER_TRITON_MLA",
            "ROCM_FLASHMLA_SPARSE_DSV4",
            "ROCM_FLASHMLA_SPARSE_DSV41",
            "ROCM_AITER_MLA_SPARSE",
        ],
    ),
    Rule(
        when={"compute_capability": ("xpu",)},
        order=[
            "XPU_MLA_SPARSE",
            "FLASH_ATTN_MLA",
            "TRITON_MLA",
        ],
    ),
    Rule(
        when={"compute_capability": ("9.x",), "head_size": 512, "sink": False},
        order=[
            "FLASH_ATTN_MLA",
            "FLASHMLA",
            "TRITON_MLA",
            "FLASHINFER_MLA_SPARSE_SM90",
            "FLASH_ATTN_MLA_SPARSE",
            "FLASHMLA_SPARSE",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("10.x",), "head_size": 512, "sink": False},
        order=[
            "FLASHINFER_MLA",
            "TOKENSPEED_MLA",
            "CUTLASS_MLA",
            "TRITON_MLA",
            "FLASHINFER_MLA_SPARSE",
            "FLASHMLA_SPARSE",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_MEGA_ATTN_DSV41",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("12.x",), "head_size": 512, "sink": False},
        order=[
            "TRITON_MLA",
            "FLASHINFER_MLA_SPARSE_SM120",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("9.x",), "head_size": 512},
        order=[
            "FLASH_ATTN_MLA",
            "FLASHMLA",
            "TRITON_MLA",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_SM90",
            "FLASH_ATTN_MLA_SPARSE",
            "FLASHMLA_SPARSE",
        ],
    ),
    Rule(
        when={"compute_capability": ("9.x",)},
        order=[
            "FLASH_ATTN_MLA",
            "FLASHMLA",
            "TRITON_MLA",
            "FLASH_ATTN_MLA_SPARSE",
            "FLASHMLA_SPARSE",
            "FLASHINFER_MLA_SPARSE_SM90",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={
            "compute_capability": ("10.x",),
            "head_size": 512,
            "kv_cache_dtype": ("fp8", "fp8_e4m3", "fp8_ds_mla", "nvfp4_ds_mla"),
        },
        order=[
            "FLASHINFER_MLA",
            "TOKENSPEED_MLA",
            "CUTLASS_MLA",
            "TRITON_MLA",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_MEGA_ATTN_DSV41",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE",
            "FLASHMLA_SPARSE",
        ],
    ),
    Rule(
        when={"compute_capability": ("10.x",), "head_size": 512},
        order=[
            "FLASHINFER_MLA",
            "TOKENSPEED_MLA",
            "CUTLASS_MLA",
            "TRITON_MLA",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_MEGA_ATTN_DSV41",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE",
            "FLASHMLA_SPARSE",
        ],
    ),
    Rule(
        when={
            "compute_capability": ("10.x",),
            "kv_cache_dtype": ("fp8", "fp8_e4m3", "fp8_ds_mla", "nvfp4_ds_mla"),
        },
        order=[
            "FLASHINFER_MLA",
            "TOKENSPEED_MLA",
            "CUTLASS_MLA",
            "TRITON_MLA",
            "FLASHINFER_MLA_SPARSE",
            "FLASHMLA_SPARSE",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_MEGA_ATTN_DSV41",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={
            "compute_capability": ("10.x",),
            "query_heads": IntSet(multiples=(Multiples(1, maximum=16),)),
        },
        order=[
            "FLASHINFER_MLA",
            "TOKENSPEED_MLA",
            "CUTLASS_MLA",
            "TRITON_MLA",
            "FLASH_ATTN_MLA_SPARSE_FA4",
            "FLASHINFER_MLA_SPARSE",
            "FLASHMLA_SPARSE",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_MEGA_ATTN_DSV41",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("10.x",)},
        order=[
            "FLASHINFER_MLA",
            "TOKENSPEED_MLA",
            "CUTLASS_MLA",
            "TRITON_MLA",
            "FLASHMLA_SPARSE",
            "FLASHINFER_MLA_SPARSE",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_MEGA_ATTN_DSV41",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("12.x",), "head_size": 512},
        order=[
            "TRITON_MLA",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_SM120",
        ],
    ),
    Rule(
        when={"compute_capability": ("12.x",)},
        order=[
            "TRITON_MLA",
            "FLASHINFER_MLA_SPARSE_SM120",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("none",)},
        order=[
            "REFERENCE",
            "AMX_MLA",
            "CPU_MLA",
        ],
    ),
    Rule(
        when={},
        order=[
            "FLASHMLA",
            "FLASHMLA_SPARSE",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA",
            "FLASHINFER_MLA_SPARSE",
            "FLASHINFER_MLA_SPARSE_SM90",
            "FLASHINFER_MLA_SPARSE_SM120",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
            "FLASH_ATTN_MLA",
            "TRITON_MLA",
        ],
    ),
)
