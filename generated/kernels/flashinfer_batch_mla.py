# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashInfer BatchMLAPagedAttentionWrapper (fa3, fa2)."""

from attnmatrix.kernel import Kernel

NAME = "flashinfer.batch_mla"

ENTRY = Kernel(
    NAME,
    title="FlashInfer BatchMLAPagedAttentionWrapper (fa3, fa2)",
    library="flashinfer",
    adapter="flashinfer:BatchMLA",
    phase="decode",
)
