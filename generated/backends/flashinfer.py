# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""FlashInfer's paged attention, the default on 10.x."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "FLASHINFER"


class Flashinfer(Backend):
    """FlashInfer's paged attention, the default on 10.x."""

    name = NAME
    summary = "FlashInfer's paged attention, the default on 10.x"
    mla = False
    sparse = False
    supported_dtypes = ("float16", "bfloat16")
    supported_kv_cache_dtypes = (
        "auto",
        "float16",
        "bfloat16",
        "fp8",
        "fp8_e4m3",
        "fp8_e5m2",
        "nvfp4",
        "nvfp4_4over6",
    )
    supported_features = ("attention_sink",)
    head_sizes = (64, 128, 256, 512)
    kernel_block_sizes = (MultipleOf(16),)
    notes = (
        "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
        "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
    )
    differs = ()
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
        "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("8.x", "11.0"),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("8.x", "11.0"),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("8.x", "11.0"),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("8.x", "11.0"),
            kernel=None,
            spellings=("fp8_e5m2",),
            kv_cache_dtype="fp8_e5m2",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0", "12.x"),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0", "12.x"),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0", "12.x"),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("9.0", "12.x"),
            kernel=None,
            spellings=("fp8_e5m2",),
            kv_cache_dtype="fp8_e5m2",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("8.x", "9.0", "12.x"),
            kernel=None,
            spellings=("nvfp4",),
            kv_cache_dtype="nvfp4",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
                "FlashInfer's prefill misreads an NVFP4 cache of head size 64, vLLM says.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("auto", "float16"),
            kv_cache_dtype="float16",
            kv_format=None,
            dtypes=("float16",),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("fp8", "fp8_e4m3"),
            kv_cache_dtype="fp8_e4m3",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("fp8_e5m2",),
            kv_cache_dtype="fp8_e5m2",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("nvfp4",),
            kv_cache_dtype="nvfp4",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("nvfp4_4over6",),
            kv_cache_dtype="nvfp4_4over6",
            kv_format=None,
            dtypes=("float16", "bfloat16"),
            head_sizes=IntSet((64, 128, 256, 512)),
            block_sizes=IntSet(multiples=(Multiples(16),)),
            topk=NONE,
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:554",
                "vllm==0.33.0 vllm/v1/attention/backends/flashinfer.py:114",
            ),
            notes=(
                "A sink, and an NVFP4 cache on 10.x, need FlashInfer's TensorRT-LLM kernels: its cubins installed, or its server within reach. vLLM asks the machine.",
                "Blocks are cut into pages of 64, 32 or 16 tokens, on 10.x with grouped heads up to 1024.",
            ),
        ),
    )
    refusals = ()


ENTRY = Flashinfer
