# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""The order in which backends are tried."""

from attnmatrix.intset import ANY, IntSet, Multiples
from attnmatrix.selection import Rule

__all__ = ["ANY", "PRIORITIES", "IntSet", "Multiples"]

PRIORITIES: tuple[Rule, ...] = (
    Rule(
        when={"compute_capability": ("9.x",), "head_size": 512, "sink": False},
        order=[
            "FLASHMLA",
            "FLASHINFER_MLA_SPARSE_SM90",
            "FLASHMLA_SPARSE",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("10.x",), "head_size": 512, "sink": False},
        order=[
            "FLASHINFER_MLA_SPARSE",
            "FLASHMLA_SPARSE",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("12.x",), "head_size": 512, "sink": False},
        order=[
            "FLASHINFER_MLA_SPARSE_SM120",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("9.x",), "head_size": 512},
        order=[
            "FLASHMLA",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_SM90",
            "FLASHMLA_SPARSE",
        ],
    ),
    Rule(
        when={"compute_capability": ("9.x",)},
        order=[
            "FLASHMLA",
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
            "FLASHMLA_SPARSE_DSV4",
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
            "FLASHMLA_SPARSE_DSV4",
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
            "FLASHINFER_MLA_SPARSE",
            "FLASHMLA_SPARSE",
            "FLASHMLA_SPARSE_DSV4",
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
            "FLASHINFER_MLA_SPARSE",
            "FLASHMLA_SPARSE",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("10.x",)},
        order=[
            "FLASHINFER_MLA",
            "FLASHMLA_SPARSE",
            "FLASHINFER_MLA_SPARSE",
            "FLASHMLA_SPARSE_DSV4",
            "FLASHMLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("12.x",), "head_size": 512},
        order=[
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
            "FLASHINFER_MLA_SPARSE_SM120",
        ],
    ),
    Rule(
        when={"compute_capability": ("12.x",)},
        order=[
            "FLASHINFER_MLA_SPARSE_SM120",
            "FLASHINFER_MLA_SPARSE_DSV4",
            "FLASHINFER_MLA_SPARSE_DSV41",
        ],
    ),
    Rule(
        when={"compute_capability": ("none",)},
        order=[
            "REFERENCE",
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
        ],
    ),
)
