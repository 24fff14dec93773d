"""A page for every field that a refusal may name, with what the libraries say about it."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

import attnmatrix
from attnmatrix.codegen.reason_texts import ABOUT
from attnmatrix.index import FIELDS

ROOT = Path(__file__).parents[1]
REASONS = ROOT / "docs" / "reference" / "reasons"
ERRORS = json.loads((ROOT / "generated/data/reasons.json").read_bytes())["errors"]


def page(field: str) -> str:
    return html.unescape((REASONS / f"{field}.md").read_text(encoding="utf-8"))


def test_every_field_of_a_reason_has_a_page():
    assert set(ABOUT) == {*FIELDS, "features", "libraries", "engine"}
    assert {path.stem for path in REASONS.glob("*.md")} == {*ABOUT, "index"}


@pytest.mark.parametrize("field", ABOUT)
def test_a_page_says_what_to_do_and_what_every_backend_takes(field):
    content = page(field)
    for cure in ABOUT[field].cures:
        assert f"- {cure}" in content
    for name in attnmatrix.backend_names():
        assert f"| [`{name}`](../backends/{name}.md) | " in content


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error["says"][:40])
def test_a_library_s_words_lead_to_the_page_of_their_field(error):
    content = page(error["field"])
    assert f"### {error['says']}\n" in content
    assert error["means"] in content
    kernel = ROOT / "docs" / "reference" / "kernels" / f"{error['by']}.md"
    if kernel.exists():
        assert f"`{error['says']}`" in html.unescape(
            kernel.read_text(encoding="utf-8").replace("<code>", "`").replace("</code>", "`")
        )


@pytest.mark.parametrize(
    ("field", "backend", "taken"),
    [
        ("block_size", "FLASHMLA", "multiples of 64"),
        ("kv_cache_dtype", "FLASHMLA_SPARSE_DSV4", "`auto`, `fp8`, `fp8_ds_mla`"),
        ("sink", "FLASHMLA_SPARSE", "no"),
        ("sink", "FLASHMLA_SPARSE_DSV4", "yes"),
        ("sparse", "REFERENCE", "both"),
        ("topk", "FLASHMLA", "none"),
        ("topk", "FLASHMLA_SPARSE_DSV4", "multiples of 64"),
    ],
)
def test_what_some_backends_take(field, backend, taken):
    assert f"| [`{backend}`](../backends/{backend}.md) | {taken} |" in page(field)
