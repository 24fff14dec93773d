"""Where a source can be read, as a link."""

from __future__ import annotations

import re

from . import text


def source_link(source: str) -> str:
    """A source as Markdown: a link where it has an address, else its words."""
    match = re.fullmatch(r"([\w.-]+/[\w.-]+)#(\d+)", source)
    if match:
        return f"[{text.markdown(source)}](https://github.com/{match[1]}/issues/{match[2]})"
    match = re.fullmatch(r"([\w.-]+/[\w.-]+)@(\w+)\s+([\w./+-]+)(?::(\d+)(?:-(\d+))?)?", source)
    if match:
        anchor = f"#L{match[4]}" if match[4] else ""
        address = f"https://github.com/{match[1]}/blob/{match[2]}/{match[3]}{anchor}"
        return f"[{text.markdown(source)}]({address})"
    if re.fullmatch(r"https?://[^\s()<>\"'\\`|*\[\]{}]+", source):
        return f"<{source}>"
    return text.code(source)
