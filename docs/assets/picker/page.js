// Puts the picker on the page that has a place for it. What is chosen lives in the address.

import { answer } from "./answer.js";
import { canonical, fromAddress, toAddress } from "./chosen.js";
import { form } from "./controls.js";
import { el, tooltips } from "./dom.js";
import { readData } from "./judge.js";

const ROOT = new URL("../../", import.meta.url);
const PAUSE = 400; // ms without a change, after which the address gets an entry of its own
const SLICE = 8; // ms of marking at a stretch, half a frame

async function load() {
  const answered = await fetch(new URL("reference/picker.jsonl", ROOT));
  if (!answered.ok) throw new Error(`${answered.status} ${answered.statusText}`);
  return readData(await answered.text());
}

function start(place, data) {
  let chosen = fromAddress(data, location.search);
  let changed = 0;
  let marking = null;
  const status = el("p", { class: "picker-status", role: "status" });
  const result = el("div", { class: "picker-result", tabindex: "-1" });
  const reset = el("button", { type: "button", class: "picker-reset" }, "Start again");
  const controls = form(data, change);

  function show() {
    const begun = performance.now();
    const found = answer(data, ROOT, chosen, change);
    if (status.textContent !== found.summary) status.textContent = found.summary;
    replace(result, found.element);
    controls.update(chosen);
    place.dataset.answered = String(performance.now() - begun);
    marking = controls.marks(chosen);
    controls.element.setAttribute("aria-busy", "true");
    afterPaint(() => mark(marking));
  }

  /** Marks options between frames, until all are or something else is chosen. */
  function mark(steps) {
    if (steps !== marking) return;
    const until = performance.now() + SLICE;
    while (performance.now() < until) {
      if (steps.next().done) return controls.element.setAttribute("aria-busy", "false");
    }
    setTimeout(() => mark(steps));
  }

  function change(field, text) {
    chosen = { ...chosen, [field]: text && canonical(data, field, text) };
    const typing = Date.now() - changed < PAUSE;
    changed = Date.now();
    history[typing ? "replaceState" : "pushState"](null, "", toAddress(chosen, location));
    if (field !== "context") show(); // which no verdict hangs on, and the answer has shown already
  }

  reset.addEventListener("click", () => {
    chosen = {};
    history.pushState(null, "", toAddress(chosen, location));
    show();
  });
  addEventListener("popstate", () => {
    chosen = fromAddress(data, location.search);
    show();
  });
  show();
  place.replaceChildren(
    el("div", { class: "picker-head" }, status, reset),
    controls.element,
    el("section", { class: "picker-answer", "aria-label": "Answer" }, result),
  );
  tooltips(place);
}

/** Puts an element in the place of another one; a focus that was within stays within. */
function replace(holder, element) {
  const focused = holder.contains(document.activeElement);
  holder.replaceChildren(element);
  if (focused) holder.focus();
}

/** Runs what can wait until the browser has shown what is there; in a hidden tab, at once. */
function afterPaint(run) {
  if (document.hidden) setTimeout(run);
  else requestAnimationFrame(() => setTimeout(run));
}

const place = document.getElementById("picker");
if (place) {
  try {
    start(place, await load());
  } catch (error) {
    const text = `The picker could not be loaded: ${error.message}. The tables below hold the same answers.`;
    place.replaceChildren(el("p", { role: "alert" }, text));
  }
}
