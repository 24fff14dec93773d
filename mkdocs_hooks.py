"""What the site's configuration cannot say: order and titles of sections, ranks in the search."""

from __future__ import annotations

import re
from typing import Any


def on_nav(nav: Any, *, config: Any, files: Any) -> Any:
    """Puts pages that are called by numbers in the order of these: 9.0 before 10.0."""
    pending = list(nav.items)
    while pending:
        section = pending.pop()
        if section.is_section:
            section.children.sort(key=_natural)
            pending += section.children
    return nav


def _natural(item: Any) -> tuple[int, list[tuple[int, str]]]:
    """Index pages first, then pages, then sections; numbers in names as numbers."""
    if item.is_section:
        return 2, []  # sections keep their order
    words = re.split(r"(\d+)", item.file.src_uri)
    return int(not item.is_index), [(int(w), "") if w.isdigit() else (0, w) for w in words]


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Puts FLASHMLA_SPARSE before FLASHMLA_SPARSE_DSV4 where somebody searches for the former: the
    search takes every name that begins so for a match."""
    path = page.file.src_uri.removesuffix(".md")
    others = (file.src_uri for file in files.documentation_pages() if file is not page.file)
    if longer := sum(other.startswith(path) for other in others):
        page.meta.setdefault("search", {})["boost"] = 1 + longer / (longer + 1)
    return markdown


def on_env(env: Any, *, config: Any, files: Any) -> Any:
    """Calls every section that has an index page what that page's heading says."""
    for file in files.documentation_pages():
        page = file.page
        if page is not None and page.is_index and page.parent is not None:
            page.parent.title = page.title
    return env
