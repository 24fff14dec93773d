# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Dense MLA through FlashMLA."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "FLASHMLA"


class Flashmla(Backend):
    """Dense MLA through FlashMLA."""

    name = NAME
    summary = "Dense MLA through FlashMLA"
    mla = True
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = ("auto", "bfloat16", "float16", "fp8", "fp8_e4m3")
    supported_features = ("causal", "lse")
    head_sizes = (512, 576)
    kernel_block_sizes = (64,)
    notes = ()
    differs = (
        "vllm==0.33.0: compute_capabilities: vLLM declares major 9 and 10, then refuses 10.x in a second method. The kernel is built for 9.0 alone.",
        "vllm==0.33.0: head_sizes: vLLM inherits 320, 512 and 576 from a common class. The kernel takes 576, and since vLLM 0.33 512; with an FP8 cache 576 alone.",
        "vllm==0.33.0: dtypes: vLLM lists float16 for every KV-cache dtype. The FP8 kernel writes bfloat16 alone, which a float16 model cannot multiply with its weights.",
    )
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla.py:46",
        "vllm==0.33.0 vllm/v1/attention/ops/flashmla.py:51",
        "vllm-project/vllm#32477",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flash_mla.dense_decode",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flash-mla": "unknown", "vllm": ">=0.20", "sglang-kernel": ">=0.4.0"},
            sources=(
                "vllm-project/FlashMLA@43a39eeb csrc/api/dense_decode.h",
                "vllm==0.33.0 vllm/third_party/flashmla/flash_mla_interface.py:60",
                "sglang-kernel==0.4.0 sgl_kernel/flash_mla.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla.py:46",
                "vllm==0.33.0 vllm/v1/attention/ops/flashmla.py:51",
                "vllm-project/vllm#32477",
            ),
            notes=("LSE is a natural logarithm, and +inf for a row without keys.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flash_mla.dense_decode",
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format="fp16_576",
            bytes_per_token=1152,
            dtypes=("float16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flash-mla": "unknown", "vllm": ">=0.20", "sglang-kernel": ">=0.4.0"},
            sources=(
                "vllm-project/FlashMLA@43a39eeb csrc/api/dense_decode.h",
                "vllm==0.33.0 vllm/third_party/flashmla/flash_mla_interface.py:60",
                "sglang-kernel==0.4.0 sgl_kernel/flash_mla.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla.py:46",
                "vllm==0.33.0 vllm/v1/attention/ops/flashmla.py:51",
                "vllm-project/vllm#32477",
            ),
            notes=("LSE is a natural logarithm, and +inf for a row without keys.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flash_mla.dense_decode",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_512",
            bytes_per_token=1024,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flash-mla": "unknown", "vllm": ">=0.33", "sglang-kernel": ">=0.4.5"},
            sources=(
                "vllm==0.33.0 vllm/_flashmla_C.abi3.so",
                "sglang-kernel==0.4.5 sgl_kernel/flash_mla.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla.py:46",
                "vllm==0.33.0 vllm/v1/attention/ops/flashmla.py:51",
                "vllm-project/vllm#32477",
            ),
            notes=("LSE is a natural logarithm, and +inf for a row without keys.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flash_mla.dense_decode",
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format="fp16_512",
            bytes_per_token=1024,
            dtypes=("float16",),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flash-mla": "unknown", "vllm": ">=0.33", "sglang-kernel": ">=0.4.5"},
            sources=(
                "vllm==0.33.0 vllm/_flashmla_C.abi3.so",
                "sglang-kernel==0.4.5 sgl_kernel/flash_mla.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla.py:46",
                "vllm==0.33.0 vllm/v1/attention/ops/flashmla.py:51",
                "vllm-project/vllm#32477",
            ),
            notes=("LSE is a natural logarithm, and +inf for a row without keys.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flash_mla.dense_decode_fp8",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_576",
            bytes_per_token=576,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flash-mla": "unknown", "vllm": ">=0.20", "sglang-kernel": ">=0.4.0"},
            sources=(
                "vllm==0.33.0 vllm/v1/attention/ops/flashmla.py:119",
                "vllm-project/FlashMLA@4bce8a4e csrc/extension/sm90/dense_fp8/pybind.cpp",
                "sglang-kernel==0.4.0 sgl_kernel/flash_mla.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla.py:46",
                "vllm==0.33.0 vllm/v1/attention/ops/flashmla.py:51",
                "vllm-project/vllm#32477",
            ),
            notes=(
                "Queries are e4m3 too, each side with one float32 scale; the output is bfloat16.",
                "vllm keeps this op under torch.ops._flashmla_extension_C.",
                "A sequence of length 0 is read out of bounds (seen on an H200, vllm 0.24.0 and 0.33.0).",
                "The softmax's weights are rounded to e4m3, which moves the output by 1 to 2 %.",
            ),
        ),
    )
    refusals = (
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flash_mla.dense_decode",
            spellings=("bfloat16",),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_512",
            bytes_per_token=1024,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            versions={
                "flash-mla": "none",
                "vllm": ">=0.20,<0.33",
                "sglang-kernel": ">=0.4.0,<0.4.5",
            },
            sources=(
                "vllm==0.24.0 vllm/_flashmla_C.abi3.so",
                "sglang-kernel==0.4.4 sgl_kernel/flash_mla.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla.py:46",
                "vllm==0.33.0 vllm/v1/attention/ops/flashmla.py:51",
                "vllm-project/vllm#32477",
            ),
            notes=("LSE is a natural logarithm, and +inf for a row without keys.",),
            refuses="these builds have the 576-wide kernel alone, and end the process when called with 512",
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flash_mla.dense_decode",
            spellings=("auto",),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_512",
            bytes_per_token=1024,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            versions={
                "flash-mla": "none",
                "vllm": ">=0.20,<0.33",
                "sglang-kernel": ">=0.4.0,<0.4.5",
            },
            sources=(
                "vllm==0.24.0 vllm/_flashmla_C.abi3.so",
                "sglang-kernel==0.4.4 sgl_kernel/flash_mla.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla.py:46",
                "vllm==0.33.0 vllm/v1/attention/ops/flashmla.py:51",
                "vllm-project/vllm#32477",
            ),
            notes=("LSE is a natural logarithm, and +inf for a row without keys.",),
            refuses="these builds have the 576-wide kernel alone, and end the process when called with 512",
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flash_mla.dense_decode",
            spellings=("float16",),
            kv_cache_dtype="float16",
            kv_format="fp16_512",
            bytes_per_token=1024,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            versions={
                "flash-mla": "none",
                "vllm": ">=0.20,<0.33",
                "sglang-kernel": ">=0.4.0,<0.4.5",
            },
            sources=(
                "vllm==0.24.0 vllm/_flashmla_C.abi3.so",
                "sglang-kernel==0.4.4 sgl_kernel/flash_mla.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla.py:46",
                "vllm==0.33.0 vllm/v1/attention/ops/flashmla.py:51",
                "vllm-project/vllm#32477",
            ),
            notes=("LSE is a natural logarithm, and +inf for a row without keys.",),
            refuses="these builds have the 576-wide kernel alone, and end the process when called with 512",
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0",),
            kernel="flash_mla.dense_decode",
            spellings=("auto",),
            kv_cache_dtype="float16",
            kv_format="fp16_512",
            bytes_per_token=1024,
            dtypes=("float16",),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet(multiples=(Multiples(64),)),
            page_size=64,
            topk=NONE,
            versions={
                "flash-mla": "none",
                "vllm": ">=0.20,<0.33",
                "sglang-kernel": ">=0.4.0,<0.4.5",
            },
            sources=(
                "vllm==0.24.0 vllm/_flashmla_C.abi3.so",
                "sglang-kernel==0.4.4 sgl_kernel/flash_mla.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla.py:46",
                "vllm==0.33.0 vllm/v1/attention/ops/flashmla.py:51",
                "vllm-project/vllm#32477",
            ),
            notes=("LSE is a natural logarithm, and +inf for a row without keys.",),
            refuses="these builds have the 576-wide kernel alone, and end the process when called with 512",
        ),
    )


ENTRY = Flashmla
