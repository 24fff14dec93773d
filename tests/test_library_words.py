"""The libraries' words in probe records: told once, and led to what the matrix says of them."""

from __future__ import annotations

import shutil
from pathlib import Path

from attnmatrix.cli import main
from attnmatrix.codegen.library_words import Words, library_words
from attnmatrix.codegen.load import load
from attnmatrix.evidence import Record, write
from tests.records import CASE as BASE
from tests.records import evidence
from tests.sources import REAL

SPARSE = {"head_size": 512, "page_size": 64, "query_heads": 64, "topk": 65}
CASE = BASE | SPARSE | {"kv_format": "ds_mla_v4"}


def told(kernel: str, outcome: str, message: str | None, heads: int) -> Record:
    """A record of a kernel of the repository's own matrix; heads tell one from another."""
    return Record(kernel, CASE | {"query_heads": heads}, outcome, False, None, message)


RECORDS = [
    told("flash_mla.sparse_decode", "refused", "topk (65) mod B_TOPK (64) must be 0", 1),
    told("flash_mla.sparse_decode", "refused", "topk (100) mod B_TOPK (64) must be 0", 2),
    told("flash_mla.sparse_decode", "untested", "no memory was left", 3),
    told("flash_mla.sparse_decode", "crashed", "an illegal memory access", 4),
    told("flash_mla.sparse_decode", "refused", "nobody wrote this down | <b>", 5),
]


def test_words_that_differ_in_numbers_are_told_once():
    errors = load(REAL).document.errors
    assert library_words(RECORDS, errors) == {
        "flash_mla.sparse_decode": [
            Words("topk (65) mod B_TOPK (64) must be 0", 2, "topk"),
            Words("nobody wrote this down | <b>", 1, None),
        ]
    }


def test_a_kernel_s_page_lists_them(tmp_path: Path) -> None:
    source = Path(shutil.copy(REAL, tmp_path))
    made = evidence(*RECORDS, library="flash_mla", provider=("vllm", "0.33.0"))
    write(tmp_path / "evidence", made)
    assert main(["gen", "--source", str(source)]) == 0
    pages = tmp_path / "docs" / "reference" / "kernels"
    page = (pages / "flash_mla.sparse_decode.md").read_text(encoding="utf-8")
    _, _, said = page.partition("## What it said to probes\n")
    bullets = [line for line in said.partition("\n## ")[0].splitlines() if line.startswith("- ")]
    assert len(bullets) == 2
    assert "(cases: 2; [what to do](../reasons/topk.md))" in bullets[0]
    assert bullets[1].endswith("(cases: 1)")
