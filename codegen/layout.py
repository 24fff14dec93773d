"""A KV format's bytes as drawings: one token's record, and one page. Drawn from its entry alone."""

from __future__ import annotations

from html import escape
from math import log2
from typing import NamedTuple

from attnmatrix.kv_format import KVFormat, Part

PAGE_TOKENS = 64
"""Tokens of the page that is drawn."""

_WIDTH, _LEFT, _TOP, _FOOT = 360, 64, 12, 22
_STYLE = (
    ".card{fill:#fff;stroke:#b8bec9}.box{stroke:#fff;stroke-width:1.5}"
    ".values{fill:#cfe3ff}.scales{fill:#ffe2b8}.pad{fill:#e4e6ea}.data{fill:#cfe3ff}"
    ".gap{fill:none}text{fill:#1b1f27;font:12px system-ui,sans-serif}"
    ".offset{text-anchor:end;font-family:ui-monospace,monospace;font-size:11px}"
    ".name{font-weight:600}.row{font-style:italic}.size{text-anchor:end}"
    "@media(prefers-color-scheme:dark){.card{fill:#1e2129;stroke:#4a5160}.box{stroke:#1e2129}"
    ".values,.data{fill:#274b7a}.scales{fill:#6e4a12}.pad{fill:#3a3f4a}text{fill:#eef1f6}}"
)


class Block(NamedTuple):
    """One box: its first byte, its bytes, what it holds, its class, and the row that it
    belongs to where rows lie apart."""

    offset: int
    size: int
    name: str
    detail: str
    kind: str
    ellipsis: bool = False
    row: str = ""


def token_blocks(entry: KVFormat) -> list[Block]:
    """The parts of one token's record in stored order.

    Offsets count from the record's start; those of a scale row that lies apart, from its own.
    """
    scale_names = {part.scaled_by for part in entry.parts}
    found = []
    apart = entry.arrangement == "data_then_scales"
    for row, parts in (("data row", entry.data), ("scale row", entry.scales)):
        offset = 0 if apart or parts is entry.data else entry.data_bytes
        for part in parts:
            found.append(
                Block(
                    offset,
                    part.bytes,
                    part.name,
                    f"{part.count} × {part.dtype}",
                    _kind(part, scale_names),
                    row=row if apart else "",
                )
            )
            offset += part.bytes
    return found


def page_blocks(entry: KVFormat, tokens: int = PAGE_TOKENS) -> list[Block]:
    """The rows of a page of `tokens` tokens: the first two and the last of each kind."""
    found: list[Block] = []
    slots = sorted({0, min(1, tokens - 1), tokens - 1})

    def rows(first: int, size: int, name: str, kind: str) -> None:
        last = -1
        for slot in slots:
            if slot > last + 1:
                between = slot - last - 1
                found.append(
                    Block(first + (last + 1) * size, between * size, "⋮", "", "gap", ellipsis=True)
                )
            found.append(Block(first + slot * size, size, f"{name} of token {slot}", "", kind))
            last = slot

    if entry.arrangement == "token_by_token":
        rows(0, entry.bytes_per_token, "record", "data")
    else:
        rows(0, entry.data_bytes, "data row", "data")
        rows(tokens * entry.data_bytes, entry.scale_bytes, "scale row", "scales")
    used = tokens * entry.bytes_per_token
    if (rest := entry.page_bytes(tokens) - used) > 0:
        found.append(Block(used, rest, "rounding", "unused", "pad"))
    return found


def token_alternative(entry: KVFormat) -> str:
    """The drawing of a token in words."""
    parts = [f"{b.name} at byte {b.offset}, {b.size} B" for b in token_blocks(entry)]
    return f"{entry.name}, one token: {'; '.join(parts)}"


def page_alternative(entry: KVFormat) -> str:
    """The drawing of a page in words."""
    rows = [f"{b.name} at byte {b.offset}" for b in page_blocks(entry) if not b.ellipsis]
    return f"{entry.name}, a page of {PAGE_TOKENS} tokens: {'; '.join(rows)}"


def drawing(blocks: list[Block], title: str) -> str:
    """An SVG element: a stack of boxes with the offset of each, in bytes, at its left."""
    y = float(_TOP)
    lines = []
    end, row = 0, ""
    for block in blocks:
        if block.row != row:  # rows that lie apart have offsets of their own
            if row:
                lines.append(_text(_LEFT - 6, y + 4, "offset", f"{end} B"))
                y += 12
            lines.append(_text(_LEFT, y + 12, "row", block.row))
            y += 20
            row = block.row
        height = 18.0 if block.ellipsis else _height(block.size)
        lines.append(_text(_LEFT - 6, y + 4, "offset", f"{block.offset} B"))
        if not block.ellipsis:
            lines.append(
                f'<rect class="box {block.kind}" x="{_LEFT}" y="{y:g}" '
                f'width="{_WIDTH - _LEFT - 12}" height="{height:g}"/>'
            )
        middle = y + height / 2 + 4
        lines.append(_text(_LEFT + 10, middle, "name", _shortened(block.name, block.detail)))
        if block.detail:
            lines.append(_text(_LEFT + 92, middle, "detail", block.detail))
        if not block.ellipsis:
            lines.append(_text(_WIDTH - 20, middle, "size", f"{block.size} B"))
        y += height
        end = block.offset + block.size
    lines.append(_text(_LEFT - 6, y + 4, "offset", f"{end} B"))
    height = y + _FOOT - 8
    body = "\n".join(lines)
    card = f'x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1:g}" rx="6"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {_WIDTH} {height:g}" role="img">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n"
        f'<rect class="card" {card}/>\n'
        f"{body}\n</svg>\n"
    )


def _shortened(name: str, detail: str) -> str:
    """A name that leaves room for what stands beside it."""
    return name if len(name) <= 11 or not detail else f"{name[:10]}…"


def _height(size: int) -> float:
    """Taller for more bytes, by their logarithm: 1 B and 512 B share a picture."""
    return round(24 + 4 * log2(max(size, 1)) * (size > 8), 1)


def _kind(part: Part, scale_names: set[str | None]) -> str:
    if part.name in scale_names:
        return "scales"
    return "pad" if part.dtype == "uint8" else "values"


def _text(x: float, y: float, kind: str, words: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(words)}</text>'
