// The form: radio groups that stay whole, with what cannot work marked and explained.

import { el } from "./dom.js";
import { parseCapability } from "./gpus.js";
import { completed, groups, why } from "./options.js";
import { makeRequest } from "./request.js";

const FLAGS = [
  ["mla", "MLA"],
  ["sparse", "Sparse"],
  ["sink", "Attention sink"],
];
const COUNTS = [
  ["head_size", "Head size (elements)"],
  ["query_heads", "Query heads on one GPU"],
  ["topk", "Top-k (indices a query selects)"],
];

/** The form; `change(field, value)` is called with what a user chose. */
export function form(data, change) {
  const built = groups(data).map((group) => radios(data, group, change));
  const element = el(
    "form",
    { class: "picker-form", "aria-label": "Combination", onSubmit: (e) => e.preventDefault() },
    built.map(({ fieldset }) => fieldset),
    more(data, change),
  );
  return {
    element,
    /** Shows what is chosen. */
    update(chosen) {
      for (const { group, inputs } of built) check(chosen, group, inputs);
      for (const input of element.querySelectorAll("[data-field]")) {
        if (input.type === "checkbox") input.checked = Boolean(chosen[input.dataset.field]);
        else if (input !== document.activeElement) input.value = chosen[input.dataset.field] || "";
      }
    },
    /** Scrolls to what is chosen and marks every option that leaves no backend, one a step. Asking
     * where options stand lays the page out, so it waits until the answer is shown. */
    *marks(chosen) {
      for (const { inputs } of built) inputs.filter(({ input }) => input.checked).map(bringIntoView);
      yield;
      const { wrong } = makeRequest(data, completed(chosen));
      for (const { group, inputs } of built) {
        for (const option of inputs.filter(({ value }) => value !== null)) {
          mark(option, why(data, chosen, group.field, option.value, wrong));
          yield;
        }
      }
    },
  };
}

function radios(data, group, change) {
  // The last one stands for what an address or a search asks and the list has not.
  const options = [...group.options, { value: null, label: "", small: "not in the list" }];
  const inputs = options.map(({ value, label, small }, i) => {
    const id = `picker-${group.field}-${i}`;
    const input = el("input", {
      type: "radio",
      name: group.field,
      id,
      value: value ?? "",
      "aria-describedby": `${id}-why`,
      onChange: () => change(group.field, input.value),
    });
    const sign = el("span", { class: "picker-sign", "aria-hidden": "true" });
    const note = el("span", { class: "picker-hidden", id: `${id}-why` });
    const text = el("span", {}, label);
    const extra = small ? el("small", {}, small) : "";
    return { value, input, sign, note, text, label: el("label", { for: id }, sign, text, extra) };
  });
  const list = el(
    "div",
    { class: group.filter ? "picker-options picker-many" : "picker-options" },
    inputs.map(({ input, label, note }) => el("div", { class: "picker-option" }, input, label, note)),
  );
  const search = group.filter ? filter(data, group, inputs, change) : "";
  const fieldset = el("fieldset", {}, el("legend", {}, group.legend), search, list);
  return { group, inputs, fieldset };
}

function filter(data, group, inputs, change) {
  const shown = (text) => {
    const wanted = text.toLowerCase().replace(/[\s_-]/g, "");
    for (const { input, label } of inputs.slice(0, -1)) {
      const name = label.textContent.toLowerCase().replace(/[\s_-]/g, "");
      input.parentElement.hidden = !name.includes(wanted);
    }
  };
  return el("input", {
    type: "search",
    class: "picker-search",
    placeholder: group.filter,
    "aria-label": group.filter,
    autocomplete: "off",
    onInput: ({ target }) => {
      shown(target.value);
      if (group.field === "gpu" && parseCapability(data, target.value)) change("gpu", target.value.trim());
    },
    onKeydown: (event) => {
      if (event.key !== "Enter") return;
      const first = inputs.find(({ value, input }) => value && !input.parentElement.hidden);
      if (!first || !event.target.value) return;
      event.target.value = "";
      shown("");
      change(group.field, first.value);
      first.input.focus();
    },
  });
}

/** Scrolls a list, and nothing else, to an option in it. */
function bringIntoView({ input }) {
  const option = input.parentElement;
  const list = option.parentElement;
  const top = option.offsetTop;
  const hidden = top < list.scrollTop || top + option.offsetHeight > list.scrollTop + list.clientHeight;
  if (hidden) list.scrollTop = top - list.clientHeight / 2;
}

function check(chosen, group, inputs) {
  const current = chosen[group.field] || (group.field === "kv_cache_dtype" ? "auto" : "");
  const spare = inputs.at(-1);
  const listed = inputs.some(({ value }, i) => value === current && i < inputs.length - 1);
  spare.value = listed ? null : current;
  spare.input.value = spare.text.textContent = spare.value ?? "";
  spare.input.parentElement.hidden = listed;
  for (const { value, input } of inputs) input.checked = value === current;
}

function mark({ input, sign, note, label }, reason) {
  const said = reason ?? "";
  if (note.textContent === (said && `Not possible: ${said}`)) return;
  label.classList.toggle("picker-impossible", reason !== null);
  sign.textContent = said && "✕ ";
  note.textContent = said && `Not possible: ${said}`;
  for (const element of [input, label]) {
    if (said) element.dataset.why = said;
    else delete element.dataset.why;
  }
}

function more(data, change) {
  const text = (field, label, attributes) =>
    el(
      "label",
      { class: "picker-field" },
      el("span", {}, label),
      el("input", {
        "data-field": field,
        autocomplete: "off",
        onInput: ({ target }) => change(field, target.value),
        ...attributes,
      }),
    );
  const pick = (field, label, options) =>
    el(
      "label",
      { class: "picker-field" },
      el("span", {}, label),
      el(
        "select",
        { "data-field": field, onChange: ({ target }) => change(field, target.value) },
        options.map(([value, shown]) => el("option", { value }, shown)),
      ),
    );
  const answers = [
    ["", "the model's"],
    ["yes", "yes"],
    ["no", "no"],
  ];
  const phases = data.phases.map((phase, i) => [i ? phase : "", phase]);
  return el(
    "details",
    { class: "picker-more" },
    el("summary", {}, "Library versions, sink, sparse, sizes, features"),
    el(
      "fieldset",
      {},
      el("legend", {}, "Library versions"),
      el(
        "div",
        { class: "picker-fields" },
        data.distributions.map((name) =>
          text(`library.${name}`, name, { placeholder: "any version", inputmode: "text" }),
        ),
      ),
    ),
    el(
      "fieldset",
      {},
      el("legend", {}, "What the model asks"),
      el(
        "div",
        { class: "picker-fields" },
        FLAGS.map(([field, label]) => pick(field, label, answers)),
        COUNTS.map(([field, label]) =>
          text(field, label, { inputmode: "numeric", placeholder: "the model's" }),
        ),
        pick("phase", "Phase", phases),
      ),
    ),
    el(
      "fieldset",
      {},
      el("legend", {}, "Features"),
      Object.entries(data.features).map(([name, meaning]) =>
        el(
          "label",
          { class: "picker-check" },
          el("input", {
            type: "checkbox",
            "data-field": `feature.${name}`,
            onChange: ({ target }) => change(`feature.${name}`, target.checked ? "yes" : ""),
          }),
          el("span", {}, `${name}: ${meaning}`),
        ),
      ),
    ),
  );
}
