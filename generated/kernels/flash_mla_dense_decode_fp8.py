# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashMLA dense FP8 decode (fwd_kvcache_mla_fp8)."""

from attnmatrix.kernel import Kernel

NAME = "flash_mla.dense_decode_fp8"

ENTRY = Kernel(
    NAME,
    title="FlashMLA dense FP8 decode (fwd_kvcache_mla_fp8)",
    library="flash_mla",
    adapter="flash_mla_dense:DenseDecode",
    phase="decode",
)
