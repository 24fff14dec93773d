# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashMLA sparse decode (sparse_decode_fwd)."""

from attnmatrix.kernel import Kernel

NAME = "flash_mla.sparse_decode"

ENTRY = Kernel(
    NAME,
    title="FlashMLA sparse decode (sparse_decode_fwd)",
    library="flash_mla",
    adapter="flash_mla:SparseDecode",
    phase="decode",
)
