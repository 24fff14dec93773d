"""Every kind of page in a browser: nothing wider than a phone, nothing that trips a screen reader;
and the search, which finds what people paste."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser

KINDS = [
    "reference/matrix/",
    "reference/backends/FLASHMLA_SPARSE_DSV4/",
    "reference/kernels/flash_mla.sparse_decode/",
    "reference/kv-formats/ds_mla_v4/",
    "reference/gpus/9.0/",
    "reference/reasons/kv_cache_dtype/",
    "guides/read-a-verdict/",
    "guides/from-hand-written-classes/",
]


def test_nothing_is_wider_than_the_screen(new_page):
    page = new_page()
    for kind in KINDS:
        page.goto(kind)
        for width in (360, 800):
            page.set_viewport_size({"width": width, "height": 800})
            wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, (kind, width)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(new_page, scheme):
    axe = pytest.importorskip("axe_core_python.sync_playwright", reason="axe checks the pages")
    page = new_page(color_scheme=scheme)
    for kind in KINDS if scheme == "light" else KINDS[::3]:
        page.goto(kind)
        if "matrix" in kind:
            page.locator("table.am-matrix td[data-state]").first.click()
            page.locator(".am-panel pre").wait_for()
        # Dark differs from light in its colours alone.
        rules = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
        options = {"resultTypes": ["violations"], **rules}
        found = axe.Axe().run(page, options=options)["violations"]
        serious = {
            (violation["id"], node["html"][:120])
            for violation in found
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
        }
        assert serious == set(), kind


SHIFTS = """() => new Promise((done) => {
  let sum = 0;
  const observer = new PerformanceObserver((list) =>
    list.getEntries().forEach((entry) => (sum += entry.hadRecentInput ? 0 : entry.value)));
  observer.observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 800);
})"""
"""How far what is in view jumps while a page loads (cumulative layout shift)."""


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("kind", ["", "?gpu=H200&model=DeepSeek-V3.2", *KINDS[:2]])
def test_a_page_keeps_still_and_says_what_it_is(new_page, kind, width):
    page = new_page(viewport={"width": width, "height": 900})
    page.goto(kind)
    assert page.evaluate(SHIFTS) <= 0.25  # beyond that Lighthouse calls it poor
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.title()
    assert page.locator("meta[name=description]").get_attribute("content")
    assert page.locator("meta[name=viewport]").count() == 1
    assert page.locator("h1").count() == 1
    assert page.locator("article img:not([alt])").count() == 0


def results(page, words: str) -> list[tuple[str, str]]:
    """Address and text of what the search finds, best first."""
    page.goto("reference/")
    page.get_by_role("textbox", name="Search").click()
    page.get_by_text("Type to start searching").wait_for()  # the index is there
    page.get_by_role("textbox", name="Search").fill(words)
    page.keyboard.press("End")  # the theme listens for keys
    page.locator(".md-search-result__item").first.wait_for()
    page.wait_for_timeout(300)
    return [
        (link.get_attribute("href") or "", link.inner_text())
        for link in page.locator(".md-search-result__link").all()
    ]


def test_search_finds_a_dtype_with_a_backend(page):
    found = results(page, "bfloat16 FLASHMLA_SPARSE_DSV4")
    assert any("backends/FLASHMLA_SPARSE_DSV4/" in address for address, _ in found[:3])


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("key must have dtype fp8_e4m3fn", "kv_cache_dtype"),
        ("Dense decode MLA is only supported on SM90a architecture", "compute_capability"),
        ("Currently page_block_size must be 64", "block_size"),
        ("block_size not supported", "block_size"),
        ("No valid attention backend found for cuda", "compute_capability"),
    ],
)
def test_search_finds_an_error_and_lands_on_the_reason(page, words, field):
    address, _ = results(page, words)[0]
    assert f"reasons/{field}/" in address
    page.goto(re.sub(r"\?h=[^#]*", "", address))
    assert page.get_by_role("heading", name="What to do").is_visible()


def test_a_drawing_has_words_in_its_place(page):
    page.goto("reference/kv-formats/ds_mla_v4/")
    drawings = page.locator("article img").all()
    assert len(drawings) == 2
    for drawing in drawings:
        assert drawing.evaluate("image => image.complete && image.naturalWidth > 300")
        assert "byte 0" in (drawing.get_attribute("alt") or "")
