"""Real releases against what a person read in their sources; and how long it takes.

The truth files were written by reading each release's class bodies, base classes and helpers, cell
by cell, without the reader. Wheels are found in the folder that ATTNMATRIX_WHEELS names, or fetched
by pip into a cache: pytest -m wheels.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from attnmatrix.audit.capabilities import CAPABILITY_TEXTS as GPUS
from attnmatrix.audit.differences import compare
from attnmatrix.audit.head_sizes import includes
from attnmatrix.audit.history import changes
from attnmatrix.audit.reading import FIELDS, Reading, read_release
from attnmatrix.cli import main
from attnmatrix.registry import backend_names

pytestmark = pytest.mark.wheels

VERSIONS = ("0.23.0", "0.24.0", "0.33.0")
LIMIT_S = 2.0
"""What reading a release may take, in seconds, its wheel being in the page cache."""


def wheel(version: str) -> str:
    folder = Path(os.environ.get("ATTNMATRIX_WHEELS") or Path.home() / ".cache/attnmatrix/wheels")
    pattern = f"vllm-{version}-*.whl"
    if not list(folder.glob(pattern)):
        folder.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary=:all:",
        ]
        platform = ["--platform", "manylinux_2_28_x86_64", "--python-version", "3.12"]
        subprocess.run(  # noqa: S603 - pip, with arguments of ours
            [*command, *platform, "-d", str(folder), f"vllm=={version}"], check=True
        )
    return str(max(folder.glob(pattern)))


@pytest.fixture(scope="module")
def readings() -> dict[str, Reading]:
    return {version: read_release("vllm", wheel(version)) for version in VERSIONS}


def truth(version: str) -> dict[str, Any]:
    path = Path(__file__).parent / "audit" / f"truth-vllm-{version}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def at(value: Any, gpu: str) -> Any:
    cell = value[gpu] if isinstance(value, dict) else value
    return sorted(map(str, cell)) if isinstance(cell, list) else cell


@pytest.mark.parametrize("version", VERSIONS)
def test_no_cell_is_wrong(version: str, readings: dict[str, Reading]) -> None:
    reading, expected = readings[version], truth(version)
    assert reading.version == version
    assert set(reading.declared) - set(expected) == {"NO_ATTENTION"}  # its class is not shipped
    wrong = [
        f"{backend} {field} {gpu}: {at(reading.declared[backend][field], gpu)}, not {at(cell, gpu)}"
        for backend, row in expected.items()
        for field, cell in row.items()
        for gpu in GPUS
        if at(reading.declared[backend][field], gpu) != at(cell, gpu)
    ]
    assert wrong == []


@pytest.mark.parametrize("version", VERSIONS)
def test_few_cells_are_unknown(version: str, readings: dict[str, Reading]) -> None:
    cells = [row[field] for row in readings[version].declared.values() for field in FIELDS]
    assert sum(cell is None for cell in cells) <= 0.05 * len(cells)
    assert {"TORCH_SDPA", "CUSTOM"} <= set(readings[version].placeholders)


@pytest.mark.parametrize("version", VERSIONS)
def test_reading_takes_two_seconds_at_most(version: str, readings: dict[str, Reading]) -> None:
    begun = time.perf_counter()
    read_release("vllm", wheel(version))
    assert time.perf_counter() - begun <= LIMIT_S


def test_the_matrix_has_the_release_whole(readings: dict[str, Reading]) -> None:
    """The matrix has every backend whose class is shipped, and no difference is unsaid."""
    reading = readings["0.33.0"]
    assert set(reading.declared) - set(backend_names()) == {"NO_ATTENTION"}
    assert set(backend_names()) - set(reading.declared) == {"REFERENCE"}
    assert [found.message for found in compare(reading) if found.counts] == []
    assert main(["audit", "vllm", wheel("0.33.0")]) == 0


def test_pr_44892_in_the_wild(readings: dict[str, Reading]) -> None:
    found = changes(readings["0.23.0"], readings["0.24.0"])
    lost = {change.backend: change.lost for change in found if change.field == "kv_cache_dtypes"}
    assert lost["FLASHMLA_SPARSE_DSV4"] == ("bfloat16",)
    refused = [
        row
        for row in readings["0.24.0"].combinations["FLASHINFER_MLA_SPARSE_DSV4"]
        if row["kv_cache_dtype"] == "fp8_ds_mla" and row["compute_capability"] == "10.0"
    ]
    assert refused
    assert all("not fp8_ds_mla" in row["reasons"][0] for row in refused)


def test_dense_flashmla_declares_10_and_refuses_it(readings: dict[str, Reading]) -> None:
    reading = readings["0.33.0"]
    assert reading.declared["FLASHMLA"]["compute_capabilities"] == ["9.0", "10.0", "10.3"]
    accepted = {
        row["compute_capability"] for row in reading.combinations["FLASHMLA"] if not row["reasons"]
    }
    assert accepted == {"9.0"}


@pytest.mark.parametrize("capability", ["8.0", "9.0", "10.0", "12.0"])
def test_a_full_import_says_the_same(
    capability: str, tmp_path: Path, readings: dict[str, Reading]
) -> None:
    """Every answer of the reader, against the release imported whole with the real torch."""
    needed = ("torch", "pydantic", "cachetools", "msgspec", "transformers")
    if not all(find_spec(name) for name in needed):
        pytest.skip(f"needs {', '.join(needed)}")
    with zipfile.ZipFile(wheel("0.33.0")) as archive:
        archive.extractall(tmp_path, [n for n in archive.namelist() if n.endswith((".py", "DATA"))])
    script = Path(__file__).parent / "audit" / "full_import.py"
    command = [sys.executable, "-W", "ignore", str(script), str(tmp_path), capability]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    imported = json.loads(output)
    assert len(imported) >= 40
    reading, wrong = readings["0.33.0"], []
    for backend, row in imported.items():
        for field, answer in row.items():
            read = reading.declared[backend][field]
            read = read[capability] if isinstance(read, dict) else read
            if read is None:
                continue
            if field == "head_sizes":
                same = [size for size in range(1, 1025) if includes(read, size)] == answer
            elif field == "compute_capabilities":
                same = (capability in read) == answer
            else:
                same = at(read, capability) == at(answer, capability)
            if not same:
                wrong.append(f"{backend} {field}: {read}, not {answer}")
    assert wrong == []
