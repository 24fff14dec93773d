"""Drawings of KV formats: every byte once, at the offset at which packing puts it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import attnmatrix
from attnmatrix.codegen import layout
from attnmatrix.kv_format import KVFormat, Part

REFERENCE = Path(__file__).parents[1] / "docs" / "reference" / "kv-formats"
SVG = "{http://www.w3.org/2000/svg}"
TOKENS = layout.PAGE_TOKENS


@pytest.mark.parametrize("name", attnmatrix.kv_format_names())
def test_a_token_is_drawn_to_the_last_byte(name):
    entry = attnmatrix.get_kv_format(name)
    blocks = layout.token_blocks(entry)
    assert sum(block.size for block in blocks) == entry.bytes_per_token
    assert [block.name for block in blocks] == [part.name for part in entry.parts]
    for before, block in zip(blocks, blocks[1:], strict=False):
        follows = before.offset + before.size
        assert block.offset == (follows if block.row == before.row else 0)


@pytest.mark.parametrize("name", attnmatrix.kv_format_names())
def test_a_page_is_drawn_as_rows_are_stored(name):
    entry = attnmatrix.get_kv_format(name)
    blocks = layout.page_blocks(entry)
    assert blocks[0].offset == 0
    for before, block in zip(blocks, blocks[1:], strict=False):
        assert block.offset == before.offset + before.size
    assert blocks[-1].offset + blocks[-1].size == entry.page_bytes(TOKENS)
    for block in blocks:
        if match := re.fullmatch(r"(record|data row|scale row) of token (\d+)", block.name):
            data, scales = entry.row_offsets(TOKENS, int(match[2]))
            assert block.offset == (scales if match[1] == "scale row" else data)


@pytest.mark.parametrize("what", ["token", "page"])
@pytest.mark.parametrize("name", attnmatrix.kv_format_names())
def test_a_drawing_is_an_image_with_a_title_and_fits(name, what):
    root = ET.fromstring((REFERENCE / f"{name}.{what}.svg").read_text(encoding="utf-8"))
    assert root.tag == f"{SVG}svg"
    page = (REFERENCE / f"{name}.md").read_text(encoding="utf-8")
    title = root.findtext(f"{SVG}title")
    assert f"![{title}]({name}.{what}.svg)" in page
    height = float(root.get("height", "0"))
    for box in root.iter(f"{SVG}rect"):
        assert float(box.get("y", "0")) + float(box.get("height", "0")) <= height
    for text in root.iter(f"{SVG}text"):
        assert 0 < float(text.get("y", "0")) < height


def test_the_v4_page_by_hand():
    # 64 data rows of 576 B, then 64 scale rows of 8 B: 37,376 B, rounded up to 65 x 576 B.
    words = layout.page_alternative(attnmatrix.get_kv_format("ds_mla_v4"))
    assert "data row of token 63 at byte 36288" in words
    assert "scale row of token 0 at byte 36864" in words
    assert "rounding at byte 37376" in words


def test_names_are_text_in_a_drawing():
    entry = KVFormat(
        "x",
        title="<b>",
        head_size=1,
        bytes_per_token=1,
        data=(Part("a", "uint8", 1),),
    )
    drawn = layout.drawing(layout.token_blocks(entry), "<script>alert(1)</script> & more")
    assert ET.fromstring(drawn).findtext(f"{SVG}title") == "<script>alert(1)</script> & more"
    assert len(list(ET.fromstring(drawn).iter(f"{SVG}script"))) == 0
