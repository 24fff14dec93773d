# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashMLA dense decode (dense_decode_fwd)."""

from attnmatrix.kernel import Kernel

NAME = "flash_mla.dense_decode"

ENTRY = Kernel(
    NAME,
    title="FlashMLA dense decode (dense_decode_fwd)",
    library="flash_mla",
    adapter="flash_mla_dense:DenseDecode",
    phase="decode",
)
