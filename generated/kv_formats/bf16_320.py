# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Plain bfloat16, 320 wide."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "bf16_320"

ENTRY = KVFormat(
    NAME,
    title="Plain bfloat16, 320 wide",
    head_size=320,
    bytes_per_token=640,
    data=(Part("latent", "bfloat16", 256), Part("rope", "bfloat16", 64)),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=(),
    sources=("flashinfer-python==0.7.4 flashinfer/mla/_utils.py:47",),
)
