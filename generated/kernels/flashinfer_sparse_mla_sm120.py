# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashInfer packed sparse decode on 12.x."""

from attnmatrix.kernel import Kernel

NAME = "flashinfer.sparse_mla_sm120"

ENTRY = Kernel(
    NAME,
    title="FlashInfer packed sparse decode on 12.x",
    library="flashinfer",
    adapter="flashinfer_sm120:PackedSparse",
    phase="decode",
)
