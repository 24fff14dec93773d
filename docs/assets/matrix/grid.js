// The support matrix: filter, sort, columns, downloads and keyboard. Without it the table is there
// all the same.

import { ROOT, element } from "./dom.js";
import { gpuChoice } from "./gpu.js";
import { open } from "./panel.js";

/** Makes a grid of the table. */
export function enhance(table) {
  const head = table.tHead.rows[0];
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const titles = [...head.cells].map((cell) => cell.textContent.trim());
  const nameOf = (row) => row.cells[0].textContent.trim();
  const textOf = (row, column) => row.cells[column].textContent.trim();

  // A frame of its own, in which the header and the first column stay.
  const outer = table.closest(".md-typeset__scrollwrap") ?? table;
  const frame = element("div", { class: "am-scroll", role: "region", "aria-label": "Support matrix", tabindex: "-1" });
  const tools = element("div", { class: "am-tools" });
  outer.before(tools, frame);
  frame.append(table);
  if (outer !== table) {
    outer.remove();
  }
  table.classList.add("am-matrix");
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", "Support matrix; arrow keys move, Enter opens the answer");

  // Filter: every word must stand somewhere in the row.
  const filter = element("input", { type: "search", id: "am-filter", placeholder: "sparse fp8_ds_mla", autocomplete: "off" });
  const count = element("span", { role: "status" });
  function applyFilter() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${rows.length} backends`;
    settleFocus();
  }
  filter.addEventListener("input", applyFilter);

  // Columns: the first always stays.
  const chosen = titles.map(() => true);
  const columns = element("div", { class: "am-columns" });
  const boxes = titles.map(() => element("input", { type: "checkbox" }));
  function choose(column, on) {
    chosen[column] = boxes[column].checked = on;
    for (const row of [head, ...rows]) {
      row.cells[column].classList.toggle("am-off", !on);
    }
  }
  titles.forEach((title, column) => {
    boxes[column].checked = true;
    boxes[column].addEventListener("change", () => {
      choose(column, boxes[column].checked);
      settleFocus();
    });
    if (column > 0) {
      columns.append(element("label", {}, boxes[column], ` ${title}`));
    }
  });

  // One GPU: its column alone, and what runs there first.
  const gpus = [...head.cells].map((cell) => cell.dataset.gpu);
  const gpu = gpuChoice(gpus.filter(Boolean), (capability) => {
    gpus.forEach((own, column) => own && choose(column, !capability || own === capability));
    const column = gpus.indexOf(capability);
    const refused = (row) => column >= 0 && row.cells[column].dataset.state === "no";
    unsort();
    body.append(...rows.filter((row) => !refused(row)), ...rows.filter(refused));
    settleFocus();
  });
  const chooser = element("details", {}, element("summary", {}, "Columns"), columns);
  chooser.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      chooser.open = false;
      chooser.querySelector("summary").focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (!chooser.contains(event.target)) {
      chooser.open = false;
    }
  });

  // Downloads: the rows and columns in view as CSV, the whole matrix as JSON.
  const csv = element("button", { type: "button" }, "Download CSV");
  csv.addEventListener("click", () => {
    const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const kept = titles.map((_, column) => column).filter((column) => chosen[column]);
    const lines = [kept.map((column) => quoted(titles[column]))];
    for (const row of body.rows) {
      if (!row.hidden) {
        lines.push(kept.map((column) => quoted(textOf(row, column))));
      }
    }
    const content = new Blob([lines.map((line) => `${line.join(",")}\r\n`).join("")], { type: "text/csv" });
    const link = element("a", { href: URL.createObjectURL(content), download: "attnmatrix.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  const json = element("a", { class: "am-button", href: new URL("api/v1/matrix.json", ROOT).href, download: "attnmatrix.json" }, "Download JSON");
  tools.append(element("label", { for: "am-filter" }, "Filter"), filter, ...gpu, chooser, csv, json, count);

  // Sort: numbers as numbers; a second click turns the order round, a third gives the first back.
  function unsort() {
    for (const cell of head.cells) {
      cell.removeAttribute("aria-sort");
    }
  }
  const collator = new Intl.Collator("en", { numeric: true });
  titles.forEach((title, column) => {
    const cell = head.cells[column];
    const button = element("button", { type: "button", title: `Sort by ${title}` }, title);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "none" }[cell.getAttribute("aria-sort")] ?? "ascending";
      unsort();
      const sorted = [...rows];
      if (next !== "none") {
        cell.setAttribute("aria-sort", next);
        const sign = next === "ascending" ? 1 : -1;
        sorted.sort((a, b) => sign * collator.compare(textOf(a, column), textOf(b, column)));
      }
      body.append(...sorted);
    });
    cell.replaceChildren(button);
  });

  // Keyboard: one cell takes part in the tab order; arrow keys move within the grid.
  let current = rows[0]?.cells[0];
  const visible = () => [...body.rows].filter((row) => !row.hidden);
  function focusable(cell) {
    current?.setAttribute("tabindex", "-1");
    current = cell;
    current?.setAttribute("tabindex", "0");
  }
  function settleFocus() {
    if (!current || current.parentElement.hidden || current.classList.contains("am-off")) {
      focusable(visible()[0]?.cells[0]);
    }
  }
  for (const row of rows) {
    for (const cell of row.cells) {
      cell.setAttribute("tabindex", "-1");
      for (const link of cell.querySelectorAll("a")) {
        link.setAttribute("tabindex", "-1"); // the panel has it too
      }
    }
  }
  focusable(current);
  function neighbour(cell, down, right) {
    const lines = visible();
    const line = lines[lines.indexOf(cell.parentElement) + down];
    const shown = titles.map((_, column) => column).filter((column) => chosen[column]);
    const column = shown[shown.indexOf(cell.cellIndex) + right];
    return line?.cells[column];
  }
  const MOVES = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
  body.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td");
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(cell, nameOf(cell.parentElement), head.cells[cell.cellIndex].dataset.gpu);
    } else if (MOVES[event.key]) {
      event.preventDefault();
      const next = neighbour(cell, ...MOVES[event.key]);
      if (next) {
        focusable(next);
        next.focus();
      }
    }
  });
  body.addEventListener("click", (event) => {
    const cell = event.target.closest("td");
    if (cell && !event.target.closest("a")) {
      focusable(cell);
      open(cell, nameOf(cell.parentElement), head.cells[cell.cellIndex].dataset.gpu);
    }
  });
  applyFilter();
}
