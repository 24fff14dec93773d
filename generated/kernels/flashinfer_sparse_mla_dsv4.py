# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashInfer DeepSeek-V4 sparse decode on 10.x (trtllm_batch_decode_sparse_mla_dsv4)."""

from attnmatrix.kernel import Kernel

NAME = "flashinfer.sparse_mla_dsv4"

ENTRY = Kernel(
    NAME,
    title="FlashInfer DeepSeek-V4 sparse decode on 10.x (trtllm_batch_decode_sparse_mla_dsv4)",
    library="flashinfer",
    adapter="flashinfer_dsv4:SparseDsv4",
    phase="decode",
)
