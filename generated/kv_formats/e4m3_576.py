# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Plain FP8 (e4m3), 576 wide, one scale a tensor."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "e4m3_576"

ENTRY = KVFormat(
    NAME,
    title="Plain FP8 (e4m3), 576 wide, one scale a tensor",
    head_size=576,
    bytes_per_token=576,
    data=(
        Part("latent", "float8_e4m3fn", 512, scaled_by="per_tensor"),
        Part("rope", "float8_e4m3fn", 64, scaled_by="per_tensor"),
    ),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=(),
    sources=(
        "vllm==0.33.0 vllm/models/deepseek_v32/common/kernels.py:391",
        "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_fa_common.py:160",
    ),
)
