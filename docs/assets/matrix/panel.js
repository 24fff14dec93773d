// The panel of one cell: its answers with reasons, notes, sources, evidence and lines in the YAML file.

import { ROOT, element } from "./dom.js";

const close = element("button", { type: "button", class: "am-close", "aria-label": "Close" }, "×");
const title = element("h2", { id: "am-panel-title", tabindex: "-1" });
const content = element("div");
const panel = element("aside", { class: "am-panel md-typeset", role: "dialog", "aria-labelledby": "am-panel-title" }, close, title, content);
panel.hidden = true;
document.body.append(panel);
let opener = null;
function shut() {
  panel.hidden = true;
  opener?.focus();
}
close.addEventListener("click", shut);
panel.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    event.stopPropagation();
    shut();
  }
});

const kept = new Map();
function get(path, read) {
  if (!kept.has(path)) {
    kept.set(path, fetch(new URL(path, ROOT)).then((answer) => {
      if (!answer.ok) {
        throw new Error(`${path}: ${answer.status}`);
      }
      return answer[read]();
    }));
    kept.get(path).catch(() => kept.delete(path));
  }
  return kept.get(path);
}

const page = (path, ...words) => element("a", { href: new URL(`reference/${path}/`, ROOT).href }, ...words);
const code = (text) => element("code", {}, text);
const list = (items) => element("ul", {}, ...items.map((item) => element("li", {}, item)));
const section = (words, items) => (items.length ? [element("h3", {}, words), list(items)] : []);
const unique = (items) => [...new Set(items)];

/** A source as a link, where it has an address. */
function source(text) {
  const thread = /^([\w.-]+\/[\w.-]+)#(\d+)$/.exec(text);
  const file = /^([\w.-]+\/[\w.-]+)@(\w+)\s+([\w./+-]+?)(?::(\d+))?$/.exec(text);
  let address = /^https?:\/\/\S+$/.test(text) ? text : null;
  if (thread) {
    address = `https://github.com/${thread[1]}/issues/${thread[2]}`;
  } else if (file) {
    address = `https://github.com/${file[1]}/blob/${file[2]}/${file[3]}${file[4] ? `#L${file[4]}` : ""}`;
  }
  return address ? element("a", { href: address, rel: "noopener" }, text) : code(text);
}

/** Where a backend stands in the YAML file: its first line and all lines, counted from 1. */
function entry(text, name) {
  const lines = text.split("\n");
  const start = lines.findIndex((line, i) => line === `  ${name}:` && i > lines.indexOf("backends:"));
  let end = start + 1;
  while (end < lines.length && (lines[end] === "" || /^ {3}/.test(lines[end]))) {
    end += 1;
  }
  return { first: start + 1, lines: lines.slice(start, end) };
}

/** The lines of an entry that define a KV-cache dtype. */
function linesOf(found, spelling) {
  return found.lines.map((line, i) => [line.trim(), found.first + i])
    .filter(([line]) => line.startsWith(`${spelling}: `) || line.includes(`{${spelling}: `) || line.includes(`, ${spelling}: {`))
    .map(([, number]) => number);
}

function answer(item, cells, found) {
  const spellings = element("h3", {}, ...item.kv_cache_dtypes.flatMap((name) => [code(name), " "]),
    element("span", { class: "am-chip", "data-state": item.state }, item.state));
  const facts = unique(cells.map((cell) => cell.kv_format).filter(Boolean)).map((name) =>
    element("span", {}, "KV format ", page(`kv-formats/${name}`, code(name)),
      `, ${cells.find((cell) => cell.kv_format === name).bytes_per_token} B a token`));
  facts.push(...unique(cells.map((cell) => cell.kernel).filter(Boolean)).map((name) =>
    element("span", {}, "kernel ", page(`kernels/${name}`, code(name)))));
  facts.push(...item.reasons.map((reason) =>
    element("span", {}, `${reason.message} (`, page(`reasons/${reason.field}`, "what to do"), ")")));
  facts.push(...item.known_issues.map((issue) => `known issue: ${issue}`));
  facts.push(...item.records.map((record) => `right by a probe: ${record}`));
  const numbers = item.kv_cache_dtypes.flatMap((name) => linesOf(found, name));
  if (numbers.length) {
    facts.push(`capabilities.yaml:${unique(numbers).sort((a, b) => a - b).join(", ")}`);
  }
  return [spellings, list(facts)];
}

function show(data, text, name, gpu) {
  const found = entry(text, name);
  const items = data.support.filter((item) => item.compute_capabilities.includes(gpu));
  const numbers = unique(items.flatMap((item) => item.cells));
  const cells = items.length ? numbers.map((number) => data.cells[number]) : data.cells;
  const notes = unique([...data.notes, ...cells.flatMap((cell) => cell.notes)]);
  const sources = unique([...data.sources, ...cells.flatMap((cell) => cell.sources)]);
  const excerpt = found.lines.map((line, i) => `${String(found.first + i).padStart(5)}  ${line}`).join("\n");
  content.replaceChildren(
    element("p", {}, `${data.summary}. `, page(`backends/${name}`, "Page of the backend"),
      ...(gpu ? [". ", page(`gpus/${gpu}`, `All on ${gpu}`)] : []), "."),
    ...items.flatMap((item) => answer(item, item.cells.map((number) => data.cells[number]), found)),
    ...section("Notes", notes),
    ...section("Where it differs from an engine's declaration", data.differs),
    ...section("Sources", sources.map(source)),
    element("h3", {}, `capabilities.yaml:${found.first}`),
    element("pre", { tabindex: "0", "aria-label": `${name} in capabilities.yaml` }, excerpt),
  );
}

/** Shows the answer to a cell of the table: a backend, and the GPU of its column, if it is of one. */
export async function open(cell, name, gpu) {
  opener = cell;
  title.textContent = gpu ? `${name} on ${gpu}` : name;
  content.replaceChildren(element("p", {}, "Loading …"));
  panel.hidden = false;
  title.focus();
  const asked = title.textContent;
  try {
    const [data, text] = await Promise.all([
      get(`api/v1/backends/${name}.json`, "json"), get("api/capabilities.yaml", "text")]);
    if (title.textContent === asked) {
      show(data, text, name, gpu);
    }
  } catch (error) {
    content.replaceChildren(element("p", {}, `The answer could not be loaded (${error.message}). `,
      page(`backends/${name}`, "Page of the backend"), "."));
  }
}
