"""Every support cell of the generated pages, read back, is the verdict on its combination."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import attnmatrix
from attnmatrix import judge
from attnmatrix.capability import format_capability
from attnmatrix.gpus import gpu_capability

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"


def word(verdict: attnmatrix.Verdict) -> str:
    """What a cell says of a verdict."""
    if verdict.status == "supported":
        return f"yes ({verdict.evidence['status']})"
    if verdict.status == "unknown":
        return "unknown"
    return "known issue" if verdict.notes else "no"


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
    capabilities = [re.findall(r"\[([\w.]+)\]", title)[0] for title in header[2:]]
    assert len(capabilities) >= 8
    assert [row[0].strip("`") for row in rows] == list(
        attnmatrix.get_backend(name).supported_kv_cache_dtypes
    )
    for row in rows:
        for capability, shown in zip(capabilities, row[2:], strict=True):
            verdict = judge(name, compute_capability=capability, kv_cache_dtype=row[0].strip("`"))
            assert shown == word(verdict), (name, row[0], capability)


def test_the_matrix_page() -> None:
    ((header, *rows),) = tables(REFERENCE / "matrix.md")
    assert {re.findall(r"`(\w+)`", row[0])[0] for row in rows} == set(attnmatrix.backend_names())
    first = header.index("Sink") + 1
    header = [*header[:first], *(re.findall(r"\[([\w.]+)\]", t)[0] for t in header[first:])]
    for row in rows:
        name = re.findall(r"`(\w+)`", row[0])[0]
        spellings = attnmatrix.get_backend(name).supported_kv_cache_dtypes
        for capability, shown in zip(header[first:], row[first:], strict=True):
            said = {}
            for group in () if shown == "no" else shown.split("; "):
                state, _, names = group.partition(": ")
                listed = spellings if names.startswith("all ") else re.findall(r"`(\w+)`", names)
                said |= dict.fromkeys(listed, state)
            for spelling in spellings:
                verdict = judge(name, compute_capability=capability, kv_cache_dtype=spelling)
                state = re.sub(r"yes \((\w+)\)", r"\1", word(verdict))
                assert said.get(spelling, "no") == state, (name, spelling, capability)
        assert row[first - 1] == ("yes" if judge(name, sink=True) else "no")


@pytest.mark.parametrize("name", attnmatrix.kv_format_names())
def test_the_heat_map_of_a_kv_format(name: str) -> None:
    maps = [t for t in tables(REFERENCE / "kv-formats" / f"{name}.md") if "gpus/" in t[0][1]]
    for header, *rows in maps:
        for row in rows:
            backend = attnmatrix.get_backend(re.findall(r"`(\w+)`", row[0])[0])
            for title, shown in zip(header[1:], row[1:], strict=True):
                capability = re.findall(r"\[([\w.]+)\]", title)[0]
                runs = any(
                    cell.kv_format == name
                    for spelling in backend.supported_kv_cache_dtypes
                    if (v := backend.judge(compute_capability=capability, kv_cache_dtype=spelling))
                    for cell in v.cells
                )
                assert shown.startswith("yes") == runs, (backend.name, capability)


CAPABILITIES = sorted({format_capability(gpu_capability(gpu)[1]) for gpu in attnmatrix.gpu_names()})


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_gpu_page(capability: str) -> None:
    page = REFERENCE / "gpus" / f"{capability}.md"
    found = tables(page)
    runs = {n for n in attnmatrix.backend_names() if judge(n, compute_capability=capability)}
    (running,) = [t[1:] for t in found if t[0] == ["Backend", "KV-cache dtypes"]]
    assert {re.findall(r"`(\w+)`", row[0])[0] for row in running} == runs
    for table in found:
        if table[0] == ["Backend", "Why"]:
            for row in table[1:]:
                name = re.findall(r"`(\w+)`", row[0])[0]
                (reason,) = judge(name, compute_capability=capability).reasons
                assert html.unescape(row[1]) == reason.message
                runs.add(name)
    assert runs == set(attnmatrix.backend_names())


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_what_a_gpu_page_says_is_tried_first(capability: str) -> None:
    orders = [
        row
        for table in tables(REFERENCE / "gpus" / f"{capability}.md")
        if table[0] == ["When", "Order"]
        for row in table[1:]
    ]
    for when, order in orders:
        fields = conditions(when)
        selection = attnmatrix.select(compute_capability=capability, **fields)
        running = [
            v.backend.name
            for v in selection.candidates
            if judge(v.backend, compute_capability=capability)
        ]
        assert re.findall(r"`(\w+)`", order) == running, when


def conditions(words: str) -> dict[str, object]:
    """A request that meets a line's conditions."""
    fields: dict[str, object] = {"head_size": 64, "query_heads": 48, "kv_cache_dtype": "auto"}
    if match := re.search(r"head size (\d+)", words):
        fields["head_size"] = int(match[1])
    if match := re.search(r"to (\d+) query heads", words):
        fields["query_heads"] = int(match[1])
    if match := re.search(r"KV-cache dtype one of `(\w+)`", words):
        fields["kv_cache_dtype"] = match[1]
    fields["sink"] = "no attention sink" not in words
    fields["mla"] = "not MLA" not in words
    if re.search(r"\bsparse\b", words):
        fields["sparse"] = True
    return fields


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
