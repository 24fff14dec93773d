"""The sentences of reasons and of unreadable requests, with places to fill. The site's picker fills
the same ones."""

from __future__ import annotations

SENTENCES = {
    "kind": "{name} is {kind}: ask for another backend, or drop {field}={value}",
    "not": "not {kind}",
    "sink": "attention sinks are not supported: use a backend that takes one",
    "feature": "feature {value} is not supported; supported: {known}",
    "dense": "top-k {value} is not supported: the kernel is dense and takes no indices",
    "refused": "{subject} is not supported{where}{hint}; accepted: {known}{unit}; {advice}",
    "where": " on compute capability {capability}",
    "hint": " (did you mean '{word}'?)",
    "unknown": "{subject}: nobody has established whether it works",
    "feature_subject": "feature {value}",
    "sink_subject": "an attention sink",
    "subject": "{what} {value}",
    "gpu": "{what} {capability} ({gpu})",
    "library": "{name}=={version}",
    "kernel": "this kernel",
    "not_shipped": "{name} does not ship {what}",
    "too_old": "{name} is too old (has {version}, needs {needs}) for {what}",
    "other_version": "{name} is not supported (has {version}, needs {needs}) for {what}",
    "also": "; also in {others}",
    "other": "{name} ({versions})",
    "any_version": "any version",
    "unknown_version": "which version is not established",
    "none": "none",
    "no_gpu": "no GPU",
    "not_in_matrix": "{value} is not in the matrix{hint}",
    "other_gpu": "for another, name its compute capability, such as 9.0; rocm stands for AMD GPUs, "
    "xpu for Intel's, none for no GPU",
    "not_one_of": "{value} is not one of {known}{hint}",
    "not_a_dtype": "{value} is not a name, such as 'bfloat16'",
    "not_whole": "{value} is not a positive whole number",
    "not_a_version": "{name}: {value} is not a version, such as 0.33.0",
    "no_provider": "no kernel library comes from {value}{hint}; known distributions: {known}",
    "unequal": "{gpus} GPUs cannot share the {heads} query heads of {model} equally; "
    "accepted: {known}",
}
"""Whole sentences and their parts, by what they are for."""

KINDS = {"mla": "MLA", "sparse": "sparse"}
"""What a field that says what kind of attention it is calls its True."""

WORDS = {
    "compute_capability": ("compute capability", "", "use such a GPU, or another backend"),
    "kv_cache_dtype": ("KV-cache dtype", "", "pass one of these"),
    "dtype": ("dtype", "", "run the model in one of these"),
    "head_size": ("head size", " elements", "use a backend that takes this head size"),
    "block_size": ("block size", " tokens", "pass one of these"),
    "query_heads": ("query heads", " heads", "change the tensor-parallel size"),
    "topk": ("top-k", " indices", "pad the indices up with -1"),
    "phase": ("phase", "", "pair it with a backend that has this phase"),
}
"""A field in words, the unit of its values, and what to do about a wrong one."""


def sentence(key: str, /, **places: object) -> str:
    """A sentence with its places filled."""
    return SENTENCES[key].format(**places)
