// Marks table cells that hold an answer, so that the style sheet can colour them (the words stay), and
// loads the rest where the support matrix is.

const STATE = /^(?:yes \()?(verified|cited|claimed|unknown|known issue|no)(?:\)|:|$)/;
const GPU_PAGE = "a[href*='gpus/']"; // in the header of a column that holds answers on a GPU

for (const table of document.querySelectorAll("article table")) {
  const head = [...table.querySelectorAll("thead th")];
  for (const cell of head.filter((found) => found.querySelector(GPU_PAGE))) {
    cell.dataset.gpu = cell.textContent.trim();
  }
  const answers = head.map((cell) => cell.dataset.gpu || cell.textContent.trim() === "KV-cache dtypes");
  if (head.filter((cell) => cell.dataset.gpu).length > 3) {
    table.dataset.heat = "";
  }
  for (const row of table.tBodies[0]?.rows ?? []) {
    [...row.cells].forEach((cell, column) => {
      const found = answers[column] && STATE.exec(cell.textContent.trim());
      if (found) {
        cell.dataset.state = found[1];
      }
    });
  }
}

if (document.querySelector("h1#support-matrix")) {
  for (const item of document.querySelectorAll("article > ul:first-of-type > li")) {
    item.dataset.state = item.textContent.split(":")[0];
  }
  const table = [...document.querySelectorAll("article table")].find(
    (found) => found.tHead?.rows[0].cells[0].textContent.trim() === "Backend");
  const { enhance } = await import("./grid.js");
  enhance(table);
}
