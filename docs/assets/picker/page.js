// Puts the picker on the page that has a place for it. What is chosen lives in the address.

import { answer } from "./answer.js";
import { form } from "./controls.js";
import { el, tooltips } from "./dom.js";
import { readData } from "./judge.js";

const ROOT = new URL("../../", import.meta.url);
const PAUSE = 400; // ms without a change, after which the address gets an entry of its own

const fromAddress = () => Object.fromEntries(new URLSearchParams(location.search));

function toAddress(chosen) {
  const kept = Object.entries(chosen).filter(([, value]) => value);
  const query = new URLSearchParams(kept).toString();
  return location.pathname + (query ? `?${query}` : "") + location.hash;
}

async function start(place) {
  const answered = await fetch(new URL("reference/picker.jsonl", ROOT));
  if (!answered.ok) throw new Error(`${answered.status} ${answered.statusText}`);
  const data = readData(await answered.text());
  let chosen = fromAddress();
  let changed = 0;
  const status = el("p", { class: "picker-status", role: "status" });
  const result = el("div", { class: "picker-result" });
  const reset = el("button", { type: "button", class: "picker-reset" }, "Start again");
  const controls = form(data, change);

  function show() {
    const begun = performance.now();
    const found = answer(data, ROOT, chosen, change);
    if (status.textContent !== found.summary) status.textContent = found.summary;
    result.replaceChildren(found.element);
    place.dataset.answered = String(performance.now() - begun);
    controls.update(chosen);
    place.dataset.took = String(performance.now() - begun);
  }

  function change(field, value) {
    chosen = { ...chosen, [field]: value };
    const typing = Date.now() - changed < PAUSE;
    changed = Date.now();
    history[typing ? "replaceState" : "pushState"](null, "", toAddress(chosen));
    show();
  }

  reset.addEventListener("click", () => {
    chosen = {};
    history.pushState(null, "", toAddress(chosen));
    show();
  });
  addEventListener("popstate", () => {
    chosen = fromAddress();
    show();
  });
  place.replaceChildren(
    el("div", { class: "picker-head" }, status, reset),
    controls.element,
    el("section", { class: "picker-answer", "aria-label": "Answer" }, result),
  );
  tooltips(place);
  show();
}

const place = document.getElementById("picker");
if (place) {
  start(place).catch((error) => {
    place.replaceChildren(
      el("p", { role: "alert" }, `The picker could not load its data: ${error.message}.`),
    );
  });
}
