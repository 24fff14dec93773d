// What is chosen: texts by field, as the address holds them.

import { capabilityName, findGpu, own, parseCapability } from "./gpus.js";
import { findModel, whole } from "./request.js";

const BESIDE = ["gpu", "model", "tensor_parallel", "context"]; // what no field of a request is called

/** What an address says, with every name spelled as the controls spell it. What is none of this
 * page's, such as the marks that mailing lists add to links, is left out. */
export function fromAddress(data, search) {
  const chosen = {};
  for (const [name, text] of new URLSearchParams(search)) {
    const field = fieldOf(data, name);
    if (field && text) chosen[field] = canonical(data, field, text);
  }
  return chosen;
}

function fieldOf(data, name) {
  const folded = name.toLowerCase();
  if (folded === "compute_capability") return "gpu";
  if (data.fields.includes(folded) || BESIDE.includes(folded)) return folded;
  const [kind, ...rest] = folded.split(".");
  if (kind === "library") return `library.${rest.join(".").replace(/[-_.]+/g, "-")}`;
  return kind === "feature" ? folded : null;
}

/** The address that says what is chosen. */
export function toAddress(chosen, { pathname, hash }) {
  const kept = Object.entries(chosen).filter(([, text]) => text);
  const query = new URLSearchParams(kept).toString();
  return pathname + (query ? `?${query}` : "") + hash;
}

/** A value as its control spells it; what cannot be read stays as it is, to be told. */
export function canonical(data, field, text) {
  if (field === "gpu") {
    const capability = parseCapability(data, text);
    return findGpu(data, text) ?? (capability ? capabilityName(data, capability) : text);
  }
  if (field === "dtype") return own(data.dtype_spellings, text.toLowerCase()) ?? text;
  if (field === "model") return findModel(data, text) ?? text;
  if (field === "tensor_parallel" || field === "block_size") {
    const { number } = whole(data, text);
    if (field === "tensor_parallel" && number === 1) return "";
    return number ? String(number) : text;
  }
  return /^(yes|no)$/i.test(text) ? text.toLowerCase() : text;
}
