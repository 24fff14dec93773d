# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashInfer sparse MLA decode (trtllm_batch_decode_with_kv_cache_mla, sparse_mla_top_k)."""

from attnmatrix.kernel import Kernel

NAME = "flashinfer.trtllm_sparse_decode"

ENTRY = Kernel(
    NAME,
    title="FlashInfer sparse MLA decode (trtllm_batch_decode_with_kv_cache_mla, sparse_mla_top_k)",
    library="flashinfer",
    adapter="flashinfer_trtllm:TrtllmDecode",
    phase="decode",
)
