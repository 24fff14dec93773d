# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Kernel libraries and the distributions that ship them."""

from __future__ import annotations

from typing import Any

LIBRARIES: dict[str, Any] = {
    "flash_mla": {
        "title": "FlashMLA",
        "homepage": "deepseek-ai/FlashMLA",
        "providers": {
            "flash-mla": {"module": "flash_mla"},
            "vllm": {"ops": "_flashmla_C"},
            "sglang-kernel": {"ops": "sgl_kernel"},
        },
    },
    "flashinfer": {
        "title": "FlashInfer",
        "homepage": "flashinfer-ai/flashinfer",
        "providers": {"flashinfer-python": {"module": "flashinfer"}},
    },
    "torch": {
        "title": "PyTorch",
        "homepage": "pytorch/pytorch",
        "providers": {"torch": {"module": "torch"}},
    },
}
