"""KV formats that the tests pack, written out from their published layouts."""

from __future__ import annotations

from attnmatrix.kv_format import KVFormat, Part

V32 = KVFormat(
    "ds_mla_v32",
    title="DeepSeek-V3.2 packed FP8",
    head_size=576,
    bytes_per_token=656,
    data=(
        Part("nope", "float8_e4m3fn", 512, scaled_by="nope_scale", group=128),
        Part("nope_scale", "float32", 4, amax_floor=0.0448, power_of_two=True),
        Part("rope", "bfloat16", 64),
    ),
)
V32_ARBITRARY = KVFormat(
    "ds_mla_v32_arbitrary",
    title="DeepSeek-V3.2 packed FP8, scales of any value",
    head_size=576,
    bytes_per_token=656,
    data=(
        Part("nope", "float8_e4m3fn", 512, scaled_by="nope_scale", group=128),
        Part("nope_scale", "float32", 4),
        Part("rope", "bfloat16", 64),
    ),
)
V4 = KVFormat(
    "ds_mla_v4",
    title="DeepSeek-V4 packed FP8",
    head_size=512,
    bytes_per_token=584,
    data=(
        Part("nope", "float8_e4m3fn", 448, scaled_by="nope_scale", group=64),
        Part("rope", "bfloat16", 64),
    ),
    scales=(
        Part("nope_scale", "float8_e8m0fnu", 7, amax_floor=0.0448),
        Part("pad", "uint8", 1),
    ),
    arrangement="data_then_scales",
    round_up_to=576,
)
V41 = KVFormat(
    "ds_mla_v41",
    title="DeepSeek-V4.1 packed MXFP8",
    head_size=512,
    bytes_per_token=528,
    data=(Part("kv", "float8_e4m3fn", 512, scaled_by="kv_scale", group=32),),
    scales=(Part("kv_scale", "float8_e8m0fnu", 16, amax_floor=0.0448),),
)
V41_SPLIT = KVFormat(
    "ds_mla_v41_split",
    title="DeepSeek-V4.1 packed MXFP8, scales after the page's data",
    head_size=512,
    bytes_per_token=528,
    data=V41.data,
    scales=V41.scales,
    arrangement="data_then_scales",
    round_up_to=512,
)
V41_FP4 = KVFormat(
    "ds_mla_v41_fp4",
    title="DeepSeek-V4.1 compressed NVFP4",
    head_size=512,
    bytes_per_token=288,
    data=(Part("kv", "float4_e2m1fn", 512, scaled_by="kv_scale", group=16),),
    scales=(Part("kv_scale", "float8_e4m3fn", 32, amax_floor=6 * 2.0**-9),),
)
NVFP4 = KVFormat(
    "nvfp4_ds_mla",
    title="DeepSeek-V3.2 NVFP4",
    head_size=576,
    bytes_per_token=352,
    data=(
        Part("nope", "float4_e2m1fn", 512, scaled_by="nope_scale", group=16),
        Part("rope", "float8_e4m3fn", 64),
        Part("nope_scale", "float8_e4m3fn", 32, transposed=(8, 4), amax_floor=6 * 2.0**-9),
    ),
)
V4_NVFP4 = KVFormat(
    "nvfp4_ds_mla_v4",
    title="DeepSeek-V4 NVFP4",
    head_size=512,
    bytes_per_token=384,
    data=(
        Part("nope", "float4_e2m1fn", 448, scaled_by="nope_scale", group=16),
        Part("rope", "bfloat16", 64),
    ),
    scales=(Part("nope_scale", "float8_e4m3fn", 28), Part("pad", "uint8", 4)),
    arrangement="data_then_scales",
)


def plain(dtype: str, head_size: int, *, scaled_by: str | None = None) -> KVFormat:
    """A format of one dtype."""
    part = Part("kv", dtype, head_size, scaled_by=scaled_by)
    return KVFormat(
        f"{dtype}_{head_size}",
        title=f"Plain {dtype}, {head_size} wide",
        head_size=head_size,
        bytes_per_token=part.bytes,
        data=(part,),
    )


BF16 = plain("bfloat16", 576)
FP16 = plain("float16", 576)
E4M3 = plain("float8_e4m3fn", 576, scaled_by="per_tensor")

SCALED = (V32, V32_ARBITRARY, V4, V41, V41_SPLIT, V41_FP4, NVFP4, V4_NVFP4)
ALL = (*SCALED, BF16, FP16, E4M3)
