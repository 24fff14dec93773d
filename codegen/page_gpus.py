"""The pages of GPUs, one a compute capability: what runs there, and what is tried first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attnmatrix.capability import CapabilityPattern, parse_capability
from attnmatrix.request import Request
from attnmatrix.verdict import judge

from . import text
from .answers import Answers
from .schema import Document, Priority, When

DEVICE_TITLES = {
    "none": "No GPU (none)",
    "rocm": "AMD GPUs (rocm)",
    "xpu": "Intel GPUs (xpu)",
}
"""Headings of what has no compute capability."""


def gpu_page(document: Document, capability: str, answers: dict[str, Answers]) -> dict[str, Any]:
    """What the page of one compute capability shows."""
    cells = {name: answered.summaries[capability] for name, answered in answers.items()}
    refused = {}
    for name, shown in cells.items():
        if shown == "no":
            verdict = judge(answers[name].backend, Request(compute_capability=capability))
            refused[name] = "; ".join(reason.message for reason in verdict.reasons)
    return {
        "capability": capability,
        "title": DEVICE_TITLES.get(capability, f"Compute capability {capability}"),
        "names": [name for name, known in document.gpus.items() if known == capability],
        "runs": {name: shown for name, shown in cells.items() if shown != "no"},
        "refused": refused,
        "orders": _orders(document.priorities, capability, {n for n in cells if n not in refused}),
    }


def _orders(
    priorities: list[Priority], capability: str, running: set[str]
) -> list[tuple[str, list[str]]]:
    """The conditions and orders that `select` follows on a GPU, backends that never run left out.

    The list ends with the first order that every request on this GPU meets.
    """
    found: dict[str, list[str]] = {}
    gpu = parse_capability(capability)
    for priority in priorities:
        patterns: tuple[CapabilityPattern, ...] | None = priority.when.compute_capability
        if patterns is not None and not any(pattern.matches(gpu) for pattern in patterns):
            continue
        order = [name for name in priority.order if name in running]
        words = _conditions(priority.when)
        if order:  # the first of two with the same conditions is the one that is followed
            found.setdefault(words or "every other request", order)
        if not words:
            break
    return list(found.items())


_SAID: dict[str, Callable[[Any], str]] = {
    "mla": lambda mla: "MLA" if mla else "not MLA",
    "sparse": lambda sparse: "sparse" if sparse else "dense",
    "head_size": lambda size: f"head size {size}",
    "query_heads": lambda heads: f"{heads} query heads",
    "kv_cache_dtype": lambda names: f"KV-cache dtype one of {', '.join(map(text.code, names))}",
    "sink": lambda sink: "attention sink" if sink else "no attention sink",
}
"""Conditions of a priority in words; the GPU is the page's own."""


def _conditions(when: When) -> str:
    """A priority's conditions, the GPU left out; empty where it has no other."""
    asked = {name: value for name, value in dict(when).items() if value is not None}
    asked.pop("compute_capability", None)
    return "; ".join(_SAID[name](value) for name, value in asked.items())
