# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Plain float16, 512 wide."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "fp16_512"

ENTRY = KVFormat(
    NAME,
    title="Plain float16, 512 wide",
    head_size=512,
    bytes_per_token=1024,
    data=(Part("kv", "float16", 512),),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=(),
    sources=("flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:138",),
)
