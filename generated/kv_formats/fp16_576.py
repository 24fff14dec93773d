# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Plain float16, 576 wide."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "fp16_576"

ENTRY = KVFormat(
    NAME,
    title="Plain float16, 576 wide",
    head_size=576,
    bytes_per_token=1152,
    data=(Part("latent", "float16", 512), Part("rope", "float16", 64)),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=(),
    sources=(
        "vllm==0.33.0 vllm/model_executor/layers/attention/mla_attention.py:1386",
        "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:138",
    ),
)
