# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Plain bfloat16, 512 wide."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "bf16_512"

ENTRY = KVFormat(
    NAME,
    title="Plain bfloat16, 512 wide",
    head_size=512,
    bytes_per_token=1024,
    data=(Part("kv", "bfloat16", 512),),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=(
        "DeepSeek-V4 puts 448 NoPE elements, then 64 RoPE elements in it; rope-free models 512 NoPE.",
    ),
    sources=(
        "vllm==0.33.0 vllm/models/deepseek_v4/nvidia/flashinfer_sparse.py:258",
        "flashinfer-python==0.7.4 flashinfer/mla/_core.py:1080",
    ),
)
