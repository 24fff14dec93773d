"""Made-up evidence about the kernel of the base example."""

from __future__ import annotations

from typing import Any

from attnmatrix.evidence import Evidence, Record

CASE: dict[str, Any] = {
    "kv_format": "plain",
    "dtype": "bfloat16",
    "head_size": 128,
    "page_size": 64,
    "query_heads": 16,
    "topk": None,
    "extra_kv_format": None,
    "features": [],
}


def record(outcome: str = "right", **axes: Any) -> Record:
    """A record of fastlib.decode that differs from CASE on some axes."""
    error = 0.002 if outcome == "right" else 0.7 if outcome == "wrong" else None
    message = None if error else f"the library {outcome} it"
    return Record("fastlib.decode", {**CASE, **axes}, outcome, True, error, message)


def evidence(*records: Record, **header: Any) -> Evidence:
    """What an H200 answered with fastlib 1.4, unless the header says otherwise."""
    made = Evidence(
        gpu="H200",
        compute_capability="9.0",
        driver="580.65.06",
        cuda="13.0",
        torch="2.13.0",
        library="fastlib",
        provider=("fastlib", "1.4"),
        command="attnmatrix probe --kernel fastlib.decode --write",
        date="2026-12-03",
        attnmatrix="0.1.0",
        records=records,
    )
    return made._replace(**header)
