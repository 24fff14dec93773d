# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashMLA sparse attention over bf16 rows (sparse_prefill_fwd)."""

from attnmatrix.kernel import Kernel

NAME = "flash_mla.sparse_prefill"

ENTRY = Kernel(
    NAME,
    title="FlashMLA sparse attention over bf16 rows (sparse_prefill_fwd)",
    library="flash_mla",
    adapter="flash_mla_prefill:SparsePrefill",
    phase="prefill",
)
