"""Requests that together meet every edge of every cell, and the pairs that people choose."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import attnmatrix
from attnmatrix.capability import DEVICES
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet

Fields = dict[str, Any]

BACKENDS = [attnmatrix.get_backend(name) for name in attnmatrix.backend_names()]
CAPABILITIES = (*DEVICES, *"7.5 8.0 8.9 9.0 10.0 10.1 10.3 11.0 12.0 12.1".split())
SPELLINGS = (
    *dict.fromkeys(s for backend in BACKENDS for s in backend.supported_kv_cache_dtypes),
    "fp8_inc",
    "fp8_ds_mlaa",
    "FP16",
)
VERSIONS: tuple[dict[str, str], ...] = (
    {"vllm": "0.33.0"},
    {"vllm": "0.22.1"},
    {"vllm": "0.24.0rc1", "flashinfer-python": "0.7.4"},
    {"flashinfer-python": "0.6.9"},
    {"flashinfer-python": "0.6.14.post1", "sglang-kernel": "0.4.2"},
    {"flash-mla": "1.0.0+9edee0c", "vllm": "0.1"},
    {"sglang-kernel": "0.4.10.dev3", "torch": "2.13.0"},
)
FEATURES = ("attention_sink", "topk_length", "extra_kv_pool", "causal", "strided_pages", "lse")


def edges(numbers: IntSet) -> set[int]:
    """Members at the bounds of a set, and what lies just outside."""
    found = {v + step for v in numbers.values for step in (-1, 0, 1)}
    for run in numbers.multiples:
        found |= {run.first - 1, run.first, run.first + 1, run.first + run.base, 7 * run.base + 3}
        if run.maximum is not None:
            found |= {run.maximum, run.maximum + 1}
    return {number for number in found if number > 0}


def around(backend: type[attnmatrix.Backend], cell: Cell) -> Iterator[Fields]:
    """One point that the cell takes, and each axis moved over its edges from there."""
    point: Fields = {
        "compute_capability": next(c for c in CAPABILITIES if _takes(backend, cell, c)),
        "kv_cache_dtype": cell.spellings[0] if cell.spellings else None,
        "dtype": cell.dtypes[0],
        "phase": cell.phase,
        "mla": backend.mla,
    }
    axes = {
        "head_size": cell.head_sizes,
        "block_size": cell.block_sizes,
        "query_heads": cell.query_heads,
        "topk": cell.topk,
    }
    for field, numbers in axes.items():
        point[field] = min((n for n in edges(numbers) if n in numbers), default=None)
    yield point
    for field, numbers in axes.items():
        for number in sorted(edges(numbers)):
            yield {**point, field: number}
    for field, values in (
        ("compute_capability", CAPABILITIES),
        ("kv_cache_dtype", SPELLINGS),
        ("dtype", ("float16", "bfloat16", "float32", "bfloat17")),
        ("sparse", (True, False)),
        ("mla", (True, False)),
        ("sink", (True, False)),
        ("phase", ("decode", "prefill")),
        ("features", [(name,) for name in FEATURES] + [("lse", "strided_pages")]),
        ("libraries", VERSIONS),
    ):
        for value in values:
            yield {**point, field: value}


def _takes(backend: type[attnmatrix.Backend], cell: Cell, capability: str) -> bool:
    request = attnmatrix.Request(**gpu(capability))
    index = backend.index()
    bits = index.masks(request)[3]
    return any(found is cell for found in index.members(bits)) or cell in backend.refusals


def gpu(capability: str) -> Fields:
    """The fields of a capability, or of a device that has none."""
    return {"gpu" if capability in DEVICES else "compute_capability": capability}


def edge_grid() -> list[tuple[str, Fields]]:
    """Every edge of every cell, each once: a backend and the fields of a request for it."""
    found: dict[str, tuple[str, Fields]] = {}
    for backend in BACKENDS:
        for cell in (*backend.cells, *backend.refusals):
            for fields in around(backend, cell):
                found[f"{backend.name} {sorted(fields.items())}"] = (backend.name, fields)
    return list(found.values())


def choice_grid() -> list[Fields]:
    """What people choose, in pairs and more: the fields of requests for every backend."""
    listed: list[Fields] = [{}]
    for capability, spelling, (head_size, sparse, sink), (heads, block_size) in itertools.product(
        CAPABILITIES,
        SPELLINGS,
        ((576, False, None), (576, True, None), (512, True, True), (512, True, False)),
        ((8, 64), (128, 256)),
    ):
        listed.append(
            {
                "compute_capability": capability,
                "kv_cache_dtype": spelling,
                "head_size": head_size,
                "sparse": sparse,
                "sink": sink,
                "query_heads": heads,
                "block_size": block_size,
                "dtype": "bfloat16",
                "mla": True,
            }
        )
    for name in attnmatrix.gpu_names():
        listed.append({"gpu": name, "mla": True})
    for model, capability, gpus in itertools.product(
        attnmatrix.model_names(), CAPABILITIES, (1, 4)
    ):
        for spelling in ("auto", "fp8", "bfloat16"):
            listed.append(
                {
                    "model": model,
                    "compute_capability": capability,
                    "tensor_parallel": gpus,
                    "kv_cache_dtype": spelling,
                }
            )
    for versions, capability in itertools.product(VERSIONS, CAPABILITIES):
        listed.append({"libraries": versions, "compute_capability": capability, "mla": True})
    return listed


def as_request(fields: Fields) -> attnmatrix.Request:
    """The Request of one entry of the grid."""
    fields = dict(fields)
    capability = fields.pop("compute_capability", None)
    return attnmatrix.Request(**fields, **(gpu(capability) if capability else {}))


def random_requests(seed: int, count: int) -> list[Fields]:
    """What nobody listed: free numbers, names in any spelling, versions, misspellings, nonsense.
    Some cannot be read."""
    chosen = random.Random(seed)
    return [_random_request(chosen) for _ in range(count)]


_GPUS = (*DEVICES, "cpu", "Intel XPU", "NVIDIA H100 80GB HBM3", "nvidia a100-sxm4-80gb", "L400")
_TYPED = ("7.0", "9.0a", "sm_90a", "compute_100", "SM_120", "10.1", "13.0", "99.9")
_DTYPES = (
    "float16",
    "half",
    "FP16",
    "torch.bfloat16",
    "BFLOAT16",
    "float8_e4m3fn",
    "b 16",
    "valueOf",
)
_SUFFIXES = (
    "",
    "rc1",
    ".dev3",
    ".post1",
    "+cu130",
    "a2",
    "-4",
    ".rc1.post2.dev3",
    "+g.1234567890123456",
)
_BROKEN = ("new", "1..2", "0.33 .0", "0.33+", "latest", "-1", "0.1.dev20260101123456789012345")


def _random_request(chosen: random.Random) -> Fields:
    def number() -> int:
        wide = (chosen.randrange(1, 2100), 10 ** chosen.randrange(1, 15))
        return chosen.choice((*wide, chosen.choice((16, 64, 128, 192, 512, 576, 1024, 2048))))

    def version() -> str:
        if chosen.random() < 0.1:
            return chosen.choice(_BROKEN)
        numbers = [str(chosen.randrange(40)) for _ in range(chosen.randrange(1, 4))]
        return ".".join((chosen.choice(("0", "1!0", "v0")), *numbers)) + chosen.choice(_SUFFIXES)

    def spelled(name: str) -> str:
        at = chosen.randrange(len(name))
        odd = (
            name.upper(),
            name[:at] + name[at + 1 :],
            name[:at] + chosen.choice("_x8ß- ") + name[at:],
        )
        return chosen.choice((*odd, name, name)) or name

    makers: dict[str, tuple[float, Any]] = {
        "gpu": (0.6, lambda: spelled(chosen.choice((*attnmatrix.gpu_names(), *_GPUS)))),
        "compute_capability": (0.3, lambda: chosen.choice((*CAPABILITIES[3:], *_TYPED))),
        "model": (0.5, lambda: spelled(chosen.choice((*attnmatrix.model_names(), "DeepSeek-R1")))),
        "tensor_parallel": (0.5, lambda: chosen.choice((1, 2, 3, 5, 8, 128))),
        "kv_cache_dtype": (0.7, lambda: spelled(chosen.choice(SPELLINGS))),
        "dtype": (0.4, lambda: chosen.choice(_DTYPES)),
        **dict.fromkeys(("head_size", "block_size", "query_heads", "topk"), (0.3, number)),
        **dict.fromkeys(("mla", "sparse", "sink"), (0.3, lambda: chosen.random() < 0.5)),
        "phase": (0.2, lambda: chosen.choice(("prefill", "decode", "decod", "toString"))),
        "features": (0.2, lambda: tuple(chosen.sample(FEATURES, chosen.randrange(1, 3)))),
        "libraries": (0.4, lambda: {name: version() for name in chosen.sample(_SHIPPED, 2)}),
    }
    found = {name: make() for name, (share, make) in makers.items() if chosen.random() < share}
    if "gpu" in found:
        found.pop("compute_capability", None)
    if "model" not in found:
        found.pop("tensor_parallel", None)  # the picker keeps it until there is a model
    return found


_SHIPPED = sorted({name for versions in VERSIONS for name in versions})
_FLAG = {True: "yes", False: "no", None: ""}


def as_chosen(fields: Fields) -> dict[str, str]:
    """The same entry as the picker's controls hold it."""
    chosen: dict[str, str] = {}
    for field, value in fields.items():
        if field == "libraries":
            chosen |= {f"library.{name}": version for name, version in value.items()}
        elif field == "features":
            chosen |= {f"feature.{name}": "yes" for name in value}
        elif field in ("mla", "sparse", "sink"):
            chosen[field] = _FLAG[value]
        elif value is not None:
            chosen["gpu" if field == "compute_capability" else field] = str(value)
    return chosen
