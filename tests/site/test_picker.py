"""The picker as people use it: choosing, reading, typing, sharing, with and without a mouse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import attnmatrix

pytestmark = pytest.mark.browser

V4_ON_H200 = "?gpu=H200&model=DeepSeek-V4-Flash&tensor_parallel=8"


def status(page: Any) -> str:
    page.wait_for_selector("#picker .picker-status")
    return str(page.text_content("#picker .picker-status"))


def option(page: Any, field: str, value: str) -> Any:
    return page.locator(f"#picker input[name={field}][value='{value}']")


def test_choosing_gives_the_answer_and_the_address(page: Any) -> None:
    page.goto("")
    assert status(page) == "Choose a GPU and a model."
    option(page, "gpu", "H200").check()
    option(page, "model", "DeepSeek-V4-Flash").check()
    option(page, "tensor_parallel", "8").check()
    assert status(page) == "Selected: FLASHMLA_SPARSE_DSV4"
    assert page.url.endswith("/?gpu=H200&model=DeepSeek-V4-Flash&tensor_parallel=8")
    answer = page.locator(".picker-selected")
    facts = answer.locator(".picker-facts").inner_text()
    assert re.search(r"KV cache\s+auto → fp8_ds_mla", facts)
    assert "584 B per token" in facts
    assert re.search(r"Query heads\s+8 on one GPU, padded to 64", facts)
    assert answer.locator("pre").inner_text().strip() == (
        "vllm serve deepseek-ai/DeepSeek-V4-Flash --attention-backend FLASHMLA_SPARSE_DSV4 "
        "--tensor-parallel-size 8"
    )


def test_what_is_typed_names_every_choice(page: Any) -> None:
    page.goto("?gpu=B200&model=DeepSeek-V3.2&kv_cache_dtype=fp8&block_size=64&dtype=bfloat16")
    status(page)
    assert page.locator(".picker-selected pre").inner_text().strip() == (
        "vllm serve deepseek-ai/DeepSeek-V3.2 --attention-backend FLASHINFER_MLA_SPARSE "
        "--dtype bfloat16 --kv-cache-dtype fp8 --block-size 64"
    )


def test_what_an_engine_lacks_is_not_typed_for_it(page: Any) -> None:
    page.goto("?gpu=none&model=DeepSeek-V3")
    assert status(page) == "Selected: REFERENCE"
    assert page.locator(".picker-selected pre").count() == 0


def test_every_refusal_is_that_of_the_runtime(page: Any) -> None:
    page.goto("?gpu=H200&model=DeepSeek-V3.2&kv_cache_dtype=nvfp4_ds_mla")
    assert status(page) == "No backend takes this combination."
    selection = attnmatrix.select(gpu="H200", model="DeepSeek-V3.2", kv_cache_dtype="nvfp4_ds_mla")
    for verdict in selection.candidates:
        card = page.locator(".picker-card", has=page.get_by_text(verdict.backend.name, exact=True))
        shown = card.locator("li[data-field-of]").all_inner_texts()
        assert shown == [f"{r.field} {r.message}" for r in verdict.reasons]


def test_memory_for_a_context_length(page: Any) -> None:
    page.goto("?gpu=H200&model=DeepSeek-V3&kv_cache_dtype=bfloat16&context=100000")
    status(page)
    # 70,272 B a token: 61 layers of (512 + 64) elements in bfloat16.
    assert "7,027,200,000 B" in page.inner_text(".picker-memory")
    page.fill("#picker-context", "1000")
    page.press("#picker-context", "Enter")
    page.wait_for_function("location.search.includes('context=1000')")
    page.wait_for_function(
        "document.querySelector('.picker-memory').innerText.includes('70,272,000 B')"
    )


def test_the_address_restores_the_state_and_back_goes_back(page: Any) -> None:
    page.goto(V4_ON_H200 + "&library.vllm=0.22.1&sink=yes")
    assert status(page) == "No backend takes this combination."
    assert "vllm is too old (has 0.22.1, needs >=0.23)" in page.inner_text(".picker-answer")
    assert option(page, "gpu", "H200").is_checked()
    assert option(page, "tensor_parallel", "8").is_checked()
    page.wait_for_timeout(500)  # changes in quick succession are one step of the history
    option(page, "gpu", "B200").check()
    assert "gpu=B200" in page.url
    page.go_back()
    page.wait_for_function("document.querySelector('[name=gpu][value=H200]').checked")
    assert "gpu=H200" in page.url
    page.locator("summary", has_text="Library versions").click()
    assert page.input_value("[data-field='library.vllm']") == "0.22.1"
    assert page.input_value("[data-field='sink']") == "yes"
    page.fill("[data-field='library.vllm']", "0.33.0")
    assert status(page) == "Selected: FLASHMLA_SPARSE_DSV4"
    page.fill("[data-field='library.vllm']", "new")
    assert "'new' is not a version" in status(page)
    page.get_by_role("button", name="Start again").click()
    assert "?" not in page.url


@pytest.mark.parametrize("how", ["hover", "focus"])
def test_an_impossible_option_stays_and_says_why(page: Any, how: str) -> None:
    page.goto(V4_ON_H200)
    status(page)
    radio = option(page, "kv_cache_dtype", "bfloat16")
    label = page.locator(f"label[for='{radio.get_attribute('id')}']")
    assert label.is_visible()
    assert "✕" in label.inner_text()
    assert page.locator(".picker-tip").is_hidden()
    radio.hover() if how == "hover" else radio.focus()
    (reason,) = attnmatrix.judge(
        "FLASHMLA_SPARSE_DSV4",
        gpu="H200", model="DeepSeek-V4-Flash", tensor_parallel=8, kv_cache_dtype="bfloat16",
    ).reasons  # fmt: skip
    shown = f"FLASHMLA_SPARSE_DSV4: {reason.message}"
    assert page.inner_text(".picker-tip") == shown
    described = page.locator(f"#{radio.get_attribute('aria-describedby')}")
    assert described.text_content() == f"Not possible: {shown}"
    page.keyboard.press("Escape")
    assert page.locator(".picker-tip").is_hidden()
    assert "✕" not in page.locator("label", has_text="fp8_ds_mla").first.inner_text()
    radio.check()  # it can be chosen all the same, and the answer explains
    assert status(page) == "No backend takes this combination."


def test_the_keyboard_alone(page: Any) -> None:
    page.goto("")
    status(page)
    page.get_by_role("searchbox", name="Search GPUs").focus()
    page.keyboard.type("pro 6000")
    assert option(page, "gpu", "RTX PRO 6000").is_visible()
    assert option(page, "gpu", "H200").is_hidden()
    page.keyboard.press("Enter")
    assert option(page, "gpu", "RTX PRO 6000").is_checked()
    assert page.evaluate("document.activeElement.value") == "RTX PRO 6000"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.value") == "RTX 5090"
    page.keyboard.press("Tab")
    page.keyboard.type("V3.2")
    page.keyboard.press("Enter")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Copy":
            break
    assert page.evaluate("document.activeElement.textContent") == "Copy"
    page.keyboard.press("Enter")
    page.wait_for_selector("text=/Copied|Selected: press/")
    assert status(page) == "Selected: FLASHINFER_MLA_SPARSE_SM120"


def test_a_capability_can_be_typed(page: Any) -> None:
    page.goto("")
    status(page)
    page.fill(".picker-search >> nth=0", "10.1")
    assert "gpu=10.1" in page.url
    assert "compute capability 10.1 is not supported" in page.inner_text(".picker-answer")


def test_links_of_an_answer_lead_somewhere(page: Any, address: str) -> None:
    page.goto(V4_ON_H200)
    status(page)
    links = page.eval_on_selector_all("#picker a", "all => all.map((a) => a.href)")
    own = [link for link in links if link.startswith(address)]
    assert any("/backends/" in link for link in own)
    assert any("/kernels/" in link for link in own)
    assert any("/kv-formats/" in link for link in own)
    for link in own:
        assert page.request.get(link).ok, link


def test_an_answer_comes_at_once(page: Any) -> None:
    page.goto(V4_ON_H200)
    status(page)
    took = []
    for gpu in ("B200", "RTX 5090", "A100", "H100", "GB300"):
        option(page, "gpu", gpu).check()
        took.append(float(page.get_attribute("#picker", "data-answered")))
    assert sorted(took)[2] < 100, took  # ms, the median


def test_script_and_data_are_small(site: Path) -> None:
    files = [*(site / "assets" / "picker").iterdir(), site / "reference" / "picker.jsonl"]
    assert sum(file.stat().st_size for file in files) <= 200_000


def test_tables_serve_without_javascript(new_page: Any) -> None:
    page = new_page(java_script_enabled=False)
    page.goto("")
    assert page.locator("#picker").inner_text() == ""
    page.get_by_role("link", name="Support matrix").last.click()
    cells = page.locator("table tbody tr")
    assert cells.count() == len(attnmatrix.backend_names())
    page.goto("reference/models/")
    assert page.locator("table tbody tr").count() == len(attnmatrix.model_names())


def test_nothing_is_wider_than_the_window(new_page: Any) -> None:
    page = new_page()
    page.goto(V4_ON_H200)
    status(page)
    for width in (320, 360, 800, 1400):  # 320: a window of 1280, enlarged four times
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(new_page: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright", reason="axe-core looks for faults")
    page = new_page(color_scheme=scheme)
    page.goto(V4_ON_H200 + "&library.vllm=0.22.1")
    status(page)
    for summary in page.locator("#picker summary").all():
        summary.click()
    result = axe.Axe().run(page, options={"resultTypes": ["violations"]})
    assert len(result["passes"]) > 20
    shown = [
        (fault["id"], node["target"], node["failureSummary"])
        for fault in result["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
    assert shown == []
