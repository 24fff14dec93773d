"""The picker of the site in Chromium: from a click to what is painted."""

from __future__ import annotations

from itertools import count
from typing import Any

from tests.site.conftest import address, browser, new_page, site

__all__ = ["address", "browser", "new_page", "site"]

CLICK = """(number) => {
  const inputs = [...document.querySelectorAll("#picker input[type=radio]")];
  inputs[(number * 7919) % inputs.length].click(); // a prime: options of all fields in turn
  return new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
}"""
MARKED = "document.querySelector('#picker [aria-busy]').getAttribute('aria-busy') === 'false'"


def bench_picker(benchmark: Any, new_page: Any) -> None:
    """picker, a click until the answer is painted"""
    page = new_page(viewport={"width": 1280, "height": 900})
    page.goto("?gpu=H200&model=DeepSeek-V3.2")
    page.wait_for_function(MARKED)
    numbers = count()
    benchmark.pedantic(
        lambda: page.evaluate(CLICK, next(numbers)),
        setup=lambda: page.wait_for_function(MARKED) and None,
        rounds=80,
        warmup_rounds=20,
    )


def bench_picker_marked(benchmark: Any, new_page: Any) -> None:
    """picker, a click until every impossible option is marked"""
    page = new_page(viewport={"width": 1280, "height": 900})
    page.goto("?gpu=H200&model=DeepSeek-V3.2")
    page.wait_for_function(MARKED)
    numbers = count()

    def click() -> None:
        page.evaluate(CLICK, next(numbers))
        page.wait_for_function(MARKED)

    benchmark.pedantic(click, rounds=80, warmup_rounds=20)
