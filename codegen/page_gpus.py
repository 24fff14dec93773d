"""The pages of GPUs, one a compute capability: what runs there, and what is tried first."""

from __future__ import annotations

from typing import Any

from attnmatrix.capability import CapabilityPattern, parse_capability
from attnmatrix.request import Request
from attnmatrix.verdict import judge

from . import text
from .answers import Answers
from .schema import Document, Priority, When


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
    found = []
    gpu = parse_capability(capability)
    for priority in priorities:
        patterns: tuple[CapabilityPattern, ...] | None = priority.when.compute_capability
        if patterns is not None and not any(pattern.matches(gpu) for pattern in patterns):
            continue
        order = [name for name in priority.order if name in running]
        words = _conditions(priority.when)
        if order:
            found.append((words or "every other request", order))
        if not words:
            break
    return found


def _conditions(when: When) -> str:
    """A priority's conditions in words, the GPU left out; empty where it has no other."""
    words = []
    if when.mla is not None:
        words.append("MLA" if when.mla else "not MLA")
    if when.sparse is not None:
        words.append("sparse" if when.sparse else "dense")
    if when.head_size is not None:
        words.append(f"head size {when.head_size}")
    if when.query_heads is not None:
        words.append(f"{when.query_heads} query heads")
    if when.kv_cache_dtype is not None:
        names = ", ".join(map(text.code, when.kv_cache_dtype))
        words.append(f"KV-cache dtype one of {names}")
    if when.sink is not None:
        words.append("attention sink" if when.sink else "no attention sink")
    return "; ".join(words)
