"""The mistakes that vLLM PR 44892 mended, put back into this repository's own file.

FlashMLA's sparse decode for DeepSeek-V4 takes 8-bit storage only, and FlashInfer's kernel for
compute capability 10.x wants a plain cache: neither claim may get past the generator.
"""

from __future__ import annotations

import pytest

from attnmatrix.cli import main
from attnmatrix.codegen.source import Source, parse_source
from tests.sources import REAL

FLASHMLA = "FLASHMLA_SPARSE_DSV4"
FLASHINFER = "FLASHINFER_MLA_SPARSE_DSV4"


@pytest.fixture(scope="module")
def real() -> Source:
    return parse_source(REAL.read_text(encoding="utf-8"), "capabilities.yaml")


def format_by_bytes(source: Source, backend: str, bytes_per_token: int) -> str:
    """The KV format of a DeepSeek-V4 backend that takes so many bytes a token."""
    names = {
        target["format"]
        for variant in source.data["backends"][backend]["variants"]
        for target in variant["kv_cache_dtypes"].values()
        if isinstance(target, dict)
        and source.data["kv_formats"][target["format"]]["bytes_per_token"] == bytes_per_token
    }
    (name,) = names
    return name


def variant_on(source: Source, backend: str, major: int) -> int:
    """The number of the variant that is for GPUs of a major compute capability."""
    for number, variant in enumerate(source.data["backends"][backend]["variants"]):
        if any(c.startswith(f"{major}.") for c in variant["compute_capability"]):
            return number
    raise AssertionError(f"{backend} has no variant for {major}.x")


def with_claim(source: Source, backend: str, variant: int, claim: str) -> tuple[str, int]:
    """The file's text with one more KV-cache dtype, and the line on which that stands."""
    path = ("backends", backend, "variants", variant, "kv_cache_dtypes")
    first = source.place(path)
    lines = REAL.read_text(encoding="utf-8").splitlines(keepends=True)
    lines.insert(first.line - 1, " " * (first.column - 1) + claim + "\n")
    return "".join(lines), first.line


def refused(tmp_path, capfd, text: str) -> str:
    """Runs `attnmatrix gen` on a text; the errors, after checking that nothing was written."""
    file = tmp_path / "capabilities.yaml"
    file.write_text(text, encoding="utf-8")
    assert main(["gen", "--source", str(file)]) == 2
    assert list(tmp_path.iterdir()) == [file]
    return capfd.readouterr().err


def rows_of_kernel(text: str, backend: str, variant: int) -> range:
    """The lines on which the rows of a variant's decode kernel stand."""
    source = parse_source(text)
    kernel = source.data["backends"][backend]["variants"][variant]["kernels"]["decode"]
    rows = source.data["kernels"][kernel]["rows"]
    places = [source.place(("kernels", kernel, "rows", i)).line for i in range(len(rows))]
    return range(places[0], places[-1] + 1)


@pytest.mark.parametrize(
    ("backend", "major", "kv_cache_dtype", "owner", "bytes_per_token"),
    [
        (FLASHMLA, 9, "bfloat16", FLASHINFER, 512 * 2),
        (FLASHINFER, 10, "fp8_ds_mla", FLASHMLA, 584),
    ],
)
def test_the_claim_is_refused(
    real, tmp_path, capfd, backend, major, kv_cache_dtype, owner, bytes_per_token
):
    name = format_by_bytes(real, owner, bytes_per_token)
    variant = variant_on(real, backend, major)
    claim = f"{kv_cache_dtype}: {{format: {name}}}"
    text, line = with_claim(real, backend, variant, claim)
    errors = refused(tmp_path, capfd, text).splitlines()
    file = tmp_path / "capabilities.yaml"
    rows = rows_of_kernel(text, backend, variant)
    # One finding, which names every capability pattern of the variant.
    assert sum("error[" in shown for shown in errors) == 1
    head, other = errors[0], errors[1].strip()
    assert head.startswith(f"{file}:{line}:")
    assert "error[claim-outside-kernel]" in head
    assert f"{backend} claims KV-cache dtype {kv_cache_dtype} (format {name}) on " in head
    for capability in real.data["backends"][backend]["variants"][variant]["compute_capability"]:
        assert capability in head
    assert other.startswith(f"{file}:")
    assert int(other.removeprefix(f"{file}:").split(":")[0]) in rows


def test_the_packed_cache_is_taken_on_12x(real):
    packed = format_by_bytes(real, FLASHMLA, 584)
    variant = real.data["backends"][FLASHINFER]["variants"][variant_on(real, FLASHINFER, 12)]
    assert variant["kv_cache_dtypes"]["fp8_ds_mla"] == {"format": packed}


def test_bfloat16_as_an_alias_of_the_packed_cache_is_refused(real, tmp_path, capfd):
    variant = variant_on(real, FLASHMLA, 9)
    text, line = with_claim(real, FLASHMLA, variant, "bfloat16: fp8_ds_mla")
    errors = refused(tmp_path, capfd, text)
    assert errors.count("error[") == 1
    assert f"capabilities.yaml:{line}:" in errors
    assert "error[misleading-name]: bfloat16 promises bfloat16" in errors
