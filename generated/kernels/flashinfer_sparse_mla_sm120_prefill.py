# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashInfer packed sparse attention on 12.x, more than 64 query tokens a call."""

from attnmatrix.kernel import Kernel

NAME = "flashinfer.sparse_mla_sm120_prefill"

ENTRY = Kernel(
    NAME,
    title="FlashInfer packed sparse attention on 12.x, more than 64 query tokens a call",
    library="flashinfer",
    adapter=None,
    phase="prefill",
)
