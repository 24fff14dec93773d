// The choice of one GPU by its name, or of a device that has no compute capability.

import { ROOT, element } from "./dom.js";

/** A list of GPUs; `apply` is told the compute capability of the chosen one, "" for every GPU. */
export function gpuChoice(columns, apply) {
  const option = (value, text) => element("option", { value }, text);
  const select = element("select", { id: "am-gpu" }, option("", "every GPU"));
  select.append(...columns.map((column) => option(column, column)));
  fetch(new URL("api/v1/gpus.json", ROOT))
    .then((answer) => (answer.ok ? answer.json() : {}))
    .catch(() => ({})) // the columns stay, by their own names
    .then((capabilities) => {
      const named = Object.entries(capabilities).filter(([, capability]) => columns.includes(capability));
      select.options[0].after(...named.map(([name, capability]) => option(capability, `${name} (${capability})`)));
    });
  select.addEventListener("change", () => apply(select.value));
  return [element("label", { for: "am-gpu" }, "GPU"), select];
}
