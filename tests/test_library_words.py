"""The libraries' words in probe records: told once, and led to what the matrix says of them."""

from __future__ import annotations

from typing import NamedTuple

from attnmatrix.codegen.answers import Answers, columns
from attnmatrix.codegen.library_words import Words, library_words
from attnmatrix.codegen.load import load
from attnmatrix.codegen.pages import pages
from attnmatrix.codegen.runtime import backend_class
from tests.sources import REAL


class Record(NamedTuple):
    kernel: str
    outcome: str
    message: str | None


RECORDS = [
    Record("flash_mla.sparse_decode", "refused", "topk (65) mod B_TOPK (64) must be 0"),
    Record("flash_mla.sparse_decode", "refused", "topk (100) mod B_TOPK (64) must\nbe 0"),
    Record("flash_mla.sparse_decode", "right", None),
    Record("flash_mla.sparse_decode", "crashed", "an illegal memory access"),
    Record("flash_mla.sparse_decode", "refused", "nobody wrote this down | <b>"),
    Record("flashinfer.batch_mla", "refused", ""),
]


def test_words_that_differ_in_numbers_are_told_once():
    errors = load(REAL).document.errors
    assert library_words(RECORDS, errors) == {
        "flash_mla.sparse_decode": [
            Words("topk (65) mod B_TOPK (64) must be 0", 2, "topk"),
            Words("nobody wrote this down | <b>", 1, None),
        ]
    }


def test_a_kernel_s_page_lists_them():
    matrix = load(REAL)
    shown = columns(matrix.document)
    answers = {
        name: Answers(backend_class(matrix, name), shown) for name in matrix.document.backends
    }
    found = pages(matrix, answers, RECORDS)
    template, context = found["kernels/flash_mla.sparse_decode.md"]
    assert template == "kernel.md.j2"
    assert [words.times for words in context["words"]] == [2, 1]
    assert found["kernels/flashinfer.batch_mla.md"][1]["words"] == []
