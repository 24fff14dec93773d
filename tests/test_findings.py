"""The findings page: a declaration is listed where a record refutes it, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attnmatrix.cli import main
from attnmatrix.evidence import Record, write
from tests.records import evidence, record
from tests.sources import BASE, dump

SAYS = "engine==0.33.0 engine/alpha.py:12"
AXES: dict[str, dict[str, Any]] = {
    "compute_capabilities": {"compute_capability": ["9.0"], "query_heads": [8]},
    "kv_cache_dtypes": {"kv_formats": ["plain"], "page_sizes": [32]},
    "head_sizes": {"head_sizes": [192]},
    "block_sizes": {"page_sizes": [32]},
    "dtypes": {"dtypes": ["float16"]},
    "sink": {"features": ["attention_sink"]},
}
"""By the field that differs: the cases that an engine is wrong about."""

CASES: dict[str, dict[str, Any]] = {
    "compute_capabilities": {"query_heads": 8},
    "kv_cache_dtypes": {"page_size": 32},
    "head_sizes": {"head_size": 192},
    "block_sizes": {"page_size": 32},
    "dtypes": {"dtype": "float16"},
    "sink": {"features": ["attention_sink"]},
}
"""One such case of each, as a record has it."""


def project(
    folder: Path,
    field: str,
    axes: dict[str, Any],
    *records: Record,
    runs: bool = True,
    engine: str = "engine==0.33.0",
    exceptions: bool = False,
    **header: Any,
) -> Path:
    """A matrix whose backend differs from an engine, and the evidence beside it."""
    difference = {
        "engine": engine,
        "field": field,
        "reason": "The library's check says so.",
        "declares": [
            {"kernel": "fastlib.decode", "runs": runs, **axes, "sources": [SAYS]},
        ],
    }
    entry = f"    differs: {dump([difference], default_flow_style=True, width=1000)}"
    text = BASE.replace(
        "    sources: [engine==0.33.0 engine/alpha.py]\n",
        entry + ("    sources: [engine==0.33.0 engine/alpha.py]\n"),
    )
    if exceptions:
        unclaimed = {k: v for k, v in axes.items() if k != "versions"}
        excepted = {"reason": "Not claimed.", **unclaimed, "sources": ["example/fastlib#9"]}
        listed = dump([excepted], default_flow_style=True, width=1000)
        text = text.replace("    phase: decode\n", f"    phase: decode\n    exceptions: {listed}")
    source = folder / "matrix.yaml"
    source.write_text(text, encoding="utf-8")
    (folder / "evidence").mkdir()
    if records:
        write(folder / "evidence", evidence(*records, **header))
    return source


def page(source: Path) -> tuple[str, str]:
    """The findings, and the differences that no record decides."""
    assert main(["gen", "--source", str(source)]) == 0
    text = (source.parent / "docs/reference/findings.md").read_text(encoding="utf-8")
    found, _, undecided = text.partition("## Differences that no record decides")
    return found, undecided


BY_ENGINE = {"provider": ("engine", "0.33.0")}


@pytest.mark.parametrize("field", AXES)
@pytest.mark.parametrize("outcome", ["refused", "wrong", "crashed"])
def test_what_an_engine_claims_and_a_record_refutes(tmp_path, field, outcome):
    failed = record(outcome, **CASES[field])
    source = project(tmp_path, field, AXES[field], failed, record(query_heads=32), **BY_ENGINE)
    found, undecided = page(source)
    assert f"## ALPHA, engine==0.33.0: {field}\n" in found
    assert "lets ALPHA call" in found
    assert "engine/alpha.py" in found
    assert f"H200 (9.0), engine 0.33.0, 2026-12-03: {outcome} 1" in found
    assert "h200-fastlib-engine-0.33.0.json" in found
    assert "The library's check says so." in found
    assert "attnmatrix probe --provider engine --case" in found
    if failed.message:
        assert failed.message in found
    assert "ALPHA" not in undecided


def test_what_an_engine_refuses_and_a_record_shows_to_run(tmp_path):
    right = record(page_size=32)
    source = project(
        *(tmp_path, "block_sizes", {"page_sizes": [32]}, right),
        runs=False,
        exceptions=True,
        **BY_ENGINE,
    )
    found, undecided = page(source)
    assert "keeps ALPHA from calling" in found
    assert "engine 0.33.0, 2026-12-03: right 1" in found
    assert "ALPHA" not in undecided


NEAR_MISSES: dict[str, dict[str, Any]] = {
    "another release of the engine": {"provider": ("engine", "0.32.0")},
    "another distribution": {"provider": ("fastlib", "1.4")},
    "another GPU": {"gpu": "B200", "compute_capability": "10.0"},
}


@pytest.mark.parametrize("header", NEAR_MISSES.values(), ids=NEAR_MISSES)
def test_records_from_elsewhere_decide_nothing(tmp_path, header):
    axes = {"page_sizes": [32], "compute_capability": ["9.0"]}
    refused = record("refused", page_size=32)
    source = project(tmp_path, "block_sizes", axes, refused, **{**BY_ENGINE, **header})
    found, undecided = page(source)
    assert "No record contradicts what an engine declares." in found
    assert "ALPHA" in undecided


@pytest.mark.parametrize(
    "records",
    [
        [],
        [record("untested", page_size=32)],
        [record("refused", page_size=128)],
        [record("refused", page_size=32, features=["lse"]), record(page_size=32)],
    ],
    ids=["none", "untested", "another value", "mixed"],
)
def test_records_that_say_nothing_decide_nothing(tmp_path, records):
    axes = {"page_sizes": [32]}
    source = project(tmp_path, "block_sizes", axes, *records, exceptions=True, **BY_ENGINE)
    found, undecided = page(source)
    assert "No record contradicts what an engine declares." in found
    assert "ALPHA" in undecided


@pytest.mark.parametrize(("versions", "counts"), [("==1.4", True), ("<1.4", False)])
def test_a_distribution_counts_with_the_versions_that_are_named(tmp_path, versions, counts):
    axes = {"page_sizes": [32], "versions": {"fastlib": versions}}
    refused = record("refused", page_size=32)
    found, undecided = page(project(tmp_path, "block_sizes", axes, refused))
    assert ("H200 (9.0), fastlib 1.4" in found) == counts
    assert ("ALPHA" in undecided) != counts


def test_a_page_without_differences(tmp_path):
    source = tmp_path / "matrix.yaml"
    source.write_text(BASE, encoding="utf-8")
    found, undecided = page(source)
    assert "No record contradicts what an engine declares." in found
    assert not undecided


@pytest.mark.parametrize(
    ("outcome", "runs"), [("right", True), ("refused", False), ("wrong", False)]
)
def test_an_engine_that_records_bear_out_is_an_error(tmp_path, capsys, outcome, runs):
    axes = {"page_sizes": [32]}
    records = [record(outcome, page_size=32)]
    source = project(
        *(tmp_path, "block_sizes", axes, *records),
        runs=runs,
        exceptions=outcome == "right",
        **BY_ENGINE,
    )
    assert main(["gen", "--source", str(source)]) == 2
    said = capsys.readouterr().err
    line = next(
        i for i, text in enumerate(source.read_text().splitlines(), 1) if "differs:" in text
    )
    assert f"{source}:{line}:" in said
    assert "error[unneeded-declaration]" in said
    assert "engine 0.33.0 on H200 (9.0) shows that it is so" in said
    assert "h200-fastlib-engine-0.33.0.json:13" in said
    assert not (tmp_path / "docs").exists()
