# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Plain FP8 (e4m3), 512 wide, one scale a tensor."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "e4m3_512"

ENTRY = KVFormat(
    NAME,
    title="Plain FP8 (e4m3), 512 wide, one scale a tensor",
    head_size=512,
    bytes_per_token=512,
    data=(Part("kv", "float8_e4m3fn", 512, scaled_by="per_tensor"),),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=("vLLM fixes the scale of DeepSeek-V4 caches at 1.0.",),
    sources=(
        "vllm==0.33.0 vllm/models/deepseek_v4/nvidia/flashinfer_sparse.py:258",
        "flashinfer-python==0.7.4 flashinfer/mla/_core.py:1075",
    ),
)
