"""The matrix page in a browser: filter, sort, columns, the panel, the keyboard, downloads."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

import attnmatrix

pytestmark = pytest.mark.browser

MATRIX = "reference/matrix/"
BACKENDS = len(attnmatrix.backend_names())


@pytest.fixture
def matrix(page):
    page.goto(MATRIX)
    page.locator("table.am-matrix").wait_for()
    return page


def shown_names(page) -> list[str]:
    return page.locator("table.am-matrix tbody tr:visible td:first-child").all_inner_texts()


def cell(page, backend: str, column: str):
    titles = [t.strip() for t in page.locator("table.am-matrix thead th").all_inner_texts()]
    row = page.locator("table.am-matrix tbody tr").filter(
        has=page.get_by_role("link", name=backend, exact=True)
    )
    return row.locator("td").nth(titles.index(column))


def test_typing_filters_rows_by_every_word(matrix):
    assert len(shown_names(matrix)) == BACKENDS
    matrix.get_by_label("Filter").fill("sparse nvfp4_ds_mla")
    assert set(shown_names(matrix)) == {"FLASHMLA_SPARSE", "FLASHMLA_MEGA_ATTN_DSV41"}
    assert matrix.get_by_role("status").inner_text() == f"2 of {BACKENDS} backends"
    matrix.get_by_label("Filter").fill("no such backend")
    assert shown_names(matrix) == []
    matrix.get_by_label("Filter").fill("")
    assert len(shown_names(matrix)) == BACKENDS


def natural(name: str) -> list[object]:
    """Sorts SM90 before SM120, and FLASH_ATTN before FLASHINFER, as a browser does."""
    words = re.split(r"(\d+)", name.replace("_", " "))
    return [int(word) if word.isdigit() else word for word in words]


def test_a_header_sorts_up_then_down_then_not(matrix):
    first = shown_names(matrix)
    button = matrix.get_by_role("button", name="Backend", exact=True)
    button.click()
    assert shown_names(matrix) == sorted(first, key=natural)
    assert matrix.locator("th").first.get_attribute("aria-sort") == "ascending"
    button.click()
    assert shown_names(matrix) == sorted(first, key=natural, reverse=True)
    button.click()
    assert shown_names(matrix) == first
    assert matrix.locator("th").first.get_attribute("aria-sort") is None


def test_columns_are_chosen(matrix):
    matrix.get_by_text("Columns", exact=True).click()
    matrix.get_by_label("8.0", exact=True).uncheck()
    titles = matrix.locator("table.am-matrix thead th:visible").all_inner_texts()
    assert "8.0" not in [title.strip() for title in titles]
    assert "9.0" in [title.strip() for title in titles]
    matrix.keyboard.press("Escape")
    assert matrix.locator(".am-columns").is_hidden()


def test_one_gpu_by_its_name(matrix):
    choice = matrix.get_by_label("GPU", exact=True)
    choice.get_by_text("H200 (9.0)", exact=True).wait_for(state="attached")
    before = shown_names(matrix)
    choice.select_option(label="H200 (9.0)")
    titles = matrix.locator("table.am-matrix thead th:visible").all_inner_texts()
    assert [t.strip() for t in titles] == [
        *("Backend", "Model", "Dtypes", "Head sizes", "Kernel block sizes", "Sink", "9.0")
    ]
    runs = [str(cell(matrix, name, "9.0").inner_text()) != "no" for name in shown_names(matrix)]
    expected = {name: bool(attnmatrix.judge(name, gpu="H200")) for name in before}
    assert runs == sorted(runs, reverse=True)
    assert sum(runs) >= sum(expected.values()) > 0
    choice.select_option(label="every GPU")
    assert shown_names(matrix) == before
    assert len(matrix.locator("table.am-matrix thead th:visible").all()) > len(titles)


@pytest.mark.parametrize(("device", "backend"), [("rocm", "ROCM_ATTN"), ("none", "CPU_MLA")])
def test_devices_are_answers_too(matrix, device, backend):
    answered = cell(matrix, backend, device)
    assert answered.get_attribute("data-state") == "cited"
    assert cell(matrix, backend, "9.0").get_attribute("data-state") == "no"
    matrix.get_by_label("GPU", exact=True).select_option(device)
    answered.click()
    assert matrix.locator("#am-panel-title").inner_text() == f"{backend} on {device}"
    matrix.keyboard.press("Escape")


def test_the_header_and_the_first_column_stay(matrix):
    frame = matrix.locator(".am-scroll")
    frame.evaluate("frame => frame.scrollTo(400, 300)")
    box = frame.bounding_box()
    corner = matrix.locator("table.am-matrix thead th").first.bounding_box()
    assert corner["x"] == pytest.approx(box["x"], abs=3)
    assert corner["y"] == pytest.approx(box["y"], abs=3)


@pytest.mark.parametrize("key", ["Enter", " "])
def test_the_panel_opens_by_key_and_gives_the_focus_back(matrix, key):
    wanted = cell(matrix, "FLASHMLA_SPARSE_DSV4", "9.0")
    wanted.focus()
    matrix.keyboard.press(key)
    panel = matrix.locator(".am-panel")
    assert panel.get_by_role("heading").first.inner_text() == "FLASHMLA_SPARSE_DSV4 on 9.0"
    panel.get_by_text("584 B a token").wait_for()
    matrix.keyboard.press("Escape")
    assert panel.is_hidden()
    assert wanted.evaluate("cell => cell === document.activeElement")


def test_the_panel_shows_reasons_sources_and_the_line(matrix):
    cell(matrix, "FLASHMLA", "10.0").click()
    panel = matrix.locator(".am-panel")
    reason, *_ = attnmatrix.judge("FLASHMLA", compute_capability="10.0").reasons
    panel.get_by_text(reason.message).first.wait_for()
    for source in attnmatrix.get_backend("FLASHMLA").sources:
        assert source in panel.inner_text()
    text = Path("capabilities.yaml").read_text(encoding="utf-8").splitlines()
    line = text.index("  FLASHMLA:", text.index("backends:")) + 1
    assert panel.get_by_role("heading", name=f"capabilities.yaml:{line}").is_visible()
    assert f"{line}    FLASHMLA:" in panel.locator("pre").inner_text()


def test_arrow_keys_move_and_one_cell_is_a_tab_stop(matrix):
    first = matrix.locator("table.am-matrix tbody td").first
    first.focus()
    matrix.keyboard.press("ArrowDown")
    matrix.keyboard.press("ArrowRight")
    where = matrix.evaluate(
        "[document.activeElement.parentElement.rowIndex, document.activeElement.cellIndex]"
    )
    assert where == [2, 1]
    assert matrix.locator("table.am-matrix tbody td[tabindex='0']").count() == 1


def test_the_csv_holds_what_is_in_view(matrix):
    matrix.get_by_label("Filter").fill("FLASHINFER")
    with matrix.expect_download() as started:
        matrix.get_by_role("button", name="Download CSV").click()
    text = Path(started.value.path()).read_text(encoding="utf-8")
    header, *rows = csv.reader(io.StringIO(text))
    assert header[0] == "Backend"
    assert {row[0] for row in rows} == {
        name for name in attnmatrix.backend_names() if "FLASHINFER" in name
    }
    assert all(len(row) == len(header) for row in rows)


def test_the_json_download_is_the_matrix(matrix):
    with matrix.expect_download() as started:
        matrix.get_by_role("link", name="Download JSON").click()
    data = json.loads(Path(started.value.path()).read_text(encoding="utf-8"))
    for name, rows in data["backends"].items():
        for spelling, states in rows.items():
            for capability, state in states.items():
                answer = attnmatrix.judge(
                    name, compute_capability=capability, kv_cache_dtype=spelling
                )
                assert bool(answer) == (state in ("verified", "cited", "claimed"))


def test_without_javascript_the_table_is_there(new_page):
    page = new_page(java_script_enabled=False)
    page.goto(MATRIX)
    assert page.locator("article tbody tr").count() == BACKENDS
    assert "fp8_ds_mla" in page.locator("article table").inner_text()


def test_fifty_backends_stay_quick(matrix):
    """The page's own rows, copied until there are fifty: the best of five filterings, laid out."""
    took = matrix.evaluate(
        """async () => {
          const copy = document.querySelector("table.am-matrix").cloneNode(true);
          const body = copy.tBodies[0];
          const rows = [...body.rows];
          while (body.rows.length < 50) {
            body.append(rows[body.rows.length % rows.length].cloneNode(true));
          }
          copy.querySelectorAll("th").forEach((cell) => (cell.textContent = cell.textContent));
          document.querySelector(".am-tools").remove();
          document.querySelector("article").append(copy);
          const { enhance } = await import(new URL("../../assets/matrix/grid.js", location.href));
          enhance(copy);
          const input = document.querySelector("#am-filter");
          const filtered = (words) => {
            const start = performance.now();
            input.value = words;
            input.dispatchEvent(new Event("input"));
            document.body.offsetHeight;
            return performance.now() - start;
          };
          return Math.min(...["fp8", "", "sparse", "bfloat16 dense", ""].map(filtered));
        }"""
    )
    shown = matrix.get_by_role("status").last.inner_text()
    assert shown == "50 of 50 backends"
    assert took < 100
