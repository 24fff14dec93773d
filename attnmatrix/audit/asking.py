"""Asks every backend of a release everything, for one GPU after another."""

from __future__ import annotations

from itertools import product

from .capabilities import CAPABILITIES, FURTHER_CAPABILITIES, capability_text
from .examiner import Examiner, platform_of, registered
from .head_sizes import expand
from .questions import ask_fields, combination_reasons, compute_capabilities
from .standins import Unknown
from .static import StaticReader
from .tree import pinned
from .world import Sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tree import Tree

SAMPLE_HEAD_SIZES = (64, 128, 192, 256, 512, 576)
"""Head sizes, in elements, that combinations are tried with where a backend names none."""


def read(tree: Tree, every_gpu: bool = False) -> dict[str, Any]:
    """Everything that the release answers; each cell a value, or `{"unknown": why}`."""

    sources = Sources(tree)
    gpus = (*CAPABILITIES, *FURTHER_CAPABILITIES) if every_gpu else CAPABILITIES
    paths = registered(sources)
    static = StaticReader(sources)
    examiners: dict[str, list[Examiner]] = {}
    result: dict[str, Any] = {"version": tree.version, "backends": {}, "placeholders": []}
    versions = {name: pinned(text) for name, text in tree.requirements.items()}
    result["pins"] = {name: version for name, version in versions.items() if version}
    for name, path in paths.items():
        if not path:
            result["placeholders"].append(name)
            continue
        platform = platform_of(name)
        if platform not in examiners:
            examiners[platform] = [
                Examiner(sources, platform, capability)
                for capability in (gpus if platform == "cuda" else (None,))
            ]
        runs = {
            "any" if examiner.capability is None else capability_text(examiner.capability): _ask(
                examiner, path
            )
            for examiner in examiners[platform]
        }
        result["backends"][name] = {
            "path": path,
            "platform": platform,
            "place": sources.place(path),
            "runs": runs,
            "static": static.fields(path),
        }
    return result


def _ask(examiner: Examiner, path: str) -> dict[str, Any]:
    try:
        backend = examiner.backend(path)
    except (Exception, Unknown) as error:
        return {"class": why(error)}
    fields = ask_fields(examiner, backend)
    try:
        further = compute_capabilities(examiner, backend, FURTHER_CAPABILITIES)
    except (Exception, Unknown):
        further = []
    answers = {
        field: why(value) if isinstance(value, BaseException) else value
        for field, value in fields.items()
    }
    return {
        "fields": answers,
        "further": further,
        "combinations": _combinations(examiner, backend, fields),
    }


def _combinations(examiner: Examiner, backend: Any, fields: dict[str, Any]) -> list[dict[str, Any]]:
    """What the engine's own check says of each combination inside what the fields declare."""

    names = ("dtypes", "kv_cache_dtypes", "head_sizes", "compute_capabilities")
    if examiner.capability is None or not all(isinstance(fields[name], list) for name in names):
        return []
    if not fields["compute_capabilities"]:
        return []
    found = []
    sizes = expand(fields["head_sizes"], SAMPLE_HEAD_SIZES)
    for dtype, spelling, size in product(fields["dtypes"], fields["kv_cache_dtypes"], sizes):
        row: dict[str, Any] = {"dtype": dtype, "kv_cache_dtype": spelling, "head_size": size}
        examiner.model_asked = False
        try:
            row["reasons"] = combination_reasons(examiner, backend, spelling, size, dtype)
        except (Exception, Unknown) as error:
            row |= {"reasons": None, **why(error)}
        row["model"] = examiner.model_asked
        found.append(row)
    return found


def why(error: BaseException) -> dict[str, str]:
    """What stands in place of an answer: the reason that there is none."""
    text = str(error) if isinstance(error, Unknown) else f"{type(error).__name__}: {error}"
    return {"unknown": text}
