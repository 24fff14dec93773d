"""Text into other languages: the same text comes out, and it can never become code."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from attnmatrix.backend import MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import ANY, NONE, IntSet, Multiples
from attnmatrix.kv_format import Part
from attnmatrix.verified import Verified

WIDTH = 100
"""Columns of generated Python, as the formatter has it."""

_SPECIAL = re.compile(
    r"[&<>|{}\\`*\[\]~$^]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|[\x00-\x1f\x7f-\x9f]"
)
_PLAIN_CODE = re.compile(r"[A-Za-z0-9_.,:;+%/@() -]*[A-Za-z0-9_.,:;+%/@()-]")
_RAW = re.compile(  # signs of one column that every Python knows: Latin, Greek, punctuation, maths
    r"[ -~\u00a1-\u00ac\u00ae-\u024f\u0391-\u03a1\u03a3-\u03c9"
    r"\u2010-\u2027\u2030-\u205e\u2190-\u22ff]*"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def markdown(value: Any) -> str:
    """Text for a Markdown paragraph or table cell: one line, every sign that could mean something
    to Markdown, HTML or a template written as an entity or escaped."""
    return _markdown(str(value))


@lru_cache(maxsize=4096)
def _markdown(text: str) -> str:
    text = _SPECIAL.sub(lambda m: _entities(m[0]), " ".join(text.split()))
    # A line that begins as a heading, list, quote or rule would be one; so would a bare URL.
    text = re.sub(r"^([#+\-!:]|\d+(?=[.)]))", lambda m: _entities(m[0]), text)
    return text.replace("://", "&#58;//").replace("@", "&#64;").replace("![", "&#33;[")


def _entities(text: str) -> str:
    return "".join(f"&#{ord(char)};" for char in text)


def code(value: Any) -> str:
    """A short value as inline code, safe in a table: as HTML where a sign could end it early."""
    text = " ".join(str(value).split())
    if _PLAIN_CODE.fullmatch(text):
        return f"`{text}`"
    shown = "".join(
        f"&#{ord(char)};" if char in "|{}\\`*_[]~$^=@:" or _CONTROL.match(char) else char
        for char in html.escape(text)
    )
    return f"<code>{shown}</code>"


def comment(value: Any) -> str:
    """Text for one line of a Python docstring or comment: no sign can end either."""
    text = _CONTROL.sub(lambda m: f"U+{ord(m[0]):04X}", " ".join(str(value).split()))
    return text.replace("\\", "\\\\").replace('"', '\\"')


def assignment(name: str, value: Any, indent: int = 0) -> str:
    """`name = value` as the formatter lays it out; without the line's own indentation."""
    text = python(value, indent, len(name) + 3)
    if isinstance(value, str) and indent + len(name) + 3 + len(text) > WIDTH >= indent + 4 + len(
        text
    ):
        return f"{name} = (\n{' ' * (indent + 4)}{text}\n{' ' * indent})"
    return f"{name} = {text}"


def python(value: Any, indent: int = 0, used: int = 0) -> str:
    """A value as a Python literal, laid out as the formatter does: on one line if it fits.

    indent: columns before the line; used: columns of that line taken by what stands before and
    after the literal.
    """
    return _lay_out(_Literal(value), indent, used)


class _Literal:
    """A value's one-line form, and the same of what stands between its brackets."""

    __slots__ = ("flat", "items", "opening", "closing")

    items: Sequence[tuple[str, _Literal]]

    def __init__(self, value: Any) -> None:
        self.items = ()
        if isinstance(value, str):
            self.flat = string(value)
            return
        if value is None or isinstance(value, int):  # most of a cell: no need to ask what it holds
            self.flat = repr(value)
            return
        if isinstance(value, IntSet) and value in (ANY, NONE):
            self.flat = "ANY" if value == ANY else "NONE"
            return
        items = _items(value)
        if not items and not isinstance(value, tuple | list | Mapping):
            self.flat = repr(value)
            return
        self.items = [(prefix, _Literal(item)) for prefix, item in items]
        self.opening, self.closing = _brackets(value)
        body = ", ".join([prefix + item.flat for prefix, item in self.items])
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        self.flat = self.opening + body + comma + self.closing


def _lay_out(literal: _Literal, indent: int, used: int) -> str:
    if indent + used + len(literal.flat) <= WIDTH or not literal.items:
        return literal.flat
    lines = [
        f"{' ' * (indent + 4)}{prefix}{_lay_out(item, indent + 4, len(prefix) + 1)},\n"
        for prefix, item in literal.items
    ]
    return f"{literal.opening}\n{''.join(lines)}{' ' * indent}{literal.closing}"


@lru_cache(maxsize=4096)
def string(value: str) -> str:
    """A text as a Python literal. Signs that do not print, or turn the line around, are escapes;
    so is what a formatter may count as two columns, and what only newer Pythons know."""
    if _RAW.fullmatch(value) and '"' not in value and "\\" not in value:
        return f'"{value}"'
    quote = "'" if value.count('"') > value.count("'") else '"'  # the fewer escapes
    return quote + "".join(_escape(char, quote) for char in value) + quote


def _escape(char: str, quote: str) -> str:
    if char in ("\\", quote):
        return "\\" + char
    if char in "\n\t":
        return "\\n" if char == "\n" else "\\t"
    if _RAW.fullmatch(char):
        return char
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _brackets(value: Any) -> tuple[str, str]:
    for kind, opening, closing in ((tuple, "(", ")"), (list, "[", "]"), (Mapping, "{", "}")):
        if isinstance(value, kind):
            return opening, closing
    return f"{type(value).__name__}(", ")"


def _items(value: Any) -> list[tuple[str, Any]]:
    """What stands between a literal's brackets: (prefix, value) pairs. Empty for an atom."""
    if isinstance(value, tuple | list):
        return [("", item) for item in value]
    if isinstance(value, Mapping):
        return [(f"{string(key)}: ", item) for key, item in value.items()]
    if isinstance(value, IntSet):
        items: list[tuple[str, Any]] = [("", value.values)] if value.values else []
        if value.multiples:
            items.append(("multiples=", value.multiples))
        return items
    if isinstance(value, Multiples):
        items = [("", value.base)]
        if value.first != value.base:
            items.append(("minimum=", value.first))
        if value.maximum is not None:
            items.append(("maximum=", value.maximum))
        return items
    if isinstance(value, Part):
        leading = [("", value.name), ("", value.dtype), ("", value.count)]
        return leading + _keywords(
            value, ("scaled_by", "group", "transposed", "amax_floor", "power_of_two")
        )
    if isinstance(value, Cell):
        return _keywords(value, Cell.__slots__)
    if isinstance(value, Verified):
        return [("", value.file), *_keywords(value, Verified.__slots__[1:])]
    if isinstance(value, MultipleOf):
        return [("", value.base)]
    return []


_PLAIN: dict[type, Any] = {
    Cell: Cell(
        phase="",
        compute_capability=(),
        kernel="",
        spellings=(),
        kv_cache_dtype="",
        kv_format="",
        dtypes=(),
    ),
    Part: Part("", "uint8", 1),
    Verified: Verified(
        "", gpu="", compute_capability="", provider=("", ""), date="", dtypes=(), right=0
    ),
}
"""Of each kind, one that has every default."""


def _keywords(value: Any, names: Iterable[str]) -> list[tuple[str, Any]]:
    """Keyword arguments for the attributes that differ from their default."""
    default = _PLAIN[type(value)]
    return [
        (f"{name}=", getattr(value, name))
        for name in names
        if getattr(value, name) != getattr(default, name)
    ]
