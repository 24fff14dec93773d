"""What each field of a refusal is about, and how to put it right. Pages are made from it."""

from __future__ import annotations

from typing import NamedTuple


class About(NamedTuple):
    """A field of a reason: its name in prose, what a refusal by it means, and what to try."""

    title: str
    means: str
    cures: tuple[str, ...]


ABOUT = {
    "phase": About(
        "Phase",
        "The backend has no kernel for prefill (or for decode) with what else was asked.",
        ("Pair the backend with another that has the phase: engines pick the two apart.",),
    ),
    "mla": About(
        "MLA or not",
        "The model's attention is of the other kind: multi-head latent attention, in which all "
        "heads share one latent vector a token, or attention with keys and values of its own.",
        (
            "Pick a backend of the model's kind; the matrix names the kind of each.",
            "Check the request: --mla and --no-mla follow from the model.",
        ),
    ),
    "sparse": About(
        "Sparse or dense",
        "The backend attends to top-k selected tokens and the model to all, or the reverse.",
        (
            "Pick a backend of the model's kind.",
            "Models with an indexer (DeepSeek-V3.2 and later, GLM with sparse MLA) are sparse.",
        ),
    ),
    "compute_capability": About(
        "Compute capability",
        "The kernel was not built for this GPU, or says itself that it does not run on it. "
        "Capabilities are pairs of numbers: 12.0 is no 9.0 and has not all that 9.0 has.",
        (
            "Look up on the GPU's page what does run on it.",
            "A backend that names another capability needs another GPU: no setting changes that.",
        ),
    ),
    "kv_cache_dtype": About(
        "KV-cache dtype",
        "The kernel cannot read a cache that is stored so. A KV-cache dtype is a name; which bytes "
        "it stands for depends on the backend and the GPU.",
        (
            "Pass one of the accepted names, as in --kv-cache-dtype fp8; auto is resolved by the "
            "backend.",
            "If the cache's dtype matters more than the backend, pick a backend that takes it.",
            "fp8 and fp8_ds_mla may be different layouts: compare the KV formats.",
        ),
    ),
    "dtype": About(
        "Model dtype",
        "The kernel takes no queries of this dtype.",
        (
            "Run the model in one of the accepted dtypes, as in --dtype bfloat16.",
            "float16 and bfloat16 are not interchangeable: a kernel may have one alone.",
        ),
    ),
    "head_size": About(
        "Head size",
        "The kernel is compiled for certain widths of a query head, in elements. It is a property "
        "of the model: MLA models have 576 (512 latent and 64 RoPE) or 512.",
        ("Use a backend that takes this head size.",),
    ),
    "block_size": About(
        "Block size",
        "The kernel reads pages of certain sizes, in tokens, and the engine's blocks must "
        "have such a size or be cut into pages of one.",
        (
            "Pass an accepted size, as in --block-size 64, or leave it to the engine.",
            "A size that is a multiple of the page will do where the engine cuts its blocks.",
        ),
    ),
    "query_heads": About(
        "Query heads",
        "The kernel is compiled for certain head counts on one GPU, after tensor parallelism has "
        "divided them. Some engines pad up to such a count; padded heads cost time.",
        (
            "Change the tensor-parallel size, so that heads / GPUs is an accepted count.",
            "Use a backend that pads, or that takes any count.",
        ),
    ),
    "topk": About(
        "Top-k",
        "The kernel reads indices in groups, so that their number a query must be a multiple; a "
        "dense kernel takes none.",
        ("Pad the indices up to the multiple with -1, which is masked.",),
    ),
    "sink": About(
        "Attention sink",
        "The model adds a learnt logit a head to the softmax's denominator, and the kernel has no "
        "place for it. To leave it out gives wrong results without an error.",
        ("Use a backend whose features list attention_sink.",),
    ),
    "features": About(
        "Features",
        "The kernel lacks something that was asked for, such as a second cache pool, pages with a "
        "stride, or the log-sum-exp.",
        (
            "Use a backend that lists the feature.",
            "Drop the feature if the model does not need it.",
        ),
    ),
    "libraries": About(
        "Library versions",
        "None of the distributions that ship the kernel has it in the version at hand: not "
        "installed, too old, or built without it.",
        (
            "Install a version that the reason names; versions are those of the distribution that "
            "ships the kernel, which may be the engine itself.",
            "A library that is there and fails to import is another reason, with its cause.",
        ),
    ),
    "engine": About(
        "Engine release",
        "The engine's release does not have this backend.",
        ("Install a release that has it, or pick a backend that this one has.",),
    ),
}
"""Every field that a reason may name, in the order in which reasons are listed."""
