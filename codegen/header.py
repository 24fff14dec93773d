"""The first lines of every generated file: what it was made from, and how to make it again."""

from __future__ import annotations

import re
from pathlib import PurePath

_MARKED = re.compile(rb"Code generated from [^\r\n]+ by attnmatrix\. DO NOT EDIT\.")
_SIGNS = " ._-+,=@%()"
"""Besides letters and digits, what a file's name may show in a comment of any language."""


class Header:
    """The mark of a generated file, and the command that writes it."""

    __slots__ = ("mark", "command")

    def __init__(self, source: str = "capabilities.yaml") -> None:
        name = PurePath(source).name
        shown = "".join(char if char.isalnum() or char in _SIGNS else "?" for char in name)
        self.mark = f"Code generated from {shown} by attnmatrix. DO NOT EDIT."
        self.command = "Regenerate with make gen, or attnmatrix gen."
        if name != "capabilities.yaml":
            quoted = shown if re.fullmatch(r"[\w.+,=@%-]+", shown) else f"'{shown}'"
            self.command = f"Regenerate with attnmatrix gen --source {quoted}"


def is_marked(head: bytes) -> bool:
    """Whether a file that begins so was generated, from whatever source."""
    return _MARKED.search(head) is not None
