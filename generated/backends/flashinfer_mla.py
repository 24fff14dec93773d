# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Dense MLA through FlashInfer's TensorRT-LLM kernels."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "FLASHINFER_MLA"


class FlashinferMla(Backend):
    """Dense MLA through FlashInfer's TensorRT-LLM kernels."""

    name = NAME
    summary = "Dense MLA through FlashInfer's TensorRT-LLM kernels"
    mla = True
    sparse = False
    supported_dtypes = ("bfloat16",)
    supported_kv_cache_dtypes = ("auto", "bfloat16", "fp8", "fp8_e4m3")
    supported_features = ("causal", "lse")
    head_sizes = (320, 576)
    kernel_block_sizes = (32,)
    notes = ("vLLM further asks for a qk_nope_head_dim of 64, 128 or 192.",)
    differs = (
        "vllm==0.33.0: compute_capabilities: FlashInfer names the GPUs its kernels are built for, 10.0, 10.3 and 10.7; vLLM takes any 10.x.",
        "vllm==0.33.0: dtypes: vLLM lists float16. FlashInfer's kernel takes bfloat16 with bfloat16 or e4m3 with e4m3, and writes bfloat16.",
        "vllm==0.33.0: kv_cache_dtypes: vLLM lists float16, which holds for float16 models alone, and the kernel takes none.",
        "vllm==0.33.0: head_sizes: vLLM inherits 320, 512 and 576 from a common class. FlashInfer takes 512 + 64 and 256 + 64; 512 without a RoPE part is for sparse attention alone.",
    )
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:193",
        "flashinfer-python==0.7.4 flashinfer/mla/_utils.py:40",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_decode",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flashinfer-python": ">=0.7.2.post1"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/trtllm_gen_backend.py:41",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:41",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:193",
                "flashinfer-python==0.7.4 flashinfer/mla/_utils.py:40",
            ),
            notes=(
                "vLLM further asks for a qk_nope_head_dim of 64, 128 or 192.",
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "LSE is base 2 from trtllm-gen and natural from the CuTe DSL kernel unless asked otherwise.",
                "The workspace is zeroed before its first use. trtllm-gen needs the flashinfer-cubin files.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_decode",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, minimum=17, maximum=31),
                    Multiples(1, minimum=65, maximum=127),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flashinfer-python": ">=0.7.2.post1"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_cute_dsl_common.py:59",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:41",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:193",
                "flashinfer-python==0.7.4 flashinfer/mla/_utils.py:40",
            ),
            notes=(
                "vLLM further asks for a qk_nope_head_dim of 64, 128 or 192.",
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "LSE is base 2 from trtllm-gen and natural from the CuTe DSL kernel unless asked otherwise.",
                "The workspace is zeroed before its first use. trtllm-gen needs the flashinfer-cubin files.",
                'These head counts need the CuTe DSL kernel (backend="cute-dsl"), which takes no attention sink.',
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_decode",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flashinfer-python": ">=0.6.12,<0.7.2.post1"},
            sources=(
                "flashinfer-python==0.6.12 flashinfer/mla/_core.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:193",
                "flashinfer-python==0.7.4 flashinfer/mla/_utils.py:40",
            ),
            notes=(
                "vLLM further asks for a qk_nope_head_dim of 64, 128 or 192.",
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "LSE is base 2 from trtllm-gen and natural from the CuTe DSL kernel unless asked otherwise.",
                "The workspace is zeroed before its first use. trtllm-gen needs the flashinfer-cubin files.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_decode",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_576",
            bytes_per_token=576,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flashinfer-python": ">=0.7.2.post1"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/trtllm_gen_backend.py:41",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:41",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:371",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:193",
                "flashinfer-python==0.7.4 flashinfer/mla/_utils.py:40",
            ),
            notes=(
                "vLLM further asks for a qk_nope_head_dim of 64, 128 or 192.",
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "LSE is base 2 from trtllm-gen and natural from the CuTe DSL kernel unless asked otherwise.",
                "The workspace is zeroed before its first use. trtllm-gen needs the flashinfer-cubin files.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_decode",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_576",
            bytes_per_token=576,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, minimum=17, maximum=31),
                    Multiples(1, minimum=65, maximum=127),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flashinfer-python": ">=0.7.2.post1"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_batch_mla/_backends/_cute_dsl_common.py:59",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:41",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:371",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:193",
                "flashinfer-python==0.7.4 flashinfer/mla/_utils.py:40",
            ),
            notes=(
                "vLLM further asks for a qk_nope_head_dim of 64, 128 or 192.",
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "LSE is base 2 from trtllm-gen and natural from the CuTe DSL kernel unless asked otherwise.",
                "The workspace is zeroed before its first use. trtllm-gen needs the flashinfer-cubin files.",
                'These head counts need the CuTe DSL kernel (backend="cute-dsl"), which takes no attention sink.',
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_decode",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_576",
            bytes_per_token=576,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flashinfer-python": ">=0.6.12,<0.7.2.post1"},
            sources=(
                "flashinfer-python==0.6.12 flashinfer/mla/_core.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:193",
                "flashinfer-python==0.7.4 flashinfer/mla/_utils.py:40",
            ),
            notes=(
                "vLLM further asks for a qk_nope_head_dim of 64, 128 or 192.",
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "LSE is base 2 from trtllm-gen and natural from the CuTe DSL kernel unless asked otherwise.",
                "The workspace is zeroed before its first use. trtllm-gen needs the flashinfer-cubin files.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_decode",
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_320",
            bytes_per_token=640,
            dtypes=("bfloat16",),
            head_sizes=IntSet((320,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flashinfer-python": ">=0.6.12"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_utils.py:47",
                "flashinfer-python==0.6.12 flashinfer/mla/_core.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:193",
                "flashinfer-python==0.7.4 flashinfer/mla/_utils.py:40",
            ),
            notes=(
                "vLLM further asks for a qk_nope_head_dim of 64, 128 or 192.",
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "LSE is base 2 from trtllm-gen and natural from the CuTe DSL kernel unless asked otherwise.",
                "The workspace is zeroed before its first use. trtllm-gen needs the flashinfer-cubin files.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.0", "10.3", "10.7"),
            kernel="flashinfer.trtllm_decode",
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format="e4m3_320",
            bytes_per_token=320,
            dtypes=("bfloat16",),
            head_sizes=IntSet((320,)),
            query_heads=IntSet(
                multiples=(
                    Multiples(1, maximum=16),
                    Multiples(1, minimum=32, maximum=64),
                    Multiples(64, minimum=128),
                ),
            ),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            page_size=32,
            topk=NONE,
            features=("causal", "lse"),
            versions={"flashinfer-python": ">=0.6.12"},
            sources=(
                "flashinfer-python==0.7.4 flashinfer/mla/_utils.py:47",
                "flashinfer-python==0.6.12 flashinfer/mla/_core.py",
                "vllm==0.33.0 vllm/v1/attention/backends/mla/flashinfer_mla.py:193",
                "flashinfer-python==0.7.4 flashinfer/mla/_utils.py:40",
            ),
            notes=(
                "vLLM further asks for a qk_nope_head_dim of 64, 128 or 192.",
                "Blocks are cut into pages of 64 tokens where they can be, else of 32.",
                "Not run by us, who had no such GPU at hand.",
                "Query and cache have one dtype, bfloat16 or e4m3; the output is bfloat16.",
                "LSE is base 2 from trtllm-gen and natural from the CuTe DSL kernel unless asked otherwise.",
                "The workspace is zeroed before its first use. trtllm-gen needs the flashinfer-cubin files.",
            ),
        ),
    )
    refusals = ()


ENTRY = FlashinferMla
