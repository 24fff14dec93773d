"""A reading: what one release declares, as far as two readers agree; the rest is null, with why."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from .capabilities import CAPABILITY_TEXTS, capability_text
from .tree import AuditError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FIELDS = (
    "dtypes",
    "kv_cache_dtypes",
    "block_sizes",
    "head_sizes",
    "compute_capabilities",
    "sink",
    "sparse",
    "mla",
)
"""What is declared of a backend, in the order in which it is shown."""

TIME_LIMIT_S = 60.0
"""Seconds that the child process may take, unless told otherwise."""

ENGINES = ("vllm",)
"""Engines whose releases can be read."""


@dataclass
class Reading:
    """One release. `declared`: backend -> field -> value, None, or an object by capability.

    unknown: (backend, field) -> why it is null. combinations: backend -> rows of
    `compute_capability`, `dtype`, `kv_cache_dtype`, `head_size`, `reasons` (the engine's own; none:
    accepted; null: unknown, with `unknown`) and `model` (it would look at the model, too).
    places: backend -> (file, line) of its class. placeholders: names of the registry that stand for
    no class. pins: distribution -> the one version that the release requires.
    further_capabilities: backend -> those of FURTHER_CAPABILITIES that it takes.
    """

    engine: str
    version: str | None
    declared: dict[str, dict[str, Any]] = field(default_factory=dict)
    unknown: dict[tuple[str, str], str] = field(default_factory=dict)
    combinations: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    platforms: dict[str, str] = field(default_factory=dict)
    placeholders: list[str] = field(default_factory=list)
    pins: dict[str, str] = field(default_factory=dict)
    further_capabilities: dict[str, list[str]] = field(default_factory=dict)

    def at(self, backend: str, name: str, capability: str) -> Any:
        """A cell's value on a GPU."""
        value = self.declared[backend][name]
        return value[capability] if isinstance(value, dict) else value


def read_release(
    engine: str, path: str, limit_s: float = TIME_LIMIT_S, *, every_gpu: bool = False
) -> Reading:
    """What the release at a wheel's or folder's path declares. Raises AuditError if unreadable.

    The engine's own code answers, in a separate process that ends after `limit_s` seconds.
    every_gpu: FURTHER_CAPABILITIES stand in objects by capability, too.
    """
    if path == "installed":
        from .tree import open_tree

        path = open_tree(path, engine).path
    raw = _run_child(
        {"path": str(Path(path).absolute()), "package": engine, "every_gpu": every_gpu}, limit_s
    )
    reading = Reading(engine, raw["version"], placeholders=raw["placeholders"], pins=raw["pins"])
    for name, found in raw["backends"].items():
        _add(reading, name, found)
    return reading


def _run_child(request: dict[str, Any], limit_s: float) -> Any:
    here = Path(__file__).absolute()
    request |= {"home": str(here.parents[2]), "limit_s": limit_s}
    child = subprocess.Popen(  # noqa: S603 - our own script, by this very Python
        [sys.executable, "-I", "-S", "-B", str(here.with_name("child.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # so that all of it can be ended
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
    )
    try:
        output, errors = child.communicate(json.dumps(request), timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise AuditError(
            f"{request['path']}: its code took more than {limit_s:g} s; --time-limit allows more"
        ) from None
    finally:
        if child.poll() is None:
            _end(child)
    try:
        found = json.loads(output)
    except ValueError:
        last = errors.strip().splitlines()[-1:] or [f"exit code {child.returncode}"]
        raise AuditError(f"{request['path']}: its code ended the reader: {last[0]}") from None
    if "error" in found:
        raise AuditError(found["error"])
    return found


def _end(child: subprocess.Popen[str]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.communicate()


def _add(reading: Reading, name: str, found: dict[str, Any]) -> None:
    reading.platforms[name] = found["platform"]
    if found["place"]:
        reading.places[name] = (found["place"][0], found["place"][1])
    runs: dict[str, Any] = found["runs"]
    row: dict[str, Any] = {}
    for cell in FIELDS:
        answers = {
            capability: run["fields"][cell] if "fields" in run else run["class"]
            for capability, run in runs.items()
        }
        value, why = _merge(cell, answers)
        if value is not None and cell in found["static"]:
            other = found["static"][cell]
            if cell == "compute_capabilities":
                asked = CAPABILITY_TEXTS if "any" in runs else runs
                other = [gpu for gpu in map(capability_text, other) if gpu in asked]
            if value != other:
                value, why = None, f"two readers differ: {value!r} when run, {other!r} as written"
        row[cell] = value
        if why:
            reading.unknown[name, cell] = why
    reading.declared[name] = row
    further = [run.get("further", []) for run in runs.values()]
    reading.further_capabilities[name] = [  # those that it takes whatever the machine's own GPU is
        capability_text(item) for item in further[0] if all(item in other for other in further)
    ]
    reading.combinations[name] = [
        {"compute_capability": capability, **combination}
        for capability, run in runs.items()
        for combination in run.get("combinations", ())
    ]


def _merge(cell: str, answers: dict[str, Any]) -> tuple[Any, str]:
    """One value of the answers on each GPU, and why it is null or partly so."""
    unknown = {
        key: answer["unknown"] for key, answer in answers.items() if isinstance(answer, dict)
    }
    why = "; ".join(dict.fromkeys(unknown.values()))
    if cell == "compute_capabilities":
        if unknown:
            return None, why
        return [capability_text(item) for answer in answers.values() for item in answer], ""
    values = {key: None if key in unknown else answer for key, answer in answers.items()}
    first = next(iter(values.values()))
    return (first if all(value == first for value in values.values()) else values), why
