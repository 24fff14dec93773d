# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashInfer dense MLA decode (trtllm_batch_decode_with_kv_cache_mla)."""

from attnmatrix.kernel import Kernel

NAME = "flashinfer.trtllm_decode"

ENTRY = Kernel(
    NAME,
    title="FlashInfer dense MLA decode (trtllm_batch_decode_with_kv_cache_mla)",
    library="flashinfer",
    adapter="flashinfer_trtllm:TrtllmDecode",
    phase="decode",
)
