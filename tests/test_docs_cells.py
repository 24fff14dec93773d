"""Every support cell of the generated pages, read back, is the verdict on its combination."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import attnmatrix
from attnmatrix import judge

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
WORDS = {"supported": "yes", "unsupported": "no", "unknown": "unknown"}


def tables(page: Path) -> list[list[list[str]]]:
    """The tables of a page: rows of cells, the header first."""
    found: list[list[list[str]]] = [[]]
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not all(re.fullmatch(r"-*", cell) for cell in cells):
                found[-1].append(cells)
        elif found[-1]:
            found.append([])
    return [table for table in found if table]


@pytest.mark.parametrize("name", attnmatrix.backend_names())
def test_a_backend_page(name: str) -> None:
    (grid,) = [
        table
        for table in tables(REFERENCE / "backends" / f"{name}.md")
        if table[0][0] == "KV-cache dtype"
    ]
    header, *rows = grid
    capabilities = header[2:]
    assert len(capabilities) >= 8
    assert [row[0].strip("`") for row in rows] == list(
        attnmatrix.get_backend(name).supported_kv_cache_dtypes
    )
    for row in rows:
        for capability, shown in zip(capabilities, row[2:], strict=True):
            verdict = judge(name, compute_capability=capability, kv_cache_dtype=row[0].strip("`"))
            assert shown == WORDS[verdict.status], (name, row[0], capability)


def test_the_matrix_page() -> None:
    ((header, *rows),) = tables(REFERENCE / "matrix.md")
    assert {re.findall(r"`(\w+)`", row[0])[0] for row in rows} == set(attnmatrix.backend_names())
    first = header.index("Sink") + 1
    for row in rows:
        name = re.findall(r"`(\w+)`", row[0])[0]
        spellings = attnmatrix.get_backend(name).supported_kv_cache_dtypes
        for capability, shown in zip(header[first:], row[first:], strict=True):
            status = {
                s: judge(name, compute_capability=capability, kv_cache_dtype=s).status
                for s in spellings
            }
            listed = (
                set(spellings) if shown.startswith("all ") else set(re.findall(r"`(\w+)`", shown))
            )
            unsure = set(re.findall(r"`(\w+)` \(unknown\)", shown))
            assert listed - unsure == {s for s in spellings if status[s] == "supported"}
            assert unsure == {s for s in spellings if status[s] == "unknown"}
            assert (shown == "no") == (not listed)
        assert row[first - 1] == ("yes" if judge(name, sink=True) else "no")


@pytest.mark.parametrize("name", attnmatrix.kv_format_names())
def test_a_kv_format_page(name: str) -> None:
    page = tables(REFERENCE / "kv-formats" / f"{name}.md")
    parts, sizes = page[0][1:], page[1][1:]
    kv_format = attnmatrix.get_kv_format(name)
    assert sum(int(row[5]) for row in parts) == kv_format.bytes_per_token
    for tokens, size in sizes:
        stored = int(tokens) * kv_format.bytes_per_token
        assert stored <= int(size.removesuffix(" B")) < stored + kv_format.round_up_to


def test_links_between_pages_lead_somewhere() -> None:
    for page in REFERENCE.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page, target)
